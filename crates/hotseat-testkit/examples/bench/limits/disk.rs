//! How fast the disk takes a write that must stay.

use std::io::Write as _;
use std::path::Path;
use std::time::Instant;

use serde_json::Value;

use crate::report::report;
use crate::sample::event;

/// Writes that are timed.
const WRITES: usize = 500;

/// Times an event's bytes being written and synced, one after the other.
pub(crate) fn sync(folder: &Path) -> Value {
    let mut file = tempfile::tempfile_in(folder).expect("a file");
    let bytes = event(0).into_bytes();
    let began = Instant::now();
    let mut once = || {
        let began = Instant::now();
        file.write_all(&bytes).expect("room on the disk");
        file.sync_data().expect("a sync");
        began.elapsed()
    };
    let times = (0..WRITES).map(|_| once()).collect();
    report(times, began.elapsed(), 0)
}

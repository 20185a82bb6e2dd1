//! Bytes of JSON at the speed of memory, and a file of it read and written once.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use serde::de::IgnoredAny;
use serde_json::{Value, json};

/// Passes, of which the fastest counts: the one that was disturbed least.
const PASSES: usize = 5;

/// How fast the bytes can be looked at, and how fast they can be checked to be JSON.
pub(crate) fn scan(file: &Path) -> Value {
    let bytes = std::fs::read(file).expect("a file");
    let look =
        fastest(|| assert!(memchr::memchr_iter(b'"', &bytes).count() > 0, "JSON has quotes"));
    let check = fastest(|| check(&bytes));
    json!({"bytes": bytes.len(), "look_ms": look, "check_ms": check})
}

/// One parse and one write of the file, which lasts as ours does: another file beside it is
/// written and synced, takes its place, and the folder is synced.
pub(crate) fn rewrite(file: &Path) -> Value {
    let folder = file.parent().expect("a file in a folder");
    let began = Instant::now();
    let bytes = std::fs::read(file).expect("a file");
    check(&bytes);
    let mut copy = tempfile::NamedTempFile::new_in(folder).expect("a file");
    copy.write_all(&bytes).expect("room on the disk");
    copy.as_file().sync_all().expect("a sync");
    copy.persist(file).expect("a rename");
    File::open(folder).and_then(|folder| folder.sync_all()).expect("a sync of the folder");
    json!({"ms": milliseconds(began.elapsed())})
}

fn check(bytes: &[u8]) {
    let _: IgnoredAny = serde_json::from_slice(bytes).expect("JSON");
}

fn fastest(pass: impl Fn()) -> f64 {
    let times = (0..PASSES).map(|_| {
        let began = Instant::now();
        pass();
        began.elapsed()
    });
    milliseconds(times.min().unwrap_or_default())
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

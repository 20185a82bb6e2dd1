//! Copying the write-ahead log into the file, beside the writer.
//!
//! A checkpoint writes and syncs for tens of milliseconds. A thread of its own does that
//! while appends go on. Its copy can never be complete, because the log grows meanwhile, and
//! only a complete one lets the log begin anew; so the writer adds the last bit itself, which
//! is short.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};

use rusqlite::Connection;
use rusqlite::hooks::Wal;

use super::{Durability, schema};

/// Pages of the write-ahead log before it is copied: 16 MB. Pages that change often are then
/// copied less often.
const DUE_PAGES: u32 = 4000;

/// Pages after which the writer does not wait for the thread: 256 MB.
const MOST_PAGES: u32 = 64_000;

/// The writer's side.
#[derive(Debug)]
pub(super) struct Checkpoints {
    pages: Arc<AtomicU32>,
    copied: Arc<AtomicBool>,
    /// The next number of pages at which something is done.
    next: u32,
    wake: SyncSender<()>,
}

impl Checkpoints {
    /// Watches what `writer` commits. The thread ends with this value.
    pub(super) fn start(
        path: &Path,
        writer: &mut Connection,
        durability: Durability,
    ) -> std::io::Result<Self> {
        let pages = Arc::new(AtomicU32::new(0));
        let counted = Arc::clone(&pages);
        let hook = move |_: &mut Wal, pages| {
            counted.store(u32::try_from(pages).unwrap_or(0), Ordering::Relaxed);
            Ok(())
        };
        writer.wal_hook(Some(hook)).map_err(std::io::Error::other)?;
        let copied = Arc::new(AtomicBool::new(false));
        let done = Arc::clone(&copied);
        let (wake, woken) = sync_channel::<()>(1);
        let connection =
            schema::open_checkpointer(path, durability).map_err(std::io::Error::other)?;
        std::thread::Builder::new().name("checkpoints".to_owned()).spawn(move || {
            while woken.recv().is_ok() {
                // One that fails leaves the log as it is; the next one tries again.
                let _ = run(&connection);
                done.store(true, Ordering::Release);
            }
        })?;
        Ok(Self { pages, copied, next: DUE_PAGES, wake })
    }

    /// Whether there is something to look after.
    pub(super) fn are_due(&self) -> bool {
        self.copied.load(Ordering::Relaxed)
            || self.pages.load(Ordering::Relaxed) >= self.next.min(MOST_PAGES)
    }

    /// Called between two commits.
    pub(super) fn look_after(&mut self, writer: &Connection) {
        let pages = self.pages.load(Ordering::Relaxed);
        if self.copied.swap(false, Ordering::Acquire) || pages >= MOST_PAGES {
            let _ = run(writer);
            // Somebody who reads from the log may have kept it from beginning anew.
            self.next = pages.saturating_add(DUE_PAGES);
        } else if pages < DUE_PAGES {
            self.next = DUE_PAGES;
        } else if pages >= self.next && self.wake.try_send(()).is_ok() {
            self.next = u32::MAX;
        }
    }
}

/// Copies what can be copied without making anybody wait.
fn run(connection: &Connection) -> rusqlite::Result<()> {
    connection.prepare_cached("PRAGMA wal_checkpoint(PASSIVE)")?.query_row([], |_| Ok(()))
}

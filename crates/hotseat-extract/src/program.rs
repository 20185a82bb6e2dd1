//! Runs a program on bytes: input to its standard input, output from its standard output, within a time.
//!
//! A program that is late is killed. Its pipes are served by threads of their own, because a program that waits for
//! its output to be read while we wait for its input to be taken would never end.

use std::io::{ErrorKind, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

/// What is kept of a program's complaints.
const MAX_COMPLAINT_BYTES: u64 = 16 * 1024;

/// How a run ended.
pub(crate) enum Ran {
    /// It succeeded; its output.
    Done(Vec<u8>),
    /// It did not; its complaint.
    Failed(String),
    /// There is no such program.
    Missing,
    /// It was killed.
    TimedOut,
}

/// Runs `program`; more than `max_output` bytes of output are a failure.
pub(crate) fn run(
    program: &Path,
    arguments: &[&str],
    input: Arc<[u8]>,
    time: Duration,
    max_output: u64,
) -> Ran {
    let started = Instant::now();
    let spawned = Command::new(program)
        .args(arguments)
        // The pages of a document are many and the cores are shared: one thread per page is the better deal.
        .env("OMP_THREAD_LIMIT", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = match spawned {
        Ok(child) => child,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::PermissionDenied) => {
            return Ran::Missing;
        }
        Err(error) => return Ran::Failed(error.to_string()),
    };
    if let Some(mut stdin) = child.stdin.take() {
        // A program that stops reading early breaks the pipe, and says itself whether that was a failure.
        thread::spawn(move || drop(stdin.write_all(&input)));
    }
    let output = child.stdout.take().map(|pipe| collect(pipe, max_output.saturating_add(1)));
    let complaint = child.stderr.take().map(|pipe| collect(pipe, MAX_COMPLAINT_BYTES));
    let receive = |pipe: Option<Receiver<Vec<u8>>>| {
        pipe.and_then(|pipe| pipe.recv_timeout(time.saturating_sub(started.elapsed())).ok())
    };
    let (Some(output), Some(complaint)) = (receive(output), receive(complaint)) else {
        stop(&mut child);
        return Ran::TimedOut;
    };
    if output.len() as u64 > max_output {
        stop(&mut child);
        return Ran::Failed(format!("it wrote more than {max_output} bytes"));
    }
    // Both of its outputs are closed, so it is ending.
    match child.wait() {
        Ok(status) if status.success() => Ran::Done(output),
        Ok(status) => {
            let complaint = String::from_utf8_lossy(&complaint);
            let line = complaint.lines().map(str::trim).find(|line| !line.is_empty());
            Ran::Failed(line.map_or_else(|| status.to_string(), str::to_owned))
        }
        Err(error) => Ran::Failed(error.to_string()),
    }
}

fn stop(child: &mut Child) {
    // Both fail only for a child that is gone already.
    drop(child.kill());
    drop(child.wait());
}

fn collect(pipe: impl Read + Send + 'static, limit: u64) -> Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::sync_channel(1);
    thread::spawn(move || {
        let mut bytes = Vec::new();
        drop(pipe.take(limit).read_to_end(&mut bytes));
        // The receiver is gone after a time-out, when nobody wants the bytes.
        drop(sender.send(bytes));
    });
    receiver
}

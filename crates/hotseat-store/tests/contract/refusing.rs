//! A disk that refuses every write, from one moment to the next, and may take them again: one
//! that the system has made read-only after an error.
//!
//! The process under test is another one, whose limit on the size of files is set to nothing
//! while it runs: then the system refuses what it writes to any file, and it can still read.

use std::io::{BufRead, BufReader, Lines};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use hotseat_store::{AppendError, Expected, Limits, Store};

use crate::log::{created, id, ids, said, session};

/// Set in the process whose disk it is: where its store is.
const CHILD: &str = "HOTSEAT_STORE_ON_A_REFUSING_DISK";

/// How often the disk refuses and takes writes again.
const ROUNDS: usize = 3;

/// Appends one event after the other, each until it is acknowledged, and says what happens.
#[expect(clippy::print_stdout, reason = "it is read by the process that owns the disk")]
async fn write(path: &Path) {
    let store = match Store::sqlite(path, Limits::default()) {
        Ok(store) => store,
        Err(error) => return println!("unopened {error}"),
    };
    created(&store, 1).await;
    let mut n = ids(&store, id(1)).await.len();
    loop {
        let entry = said(&format!("e{n}"), &"Words ".repeat(50));
        match store.append(id(1), Expected::Any, vec![entry]).await {
            Ok(_) => {
                n += 1;
                println!("acknowledged {n}");
            }
            Err(AppendError::Store(_)) => {
                let there = ids(&store, id(1)).await.len();
                println!("refused {there}");
            }
            Err(error) => panic!("{error:?}"),
        }
    }
}

/// The process, which is killed when this is dropped.
struct Writer {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Writer {
    /// Starts it with a limit on the size of files. The signal that comes with a refusal is
    /// not what a read-only disk sends.
    fn start(path: &Path, limit: &str) -> Self {
        let this = "refusing::a_disk_that_turns_read_only_is_read_and_written_again_when_it_can_be";
        let script = format!("ulimit -S -f {limit}; trap '' XFSZ; exec \"$@\"");
        let mut child = Command::new("sh")
            .args(["-c", &script, "sh"])
            .arg(std::env::current_exe().unwrap())
            .args(["--exact", this, "--nocapture"])
            .env(CHILD, path)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    /// Sets the limit on the size of files of the running process.
    fn limit(&self, bytes: &str) {
        let pid = self.child.id().to_string();
        let limit = format!("--fsize={bytes}:");
        let set = Command::new("prlimit").args(["--pid", &pid, &limit]).status();
        assert!(set.unwrap().success());
    }

    /// The rest of the next line that begins with this word.
    fn next(&mut self, word: &str) -> String {
        let mut told = self.lines.by_ref().map(Result::unwrap);
        told.find_map(|line| Some(line.strip_prefix(word)?.trim().to_owned())).unwrap()
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[tokio::test]
async fn a_disk_that_turns_read_only_is_read_and_written_again_when_it_can_be() {
    if let Some(path) = std::env::var_os(CHILD) {
        return write(Path::new(&path)).await;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hotseat.db");
    let mut writer = Writer::start(&path, "unlimited");
    let mut acknowledged = 0;
    for _ in 0..ROUNDS {
        for _ in 0..20 {
            acknowledged = writer.next("acknowledged").parse().unwrap();
        }
        writer.limit("0");
        // It goes on being asked, and what is there can be read all the while.
        for _ in 0..5 {
            let there: usize = writer.next("refused").parse().unwrap();
            assert!(there >= acknowledged, "{there} of {acknowledged}");
        }
        writer.limit("unlimited");
        acknowledged = writer.next("acknowledged").parse().unwrap();
    }
    drop(writer);

    // Started on such a disk, the store does not open, or opens and refuses; it says why, and
    // spoils nothing.
    let mut writer = Writer::start(&path, "0");
    let line = writer.lines.find_map(|line| {
        let line = line.unwrap();
        ["unopened", "refused"].iter().any(|word| line.starts_with(word)).then_some(line)
    });
    let line = line.unwrap();
    assert!(line.starts_with("unopened") && line.contains("hotseat.db"), "{line}");
    drop(writer);

    let store = Store::sqlite(&path, Limits::default()).unwrap();
    let there = ids(&store, id(1)).await;
    assert!(there.len() >= acknowledged);
    assert_eq!(there, (0..there.len()).map(|n| format!("e{n}")).collect::<Vec<_>>());
    assert_eq!(session(&store, id(1)).await.event_count, there.len() as u64);
}

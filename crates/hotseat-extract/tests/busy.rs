//! The limit on documents being read at a time, in a process of its own because the limit is the process's.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on must stop where it stands")]

use std::fs::{File, OpenOptions, Permissions};
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::thread;

use hotseat_extract::{Document, ExtractError, MAX_THREADS, Options, extract};

/// A pipe with a name, open at both ends so that nobody waits for the other.
fn pipe(path: &Path) -> File {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
    OpenOptions::new().read(true).write(true).open(path).unwrap()
}

#[test]
fn documents_past_the_limit_are_refused_until_one_is_done() {
    let folder = tempfile::tempdir().unwrap();
    let (ready_path, gate_path) = (folder.path().join("ready"), folder.path().join("gate"));
    let (mut ready, mut gate) = (pipe(&ready_path), pipe(&gate_path));
    let program = folder.path().join("waits");
    let (ready_name, gate_name) = (ready_path.display(), gate_path.display());
    let script = format!("#!/bin/sh\nprintf x > '{ready_name}'\nread line < '{gate_name}'\n");
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, Permissions::from_mode(0o755)).unwrap();
    let mut options = Options::default();
    options.ocr.tesseract = program;
    let picture = include_bytes!("fixtures/invoice.gif");
    let document = Document { name: "invoice.gif", mime: "", bytes: picture };

    thread::scope(|scope| {
        let readers: Vec<_> =
            (0..MAX_THREADS).map(|_| scope.spawn(|| extract(&document, &options))).collect();
        ready.read_exact(&mut [0; MAX_THREADS]).unwrap();

        let refused = extract(&document, &options).unwrap_err();

        assert_eq!(refused, ExtractError::Busy { name: "invoice.gif".into() });
        gate.write_all(&[b'\n'; MAX_THREADS]).unwrap();
        for reader in readers {
            assert_eq!(reader.join().unwrap().unwrap().notes, ["no text was found in the picture"]);
        }
    });
}

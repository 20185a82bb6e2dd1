//! `hotseat doctor`: what is there, what is missing, and how to mend it.

use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;

use hotseat_testkit::{Ended, Launch};

use crate::HOTSEAT;

/// A Python that has everything, as a script: what it says to which import.
const EVERYTHING: &str = "*'import google.adk'*) echo 1.22.0 ;; *'import hotseat'*) echo 0.1.0 ;;";

/// A folder with a Python of this version that can import what `imports` says.
fn with_python(version: &str, imports: &str) -> Launch {
    let launch = Launch::new(HOTSEAT);
    let python = launch.folder().join("python");
    let script = format!(
        "#!/bin/sh\ncase \"$2\" in *platform*) echo {version} ;; {imports} *) exit 1 ;; esac\n"
    );
    std::fs::write(&python, script).unwrap();
    std::fs::set_permissions(&python, std::fs::Permissions::from_mode(0o755)).unwrap();
    launch
}

fn examine(launch: &Launch, port: u16) -> Ended {
    let port = port.to_string();
    let ended = launch.call(&["doctor", "--python", "./python", "--port", &port]);
    assert_eq!((ended.stderr.as_str(), ended.stdout.lines().count()), ("", 6), "{ended:?}");
    ended
}

/// The lines that tell of something wrong, of an examination that failed for them.
#[track_caller]
fn failures(ended: &Ended) -> Vec<&str> {
    let failures: Vec<_> = ended.stdout.lines().filter(|line| !line.starts_with("ok ")).collect();
    assert_eq!(ended.code, Some(i32::from(!failures.is_empty())), "{ended:?}");
    failures
}

#[test]
fn a_machine_that_has_everything_is_sound() {
    let launch = with_python("3.12.4", EVERYTHING);
    let ended = examine(&launch, 0);
    assert_eq!(failures(&ended), [""; 0]);
    let data = launch.folder().canonicalize().unwrap().join(".hotseat");
    let data = data.display();
    assert_eq!(
        ended.stdout,
        format!(
            "ok    Python: 3.12.4 at ./python\n\
             ok    google-adk: 1.22.0\n\
             ok    hotseat package: 0.1.0\n\
             ok    port: 127.0.0.1:0 is free\n\
             ok    data folder: {data} can be written\n\
             ok    store: {data}/hotseat.db will be made\n"
        )
    );
    assert!(!launch.folder().join(".hotseat").exists(), "looking makes nothing");
}

#[test]
fn what_is_missing_comes_with_a_remedy() {
    let old = with_python("3.9.1", "");
    let ended = examine(&old, 0);
    let lines = failures(&ended);
    assert_eq!(
        lines,
        [
            "fail  Python: 3.9.1 at ./python; 3.11 or newer is needed: choose one with --python",
            "fail  google-adk: `import google.adk` fails: pip install 'google-adk>=1.22,<3'",
            "fail  hotseat package: `import hotseat` fails: pip install hotseat, or `make build` in a checkout",
        ]
    );
    let none = Launch::new(HOTSEAT);
    let ended = examine(&none, 0);
    assert!(failures(&ended)[0].starts_with("fail  Python: could not start ./python"));
    assert!(failures(&ended)[0].ends_with("choose a Python with --python"));
}

#[test]
fn a_taken_port_is_told() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let ended = examine(&with_python("3.12.4", EVERYTHING), port);
    let lines = failures(&ended);
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].starts_with(&format!("fail  port: 127.0.0.1:{port}: ")), "{lines:?}");
    assert!(lines[0].ends_with("choose another port with --port"), "{lines:?}");
}

#[test]
fn a_store_is_opened_and_left_as_it_is() {
    let launch = with_python("3.12.4", EVERYTHING);
    drop(launch.start());
    let ended = examine(&launch, 0);
    assert_eq!(failures(&ended), [""; 0]);
    assert!(ended.stdout.ends_with("hotseat.db opens\n"), "{}", ended.stdout);

    let file = launch.folder().join(".hotseat/hotseat.db");
    let letter = "This is a letter and not a database. ".repeat(40);
    std::fs::write(&file, &letter).unwrap();
    for beside in ["-wal", "-shm"] {
        // They belong to the store that was there.
        let _ = std::fs::remove_file(launch.folder().join(format!(".hotseat/hotseat.db{beside}")));
    }
    let ended = examine(&launch, 0);
    let lines = failures(&ended);
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].starts_with("fail  store: could not open the store"), "{lines:?}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), letter);
}

#[test]
fn a_data_folder_that_is_none_is_told() {
    let launch = with_python("3.12.4", EVERYTHING);
    std::fs::write(launch.folder().join(".hotseat"), "a file").unwrap();
    let ended = examine(&launch, 0);
    assert!(failures(&ended)[0].starts_with("fail  data folder: "), "{ended:?}");
    assert!(failures(&ended)[0].ends_with("choose another with --data"), "{ended:?}");
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let launch = with_python("3.12.4", EVERYTHING);
    let ended = launch.call_unread(&["doctor", "--python", "./python", "--port", "0"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
}

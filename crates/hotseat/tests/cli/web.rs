//! `hotseat web`: what it prints, what it refuses, how it ends.

use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use hotseat_testkit::{Ended, Launch};
use serde_json::Value;

use crate::HOTSEAT;

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// Checks that a start was refused with exactly these words, and nothing else happened.
#[track_caller]
fn assert_refused(ended: &Ended, words: &str) {
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert_eq!(ended.stderr, format!("error: {words}\n"));
    assert_eq!(ended.stdout, "");
}

#[tokio::test]
async fn the_link_stands_alone_on_stdout() {
    let hotseat = Launch::new(HOTSEAT).start();
    let (url, token) = hotseat.link.split_once("/?token=").unwrap();
    assert_eq!(url, format!("http://127.0.0.1:{}", hotseat.port()));
    assert!(token.len() == 48 && token.bytes().all(|byte| byte.is_ascii_hexdigit()), "{token}");
    assert_eq!(hotseat.api.get("/api/v1/sessions").await.status, 200);
    assert_eq!(hotseat.api.without_token().get("/api/v1/sessions").await.status, 401);

    let link = hotseat.link.clone();
    let ended = hotseat.signal("TERM");
    assert_eq!(ended.stdout, format!("{link}\n"));
    assert!(ended.stderr.contains("is ready"), "{}", ended.stderr);
    assert!(!ended.stderr.contains(link.rsplit('=').next().unwrap()), "the log has no token");
}

#[test]
fn signals_end_it_properly() {
    assert_eq!(Launch::new(HOTSEAT).start().signal("TERM").code, Some(0));
    assert_eq!(Launch::new(HOTSEAT).start().signal("INT").code, Some(130));
}

#[tokio::test]
async fn open_streams_do_not_keep_it() {
    let hotseat = Launch::new(HOTSEAT).start();
    let session = hotseat.api.session().await;
    let mut stream = hotseat.api.stream(&format!("/api/v1/sessions/{session}/stream")).await;
    stream.next_of("history_complete").await;
    let ended = hotseat.signal("TERM");
    assert_eq!((ended.code, stream.next().await), (Some(0), None));
}

#[test]
fn it_ends_with_the_program_that_started_it() {
    // Standard input is closed from the start here.
    let ended = Launch::new(HOTSEAT).argument("--exit-with-parent").run();
    assert_eq!(ended.code, Some(0), "{ended:?}");
}

#[test]
fn the_token_is_kept_and_private() {
    let hotseat = Launch::new(HOTSEAT).start();
    let file = hotseat.folder().join(".hotseat/token");
    assert_eq!(mode(&file), 0o600);
    let token = std::fs::read_to_string(&file).unwrap();
    assert_eq!(Some(token.trim()), hotseat.api.token.as_deref());
    assert_eq!(
        std::fs::read_to_string(hotseat.folder().join(".hotseat/.gitignore")).unwrap(),
        "*\n"
    );
    let link = hotseat.link.clone();
    assert_eq!(hotseat.restart().link, link, "same port, same token");
}

#[test]
fn programs_of_the_same_user_can_find_it() {
    let hotseat = Launch::new(HOTSEAT).start();
    let servers = hotseat.folder().join(".local/state/hotseat/servers");
    let record = servers.join(format!("127.0.0.1_{}.json", hotseat.port()));
    assert_eq!(mode(&record), 0o600);
    let told: Value = serde_json::from_slice(&std::fs::read(&record).unwrap()).unwrap();
    assert_eq!(told["url"], hotseat.api.url);
    let token = std::fs::read_to_string(told["token_file"].as_str().unwrap()).unwrap();
    assert_eq!(Some(token.trim()), hotseat.api.token.as_deref());
    hotseat.signal("TERM");
    assert!(!record.exists());
}

#[test]
fn a_taken_port_is_named() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let ended = Launch::new(HOTSEAT).argument("--port").argument(port.to_string()).run();
    assert_refused(
        &ended,
        &format!(
            "port {port} on 127.0.0.1 is in use\nhint: stop what uses it, or choose another port with --port"
        ),
    );
}

#[test]
fn a_data_folder_has_one_user() {
    let hotseat = Launch::new(HOTSEAT).start();
    let folder = hotseat.folder().join(".hotseat");
    let second = Launch::new(HOTSEAT).argument("--data").argument(&folder).run();
    assert_refused(
        &second,
        &format!(
            "the data folder {} is in use by another hotseat\nhint: stop it, or choose another folder with --data",
            folder.display()
        ),
    );
    assert_eq!(hotseat.signal("TERM").code, Some(0), "the first was not disturbed");
}

#[tokio::test]
async fn without_a_token_only_on_this_machine() {
    let open = Launch::new(HOTSEAT).argument("--no_auth").start();
    assert_eq!((open.api.token.as_deref(), &open.link), (None, &open.api.url));
    assert_eq!(open.api.get("/api/v1/sessions").await.status, 200);

    let everywhere = Launch::new(HOTSEAT).argument("--no-auth").argument("--host=0.0.0.0");
    assert_refused(
        &everywhere.run(),
        "--no-auth on 0.0.0.0 would let every machine that reaches it control your agents\n\
         hint: leave out --no-auth, or add --insecure if that is what you want",
    );
    assert!(!everywhere.folder().join(".hotseat").exists(), "refused before anything is made");
    let meant = everywhere.argument("--insecure").start();
    assert_eq!(meant.link, format!("http://127.0.0.1:{}", meant.port()));
    assert_eq!(meant.api.get("/api/v1/sessions").await.status, 200);
}

#[test]
fn unknown_settings_are_named() {
    let launch = Launch::new(HOTSEAT);
    std::fs::write(launch.folder().join("hotseat.toml"), "port = 0\nprot = 7\n").unwrap();
    let ended = launch.run();
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(1), ""));
    assert!(ended.stderr.starts_with("error: hotseat.toml could not be read"), "{}", ended.stderr);
    assert!(ended.stderr.contains("prot"), "{}", ended.stderr);

    let ended = Launch::new(HOTSEAT).argument("--prot").run();
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""));
    assert!(ended.stderr.contains("--prot"), "{}", ended.stderr);
}

#[test]
fn flags_win_over_the_environment_and_it_over_the_file() {
    let launch = Launch::new(HOTSEAT);
    let file = launch.folder().join("hotseat.toml");
    std::fs::write(file, "token = \"of-the-file\"\ndata = \"kept\"\n").unwrap();
    let token = |launch: &Launch| launch.start().api.token.clone().unwrap();
    assert_eq!(token(&launch), "of-the-file");
    assert!(launch.folder().join("kept/hotseat.db").exists());
    let launch = launch.variable("HOTSEAT_TOKEN", "of-the-environment");
    assert_eq!(token(&launch), "of-the-environment");
    let launch = launch.argument("--token=of-the-flag");
    assert_eq!(token(&launch), "of-the-flag");
}

#[test]
fn what_cannot_work_is_refused() {
    let refused = |argument: &str| {
        let ended = Launch::new(HOTSEAT).argument(argument).run();
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(1), ""));
        ended.stderr
    };
    assert_eq!(refused("--token=short"), "error: a token of less than 8 characters is no secret\n");
    assert!(refused("--token=with spaces in it").contains("a token may hold only letters"));
    assert!(refused("--store=mongodb://x").contains("the store `mongodb://x` is not known"));
    assert!(refused("--config=nowhere.toml").contains("nowhere.toml could not be read"));
}

#[test]
fn a_store_that_is_none_is_left_alone() {
    let launch = Launch::new(HOTSEAT);
    let folder = launch.folder().join(".hotseat");
    std::fs::create_dir(&folder).unwrap();
    let file = folder.join("hotseat.db");
    let letter = "This is a letter and not a database. ".repeat(40);
    std::fs::write(&file, &letter).unwrap();
    let ended = launch.run();
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(1), ""));
    let words = format!("error: could not open the store {}", file.display());
    assert!(ended.stderr.starts_with(&words), "{}", ended.stderr);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), letter);
}

#[tokio::test]
async fn a_worker_that_cannot_start_is_shown_and_keeps_nothing() {
    let hotseat =
        Launch::new(HOTSEAT).argument("--python=/nowhere/python").argument("some_agent").start();
    let mut changes = hotseat.api.stream("/api/v1/stream").await;
    changes.next_of("ready").await;
    let problem = loop {
        let agents = hotseat.api.get("/api/v1/agents").await.json(200);
        if let Some(problem) = agents["problems"].as_array().unwrap().first() {
            break problem.clone();
        }
        changes.next_of("agents").await;
    };
    let message = problem["message"].as_str().unwrap();
    assert!(message.starts_with("could not start /nowhere/python"), "{message}");
    assert_eq!(hotseat.signal("TERM").code, Some(0));
}

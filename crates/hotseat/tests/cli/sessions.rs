//! `hotseat sessions`: what scripts see of sessions, with or without a server.

use hotseat_testkit::{Api, Ended, HotseatProcess, Launch, sample};
use serde_json::{Value, json};

use crate::HOTSEAT;

const NOBODY: &str = "00000000-0000-4000-8000-000000000000";

/// What a command that went well printed.
#[track_caller]
fn printed(ended: Ended) -> String {
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{ended:?}");
    ended.stdout
}

#[track_caller]
fn assert_refused(ended: &Ended, words: &str) {
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(1), ""), "{ended:?}");
    assert_eq!(ended.stderr, format!("error: {words}\n"));
}

/// A completed session in which `question` was answered.
async fn answered(api: &Api, question: &str) -> String {
    let id = api.session().await;
    let log = json!([sample::user_event("u", question), sample::agent_event("a", "root", "5")]);
    api.post(&format!("/api/v1/sessions/{id}/events"), &log).await.json(201);
    api.complete(&id).await;
    id
}

/// A server with a completed session and then one that is open.
async fn two_sessions() -> (Launch, HotseatProcess, [String; 2]) {
    let launch = Launch::new(HOTSEAT);
    let hotseat = launch.start();
    let completed = answered(&hotseat.api, "2 + 3?").await;
    let open = hotseat.api.session_with(&json!({"description": "Holiday plans"})).await;
    (launch, hotseat, [completed, open])
}

#[tokio::test]
async fn sessions_are_listed_a_line_each() {
    let (launch, hotseat, [completed, open]) = two_sessions().await;
    let lines = printed(launch.call(&["sessions", "list"]));
    let rows: Vec<_> = lines.lines().collect();
    assert_eq!(rows.len(), 2, "{lines}");
    for (row, id, state, title) in [
        (rows[0], &open, "awaiting_query", "Holiday plans"),
        (rows[1], &completed, "completed", "2 + 3?"),
    ] {
        assert!(row.starts_with(id.as_str()) && row.ends_with(title), "{row}");
        assert_eq!(row.split_whitespace().nth(2), Some(state));
    }

    let first = |arguments: &[&str]| {
        let lines = printed(launch.call(&[&["sessions", "list"], arguments].concat()));
        lines.lines().map(|line| line[..36].to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(first(&["--status", "completed"]), [&*completed]);
    assert_eq!(first(&["-n", "1"]), [&*open]);
    assert_eq!(first(&["-q", "holiday"]), [&*open]);
    assert_eq!(first(&["--agent", "nobody"]), [""; 0]);
    drop(hotseat);
    assert_eq!(first(&[]), [&*open, &*completed], "no server is needed");
}

#[tokio::test]
async fn json_is_what_the_api_answers() {
    let (launch, hotseat, [completed, _]) = two_sessions().await;
    let read = |arguments: &[&str]| -> Value {
        serde_json::from_str(&printed(launch.call(arguments))).unwrap()
    };
    let listed = hotseat.api.get("/api/v1/sessions").await.json(200);
    assert_eq!(read(&["sessions", "list", "--json"]), listed);
    let path = format!("/api/v1/sessions/{completed}?include=history");
    let shown = hotseat.api.get(&path).await.json(200);
    assert_eq!(read(&["sessions", "show", &completed, "--json"]), shown);
    let path = format!("/api/v1/sessions/{completed}/export?format=session");
    let raw = hotseat.api.get(&path).await.body;
    let export = ["sessions", "export", &completed, "--format", "session"];
    assert_eq!(printed(launch.call(&export)), format!("{raw}\n"));
}

#[tokio::test]
async fn a_session_is_shown_with_its_history() {
    let (launch, _hotseat, [completed, _]) = two_sessions().await;
    let shown = printed(launch.call(&["sessions", "show", &completed]));
    let lines: Vec<Vec<_>> = shown.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[0][0], completed);
    assert_eq!(lines[1], ["#1", "user_query", "2", "+", "3?"]);
    assert_eq!(lines[2], ["#2", "final_response", "5"]);
    assert_eq!(lines.len(), 3, "{shown}");
}

#[tokio::test]
async fn a_trace_is_exported_into_a_file_of_this_folder() {
    let (launch, _hotseat, [completed, open]) = two_sessions().await;
    let export = |file: &[&str]| {
        let arguments = [&["sessions", "export", &completed], file].concat();
        printed(launch.call(&arguments))
    };
    let read = |name: &str| -> Value {
        let text = std::fs::read_to_string(launch.folder().join(name)).unwrap();
        serde_json::from_str(&text).unwrap()
    };
    let created = export(&[]);
    let file = launch.folder().join("hotseat.evalset.json");
    assert!(created.starts_with("created "), "{created}");
    assert!(created.ends_with(&format!(" in {}\n", file.display())), "{created}");
    let case = &read("hotseat.evalset.json")["eval_cases"][0];
    assert!(created.contains(case["eval_id"].as_str().unwrap()), "{created}");
    assert!(export(&[]).starts_with("updated "));
    assert!(export(&["--to", "new/own.json"]).starts_with("created "));
    assert_eq!(&read("new/own.json")["eval_cases"][0], case);

    assert_refused(
        &launch.call(&["sessions", "export", &open]),
        &format!("session {open} is not completed: complete it before exporting"),
    );
    assert_eq!(read("hotseat.evalset.json")["eval_cases"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_deleted_session_is_gone_for_the_server_too() {
    let (launch, hotseat, [completed, open]) = two_sessions().await;
    assert_eq!(printed(launch.call(&["sessions", "delete", &completed])), "");
    let path = format!("/api/v1/sessions/{completed}");
    hotseat.api.get(&path).await.problem(404, "session_not_found");
    assert_eq!(hotseat.api.show(&open).await["status"], "active");
    let gone = format!("there is no session {completed}");
    for command in ["delete", "show", "export"] {
        assert_refused(&launch.call(&["sessions", command, &completed]), &gone);
    }
}

#[test]
fn what_cannot_be_done_is_told_by_the_exit_code() {
    let launch = Launch::new(HOTSEAT);
    assert_refused(
        &launch.call(&["sessions", "list"]),
        "there is no store at .hotseat/hotseat.db\nhint: name its folder with --data",
    );
    assert!(!launch.folder().join(".hotseat").exists(), "looking makes nothing");
    let elsewhere = launch.call(&["sessions", "show", NOBODY, "--store", "mongodb://x"]);
    assert_refused(
        &elsewhere,
        "the store `mongodb://x` is not known\nhint: use sqlite://FILE or postgres://USER@HOST/DATABASE",
    );
    for usage in [
        &["sessions"][..],
        &["sessions", "show"],
        &["sessions", "show", "not-an-id"],
        &["sessions", "list", "--status", "sleeping"],
        &["sessions", "export", NOBODY, "--format", "yaml"],
        &["sessions", "rename", NOBODY],
    ] {
        let ended = launch.call(usage);
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{usage:?}: {ended:?}");
    }
}

#[tokio::test]
async fn the_store_can_be_named_in_every_way() {
    let (launch, hotseat, _) = two_sessions().await;
    let data = hotseat.folder().join(".hotseat").display().to_string();
    let url = format!("sqlite://{data}/hotseat.db");
    let all = printed(launch.call(&["sessions", "list"]));
    let other = Launch::new(HOTSEAT);
    assert_eq!(printed(other.call(&["sessions", "--data", &data, "list"])), all);
    assert_eq!(printed(other.call(&["sessions", "list", "--data", &data])), all);
    assert_eq!(printed(other.call(&["sessions", "list", "--store", &url])), all);
    let other = other.variable("HOTSEAT_DATA", &data);
    assert_eq!(printed(other.call(&["sessions", "list"])), all);
}

#[tokio::test]
async fn a_reader_that_has_seen_enough_is_no_error() {
    let (launch, _hotseat, [completed, _]) = two_sessions().await;
    for command in [
        &["sessions", "list"][..],
        &["sessions", "list", "--json"],
        &["sessions", "show", &completed],
        &["sessions", "export", &completed, "--format", "session"],
    ] {
        let ended = launch.call_unread(command);
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{command:?}");
    }
}

#[tokio::test]
async fn what_is_derived_is_computed_anew() {
    let (launch, hotseat, [completed, _]) = two_sessions().await;
    let before = hotseat.api.get(&format!("/api/v1/sessions/{completed}/record")).await.json(200);
    assert_eq!(before["messages"].as_array().unwrap().len(), 2);
    assert_eq!(printed(launch.call(&["sessions", "rebuild"])), "rebuilt 2 sessions\n");
    let after = hotseat.api.get(&format!("/api/v1/sessions/{completed}/record")).await.json(200);
    assert_eq!(after, before);
    assert_refused(
        &launch.call(&["sessions", "rebuild", NOBODY]),
        &format!("there is no session {NOBODY}"),
    );
}

/// A token for one user, made without the server's help, shows that user's sessions alone.
#[tokio::test]
async fn a_users_token_shows_the_users_sessions() {
    let launch = Launch::new(HOTSEAT);
    let hotseat = launch.start();
    let hers = hotseat.api.session_with(&json!({"user_id": "ada"})).await;
    let his = hotseat.api.session_with(&json!({"user_id": "bob"})).await;
    let token = printed(launch.call(&["token", "--user", "ada"]));
    let ada = Api::new(hotseat.api.url.clone(), Some(token.trim().to_owned()));
    let list = ada.get("/api/v1/sessions").await.json(200);
    let ids: Vec<_> = list["items"].as_array().unwrap().iter().map(|item| &item["id"]).collect();
    assert_eq!(ids, [&json!(hers)]);
    ada.get(&format!("/api/v1/sessions/{his}")).await.problem(404, "session_not_found");
}

#[test]
fn adk_is_told_of_the_session_service() {
    let launch = Launch::new(HOTSEAT);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    let first = printed(launch.call(&["init", path]));
    assert!(first.starts_with("wrote ") && first.contains("--session_service_uri"), "{first}");
    let file = std::fs::read_to_string(folder.path().join("services.yaml")).unwrap();
    assert!(file.contains("class: hotseat.adk.HotseatSessionService"), "{file}");
    assert!(printed(launch.call(&["init", path])).contains("already"));
    assert_eq!(std::fs::read_to_string(folder.path().join("services.yaml")).unwrap(), file);
}

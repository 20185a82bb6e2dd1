//! `hotseat evalset`: files of cases, for scripts and for CI.

use hotseat_testkit::{Ended, Launch, sample};
use serde_json::{Value, json};

use crate::HOTSEAT;

/// How a command ended: its exit code and what it printed, with nothing on stderr.
#[track_caller]
fn said(ended: Ended) -> (i32, String) {
    assert_eq!(ended.stderr, "", "{ended:?}");
    (ended.code.unwrap(), ended.stdout)
}

#[track_caller]
fn assert_refused(ended: &Ended, words: &str) {
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(1), ""), "{ended:?}");
    assert!(ended.stderr.starts_with(&format!("error: {words}")), "{}", ended.stderr);
}

fn case(eval_id: &str, answer: &str) -> Value {
    let content = |role: &str, text: &str| json!({"role": role, "parts": [{"text": text}]});
    json!({"eval_id": eval_id, "conversation": [
        {"user_content": content("user", "2 + 3?"), "final_response": content("model", answer)},
    ]})
}

/// A folder with `sums.json` of two cases and `one.json` of one.
fn folder() -> Launch {
    let launch = Launch::new(HOTSEAT);
    let write = |name: &str, cases: Value| {
        let set = json!({"eval_set_id": "sums", "eval_cases": cases});
        std::fs::write(launch.folder().join(name), set.to_string()).unwrap();
    };
    write("sums.json", json!([case("right", "5"), case("wrong", "6")]));
    write("one.json", json!([case("again", "5")]));
    launch
}

#[tokio::test]
async fn a_completed_session_is_added_to_a_file() {
    let launch = folder();
    let hotseat = launch.start();
    let id = hotseat.api.session().await;
    let add = || launch.call(&["evalset", "add", "sums.json", &id]);
    let log = json!([sample::user_event("u", "3 + 4?"), sample::agent_event("a", "root", "7")]);
    hotseat.api.post(&format!("/api/v1/sessions/{id}/events"), &log).await.json(201);
    assert_refused(&add(), &format!("session {id} is not completed"));
    hotseat.api.complete(&id).await;

    let (code, added) = said(add());
    assert_eq!(code, 0);
    let name = format!("sums.json:{}", added.trim_end());
    let (code, shown) = said(launch.call(&["evalset", "show", &name]));
    let shown: Value = serde_json::from_str(&shown).unwrap();
    let question = &shown["conversation"][0]["user_content"]["parts"][0]["text"];
    assert_eq!((code, question), (0, &json!("3 + 4?")));
    assert_eq!(said(add()), (0, added), "a second time it is the same case");
    let (_, list) = said(launch.call(&["evalset", "list", "sums.json"]));
    assert_eq!(list.lines().count(), 3, "{list}");
    assert_eq!(said(launch.call(&["evalset", "validate", "sums.json"])).0, 0);
}

#[test]
fn adding_needs_a_store() {
    let launch = folder();
    let nobody = "00000000-0000-4000-8000-000000000000";
    assert_refused(&launch.call(&["evalset", "add", "sums.json", nobody]), "there is no store at");
    assert!(!launch.folder().join(".hotseat").exists(), "looking makes nothing");
    let data = launch.folder().join("data");
    std::fs::create_dir(&data).unwrap();
    let add = ["evalset", "add", "sums.json", nobody, "--data", "data"];
    assert_refused(&launch.call(&add), "there is no store at data/hotseat.db");
    assert_eq!(std::fs::read_dir(&data).unwrap().count(), 0);
}

#[test]
fn cases_are_listed_a_line_each() {
    let launch = folder();
    let (code, lines) = said(launch.call(&["evalset", "list", "sums.json", "one.json"]));
    assert_eq!(code, 0);
    assert_eq!(
        lines,
        "sums.json:right  1 messages\nsums.json:wrong  1 messages\none.json:again  1 messages\n"
    );
    let (code, lines) = said(launch.call(&["evalset", "list", "--json", "one.json"]));
    let row: Value = serde_json::from_str(&lines).unwrap();
    assert_eq!(code, 0);
    assert_eq!(
        row,
        json!({"file": "one.json", "eval_set_id": "sums", "eval_id": "again", "messages": 1})
    );
}

#[test]
fn a_case_is_named_by_its_file_and_id() {
    let launch = folder();
    let show = |name: &str| launch.call(&["evalset", "show", name]);
    for (name, shown) in [("sums.json:wrong", case("wrong", "6")), ("one.json", case("again", "5"))]
    {
        assert_eq!(said(show(name)), (0, format!("{shown:#}\n")));
    }
    assert_refused(&show("sums.json"), "sums.json has 2 cases: name one as sums.json:EVAL_ID");
    assert_refused(&show("sums.json:nobody"), "sums.json has no case nobody");
    assert_refused(&show("nowhere.json"), "there is no file nowhere.json");
    assert_refused(&show("nowhere.json:right"), "could not read nowhere.json");
    std::fs::write(launch.folder().join("list.json"), "[]").unwrap();
    assert_refused(&show("list.json"), "list.json is not an EvalSet: the file has ADK's legacy");
}

#[test]
fn cases_are_compared_without_what_differs_in_every_recording() {
    let launch = folder();
    let diff = |left: &str, right: &str| said(launch.call(&["evalset", "diff", left, right]));
    assert_eq!(diff("sums.json:right", "one.json"), (0, String::new()));
    assert_eq!(
        diff("sums.json:right", "sums.json:wrong"),
        (1, "/conversation/0/final_response/parts/0/text\n- \"5\"\n+ \"6\"\n".to_owned())
    );
    assert_refused(&launch.call(&["evalset", "diff", "one.json", "nowhere.json"]), "there is no");
}

#[test]
fn files_are_checked_for_what_could_not_be_run() {
    let launch = folder();
    let validate = |files: &[&str]| said(launch.call(&[&["evalset", "validate"], files].concat()));
    assert_eq!(validate(&["sums.json", "one.json"]), (0, String::new()));

    let cases =
        json!([{"eval_id": "silent"}, case("right", "5"), {"eval_id": "a:b", "conversation": []}]);
    let set = json!({"eval_set_id": "sums", "eval_cases": cases}).to_string();
    std::fs::write(launch.folder().join("bad.json"), set).unwrap();
    std::fs::write(launch.folder().join("cut.json"), "{\"eval_cases\": [").unwrap();
    let (code, lines) = validate(&["nowhere.json", "cut.json", "bad.json", "one.json"]);
    let lines: Vec<_> = lines.lines().collect();
    assert_eq!((code, lines.len()), (1, 4), "{lines:?}");
    assert!(lines[0].starts_with("could not read nowhere.json"), "{}", lines[0]);
    assert!(
        lines[1].starts_with("cut.json is not an EvalSet: the file is not JSON"),
        "{}",
        lines[1]
    );
    assert!(lines[2].starts_with("bad.json:silent/conversation: is required"), "{}", lines[2]);
    assert!(lines[3].starts_with("bad.json:a:b/eval_id: has a colon"), "{}", lines[3]);
}

#[test]
fn wrong_usage_has_its_own_exit_code() {
    let launch = folder();
    for usage in [
        &["evalset"][..],
        &["evalset", "list"],
        &["evalset", "validate"],
        &["evalset", "diff", "one.json"],
        &["evalset", "add", "one.json", "not-an-id"],
    ] {
        let ended = launch.call(usage);
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{usage:?}: {ended:?}");
    }
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let launch = folder();
    for command in [&["list", "sums.json"][..], &["show", "one.json"]] {
        let ended = launch.call_unread(&[&["evalset"], command].concat());
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{command:?}");
    }
}

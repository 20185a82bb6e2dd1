//! `hotseat serve`: what it says, what it offers, what it refuses, how it ends.

mod collector;
mod forging;
mod log;
mod seats;
mod stopping;
mod traces;

use std::fs::Permissions;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use serde_json::json;

use hotseat_testkit::providers::{Provider, Reply, Script, Wire};
use hotseat_testkit::{Ended, HotseatProcess, Launch, ScriptedWorker, soon};

use crate::HOTSEAT;

/// The key that nobody but the provider may see.
const KEY: &str = "sk-of-the-tests";

const TOOLS: &str = "tools:
  - type: prompt
    name: shout
    description: Shouts.
    template: 'Shout: {{text}}'
    parameters: {text: {type: string}}
";

/// `hotseat serve agent.yaml`, ready to be started, whose model is at `provider`.
fn desk(provider: &Provider) -> Launch {
    let endpoint = provider.endpoint(Wire::OpenAi);
    let text = format!(
        "name: desk\ninstructions: You help at the desk.\n\
         model: {{provider: openai, name: small, endpoint: '{endpoint}', api_key: '${{DESK_KEY}}'}}\n{TOOLS}"
    );
    Launch::new(HOTSEAT)
        .serving("agent.yaml")
        .with_file("agent.yaml", &text)
        .variable("DESK_KEY", KEY)
}

/// Starts it and waits until its agent is there.
async fn started(launch: &Launch) -> HotseatProcess {
    let hotseat = launch.start();
    hotseat.api.until_connected("desk", true).await;
    hotseat
}

/// Checks that a start was refused with these words, on stderr alone.
#[track_caller]
fn assert_refused(ended: &Ended, words: &[&str]) {
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(1), ""), "{ended:?}");
    for word in words {
        assert!(ended.stderr.contains(word), "`{word}` is not in: {}", ended.stderr);
    }
}

#[tokio::test]
async fn a_native_agent_is_served_under_its_own_name() {
    let provider = Provider::start(Script::of([Reply::text("Hello.")])).await;
    let hotseat = started(&desk(&provider)).await;
    let answer = hotseat.api.post("/agent/desk/chat", &json!({"message": "Hi"})).await;
    assert_eq!(answer.json(200)["content"], "Hello.");
    assert_eq!(provider.last_asked().headers["authorization"], format!("Bearer {KEY}"));
    let (url, link) = (hotseat.api.url.clone(), hotseat.link.clone());
    let ended = hotseat.signal("TERM");
    assert_eq!((ended.code, ended.stdout), (Some(0), format!("{link}\n")), "{}", ended.stderr);
    for line in [
        "serves agent.yaml. ",
        "desk is ready, with its model in the seat.\n",
        &format!("AG-UI   POST {url}/ag-ui/desk\n"),
        &format!("REST    POST {url}/agent/desk/chat, "),
        &format!("curl {url}/agent/desk/chat -H 'Authorization: Bearer "),
    ] {
        assert!(ended.stderr.contains(line), "`{line}` is not in: {}", ended.stderr);
    }
    assert!(!ended.stderr.contains(KEY), "{}", ended.stderr);
}

#[tokio::test]
async fn an_adk_agent_is_told_by_name_and_ready_once_a_worker_has_loaded_it() {
    // A worker that cannot start; the test plays the one that can.
    let launch = Launch::new(HOTSEAT).serving("some_module:agent").argument("--python=false");
    let hotseat = launch.start();
    hotseat.api.get("/ready").await.problem(503, "not_ready");
    hotseat.api.post("/agent/math/chat", &json!({"message": "Hi"})).await.problem(503, "not_ready");
    let worker = ScriptedWorker::attach(&hotseat.api, "w", "math").await;
    let ready = hotseat.api.get("/ready").await.json(200);
    assert_eq!(ready["agent_name"], "math");
    drop(worker);
    let url = hotseat.api.url.clone();
    let stderr = hotseat.signal("TERM").stderr;
    for line in [
        "math is ready, with its model in the seat.\n",
        &format!("try it: curl {url}/agent/math/chat -H 'Authorization: Bearer "),
    ] {
        assert_eq!(stderr.matches(line).count(), 1, "{stderr}");
    }
}

/// What is said of the seat of an agent that names one itself, by whoever else has a say.
#[tokio::test]
async fn whoever_is_said_to_be_in_the_seat_is_there() {
    let toml = "[seats]\ndesk = \"model\"\n";
    for (arguments, config, sitter) in [
        (&[][..], "", "a person"),
        (&["--seat=model"], "", "its model"),
        (&[], toml, "its model"),
        (&["--seat=human"], toml, "its model"),
    ] {
        let text = "name: desk\ninstructions: x\nseat: human\nmodel: {provider: openai, name: m, api_key: none}\n";
        let launch = Launch::new(HOTSEAT)
            .serving("agent.yaml")
            .with_file("agent.yaml", text)
            .with_file("hotseat.toml", config);
        let launch = arguments.iter().fold(launch, |launch, each| launch.argument(*each));
        let stderr = started(&launch).await.signal("TERM").stderr;
        let line = format!("desk is ready, with {sitter} in the seat.\n");
        assert!(stderr.contains(&line), "`{line}` is not in: {stderr}");
    }
}

#[tokio::test]
async fn the_page_is_opened_for_whoever_asks_for_it() {
    let launch = Launch::new(HOTSEAT)
        .serving("agent.yaml")
        .with_file("agent.yaml", "name: desk\ninstructions: x\n")
        .argument("--open");
    // Without a desktop they are told why it is not.
    let stderr = started(&launch).await.signal("TERM").stderr;
    assert!(stderr.contains("the page was not opened: there is no desktop here"), "{stderr}");

    // With one, its opener gets the link, also where stdout is not a terminal.
    let folder = launch.folder().to_owned();
    let opened = folder.join("opened");
    assert!(Command::new("mkfifo").arg(&opened).status().unwrap().success());
    let script = format!("#!/bin/sh\necho \"$1\" > '{}'\n", opened.display());
    let launch = launch.with_file("xdg-open", &script);
    std::fs::set_permissions(folder.join("xdg-open"), Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
    let launch = launch.variable("PATH", &path).variable("DISPLAY", ":0");
    let hotseat = started(&launch).await;
    let read = tokio::task::spawn_blocking(|| std::fs::read_to_string(opened));
    let link = soon("the opener's note", read).await.unwrap().unwrap();
    assert_eq!(link.trim_end(), hotseat.link);
}

#[test]
fn a_taken_port_is_named() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let launch = Launch::new(HOTSEAT)
        .serving("agent.yaml")
        .with_file("agent.yaml", "name: desk\ninstructions: x\n")
        .argument("--port")
        .argument(&port);
    let words = [&format!("error: port {port} on 127.0.0.1 is in use\n"), "hint: ", "--port"];
    assert_refused(&launch.run(), &words);
}

#[test]
fn a_file_with_a_mistake_is_refused_with_its_line_and_a_hint() {
    let launch = || Launch::new(HOTSEAT).serving("agent.yaml");
    let missing = launch().with_file(
        "agent.yaml",
        "name: desk\ninstructions: x\nmodel:\n  provider: openai\n  name: small\n  api_key: ${DESK_KEY}\n",
    );
    let words = ["error: agent.yaml:6:", "`DESK_KEY` is not set", "\nhint: set DESK_KEY"];
    assert_refused(&missing.run(), &words);
    let mistyped = launch().with_file("agent.yaml", "name: desk\ninstructions: x\nmodle: {}\n");
    assert_refused(&mistyped.run(), &["error: agent.yaml:3:1: ", "`modle`", "model"]);
    assert_refused(&launch().run(), &["error: there is no file agent.yaml\n", "hint: "]);
}

#[test]
fn a_collector_that_cannot_be_reached_at_all_is_refused() {
    let launch = Launch::new(HOTSEAT)
        .serving("agent.yaml")
        .with_file("agent.yaml", "name: desk\ninstructions: x\n")
        .argument("--otlp-endpoint=https://collector.example:4317");
    assert_refused(&launch.run(), &["https://collector.example:4317", "without TLS", "hint: "]);
}

#[tokio::test]
async fn only_what_is_asked_for_is_offered() {
    let provider = Provider::start(Script::always(Reply::text("Hello."))).await;
    let chat = json!({"message": "Hi"});
    let agui = json!({"threadId": "t", "runId": "r", "messages": [{"id": "m", "role": "user", "content": "Hi"}]});

    let rest = started(&desk(&provider).argument("--protocol=rest")).await;
    rest.api.post("/agent/desk/chat", &chat).await.json(200);
    rest.api.post("/ag-ui/desk", &agui).await.problem(404, "not_found");
    rest.api.get("/ag-ui/desk/capabilities").await.problem(404, "not_found");
    let stderr = rest.signal("TERM").stderr;
    assert!(!stderr.contains("AG-UI") && stderr.contains("REST"), "{stderr}");

    let front_ends = started(&desk(&provider).argument("--protocol=ag-ui")).await;
    assert_eq!(front_ends.api.post("/ag-ui/desk", &agui).await.status, 200);
    for path in ["chat", "chat/stream", "chat/multipart", "chat/stream/multipart"] {
        let refused = front_ends.api.post(&format!("/agent/desk/{path}"), &chat).await;
        let problem = refused.problem(404, "not_found");
        assert!(problem["detail"].as_str().unwrap().contains("--protocol both"), "{problem}");
    }
    let deleted = front_ends.api.delete("/sessions/01ARZ3NDEKTSV4RRFFQ69G5FAV").await;
    deleted.problem(404, "not_found");
    let stderr = front_ends.signal("TERM").stderr;
    assert!(stderr.contains("AG-UI") && !stderr.contains("curl"), "{stderr}");
}

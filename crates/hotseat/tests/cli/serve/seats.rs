//! Who sits in the seat: `--seat`, the agent's file, and `[seats]` of `hotseat.toml`.

use serde_json::json;

use hotseat_testkit::providers::{Provider, Reply, Script};
use hotseat_testkit::{HotseatProcess, Launch, ScriptedWorker};

use super::{assert_refused, desk, started};
use crate::HOTSEAT;

/// An EvalSet in which one question has one answer.
fn recording(asked: &str, answered: &str) -> String {
    let said = |role: &str, text: &str| json!({"role": role, "parts": [{"text": text}]});
    json!({"eval_set_id": "s", "eval_cases": [{"eval_id": "one", "conversation": [
        {"user_content": said("user", asked), "final_response": said("model", answered)},
    ]}]})
    .to_string()
}

/// What is answered to a message.
async fn answer(hotseat: &HotseatProcess, agent: &str, text: &str) -> String {
    let path = format!("/agent/{agent}/chat");
    let answer = hotseat.api.post(&path, &json!({"message": text})).await.json(200);
    answer["content"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn the_command_line_goes_before_the_agents_file() {
    let provider = Provider::start(Script::always(Reply::text("The model."))).await;
    let launch = desk(&provider).with_file("set.json", &recording("2 + 3?", "5"));
    let file = launch.folder().join("agent.yaml");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, format!("seat: 'replay:set.json'\n{text}")).unwrap();
    let hotseat = started(&launch).await;
    assert_eq!(answer(&hotseat, "desk", "2 + 3?").await, "5");
    drop(hotseat);
    let hotseat = started(&launch.argument("--seat=model")).await;
    assert_eq!(answer(&hotseat, "desk", "2 + 3?").await, "The model.");
}

#[tokio::test]
async fn agents_have_seats_and_recordings_of_their_own_in_hotseat_toml() {
    let provider = Provider::start(Script::always(Reply::text("The model."))).await;
    let launch = desk(&provider)
        .with_file("sums.json", &recording("2 + 3?", "5"))
        .with_file("hotseat.toml", "[seats]\ndesk = \"replay:sums.json\"\n");
    // For its agent it goes before the flag, which is for all.
    let hotseat = started(&launch.argument("--seat=model")).await;
    assert_eq!(answer(&hotseat, "desk", "2 + 3?").await, "5");
    assert!(provider.asked().is_empty());
}

#[tokio::test]
async fn an_agent_of_a_worker_has_a_recording_of_its_own_too() {
    let launch = Launch::new(HOTSEAT)
        .serving("some_module:agent")
        .argument("--python=false")
        .with_file("sums.json", &recording("2 + 3?", "5"))
        .with_file("hotseat.toml", "[seats]\nmath = \"replay:sums.json\"\n");
    let hotseat = launch.start();
    let mut worker = ScriptedWorker::attach(&hotseat.api, "w", "math").await;
    let api = hotseat.api.clone();
    let asked = tokio::spawn(async move {
        api.post("/agent/math/chat", &json!({"message": "2 + 3?"})).await.status
    });
    let run = worker.run().await;
    assert_eq!(run.seat, "replay");
    worker.end(&run, "finished").await;
    assert_eq!(asked.await.unwrap(), 200);
}

#[test]
fn a_seat_of_no_use_is_refused_with_its_agent() {
    let launch = |seat: &str| {
        Launch::new(HOTSEAT)
            .serving("agent.yaml")
            .with_file("agent.yaml", "name: desk\ninstructions: x\n")
            .with_file("hotseat.toml", &format!("[seats]\ndesk = \"{seat}\"\n"))
    };
    for (seat, words) in [
        ("throne", ["`desk`", "`throne` is no seat", "hint: use human, model or replay:FILE"]),
        ("replay", ["`desk`", "needs a file", "desk = \"replay:FILE\""]),
        ("replay:nowhere.json", ["`desk`", "nowhere.json", "could not be read"]),
        ("human:x", ["`desk`", "takes no file", "hint: "]),
    ] {
        assert_refused(&launch(seat).run(), &words);
    }
}

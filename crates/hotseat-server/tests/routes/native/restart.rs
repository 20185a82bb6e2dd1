//! A server that comes back: what was begun goes on, and nothing happens twice.

use hotseat_core::Seat;
use serde_json::{Value, json};

use hotseat_testkit::providers::{Reply, Script};

use super::desk::{Desk, message, texts, until_turn};
use super::human::{calls, decide, says};

/// Waits until the run of a session is over, and gives the log.
async fn finished(desk: &Desk, session: &str) -> Vec<Value> {
    let path = format!("/api/v1/sessions/{session}/stream");
    let mut log = desk.api().stream(&path).await;
    while desk.api().show(session).await["run"].is_object() {
        log.next().await.expect("the run ends");
    }
    desk.api().events(session).await
}

fn of_kind<'a>(events: &'a [Value], kind: &str) -> Vec<&'a Value> {
    events.iter().filter(|event| event["kind"] == kind).collect()
}

#[tokio::test]
async fn a_turn_that_waits_is_answered_after_a_restart() {
    let desk = Desk::with_person(Script::of([Reply::text("HELLO")])).await;
    let chat = desk.chatting("/agent/desk/chat", message("Shout hello"));
    let before = decide(desk.api(), &calls("shout", &json!({"text": "hello"}))).await;
    let session = before["session_id"].as_str().unwrap();
    let open = until_turn(desk.api()).await;
    let desk = desk.again(|_| {}).await;
    chat.await.unwrap().problem(503, "closing");

    let after = until_turn(desk.api()).await;
    assert_eq!((&after["turn_id"], &after["request"]), (&open["turn_id"], &open["request"]));
    decide(desk.api(), &says("I did.")).await;
    let events = finished(&desk, session).await;
    assert_eq!(of_kind(&events, "request").len(), 2, "nobody is asked twice");
    assert_eq!(desk.provider.asked().len(), 1, "the tool ran once");
    let last = of_kind(&events, "event").last().copied().cloned().unwrap();
    assert!(texts(&last["event"]["content"]).contains("I did."), "{last}");
}

#[tokio::test]
async fn an_answer_that_nobody_could_take_up_is_not_asked_for_again() {
    let desk = Desk::with_person(Script::of([])).await;
    let chat = desk.chatting("/agent/desk/chat", message("Hi"));
    let turn = until_turn(desk.api()).await;
    // The answer is in the log, but the run is not there to see it.
    desk.server.app.close();
    chat.await.unwrap().problem(503, "closing");
    let session = turn["session_id"].as_str().unwrap();
    let id = turn["turn_id"].as_str().unwrap();
    let answered = desk.api().decide(session, id, &says("Hello.")).await;
    assert!(answered.status.is_success(), "{answered:?}");
    let desk = desk.again(|_| {}).await;
    let events = finished(&desk, session).await;
    assert_eq!(of_kind(&events, "request").len(), 1, "nobody is asked twice");
    let last = of_kind(&events, "event").last().copied().cloned().unwrap();
    assert!(texts(&last["event"]["content"]).contains("Hello."), "{last}");
}

#[tokio::test]
async fn a_model_that_was_cut_off_is_asked_again() {
    let script = Script::of([Reply::text("We").then_held(), Reply::text("Hello.")]);
    let model = |config: &mut hotseat_server::Config| config.seats.default = Seat::Model;
    let desk = Desk::told(script, "", model).await;
    let mut stream = desk.stream(&message("Hi")).await;
    let start = stream.next_of("stream_start").await.data();
    stream.next_of("message_delta").await;
    let desk = desk.again(model).await;
    assert_eq!(stream.next_of("error").await.data()["code"], "closing");
    let session = super::uuid_of(&start["session_id"]);
    let events = finished(&desk, &session).await;
    let said = of_kind(&events, "event");
    assert_eq!(said.len(), 2, "the question and one answer: {said:?}");
    assert!(texts(&said[1]["event"]["content"]).contains("Hello."), "{said:?}");
}

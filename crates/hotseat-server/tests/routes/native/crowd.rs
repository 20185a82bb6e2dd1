//! Many at once.

use std::collections::HashSet;

use hotseat_core::Seat;
use serde_json::{Value, json};

use hotseat_testkit::providers::{Reply, Script};

use super::desk::{Desk, message, player, recording, texts};

/// Sessions at a time.
const CROWD: usize = 100;

/// Each in a session of its own: two messages, one after the other. Their answers.
async fn talk(desk: &Desk) -> Vec<(Value, Value)> {
    let talking = (0..CROWD).map(|number| {
        let api = desk.api().clone();
        tokio::spawn(async move {
            let ask = |text: String, session: Value| {
                let api = api.clone();
                async move {
                    let body = json!({"message": text, "session_id": session});
                    api.post("/agent/desk/chat", &body).await.json(200)
                }
            };
            let first = ask(format!("first of <{number}>"), Value::Null).await;
            let second = ask(format!("second of <{number}>"), first["session_id"].clone()).await;
            assert_eq!(first["session_id"], second["session_id"]);
            (first, second)
        })
    });
    let mut answers = Vec::new();
    for talk in talking.collect::<Vec<_>>() {
        answers.push(talk.await.unwrap());
    }
    answers
}

#[tokio::test]
async fn a_hundred_sessions_are_answered_and_none_hears_of_another() {
    let conversations: Vec<_> = (0..CROWD)
        .map(|n| {
            ["first", "second"].map(|nth| (format!("{nth} of <{n}>"), format!("{nth} to <{n}>")))
        })
        .map(Vec::from)
        .collect();
    let player = player(&recording(&conversations));
    let desk = Desk::told(Script::of([]), "", |config| {
        config.seats.default = Seat::Replay;
        config.seats.recording = Some(player);
    })
    .await;
    let answers = talk(&desk).await;
    for (number, (first, second)) in answers.iter().enumerate() {
        assert_eq!(first["content"], format!("first to <{number}>"));
        assert_eq!(second["content"], format!("second to <{number}>"));
    }
    let sessions: HashSet<_> =
        answers.iter().map(|(first, _)| first["session_id"].to_string()).collect();
    assert_eq!(sessions.len(), CROWD);
}

#[tokio::test]
async fn a_model_is_told_of_one_session_at_a_time() {
    let desk = Desk::with_model(Script::always(Reply::text("Yes.")).in_chunks_of(4096)).await;
    let answers = talk(&desk).await;
    assert!(
        answers
            .iter()
            .all(|(first, second)| first["content"] == "Yes." && second["content"] == "Yes.")
    );
    let asked = desk.provider.asked();
    assert_eq!(asked.len(), 2 * CROWD);
    let mut seconds = HashSet::new();
    for asked in asked {
        let said = texts(&asked.body["messages"]);
        let of: HashSet<_> =
            said.split('<').skip(1).map(|rest| rest.split('>').next().unwrap()).collect();
        assert_eq!(of.len(), 1, "{said}");
        if said.contains("second of") {
            assert!(said.contains("first of") && said.contains("Yes."), "{said}");
            seconds.extend(of.into_iter().map(str::to_owned));
        }
    }
    assert_eq!(seconds.len(), CROWD);
}

#[tokio::test]
async fn of_two_messages_at_once_one_is_refused_or_waits() {
    let script =
        Script::of([Reply::text("One.").then_held(), Reply::text("Two."), Reply::text("Three.")]);
    let desk = Desk::with_model(script).await;
    let mut stream = desk.stream(&message("first")).await;
    let session = stream.next_of("stream_start").await.data()["session_id"].clone();
    desk.provider.until_held(1).await;
    let more = |text: &str| json!({"message": text, "session_id": session});
    desk.chat(&more("too early")).await.problem(409, "run_in_progress");
    let waiting = [
        desk.chatting("/agent/desk/chat?queue=true", more("second")),
        desk.chatting("/agent/desk/chat?queue=true", more("third")),
    ];
    desk.provider.release();
    assert_eq!(stream.next_of("stream_end").await.data()["content"], "One.");
    let mut answers = Vec::new();
    for waiting in waiting {
        answers.push(waiting.await.unwrap().json(200)["content"].as_str().unwrap().to_owned());
    }
    answers.sort();
    assert_eq!(answers, ["Three.", "Two."]);
    assert!(!texts(&desk.provider.last_asked().body).contains("too early"));
}

//! Front ends that come in the middle of a run, or come back to it.

use reqwest::Method;
use serde_json::{Value, json};

use hotseat_testkit::proto::{Partial, StartRun};
use hotseat_testkit::{ScriptedWorker, SseReader, TestServer, sample};

use crate::agui::{input, post, rest, say, types, user};

const RUN: &str = "/ag-ui/math/threads/t/runs/r";

async fn tell(worker: &mut ScriptedWorker, run: &StartRun, after: &str, text: &str) {
    let partial = json!({"author": "math", "invocationId": "e-1", "partial": true,
        "content": {"parts": [{"text": text}]}});
    let partial = Partial {
        run_id: run.run_id.clone(),
        session_id: run.session_id.clone(),
        raw_json: partial.to_string().into(),
        after_event_id: after.to_owned(),
    };
    worker.tell(partial).await;
}

fn complete(id: &str, text: &str) -> Value {
    let mut whole = sample::agent_event(id, "math", text);
    whole["invocationId"] = json!("e-1");
    whole
}

/// Reads until this was said, and gives all that came until then.
async fn until_said(stream: &mut SseReader, text: &str) -> Vec<Value> {
    let mut events = Vec::new();
    while said(&events) != text {
        events.push(stream.next().await.expect("more is said").data());
    }
    events
}

fn said(events: &[Value]) -> String {
    let deltas = events.iter().filter(|event| event["type"] == "TEXT_MESSAGE_CONTENT");
    deltas.map(|event| event["delta"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn who_comes_in_the_middle_of_an_answer_gets_what_was_said_of_it_and_the_rest() {
    let server = TestServer::scratch().await;
    let mut worker = ScriptedWorker::attach(&server.api, "w", "math").await;
    let request = input("t", "r", json!([user("m1", "Count")]));
    let mut first = post(&server.api, &request).await;
    let run = worker.run().await;
    say(&mut worker, &run, &complete("a", "I count.")).await;
    for word in ["one ", "two "] {
        tell(&mut worker, &run, "a", word).await;
    }
    until_said(&mut first, "I count.one two ").await;
    // By the run's id, and by the same request again: both have missed the pieces.
    let mut by_id = server.api.stream(RUN).await;
    let mut again = post(&server.api, &request).await;
    let mut seen_by_id = until_said(&mut by_id, "one two ").await;
    let mut seen_again = until_said(&mut again, "I count.one two ").await;
    tell(&mut worker, &run, "a", "three ").await;
    for stream in [&mut first, &mut by_id, &mut again] {
        let next = stream.next().await.unwrap().data();
        assert_eq!(
            (&next["type"], &next["delta"]),
            (&json!("TEXT_MESSAGE_CONTENT"), &json!("three "))
        );
    }
    say(&mut worker, &run, &complete("b", "one two three four")).await;
    worker.end(&run, "finished").await;
    for (stream, seen) in [(&mut by_id, &mut seen_by_id), (&mut again, &mut seen_again)] {
        seen.extend(rest(stream).await);
        assert_eq!(seen.last().unwrap()["type"], "RUN_FINISHED");
        assert!(said(seen).ends_with("one two four"), "{seen:?}");
        let starts = types(seen).iter().filter(|kind| **kind == "TEXT_MESSAGE_START").count();
        assert_eq!(starts, if said(seen).starts_with("I count.") { 2 } else { 1 });
    }
}

#[tokio::test]
async fn an_answer_in_the_log_comes_before_the_pieces_of_the_next() {
    let server = TestServer::scratch().await;
    let mut worker = ScriptedWorker::attach(&server.api, "w", "math").await;
    let request = input("t", "r", json!([user("m1", "Count")]));
    let first = post(&server.api, &request).await;
    let run = worker.run().await;
    for n in 0..20_u32 {
        let before = n.checked_sub(1).map_or(run.run_id.clone(), |n| n.to_string());
        tell(&mut worker, &run, &before, &format!("{n} ")).await;
        say(&mut worker, &run, &complete(&n.to_string(), &format!("{n} "))).await;
    }
    tell(&mut worker, &run, "19", "end").await;
    drop(first);
    let expected: String = (0..20).map(|n| format!("{n} ")).chain(["end".to_owned()]).collect();
    let mut late = post(&server.api, &request).await;
    let events = until_said(&mut late, &expected).await;
    let ids: Vec<_> = events.iter().filter_map(|event| event["messageId"].as_str()).collect();
    assert!(ids.iter().all(|id| !id.contains('~')), "no answer broke off: {ids:?}");
}

#[tokio::test]
async fn a_client_reads_on_from_the_last_event_it_has() {
    let server = TestServer::scratch().await;
    let mut worker = ScriptedWorker::attach(&server.api, "w", "math").await;
    let mut first = post(&server.api, &input("t", "r", json!([user("m1", "Count")]))).await;
    let run = worker.run().await;
    say(&mut worker, &run, &complete("a", "one")).await;
    let place = loop {
        let message = first.next().await.unwrap();
        if let Some(id) = message.id.clone() {
            break id;
        }
    };
    drop(first);
    say(&mut worker, &run, &complete("b", "two")).await;
    worker.end(&run, "finished").await;
    let from = |place: &str| {
        server.api.request(Method::GET, RUN).header("last-event-id", place.to_owned())
    };
    let mut stream = server.api.stream_with(from(&place)).await;
    let (mut events, mut last) = (Vec::new(), place);
    while let Some(message) = stream.next().await {
        last = message.id.clone().unwrap_or(last);
        events.push(message.data());
    }
    assert_eq!(said(&events), "two", "{events:?}");
    let types = types(&events);
    assert!(!types.contains(&"RUN_STARTED") && !types.contains(&"MESSAGES_SNAPSHOT"), "{types:?}");
    assert_eq!(*types.last().unwrap(), "RUN_FINISHED");
    assert_eq!(server.api.send(from(&last)).await.status, 204, "there is no more");
    // A place that is none of this run's is as good as none.
    for odd in ["0", "999", "x"] {
        let whole = rest(&mut server.api.stream_with(from(odd)).await).await;
        assert_eq!(whole[0]["type"], "RUN_STARTED", "{odd}");
        assert_eq!(whole.last().unwrap()["type"], "RUN_FINISHED", "{odd}");
    }
}

#[tokio::test]
async fn a_run_that_is_taken_up_still_knows_the_run_that_led_to_it_and_how_it_is_to_end() {
    let server = TestServer::scratch().await;
    let mut worker = ScriptedWorker::attach(&server.api, "w", "math").await;
    let mut request = input("t", "r", json!([user("m1", "Delete it")]));
    request["parentRunId"] = json!("r0");
    request["forwardedProps"] = json!({"interrupts": true});
    let mut stream = post(&server.api, &request).await;
    let run = worker.run().await;
    let mut taken_up = server.api.stream(RUN).await;
    let ask = json!({"id": "1", "author": "math", "invocationId": "e", "longRunningToolIds": ["q1"],
        "content": {"role": "model", "parts": [{"functionCall": {"id": "q1", "name": "pick", "args": {}}}]}});
    say(&mut worker, &run, &ask).await;
    worker.end(&run, "finished").await;
    let all = [rest(&mut stream).await, rest(&mut taken_up).await];
    let over = rest(&mut server.api.stream(RUN).await).await;
    for events in all.iter().chain([&over]) {
        let (first, end) = (&events[0], events.last().unwrap());
        assert_eq!((&first["type"], &first["parentRunId"]), (&json!("RUN_STARTED"), &json!("r0")));
        assert_eq!(end["outcome"]["interrupts"][0]["id"], "q1", "{end}");
    }
}

#[tokio::test]
async fn a_stream_in_which_nothing_happens_is_kept_alive() {
    let server = TestServer::scratch().await;
    let mut worker = ScriptedWorker::attach(&server.api, "w", "math").await;
    let request = input("t", "r", json!([user("m1", "Think")]));
    let request = server.api.request(Method::POST, "/ag-ui/math").json(&request);
    let mut answer = request.send().await.unwrap();
    worker.run().await;
    let first = answer.chunk().await.unwrap().unwrap();
    assert!(first.starts_with(b"data: {\"type\":\"RUN_STARTED\""), "{first:?}");
    tokio::time::pause();
    let began = tokio::time::Instant::now();
    assert_eq!(&answer.chunk().await.unwrap().unwrap()[..], b":\n\n");
    assert!(began.elapsed().as_secs() >= 14, "{:?}", began.elapsed());
}

//! What a front end sent before, and sends again: nothing of it is run twice.

use futures_util::future::join_all;
use hotseat_testkit::proto::{AppendEventsRequest, NewEvent};
use hotseat_testkit::{Api, ScriptedWorker, TestServer};
use reqwest::Method;
use serde_json::{Value, json};

use crate::agui::{input, post, rest, types, user};

/// Threads in which several front ends talk at once.
const THREADS: usize = 12;

/// Sends requests that overlap to all these servers at once, to one thread after the other: each
/// message must be said once. Some come twice, as from a front end that tries again.
pub(crate) async fn say_at_once(apis: &[&Api], mut worker: ScriptedWorker) {
    let working = tokio::spawn(async move {
        loop {
            let run = worker.run().await;
            worker.end(&run, "finished").await;
        }
    });
    for n in 0..THREADS {
        let thread = format!("t{n}");
        // In half of them nothing was said before.
        if n % 2 == 0 {
            rest(&mut post(apis[0], &input(&thread, "first", json!([user("m0", "m0")]))).await)
                .await;
        }
        let requests = (0..3).flat_map(|last| apis.iter().map(move |api| (last, *api)));
        let all = requests.flat_map(|request| [request, request]).enumerate();
        let streams = all.map(|(number, (last, api))| {
            let said: Vec<Value> =
                (0..=last + 1).map(|m| user(&format!("m{m}"), &format!("m{m}"))).collect();
            let request = input(&thread, &format!("r{number}"), said);
            async move {
                let request = api.request(Method::POST, "/ag-ui/math?queue=true").json(&request);
                let events = rest(&mut api.stream_with(request).await).await;
                assert_eq!(*types(&events).last().unwrap(), "RUN_FINISHED", "{events:?}");
            }
        });
        join_all(streams).await;
        assert_eq!(said_in(apis[0], &thread).await, ["m0", "m1", "m2", "m3"], "thread {n}");
    }
    working.abort();
}

/// What was said in a thread, one message after the other.
async fn said_in(api: &Api, thread: &str) -> Vec<String> {
    let view = api.get(&format!("/ag-ui/math/threads/{thread}")).await.json(200);
    let log = api.events(view["sessionId"].as_str().unwrap()).await;
    let runs = log.iter().filter(|entry| entry["event"]["status"] == "queued");
    let parts = runs.flat_map(|run| run["event"]["message"]["parts"].as_array().unwrap());
    parts.map(|part| part["text"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn messages_that_come_at_once_in_requests_that_overlap_are_each_said_once() {
    let server = TestServer::sqlite().await;
    let worker = ScriptedWorker::attach(&server.api, "w", "math").await;
    say_at_once(&[&server.api], worker).await;
}

#[tokio::test]
async fn who_queues_is_answered_when_the_run_before_has_ended() {
    let server = TestServer::scratch().await;
    let mut worker = ScriptedWorker::attach(&server.api, "w", "math").await;
    let first = input("t", "r", json!([user("m1", "one")]));
    let mut stream = post(&server.api, &first).await;
    let run = worker.run().await;
    let both = input("t", "r2", json!([user("m1", "one"), user("m2", "two")]));
    server.api.post("/ag-ui/math", &both).await.problem(409, "run_in_progress");
    // In the address, or in what the application adds.
    let mut third =
        input("t", "r3", json!([user("m1", "one"), user("m2", "two"), user("m3", "three")]));
    third["forwardedProps"] = json!({"queue": true});
    let by_address = server.api.request(Method::POST, "/ag-ui/math?queue=true").json(&both);
    let api = server.api.clone();
    let queued = tokio::spawn(async move { rest(&mut api.stream_with(by_address).await).await });
    worker.end(&run, "finished").await;
    rest(&mut stream).await;
    let run = worker.run().await;
    let api = server.api.clone();
    let by_props = tokio::spawn(async move { rest(&mut post(&api, &third).await).await });
    worker.end(&run, "finished").await;
    let last = worker.run().await;
    worker.end(&last, "finished").await;
    for (stream, run) in [(queued, "r2"), (by_props, "r3")] {
        let end = stream.await.unwrap().pop().unwrap();
        assert_eq!((&end["type"], &end["runId"]), (&json!("RUN_FINISHED"), &json!(run)));
    }
    assert_eq!(said_in(&server.api, "t").await, ["one", "two", "three"]);
}

#[tokio::test]
async fn what_was_said_long_ago_is_not_said_again() {
    let server = TestServer::scratch().await;
    let mut worker = ScriptedWorker::attach(&server.api, "w", "math").await;
    let mut stream = post(&server.api, &input("t", "r1", json!([user("m1", "one")]))).await;
    let run = worker.run().await;
    worker.end(&run, "finished").await;
    rest(&mut stream).await;
    // So many runs that nobody looks back to the first.
    let entry = |n| NewEvent {
        kind: "run".to_owned(),
        event_id: format!("long-ago-{n}"),
        raw_json: json!({"run_id": format!("long-ago-{n}"), "status": "finished"})
            .to_string()
            .into(),
        agent_name: "math".to_owned(),
        ..NewEvent::default()
    };
    let (session_id, worker_id) = (run.session_id.clone(), "w".to_owned());
    let request =
        AppendEventsRequest { session_id, events: (0..1000).map(entry).collect(), worker_id };
    worker.grpc.sessions.append_events(request).await.unwrap();
    let answered = json!({"id": "a1", "role": "assistant", "content": "long ago"});
    let all = [user("m1", "one"), answered, user("m2", "two"), user("m3", "three")];
    for (run_id, sent, text) in [("r2", &all[2..3], "two"), ("r3", &all, "three")] {
        let mut stream = post(&server.api, &input("t", run_id, sent)).await;
        let run = worker.run().await;
        let message: Value = serde_json::from_slice(&run.message_json).unwrap();
        assert_eq!(message["parts"], json!([{"text": text}]), "only what is new");
        worker.end(&run, "finished").await;
        rest(&mut stream).await;
    }
}

//! Several servers over one PostgreSQL: it does not matter which of them one talks to.

use hotseat_store::{Limits, Store};
use hotseat_testkit::proto::{Partial, Register, StartRun};
use hotseat_testkit::{Api, ScriptedWorker, SseReader, TestDatabase, TestServer, sample, soon};
use serde_json::{Value, json};
use tonic::Code;

use crate::agui::{input, post, rest, say, types, user};
use crate::agui_known::say_at_once;

/// Servers that know of each other.
struct Servers {
    all: Vec<TestServer>,
    /// By which they know of each other.
    _markers: Vec<ScriptedWorker>,
    _database: TestDatabase,
}

impl Servers {
    async fn start(count: usize) -> Self {
        let database = TestDatabase::create();
        let (mut all, mut markers) = (Vec::new(), Vec::new());
        for n in 0..count {
            let store = Store::postgres(&database.url(), Limits::default()).await.unwrap();
            let server = TestServer::over(store).await;
            markers.push(ScriptedWorker::attach(&server.api, &marker(n), &marker(n)).await);
            all.push(server);
        }
        for server in &all {
            for n in 0..count {
                server.api.until_connected(&marker(n), true).await;
            }
        }
        Self { all, _markers: markers, _database: database }
    }

    fn api(&self, n: usize) -> &Api {
        &self.all[n].api
    }

    /// A worker of the agent `math` at one server, once all of them know.
    async fn worker(&self, at: usize) -> ScriptedWorker {
        let worker = ScriptedWorker::attach(self.api(at), "w", "math").await;
        for server in &self.all {
            server.api.until_connected("math", true).await;
        }
        worker
    }
}

fn marker(n: usize) -> String {
    format!("marker{n}")
}

fn partial(run: &StartRun, text: &str) -> Partial {
    let event = json!({"author": "math", "invocationId": "e-1", "partial": true,
        "content": {"parts": [{"text": text}]}});
    Partial {
        run_id: run.run_id.clone(),
        session_id: run.session_id.clone(),
        raw_json: event.to_string().into(),
        ..Partial::default()
    }
}

fn complete(id: &str, text: &str) -> Value {
    let mut whole = sample::agent_event(id, "math", text);
    whole["invocationId"] = json!("e-1");
    whole
}

fn said(events: &[Value]) -> String {
    let deltas = events.iter().filter(|event| event["type"] == "TEXT_MESSAGE_CONTENT");
    deltas.map(|event| event["delta"].as_str().unwrap()).collect()
}

async fn until_said(stream: &mut SseReader, text: &str) -> Vec<Value> {
    let mut events = Vec::new();
    while said(&events) != text {
        events.push(stream.next().await.expect("more is said").data());
    }
    events
}

async fn until_run_is_over(api: &Api, session: &str) {
    soon("the end of the run", async { while api.show(session).await["run"].is_object() {} }).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_at_one_server_a_person_at_another_and_a_front_end_at_a_third() {
    let servers = Servers::start(3).await;
    let mut worker = servers.worker(0).await;
    let request = input("t", "r", json!([user("m1", "2 + 3?")]));
    let mut stream = post(servers.api(2), &request).await;
    let run = worker.run().await;
    worker.begin(&run).await.unwrap();
    let turn = worker.grpc.ask(&run.session_id).await;
    let answered = async {
        loop {
            let pending = servers.api(1).pending(&run.session_id).await;
            if pending.first().is_some_and(|first| first["turn_id"] == turn.as_str()) {
                return servers.api(1).decide(&run.session_id, &turn, &sample::says("5")).await;
            }
        }
    };
    soon("the turn at another server", answered).await.json(200);
    worker.tell(partial(&run, "It ")).await;
    worker.tell(partial(&run, "is ")).await;
    let mut events = until_said(&mut stream, "It is ").await;
    say(&mut worker, &run, &complete("a", "It is 5.")).await;
    worker.end(&run, "finished").await;
    events.extend(rest(&mut stream).await);
    assert_eq!(said(&events), "It is 5.");
    let types = types(&events);
    assert_eq!((types[0], types[types.len() - 1]), ("RUN_STARTED", "RUN_FINISHED"));
    until_run_is_over(servers.api(1), &run.session_id).await;
    let log = servers.api(0).events(&run.session_id).await;
    assert_eq!(log, servers.api(1).events(&run.session_id).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_waits_is_taken_where_a_worker_comes() {
    let servers = Servers::start(2).await;
    let worker = servers.worker(0).await;
    let session = servers.api(1).session_with(&json!({"agent": "math"})).await;
    drop(worker);
    servers.api(1).until_connected("math", false).await;
    servers.api(1).query(&session, "2 + 3?").await.problem(409, "no_worker");
    let mut worker = servers.worker(0).await;
    servers.api(1).query(&session, "2 + 3?").await.json(202);
    let run = worker.run().await;
    assert_eq!((run.session_id.as_str(), run.resume), (session.as_str(), false));
    drop(worker);
    // It never began, so another begins it.
    let mut other = ScriptedWorker::attach(servers.api(1), "other", "math").await;
    let again = other.run().await;
    assert_eq!((again.run_id, again.resume), (run.run_id, false));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_that_goes_to_another_server_keeps_its_run() {
    let servers = Servers::start(2).await;
    let mut worker = servers.worker(0).await;
    let session = servers.api(0).session_with(&json!({"agent": "math"})).await;
    servers.api(0).query(&session, "2 + 3?").await.json(202);
    let run = worker.run().await;
    worker.begin(&run).await.unwrap();
    drop(worker);
    let again = Register {
        active_run_ids: vec![run.run_id.clone()],
        ..ScriptedWorker::registering("w", "math")
    };
    let mut worker = ScriptedWorker::attach_as(servers.api(1), again).await.unwrap();
    // Were it handed out again or cancelled, this worker would hear of that before the next run.
    worker.end(&run, "finished").await;
    until_run_is_over(servers.api(0), &session).await;
    servers.api(0).until_connected("math", true).await;
    servers.api(0).query(&session, "And 3 + 4?").await.json(202);
    let next = worker.run().await;
    assert_ne!(next.run_id, run.run_id);
    let log = servers.api(0).events(&session).await;
    let ends = log.iter().filter(|event| event["event"]["status"] == "finished").count();
    assert_eq!(ends, 1, "{log:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_that_comes_back_too_late_is_told_to_stop_and_its_end_does_not_count() {
    let servers = Servers::start(2).await;
    let mut worker = servers.worker(0).await;
    let session = servers.api(0).session_with(&json!({"agent": "math"})).await;
    servers.api(0).query(&session, "2 + 3?").await.json(202);
    let run = worker.run().await;
    worker.begin(&run).await.unwrap();
    drop(worker);
    let mut other = ScriptedWorker::attach(servers.api(1), "other", "math").await;
    let taken = other.run().await;
    assert_eq!((&taken.run_id, taken.resume), (&run.run_id, true));
    let again = Register {
        active_run_ids: vec![run.run_id.clone()],
        ..ScriptedWorker::registering("w", "math")
    };
    let mut worker = ScriptedWorker::attach_as(servers.api(0), again).await.unwrap();
    let told = worker.cancellation().await;
    assert_eq!((told.run_id, told.taken_over), (run.run_id.clone(), true));
    worker.end(&run, "cancelled").await;
    let late = sample::agent_event("late", "math", "5");
    let refused = worker.append(&run, "event", "late", &late).await.unwrap_err();
    assert_eq!(refused.code(), Code::Aborted, "{refused:?}");
    let said = sample::agent_event("said", "math", "5");
    other.append(&taken, "event", "said", &said).await.unwrap();
    other.end(&taken, "finished").await;
    until_run_is_over(servers.api(0), &session).await;
    let refused = worker.append(&run, "event", "late", &late).await.unwrap_err();
    assert_eq!(refused.code(), Code::Aborted, "also when it is over: {refused:?}");
    let log = servers.api(0).events(&session).await;
    assert!(log.iter().all(|event| event["event_id"] != "late"), "{log:?}");
    let last = log.last().unwrap();
    assert_eq!((&last["kind"], &last["event"]["status"]), (&json!("run"), &json!("finished")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_is_cancelled_from_any_server() {
    let servers = Servers::start(2).await;
    let mut worker = servers.worker(0).await;
    let session = servers.api(1).session_with(&json!({"agent": "math"})).await;
    servers.api(1).query(&session, "2 + 3?").await.json(202);
    let run = worker.run().await;
    let path = format!("/api/v1/sessions/{session}/cancel");
    assert_eq!(servers.api(1).post(&path, &json!({})).await.status, 202);
    assert_eq!(worker.cancellation().await.run_id, run.run_id);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_comes_to_another_server_in_the_middle_of_an_answer_gets_all_of_it_once() {
    let servers = Servers::start(2).await;
    let mut worker = servers.worker(0).await;
    let request = input("t", "r", json!([user("m1", "Count")]));
    let mut here = post(servers.api(0), &request).await;
    let run = worker.run().await;
    for word in ["one ", "two "] {
        worker.tell(partial(&run, word)).await;
    }
    until_said(&mut here, "one two ").await;
    let mut there = servers.api(1).stream("/ag-ui/math/threads/t/runs/r").await;
    let mut seen = until_said(&mut there, "one two ").await;
    worker.tell(partial(&run, "three ")).await;
    seen.extend(until_said(&mut there, "three ").await);
    say(&mut worker, &run, &complete("a", "one two three four")).await;
    worker.end(&run, "finished").await;
    seen.extend(rest(&mut there).await);
    assert_eq!(said(&seen), "one two three four");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_is_asked_from_any_server() {
    let servers = Servers::start(2).await;
    let mut worker = servers.worker(0).await;
    let session = servers.api(1).session_with(&json!({"agent": "math"})).await;
    let path = format!("/api/v1/sessions/{session}/artifacts");
    let api = servers.api(1).clone();
    let asking = tokio::spawn(async move { api.get(&path).await });
    let (ask, _) = worker.asked("artifacts").await;
    // More than servers can tell each other.
    let long = "x".repeat(20_000);
    let listed = json!({"items": [{"name": long}]});
    worker.answer(&ask, &listed).await;
    let answer = soon("an answer", asking).await.unwrap();
    assert_eq!(answer.json(200)["items"][0]["name"], long);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn those_in_a_room_see_each_other_wherever_they_are() {
    let servers = Servers::start(2).await;
    let ada = servers.all[0].member("ada", "developer").await;
    let bob = servers.all[0].member("bob", "developer").await;
    let bob = Api::new(servers.api(1).url.clone(), bob.token);
    let session = ada.session().await;
    let turn = servers.api(0).grpc().await.ask(&session).await;
    let path = |rest: &str| format!("/api/v1/sessions/{session}/{rest}");
    let mut at_ada = ada.stream(&path("stream")).await;
    at_ada.next_of("history_complete").await;
    let mut at_bob = bob.stream(&path("stream")).await;
    let both = |news: &Value| {
        let here = news["present"].as_array().unwrap();
        here.len() == 2 && here.contains(&json!("ada")) && here.contains(&json!("bob"))
    };
    news(&mut at_ada, both).await;
    news(&mut at_bob, both).await;
    assert_eq!(bob.post(&path("typing"), &json!({})).await.status, 204);
    news(&mut at_ada, |news| news["typing"] == json!(["bob"])).await;
    ada.put(&path(&format!("turns/{turn}/claim")), &json!({})).await.json(200);
    news(&mut at_bob, |news| news["claims"][0]["holder"] == "ada").await;
    drop(at_bob);
    news(&mut at_ada, |news| news["present"] == json!(["ada"])).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn messages_that_come_to_several_servers_at_once_are_each_said_once() {
    let servers = Servers::start(2).await;
    let worker = servers.worker(0).await;
    say_at_once(&[servers.api(0), servers.api(1)], worker).await;
}

/// News of a room until they are as wanted.
async fn news(stream: &mut SseReader, wanted: impl Fn(&Value) -> bool) {
    loop {
        let message = stream.next_of("room").await;
        if wanted(&message.data()) {
            return;
        }
    }
}

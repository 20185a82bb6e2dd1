//! Several servers over one PostgreSQL, killed and restarted under those who use them.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use hotseat_testkit::{
    Api, HotseatProcess, Launch, ScriptedWorker, SseReader, TestDatabase, sample, soon,
};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tonic::Code;

use crate::HOTSEAT;

/// One that all servers share.
const TOKEN: &str = "token-of-all-replicas";

const DESK: &str = "name: desk\ninstructions: You help at the desk.\n";

/// How many writers write while servers restart.
const WRITERS: usize = 3;

/// What each of them writes between two restarts, at least.
const ENOUGH: usize = 20;

fn over(database: &TestDatabase) -> Launch {
    Launch::new(HOTSEAT)
        .variable("HOTSEAT_STORE", &database.url())
        .variable("HOTSEAT_TOKEN", TOKEN)
        .with_file("agent.yaml", DESK)
}

fn hosting(database: &TestDatabase) -> Launch {
    over(database).argument("agent.yaml")
}

/// A message of a front end.
async fn say(api: &Api, thread: &str, text: &str) -> SseReader {
    let input = json!({"threadId": thread, "runId": "r", "state": {}, "tools": [], "context": [],
        "forwardedProps": {}, "messages": [{"id": "m", "role": "user", "content": text}]});
    api.stream_with(api.request(Method::POST, "/ag-ui/desk").json(&input)).await
}

/// The log of a session, once it is known to be without gaps, and how often each kind is there.
async fn log_of(api: &Api, session: &str) -> Vec<Value> {
    let log = api.events(session).await;
    let places: Vec<u64> = log.iter().map(|event| event["seq"].as_u64().unwrap()).collect();
    assert_eq!(places, (1..=log.len() as u64).collect::<Vec<_>>());
    log
}

fn count(log: &[Value], kind: &str) -> usize {
    log.iter().filter(|event| event["kind"] == kind).count()
}

/// The text that a front end was shown, and whether the run finished.
async fn shown(mut stream: SseReader) -> (String, Option<String>) {
    let (mut text, mut last) = (String::new(), None);
    while let Some(message) = stream.next().await {
        let event = message.data();
        text.push_str(event["delta"].as_str().unwrap_or_default());
        last = event["type"].as_str().map(str::to_owned);
    }
    (text, last)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_server_goes_on_with_the_run_of_one_that_was_killed() {
    let database = TestDatabase::create();
    let (mut works, front) = (hosting(&database).start(), over(&database).start());
    front.api.until_connected("desk", true).await;
    // A front end talks to one server, and another runs the agent.
    let stream = say(&front.api, "t", "Hi").await;
    let watched = tokio::spawn(shown(stream));
    let person = hosting(&database).start();
    let (session, turn) = person.api.until_turn().await;
    let before = log_of(&person.api, &session).await;
    works.kill();
    // The answer is taken while nobody is there to go on with it.
    person.api.decide(&session, &turn, &sample::says("Hello.")).await.json(200);
    let shown = watched.await.unwrap();
    assert_eq!(shown, ("Hello.".to_owned(), Some("RUN_FINISHED".to_owned())));
    let log = log_of(&front.api, &session).await;
    assert_eq!(log[..before.len()], before[..], "what was there is there still");
    assert_eq!((count(&log, "request"), count(&log, "response")), (1, 1), "{log:?}");
    let ends = log.iter().filter(|event| event["event"]["status"] == "finished").count();
    assert_eq!(ends, 1, "{log:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_was_paused_leaves_its_run_to_the_one_that_took_it_over() {
    let database = TestDatabase::create();
    let (paused, front) = (hosting(&database).start(), over(&database).start());
    front.api.until_connected("desk", true).await;
    let watched = tokio::spawn(shown(say(&front.api, "t", "Hi").await));
    let (session, turn) = front.api.until_turn().await;
    let other = hosting(&database).start();
    other.api.until_connected("desk", true).await;
    paused.send_signal("STOP");
    other.api.decide(&session, &turn, &sample::says("Hello.")).await.json(200);
    let shown = watched.await.unwrap();
    assert_eq!(shown, ("Hello.".to_owned(), Some("RUN_FINISHED".to_owned())));
    let log = log_of(&other.api, &session).await;
    paused.send_signal("CONT");
    // It finds the answer that it waited for, and that the run is not its own any more. By the
    // time it takes the next one it has looked.
    other.signal("TERM");
    let next = paused.api.session_with(&json!({"agent": "desk"})).await;
    paused.api.query(&next, "Are you there?").await.json(202);
    assert_eq!(front.api.until_turn().await.0, next);
    assert_eq!(log_of(&paused.api, &session).await, log);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_of_a_server_that_was_paused_writes_nothing_of_a_run_that_was_taken_over() {
    let database = TestDatabase::create();
    let (paused, other) = (over(&database).start(), over(&database).start());
    let mut slow = ScriptedWorker::attach(&paused.api, "slow", "math").await;
    other.api.until_connected("math", true).await;
    let session = other.api.session_with(&json!({"agent": "math"})).await;
    other.api.query(&session, "2 + 3?").await.json(202);
    let run = slow.run().await;
    slow.begin(&run).await.unwrap();
    paused.send_signal("STOP");
    let mut quick = ScriptedWorker::attach(&other.api, "quick", "math").await;
    let taken = quick.run().await;
    assert_eq!((&taken.run_id, taken.resume), (&run.run_id, true));
    // It is sent while the server sleeps, and is the first thing that it reads.
    let late = sample::agent_event("late", "math", "5");
    let (refused, ()) = tokio::join!(slow.append(&run, "event", "late", &late), async {
        paused.send_signal("CONT");
    });
    assert_eq!(refused.unwrap_err().code(), Code::Aborted);
    let said = sample::agent_event("said", "math", "5");
    quick.append(&taken, "event", "said", &said).await.unwrap();
    let log = log_of(&other.api, &session).await;
    assert_eq!(log.last().unwrap()["event_id"], "said", "{log:?}");
}

/// The servers, as those who use them know them.
#[derive(Clone)]
struct Doors(Arc<Mutex<Vec<Api>>>);

impl Doors {
    fn nth(&self, n: usize) -> Api {
        let doors = self.0.lock().unwrap();
        doors[n % doors.len()].clone()
    }
}

/// Writes events until it is told to stop. What one server does not take goes to the next, with
/// the same id. Gives the ids of all that were acknowledged.
async fn write(
    doors: Doors,
    session: String,
    writer: usize,
    stop: watch::Receiver<bool>,
    written: watch::Sender<usize>,
) -> Vec<String> {
    let mut acknowledged = Vec::new();
    let mut door = writer;
    while !*stop.borrow() {
        let id = format!("w{writer}-{}", acknowledged.len());
        let event = sample::agent_event(&id, "root", "…");
        soon("an event to be taken", async {
            loop {
                let api = doors.nth(door);
                let path = format!("/api/v1/sessions/{session}/events");
                let request = api.request(Method::POST, &path).json(&event);
                match api.try_send(request).await {
                    Ok(answer) if answer.status == 201 => return,
                    // It stops, or is gone.
                    Ok(answer) if answer.status == 503 => door += 1,
                    Ok(answer) => panic!("{answer:?}"),
                    Err(_) => door += 1,
                }
            }
        })
        .await;
        acknowledged.push(id);
        written.send_modify(|written| *written += 1);
    }
    acknowledged
}

/// Follows a session from server to server until it has seen `last`, and gives the places it saw.
async fn follow(doors: Doors, session: String, mut last: watch::Receiver<Option<u64>>) -> Vec<u64> {
    let mut seen = Vec::<u64>::new();
    let over =
        |seen: &[u64], last: Option<u64>| last.is_some_and(|last| seen.last() >= Some(&last));
    for door in 0.. {
        let api = doors.nth(door);
        let after = seen.last().copied().unwrap_or_default();
        let path = format!("/api/v1/sessions/{session}/stream");
        let request = api.request(Method::GET, &path).header("last-event-id", after.to_string());
        let Some(mut stream) = api.try_stream(request).await else { continue };
        loop {
            if over(&seen, *last.borrow_and_update()) {
                return seen;
            }
            tokio::select! {
                message = stream.next() => match message {
                    Some(message) if message.event == "event" => seen.push(message.seq()),
                    Some(_) => {}
                    None => break,
                },
                _ = last.changed() => {}
            }
        }
    }
    seen
}

/// Restarts a server as a deployment does: told to stop, waited for, started again.
async fn renewed(server: HotseatProcess) -> HotseatProcess {
    tokio::task::spawn_blocking(move || server.renew("TERM")).await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_servers_are_restarted_in_turn_and_nobody_loses_anything() {
    let database = TestDatabase::create();
    let mut servers: Vec<_> = (0..3).map(|_| hosting(&database).start()).collect();
    for server in &servers {
        server.api.until_connected("desk", true).await;
    }
    let doors = Doors(Arc::new(Mutex::new(servers.iter().map(|one| one.api.clone()).collect())));
    // A run whose turn waits all the while.
    let conversation = doors.nth(0).session_with(&json!({"agent": "desk"})).await;
    doors.nth(1).query(&conversation, "Hi").await.json(202);
    let (_, turn) = doors.nth(2).until_turn().await;

    let session = doors.nth(0).session().await;
    let (stop, stopped) = watch::channel(false);
    let (written, mut progress) = watch::channel(0);
    let (end, last) = watch::channel(None);
    let writers: Vec<JoinHandle<_>> = (0..WRITERS)
        .map(|n| {
            let (doors, session, stop) = (doors.clone(), session.clone(), stopped.clone());
            tokio::spawn(write(doors, session, n, stop, written.clone()))
        })
        .collect();
    let follower = tokio::spawn(follow(doors.clone(), session.clone(), last));
    for n in 0..servers.len() {
        let target = *progress.borrow() + WRITERS * ENOUGH;
        soon("writers to write", progress.wait_for(|written| *written >= target)).await.unwrap();
        let server = servers.remove(n);
        servers.insert(n, renewed(server).await);
        doors.0.lock().unwrap()[n] = servers[n].api.clone();
    }
    stop.send_replace(true);
    let mut acknowledged = Vec::new();
    for writer in writers {
        acknowledged.extend(writer.await.unwrap());
    }
    let log = log_of(&doors.nth(1), &session).await;
    end.send_replace(Some(log.len() as u64));
    let seen = soon("the follower to see all", follower).await.unwrap();
    assert_eq!(seen, (1..=log.len() as u64).collect::<Vec<_>>(), "each once and in order");
    assert_eq!(log.len(), acknowledged.len(), "nothing is there twice");
    let ids: HashSet<_> = log.iter().map(|event| event["event_id"].as_str().unwrap()).collect();
    for id in &acknowledged {
        assert!(ids.contains(id.as_str()), "{id} was acknowledged");
    }

    doors.nth(0).decide(&conversation, &turn, &sample::says("Hello.")).await.json(200);
    soon("the run to end", async {
        while doors.nth(2).show(&conversation).await["run"].is_object() {}
    })
    .await;
    let log = log_of(&doors.nth(1), &conversation).await;
    assert_eq!((count(&log, "request"), count(&log, "response")), (1, 1), "{log:?}");
    let last = &log[log.len() - 1];
    assert_eq!(last["event"]["status"], "finished", "{log:?}");
}

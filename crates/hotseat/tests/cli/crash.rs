//! `kill -9` in the middle of everything.
//!
//! Clients write as fast as they can, the program is killed at a random point and
//! started again. What was acknowledged must be there, once and in its place; what
//! was not may be there, but only whole.

use std::collections::{BTreeMap, HashSet};

use hotseat_testkit::{Api, HotseatProcess, Launch, TestDatabase, sample, seeded};
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::HOTSEAT;

const ROUNDS: usize = 6;
const SESSIONS: usize = 3;
const WRITERS: usize = 4;

/// What one client knows when the server is gone.
#[derive(Debug, Default)]
struct Memory {
    /// Events that were acknowledged: session, id, place.
    acknowledged: Vec<(usize, String, u64)>,
    /// Turns that were acknowledged: session, id, place.
    turns: Vec<(usize, String, u64)>,
    /// The append that nobody answered.
    unanswered: Option<(usize, Vec<String>)>,
}

/// Appends one to three events at a time, over HTTP or gRPC, until the server is gone.
async fn write(api: Api, sessions: Vec<String>, name: String, acks: watch::Sender<u64>) -> Memory {
    let mut memory = Memory::default();
    let mut grpc = api.grpc().await;
    let over_http = name.ends_with(['0', '2']);
    for n in 0.. {
        let session = n % SESSIONS;
        let ids: Vec<_> = (0..=n % 3).map(|part| format!("{name}-{n}-{part}")).collect();
        let events: Vec<_> = ids.iter().map(|id| sample::agent_event(id, "root", "…")).collect();
        let last = if over_http {
            let path = format!("/api/v1/sessions/{}/events", sessions[session]);
            let request = api.request("POST".parse().unwrap(), &path).json(&json!(events));
            let answer = api.try_send(request).await.ok();
            answer.and_then(|answer| answer.json(201)["last_seq"].as_u64())
        } else {
            grpc.append(&sessions[session], &events).await.ok()
        };
        let Some(last) = last else {
            memory.unanswered = Some((session, ids));
            break;
        };
        let first = last + 1 - ids.len() as u64;
        memory.acknowledged.extend((first..).zip(ids).map(|(seq, id)| (session, id, seq)));
        acks.send_modify(|acks| *acks += 1);
    }
    memory
}

/// Opens turns until the server is gone.
async fn ask(api: Api, sessions: Vec<String>, round: usize, acks: watch::Sender<u64>) -> Memory {
    let mut memory = Memory::default();
    let mut grpc = api.grpc().await;
    for n in 0.. {
        let session = n % SESSIONS;
        let turn = format!("00000000-0000-4000-8000-{round:06}{n:06}");
        match grpc.submit(&sessions[session], &turn, &sample::llm_request("?")).await {
            Ok(submitted) => memory.turns.push((session, turn, submitted.seq)),
            Err(_) => break,
        }
        acks.send_modify(|acks| *acks += 1);
    }
    memory
}

/// Writes until the server has acknowledged `enough`, and kills it there.
async fn write_and_kill(
    hotseat: &mut HotseatProcess,
    sessions: &[String],
    round: usize,
    enough: u64,
) -> Vec<Memory> {
    let (acks, mut acknowledged) = watch::channel(0);
    let mut clients: Vec<_> = (0..WRITERS)
        .map(|writer| {
            let name = format!("round{round}-writer{writer}");
            tokio::spawn(write(hotseat.api.clone(), sessions.to_vec(), name, acks.clone()))
        })
        .collect();
    clients.push(tokio::spawn(ask(hotseat.api.clone(), sessions.to_vec(), round, acks)));
    hotseat_testkit::soon("acknowledgements", acknowledged.wait_for(|acks| *acks >= enough))
        .await
        .unwrap();
    hotseat.kill();
    let mut memories = Vec::new();
    for client in clients {
        memories.push(client.await.unwrap());
    }
    memories
}

fn place(event: &Value) -> u64 {
    event["seq"].as_u64().unwrap()
}

/// The log of a session by event id, once it is known to be without gaps.
async fn log_of(api: &Api, session: &str) -> BTreeMap<String, u64> {
    let log = api.events(session).await;
    let gapless: Vec<u64> = (1..=log.len() as u64).collect();
    assert_eq!(log.iter().map(place).collect::<Vec<_>>(), gapless);
    assert_eq!(api.show(session).await["last_seq"], log.len());
    let by_id: BTreeMap<_, _> = log
        .iter()
        .map(|event| (event["event_id"].as_str().unwrap().to_owned(), place(event)))
        .collect();
    assert_eq!(by_id.len(), log.len(), "no event is there twice");
    by_id
}

async fn check(api: &Api, sessions: &[String], memories: &[Memory]) {
    for (n, session) in sessions.iter().enumerate() {
        let log = log_of(api, session).await;
        for memory in memories {
            for (_, id, seq) in memory.acknowledged.iter().filter(|(session, ..)| *session == n) {
                assert_eq!(log.get(id), Some(seq), "event {id} was acknowledged");
            }
            if let Some((_, ids)) = memory.unanswered.as_ref().filter(|(session, _)| *session == n)
            {
                let there = ids.iter().filter(|id| log.contains_key(*id)).count();
                assert!(there == 0 || there == ids.len(), "half of an append is there: {ids:?}");
            }
        }
    }
}

/// Every acknowledged turn of a session still waits, in its place in the queue, and
/// the first of them can be answered. Gives the one that was.
async fn check_turns(
    api: &Api,
    session: &str,
    acknowledged: &[(String, u64)],
    answered: &HashSet<String>,
) -> Option<String> {
    let pending = api.pending(session).await;
    let waiting: BTreeMap<_, _> =
        pending.iter().map(|turn| (turn["turn_id"].as_str().unwrap(), place(turn))).collect();
    for (turn, seq) in acknowledged {
        let expected = (!answered.contains(turn)).then_some(seq);
        assert_eq!(waiting.get(turn.as_str()), expected, "turn {turn}");
    }
    assert!(pending.windows(2).all(|pair| place(&pair[0]) < place(&pair[1])));
    assert_eq!(api.show(session).await["pending_turns"], pending.len());
    let head = pending.first()?["turn_id"].as_str().unwrap().to_owned();
    api.decide(session, &head, &sample::says("after the crash")).await.json(200);
    api.decide(session, &head, &sample::says("again")).await.problem(409, "turn_answered");
    Some(head)
}

/// Kills the program again and again, in the middle of everything.
async fn survives(launch: Launch) {
    let mut random = seeded();
    let mut hotseat = launch.start();
    let mut sessions = Vec::new();
    for _ in 0..SESSIONS {
        sessions.push(hotseat.api.session().await);
    }
    let (mut memories, mut answered) = (Vec::new(), HashSet::new());
    for round in 0..ROUNDS {
        let enough = random.u64(1..250);
        memories.extend(write_and_kill(&mut hotseat, &sessions, round, enough).await);
        hotseat = hotseat.restart();
        check(&hotseat.api, &sessions, &memories).await;
        for (n, session) in sessions.iter().enumerate() {
            let turns = memories.iter().flat_map(|memory| &memory.turns);
            let turns: Vec<_> = turns
                .filter(|(session, ..)| *session == n)
                .map(|(_, turn, seq)| (turn.clone(), *seq))
                .collect();
            answered.extend(check_turns(&hotseat.api, session, &turns, &answered).await);
        }
    }
    let written: usize = memories.iter().map(|memory| memory.acknowledged.len()).sum();
    assert!(written >= ROUNDS, "something was written: {written}");
}

/// FR-017
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_acknowledged_survives_kill_9() {
    survives(Launch::new(HOTSEAT)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_acknowledged_survives_kill_9_on_postgres() {
    let database = TestDatabase::create();
    survives(Launch::new(HOTSEAT).argument(format!("--store={}", database.url()))).await;
}

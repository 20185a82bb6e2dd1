//! The clients of a soak. Each goes on until it is over, and comes back when the server does.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use reqwest::Method;
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};
use uuid::Uuid;

use super::tally::Tally;
use crate::{Api, Grpc, sample};

/// How long to wait before coming back.
const BACK_AFTER: Duration = Duration::from_millis(200);

/// How long somebody waits for something to happen before looking whether all is over.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// What is before the time at which an event was sent.
const SENT: &str = "sent-";

/// A turn that a plugin waits for.
#[derive(Debug, Clone)]
pub(super) struct Waiting {
    pub(super) turn: String,
    /// When an answer to it was sent.
    answered: Option<Instant>,
}

/// A plugin, as those who answer and check see it.
#[derive(Debug)]
pub(super) struct Plugin {
    pub(super) session: String,
    pub(super) waiting: Mutex<Option<Waiting>>,
    /// Turns whose answers it has seen.
    pub(super) answered: Mutex<Vec<String>>,
}

impl Plugin {
    pub(super) fn new(session: String) -> Arc<Self> {
        Arc::new(Self { session, waiting: Mutex::default(), answered: Mutex::default() })
    }

    pub(super) fn waits(&self) -> Option<Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn wait_for(&self, waiting: Option<Waiting>) {
        *self.waiting.lock().unwrap_or_else(PoisonError::into_inner) = waiting;
    }
}

/// Has a turn open all the time, and the next one when it is answered.
pub(super) async fn plugin(api: Api, plugin: Arc<Plugin>, tally: Arc<Tally>) {
    let (mut place, mut first) = (0, true);
    while !tally.is_over() {
        let Ok(mut grpc) = api.try_grpc().await else {
            tally.failed("connect a plugin", &"refused");
            sleep(BACK_AFTER).await;
            continue;
        };
        if std::mem::take(&mut first) {
            tally.connected.fetch_add(1, Ordering::Relaxed);
        }
        if let Err(status) = ask_and_wait(&mut grpc, &plugin, &tally, &mut place).await {
            tally.failed("plugin", &status);
            sleep(BACK_AFTER).await;
        }
    }
}

async fn ask_and_wait(
    grpc: &mut Grpc,
    plugin: &Plugin,
    tally: &Tally,
    place: &mut u64,
) -> Result<(), tonic::Status> {
    let request = crate::proto::SubscribeRequest {
        session_id: plugin.session.clone(),
        after_seq: *place,
        kinds: Vec::new(),
    };
    let mut stream = grpc.seat.subscribe(request).await?.into_inner();
    let turn = plugin.waits().map_or_else(|| Uuid::new_v4().to_string(), |waits| waits.turn);
    open(grpc, plugin, turn).await?;
    while !tally.is_over() {
        let Ok(message) = timeout(LOOK_EVERY, stream.message()).await else { continue };
        let event = message?.ok_or_else(|| tonic::Status::unavailable("the stream ended"))?;
        *place = event.seq.max(*place);
        let Some(waits) = plugin.waits() else { continue };
        if event.turn_id == waits.turn && event.kind == "response" {
            if let Some(sent) = waits.answered {
                tally.took(&tally.hand_offs, sent.elapsed());
            }
            plugin.answered.lock().unwrap_or_else(PoisonError::into_inner).push(waits.turn);
            open(grpc, plugin, Uuid::new_v4().to_string()).await?;
        }
    }
    Ok(())
}

/// Opens a turn, or the same one again.
async fn open(grpc: &mut Grpc, plugin: &Plugin, turn: String) -> Result<(), tonic::Status> {
    let before = plugin.waits().filter(|waits| waits.turn == turn);
    plugin.wait_for(Some(before.unwrap_or(Waiting { turn: turn.clone(), answered: None })));
    grpc.submit(&plugin.session, &turn, &sample::llm_request("What is 2 + 3?")).await.map(drop)
}

/// Answers one turn after the other, at a pace.
pub(super) async fn answerer(
    api: Api,
    plugins: Vec<Arc<Plugin>>,
    pace: Duration,
    tally: Arc<Tally>,
) {
    let mut ticks = interval(pace);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    for plugin in plugins.iter().cycle() {
        ticks.tick().await;
        if tally.is_over() {
            return;
        }
        let Some(waits) = plugin.waits() else { continue };
        let answered = Some(Instant::now());
        plugin.wait_for(Some(Waiting { answered, ..waits.clone() }));
        let path = format!("/api/v1/sessions/{}/turns/{}/decision", plugin.session, waits.turn);
        let request = api.request(Method::POST, &path).json(&sample::says("5"));
        match api.try_send(request).await {
            // Not asked yet, or answered before: the server may have been killed in between.
            Ok(answer) if [200, 404, 409].contains(&answer.status.as_u16()) => {}
            Ok(answer) => tally.failed("answer", &answer.body),
            Err(error) => tally.failed("answer", &error),
        }
    }
}

/// What a writer was told: the id of an event, and its place.
pub(super) type Acknowledged = Vec<(String, u64)>;

/// Appends an event again and again, at a pace, the same one until it is acknowledged.
pub(super) async fn writer(
    api: Api,
    session: String,
    pace: Duration,
    tally: Arc<Tally>,
) -> Acknowledged {
    let mut acknowledged = Vec::new();
    let mut ticks = interval(pace);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    while !tally.is_over() {
        let Ok(mut grpc) = api.try_grpc().await else {
            tally.failed("connect a writer", &"refused");
            sleep(BACK_AFTER).await;
            continue;
        };
        if acknowledged.is_empty() {
            tally.connected.fetch_add(1, Ordering::Relaxed);
        }
        while !tally.is_over() {
            ticks.tick().await;
            let id = format!("e{}", acknowledged.len());
            let event = sample::agent_event(&id, "root", &format!("{SENT}{};", tally.now()));
            let began = Instant::now();
            match grpc.append(&session, &[event]).await {
                Ok(seq) => {
                    tally.took(&tally.appends, began.elapsed());
                    acknowledged.push((id, seq));
                }
                Err(status) => {
                    tally.failed("append", &status);
                    sleep(BACK_AFTER).await;
                    break;
                }
            }
        }
    }
    acknowledged
}

/// Reads a session, and gives how many events it has seen: every one, once and in order.
pub(super) async fn subscriber(api: Api, session: String, tally: Arc<Tally>) -> u64 {
    let (mut place, mut first) = (0_u64, true);
    let path = format!("/api/v1/sessions/{session}/stream");
    while !tally.is_over() {
        let request = api.request(Method::GET, &path).header("last-event-id", place.to_string());
        let mut response = match request.send().await {
            Ok(response) if response.status() == 200 => response,
            Ok(response) => {
                tally.failed("subscribe", &response.status());
                sleep(BACK_AFTER).await;
                continue;
            }
            Err(error) => {
                tally.failed("subscribe", &error);
                sleep(BACK_AFTER).await;
                continue;
            }
        };
        if std::mem::take(&mut first) {
            tally.connected.fetch_add(1, Ordering::Relaxed);
        }
        let mut unread = String::new();
        while !tally.is_over() {
            let Ok(chunk) = timeout(LOOK_EVERY, response.chunk()).await else { continue };
            let Ok(Some(bytes)) = chunk else {
                tally.failed("read a stream", &"it ended");
                break;
            };
            unread.push_str(&String::from_utf8_lossy(&bytes));
            let whole = unread.rfind('\n').map_or(0, |end| end + 1);
            for line in unread[..whole].lines() {
                read(line, &mut place, &tally);
            }
            unread.drain(..whole);
        }
    }
    place
}

fn read(line: &str, place: &mut u64, tally: &Tally) {
    if let Some(seq) = line.strip_prefix("id:").and_then(|seq| seq.trim().parse().ok()) {
        // The marker that the history is complete has the place of the last event.
        assert!(seq == *place + 1 || seq == *place, "after {place} came {seq}");
        *place = seq;
    }
    let sent = line.split_once(SENT).and_then(|(_, rest)| rest.split_once(';'));
    if let Some(sent) = sent.and_then(|(sent, _)| sent.parse().ok()) {
        tally.arrived(sent);
    }
}

//! Sessions and events in a few words.

use hotseat_core::{Event, Kind, NewEvent, RunId, Seq, SessionId, TurnId};
use hotseat_store::{Appended, EventQuery, Expected, NewSession, Session, Store};
use jiff::Timestamp;
use serde_json::json;
use serde_json::value::RawValue;
use uuid::Uuid;

pub(crate) fn id(n: u128) -> SessionId {
    SessionId::new(Uuid::from_u128(n))
}

pub(crate) fn turn(n: u128) -> TurnId {
    TurnId::new(Uuid::from_u128(n))
}

/// A run's id as it is written.
pub(crate) fn run_id(n: u128) -> String {
    RunId::new(Uuid::from_u128(n)).to_string()
}

/// So many milliseconds after the tests began to exist.
pub(crate) fn at(milliseconds: i64) -> Timestamp {
    Timestamp::from_millisecond(1_767_607_200_000 + milliseconds).unwrap()
}

pub(crate) fn new_session(n: u128) -> NewSession {
    NewSession {
        id: id(n),
        created_at: at(0),
        description: None,
        agent: Some("root".to_owned()),
        app_name: "app".to_owned(),
        user_id: "local".to_owned(),
        source: "web".to_owned(),
        adk_id: None,
        opening: Vec::new(),
    }
}

/// A store's session number `n`, just created.
pub(crate) async fn created(store: &Store, n: u128) -> SessionId {
    store.create_session(new_session(n)).await.unwrap();
    id(n)
}

pub(crate) fn raw(json: &str) -> Box<RawValue> {
    RawValue::from_string(json.to_owned()).unwrap()
}

/// An event with this id that says nothing of interest.
pub(crate) fn event(event_id: &str) -> NewEvent {
    NewEvent {
        event_id: event_id.to_owned(),
        timestamp: at(1),
        kind: Kind::Event,
        turn_id: None,
        invocation_id: None,
        author: "root".to_owned(),
        agent_name: "root".to_owned(),
        branch: None,
        parent_call_id: None,
        payload: raw(r#"{"author":"root"}"#),
    }
}

/// Something the user said.
pub(crate) fn said(event_id: &str, text: &str) -> NewEvent {
    let payload = json!({"author": "user", "content": {"parts": [{"text": text}]}});
    NewEvent { author: "user".to_owned(), payload: raw(&payload.to_string()), ..event(event_id) }
}

pub(crate) fn request(n: u128) -> NewEvent {
    NewEvent {
        kind: Kind::Request,
        turn_id: Some(turn(n)),
        payload: raw(r#"{"request":{"contents":[]}}"#),
        ..event(&format!("request-{n}"))
    }
}

pub(crate) fn answer(n: u128) -> NewEvent {
    NewEvent {
        kind: Kind::Response,
        turn_id: Some(turn(n)),
        author: "human".to_owned(),
        payload: raw(r#"{"candidates":[{"role":"model","parts":[{"text":"5"}]}]}"#),
        ..event(&format!("answer-{n}"))
    }
}

pub(crate) fn dismissal(n: u128) -> NewEvent {
    NewEvent {
        payload: raw(r#"{"error":{"code":"dismissed","message":"no"}}"#),
        event_id: format!("dismissal-{n}"),
        ..answer(n)
    }
}

pub(crate) fn run(n: u128, status: &str) -> NewEvent {
    let change = json!({"run_id": run_id(n), "status": status});
    NewEvent {
        kind: Kind::Run,
        payload: raw(&change.to_string()),
        ..event(&format!("run-{n}-{status}"))
    }
}

pub(crate) fn completion() -> NewEvent {
    NewEvent {
        kind: Kind::Session,
        payload: raw(r#"{"status":"completed"}"#),
        ..event("completion")
    }
}

/// Appends what has to be accepted.
pub(crate) async fn append(store: &Store, session: SessionId, events: Vec<NewEvent>) -> Appended {
    store.append(session, Expected::Any, events).await.unwrap()
}

/// Appends what has to be refused, and gives the refusal as it is written.
pub(crate) async fn refusal(store: &Store, session: SessionId, events: Vec<NewEvent>) -> String {
    store.append(session, Expected::Any, events).await.unwrap_err().to_string()
}

pub(crate) async fn session(store: &Store, id: SessionId) -> Session {
    store.session(id).await.unwrap().unwrap()
}

/// The whole log.
pub(crate) async fn log(store: &Store, session: SessionId) -> Vec<Event> {
    let mut log: Vec<Event> = Vec::new();
    loop {
        let after = log.last().map_or(Seq::START, |event| event.seq);
        let query = EventQuery { after, ..EventQuery::default() };
        let page = store.events(session, query).await.unwrap();
        if page.is_empty() {
            return log;
        }
        log.extend(page);
    }
}

/// The ids of the log's events, in order.
pub(crate) async fn ids(store: &Store, session: SessionId) -> Vec<String> {
    log(store, session).await.into_iter().map(|event| event.entry.event_id).collect()
}

pub(crate) fn seqs(events: &[Event]) -> Vec<u64> {
    events.iter().map(|event| event.seq.get()).collect()
}

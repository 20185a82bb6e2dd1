//! What lies between asking where events are and reading them.

use std::sync::Arc;

use hotseat_core::{Kind, NewEvent, SessionId};
use jiff::Timestamp;
use serde_json::value::RawValue;
use uuid::Uuid;

use super::super::moment::Moment;
use super::super::{Durability, Sqlite, reader};
use super::Clue;
use crate::hub::Hub;
use crate::rules::Prepared;
use crate::{EventQuery, Expected, Limits, NewSession};

fn event(event_id: &str) -> Prepared {
    let event = NewEvent {
        event_id: event_id.to_owned(),
        timestamp: Timestamp::UNIX_EPOCH,
        kind: Kind::Event,
        turn_id: None,
        invocation_id: None,
        author: "user".to_owned(),
        agent_name: "user".to_owned(),
        branch: None,
        parent_call_id: None,
        payload: RawValue::from_string("{\"author\":\"user\"}".to_owned()).unwrap(),
    };
    Prepared::new(event, &Limits::default())
}

async fn read(sqlite: &Sqlite, id: SessionId, clue: &Clue) -> Vec<String> {
    let events = sqlite.readers.glance("read events", |connection| {
        let moment = Moment::of(connection)?;
        reader::events(&moment, id, clue, &EventQuery::default())
    });
    events.await.unwrap().into_iter().map(|event| event.entry.event_id).collect()
}

#[tokio::test]
async fn what_is_settled_between_asking_and_reading_is_read_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hotseat.db");
    let sqlite = Sqlite::open(&path, Hub::new(), Arc::default(), Durability::None).unwrap();
    let id = SessionId::new(Uuid::from_u128(1));
    let new = NewSession {
        id,
        created_at: Timestamp::UNIX_EPOCH,
        description: None,
        agent: None,
        app_name: "app".to_owned(),
        user_id: "user".to_owned(),
        source: "api".to_owned(),
        adk_id: None,
        opening: Vec::new(),
    };
    sqlite.create_session(new, vec![event("a"), event("b")]).await.unwrap();
    let clue = sqlite.whereabouts.of(id);
    assert_eq!(clue.rows.len(), 2, "they are shown before the answer");
    sqlite.append(id, Expected::Any, vec![event("c")]).await.unwrap();
    assert_eq!(read(&sqlite, id, &clue).await, ["a", "b"], "what came later was not asked for");
    sqlite.settle().await.unwrap();
    assert_eq!(sqlite.whereabouts.of(id).rows, [0_i64; 0]);
    assert_eq!(read(&sqlite, id, &clue).await, ["a", "b", "c"]);
    assert_eq!(read(&sqlite, id, &Clue::none()).await, ["a", "b", "c"]);
}

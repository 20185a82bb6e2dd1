//! ADK's sessions over gRPC, as its session service calls them.

use serde_json::{Value, json};
use tonic::{Code, Status};

use hotseat_server::LedgerConfig;
use hotseat_testkit::proto::{self, AdkSession, AdkSessionKey, GetAdkSessionRequest};
use hotseat_testkit::{Grpc, TestServer, sample};

fn key(id: &str) -> AdkSessionKey {
    AdkSessionKey { app_name: "notes".to_owned(), user_id: "ada".to_owned(), id: id.to_owned() }
}

fn new(id: &str, state: &Value) -> proto::CreateAdkSessionRequest {
    let state_json = state.to_string().into();
    proto::CreateAdkSessionRequest { key: Some(key(id)), state_json, create_time: 0.0 }
}

async fn create(grpc: &mut Grpc, request: proto::CreateAdkSessionRequest) -> AdkSession {
    grpc.sessions.create_adk_session(request).await.unwrap().into_inner()
}

async fn append(
    grpc: &mut Grpc,
    id: &str,
    event: &Value,
    expected_head: Option<u64>,
) -> Result<proto::AppendAdkEventResponse, Status> {
    let raw_json = event.to_string().into();
    let key = Some(key(id));
    let request =
        proto::AppendAdkEventRequest { key, raw_json, expected_head, ..Default::default() };
    Ok(grpc.sessions.append_adk_event(request).await?.into_inner())
}

async fn get(
    grpc: &mut Grpc,
    id: &str,
    wish: GetAdkSessionRequest,
) -> Result<proto::GetAdkSessionResponse, Status> {
    let request = GetAdkSessionRequest { key: Some(key(id)), ..wish };
    Ok(grpc.sessions.get_adk_session(request).await?.into_inner())
}

async fn seqs(grpc: &mut Grpc, wish: GetAdkSessionRequest) -> Vec<u64> {
    let answer = get(grpc, "s", wish).await.unwrap();
    answer.events.iter().map(|event| event.seq).collect()
}

fn event_at(id: &str, seconds: f64) -> Value {
    let mut event = sample::agent_event(id, "root", id);
    event["timestamp"] = json!(seconds);
    event
}

fn state(json: &[u8]) -> Value {
    serde_json::from_slice(json).unwrap()
}

#[tokio::test]
async fn a_created_session_says_all_about_itself() {
    let server = TestServer::sqlite().await;
    let mut grpc = server.api.grpc().await;
    let wish = proto::CreateAdkSessionRequest {
        create_time: 1_700_000_000.5,
        ..new(" s ", &json!({"step": 1, "temp:x": 1}))
    };
    let made = create(&mut grpc, wish).await;
    assert_eq!(made.key, Some(key("s")));
    assert_eq!((made.create_time, made.last_update_time), (1_700_000_000.5, 1_700_000_000.5));
    assert_eq!(state(&made.state_json), json!({"step": 1}));
    assert_eq!((made.event_head, made.event_count, made.removed_through), (0, 0, 0));
    assert_eq!(made.url, format!("{}/sessions/{}", server.api.url, made.session_id));
    assert_eq!(server.api.show(&made.session_id).await["adk_id"], "s");
    let read = get(&mut grpc, "s", GetAdkSessionRequest::default()).await.unwrap();
    assert_eq!((read.session, read.events.len(), read.more), (Some(made), 0, false));

    let again = grpc.sessions.create_adk_session(new("s", &json!({}))).await.unwrap_err();
    assert_eq!(again.code(), Code::AlreadyExists);
    let named = create(&mut grpc, new("", &json!({}))).await;
    assert_eq!(named.key.unwrap().id.len(), 36);
    for wrong in [
        proto::CreateAdkSessionRequest::default(),
        new("x", &json!([])),
        new(&"x".repeat(513), &json!({})),
        proto::CreateAdkSessionRequest { create_time: f64::NAN, ..new("x", &json!({})) },
    ] {
        let refused = grpc.sessions.create_adk_session(wrong).await.unwrap_err();
        assert_eq!(refused.code(), Code::InvalidArgument, "{refused}");
    }
}

#[tokio::test]
async fn events_are_read_as_many_and_as_late_as_wanted() {
    let server = TestServer::sqlite().await;
    let mut grpc = server.api.grpc().await;
    let made = create(&mut grpc, new("s", &json!({}))).await;
    for (id, seconds) in [("b", 20.0), ("a", 10.0), ("c", 30.0)] {
        append(&mut grpc, "s", &event_at(id, seconds), None).await.unwrap();
    }
    let wish = GetAdkSessionRequest::default;
    assert_eq!(seqs(&mut grpc, wish()).await, [1, 2, 3], "as they arrived");
    let recent = |n| GetAdkSessionRequest { num_recent_events: Some(n), ..wish() };
    assert_eq!(seqs(&mut grpc, recent(0)).await, [0; 0]);
    assert_eq!(seqs(&mut grpc, recent(2)).await, [1, 3], "by their time");
    assert_eq!(seqs(&mut grpc, recent(9)).await, [2, 1, 3]);
    let since = |time| GetAdkSessionRequest { after_timestamp: Some(time), ..wish() };
    assert_eq!(seqs(&mut grpc, since(20.0)).await, [1, 3], "at that time or later");
    assert_eq!(seqs(&mut grpc, since(20.5)).await, [3]);
    let both = GetAdkSessionRequest { num_recent_events: Some(1), ..since(10.0) };
    assert_eq!(seqs(&mut grpc, both).await, [3]);

    let after = |after_seq| GetAdkSessionRequest {
        after_seq,
        incarnation: made.incarnation.clone(),
        ..wish()
    };
    assert_eq!(seqs(&mut grpc, after(1)).await, [2, 3]);
    assert_eq!(seqs(&mut grpc, after(3)).await, [0; 0]);
    let read = get(&mut grpc, "s", after(3)).await.unwrap();
    let session = read.session.unwrap();
    assert_eq!((session.event_head, session.event_count, session.last_update_time), (3, 3, 30.0));
    assert!(!read.from_start);
}

#[tokio::test]
async fn a_session_made_anew_is_read_from_its_start() {
    let server = TestServer::sqlite().await;
    let mut grpc = server.api.grpc().await;
    let made = |create_time| proto::CreateAdkSessionRequest { create_time, ..new("s", &json!({})) };
    let old = create(&mut grpc, made(1.0)).await;
    append(&mut grpc, "s", &event_at("old", 10.0), None).await.unwrap();
    let delete = proto::DeleteAdkSessionRequest { key: Some(key("s")) };
    let deleted = grpc.sessions.delete_adk_session(delete.clone()).await.unwrap().into_inner();
    assert!(deleted.deleted);
    let none = get(&mut grpc, "s", GetAdkSessionRequest::default()).await.unwrap_err();
    assert_eq!(none.code(), Code::NotFound);
    let again = grpc.sessions.delete_adk_session(delete).await.unwrap().into_inner();
    assert!(!again.deleted, "deleting what is not there does nothing");

    let anew = create(&mut grpc, made(2.0)).await;
    assert_ne!(anew.incarnation, old.incarnation);
    append(&mut grpc, "s", &event_at("new", 10.0), None).await.unwrap();
    let wish = GetAdkSessionRequest {
        after_seq: 1,
        incarnation: old.incarnation,
        ..GetAdkSessionRequest::default()
    };
    let read = get(&mut grpc, "s", wish.clone()).await.unwrap();
    assert!(read.from_start);
    assert_eq!(state(&read.events[0].raw_json)["id"], "new");
    let beyond = GetAdkSessionRequest { after_seq: 9, incarnation: anew.incarnation, ..wish };
    assert!(get(&mut grpc, "s", beyond).await.unwrap().from_start);
}

#[tokio::test]
async fn a_session_made_anew_takes_nothing_from_those_who_knew_the_first() {
    let server = TestServer::sqlite().await;
    let mut grpc = server.api.grpc().await;
    let old = create(&mut grpc, new("s", &json!({}))).await;
    let delete = proto::DeleteAdkSessionRequest { key: Some(key("s")) };
    grpc.sessions.delete_adk_session(delete).await.unwrap();
    let anew = create(&mut grpc, new("s", &json!({}))).await;
    let mut held = async |incarnation: &str, expected_head| {
        let wish = proto::AppendAdkEventRequest {
            key: Some(key("s")),
            raw_json: event_at("one", 10.0).to_string().into(),
            expected_head,
            incarnation: incarnation.to_owned(),
        };
        grpc.sessions.append_adk_event(wish).await.map(|answer| answer.into_inner().duplicate)
    };
    // Both sessions are empty, so the place of the last event says nothing.
    for head in [Some(0), None] {
        let refused = held(&old.incarnation, head).await.unwrap_err();
        assert_eq!(refused.code(), Code::FailedPrecondition, "{refused}");
        assert!(refused.message().contains("made again"), "{refused}");
    }
    assert!(!held(&anew.incarnation, Some(0)).await.unwrap());
    assert!(held(&anew.incarnation, Some(0)).await.unwrap(), "sent again");
    let refused = held(&old.incarnation, Some(0)).await.unwrap_err();
    assert_eq!(refused.code(), Code::FailedPrecondition, "though the event is there");
    assert_eq!(held("no number", None).await.unwrap_err().code(), Code::InvalidArgument);
}

#[tokio::test]
async fn many_bytes_come_in_several_answers() {
    let server = TestServer::scratch().await;
    let mut grpc = server.api.grpc().await;
    let made = create(&mut grpc, new("s", &json!({}))).await;
    for n in 1..=7 {
        append(&mut grpc, "s", &event_at(&n.to_string(), 10.0), None).await.unwrap();
    }
    let (mut seen, mut answers, mut after_seq) = (Vec::new(), 0, 0);
    loop {
        let wish = GetAdkSessionRequest {
            after_seq,
            incarnation: made.incarnation.clone(),
            max_bytes: 300,
            ..GetAdkSessionRequest::default()
        };
        let page = get(&mut grpc, "s", wish).await.unwrap();
        seen.extend(page.events.iter().map(|event| event.seq));
        answers += 1;
        if !page.more {
            break;
        }
        after_seq = *seen.last().unwrap();
    }
    assert_eq!(seen, [1, 2, 3, 4, 5, 6, 7]);
    assert!((3..=7).contains(&answers), "{answers}");
    let tiny = GetAdkSessionRequest { max_bytes: 1, ..GetAdkSessionRequest::default() };
    let tiny = get(&mut grpc, "s", tiny).await.unwrap();
    assert_eq!((tiny.events.len(), tiny.more), (1, true), "at least one comes");
}

#[tokio::test]
async fn sessions_are_listed_page_by_page() {
    let server = TestServer::sqlite().await;
    let mut grpc = server.api.grpc().await;
    for n in 0..5_u32 {
        let mut wish = new(&n.to_string(), &json!({"n": n, "user:last": n}));
        wish.create_time = 100.0 - f64::from(n);
        if let (Some(key), 3) = (&mut wish.key, n) {
            key.user_id = "bob".to_owned();
        }
        create(&mut grpc, wish).await;
    }
    let mut list = async |user_id: &str| {
        let (mut found, mut page_token) = (Vec::new(), String::new());
        loop {
            let request = proto::ListAdkSessionsRequest {
                app_name: "notes".to_owned(),
                user_id: user_id.to_owned(),
                page_size: 2,
                page_token,
            };
            let page = grpc.sessions.list_adk_sessions(request).await.unwrap().into_inner();
            found.extend(page.sessions.into_iter().map(|session| {
                (session.key.unwrap().id, state(&session.state_json)["user:last"].clone())
            }));
            page_token = page.next_page_token;
            if page_token.is_empty() {
                return found;
            }
        }
    };
    let found = |ids: &[(&str, u32)]| -> Vec<(String, Value)> {
        ids.iter().map(|(id, last)| ((*id).to_owned(), json!(last))).collect()
    };
    assert_eq!(list("").await, found(&[("4", 4), ("3", 3), ("2", 4), ("1", 4), ("0", 4)]));
    assert_eq!(list("bob").await, found(&[("3", 3)]));
    assert_eq!(list("nobody").await, []);
    let wrong = proto::ListAdkSessionsRequest { page_token: "x".to_owned(), ..Default::default() };
    let refused = grpc.sessions.list_adk_sessions(wrong).await.unwrap_err();
    assert_eq!(refused.code(), Code::InvalidArgument);
}

#[tokio::test]
async fn an_append_by_somebody_who_has_not_seen_the_last_event_is_refused() {
    let server = TestServer::sqlite().await;
    let mut grpc = server.api.grpc().await;
    create(&mut grpc, new("s", &json!({"step": 1}))).await;
    let first = append(&mut grpc, "s", &event_at("a", 10.0), Some(0)).await.unwrap();
    // The state that the session began with stands in the log too.
    assert_eq!((first.seq, first.event_head, first.last_update_time), (2, 2, 10.0));
    assert!(!first.duplicate);

    let stale = append(&mut grpc, "s", &event_at("b", 11.0), Some(0)).await.unwrap_err();
    assert_eq!(stale.code(), Code::FailedPrecondition);
    assert!(stale.message().contains("its last event is 2, not 0"), "{stale}");
    let again = append(&mut grpc, "s", &event_at("a", 10.0), Some(0)).await.unwrap();
    assert_eq!((again.seq, again.event_head, again.duplicate), (2, 2, true), "never stale");
    let next = append(&mut grpc, "s", &event_at("b", 11.0), Some(2)).await.unwrap();
    assert_eq!(next.event_head, 3);
    append(&mut grpc, "s", &event_at("c", 12.0), None).await.unwrap();
    let read = get(&mut grpc, "s", GetAdkSessionRequest::default()).await.unwrap();
    assert_eq!(read.events.len(), 3);
}

#[tokio::test]
async fn an_append_that_cannot_be_says_why() {
    let server = TestServer::scratch().await;
    let mut grpc = server.api.grpc().await;
    create(&mut grpc, new("s", &json!({}))).await;
    let event = event_at("a", 10.0);
    let missing = append(&mut grpc, "other", &event, None).await.unwrap_err();
    assert_eq!(missing.code(), Code::NotFound);
    for wrong in [json!({"id": "a"}), json!([]), json!({"author": "root", "actions": 1})] {
        let refused = append(&mut grpc, "s", &wrong, None).await.unwrap_err();
        assert_eq!(refused.code(), Code::InvalidArgument, "{refused}");
    }
    let no_json = proto::AppendAdkEventRequest {
        key: Some(key("s")),
        raw_json: "{".into(),
        ..Default::default()
    };
    let refused = grpc.sessions.append_adk_event(no_json).await.unwrap_err();
    assert_eq!(refused.code(), Code::InvalidArgument);
    let read = get(&mut grpc, "s", GetAdkSessionRequest::default()).await.unwrap();
    assert_eq!(read.session.unwrap().event_head, 0, "nothing was stored, nothing was made");
    let made = get(&mut grpc, "other", GetAdkSessionRequest::default()).await.unwrap_err();
    assert_eq!(made.code(), Code::NotFound);
}

#[tokio::test]
async fn events_that_made_room_are_told_of() {
    let mut ledger = LedgerConfig::default();
    ledger.limits.max_events_per_session = Some(2);
    let server = TestServer::with(ledger).await;
    let mut grpc = server.api.grpc().await;
    create(&mut grpc, new("s", &json!({}))).await;
    for n in 1..=5 {
        append(&mut grpc, "s", &event_at(&n.to_string(), 10.0), Some(n - 1)).await.unwrap();
    }
    let read = get(&mut grpc, "s", GetAdkSessionRequest::default()).await.unwrap();
    let session = read.session.unwrap();
    assert_eq!((session.event_head, session.event_count, session.removed_through), (5, 2, 3));
    assert_eq!(read.events.iter().map(|event| event.seq).collect::<Vec<_>>(), [4, 5]);
}

#[tokio::test]
async fn the_state_of_a_user_can_be_read_without_a_session() {
    let server = TestServer::sqlite().await;
    let mut grpc = server.api.grpc().await;
    create(&mut grpc, new("s", &json!({"step": 1, "user:name": "Ada", "app:theme": "x"}))).await;
    let mut event = event_at("a", 10.0);
    event["actions"]["stateDelta"] = json!({"user:lang": "de"});
    append(&mut grpc, "s", &event, None).await.unwrap();
    let mut user_state = async |user_id: &str| {
        let (app_name, user_id) = ("notes".to_owned(), user_id.to_owned());
        let request = proto::GetAdkUserStateRequest { app_name, user_id };
        state(&grpc.sessions.get_adk_user_state(request).await.unwrap().into_inner().state_json)
    };
    assert_eq!(user_state("ada").await, json!({"name": "Ada", "lang": "de"}));
    assert_eq!(user_state("bob").await, json!({}));
}

//! Whose sessions a caller sees, in every call of the gRPC contract.

use serde_json::json;
use tonic::{Code, Status};

use hotseat_testkit::{Grpc, TestServer, proto, sample};

const CONTRACT: &str = include_str!("../../../../proto/hotseat/v1/hotseat.proto");
const TURN: &str = "00000000-0000-4000-8000-000000000001";
const UNKNOWN: &str = "00000000-0000-4000-8000-00000000000f";

/// The calls of the contract.
fn calls() -> Vec<&'static str> {
    let lines = CONTRACT.lines().filter_map(|line| line.trim().strip_prefix("rpc "));
    lines.map(|line| line.split('(').next().unwrap()).collect()
}

fn key(user: &str, id: &str) -> proto::AdkSessionKey {
    let (app_name, user_id, id) = ("app".to_owned(), user.to_owned(), id.to_owned());
    proto::AdkSessionKey { app_name, user_id, id }
}

/// Makes a call about somebody's session. What is listed comes back as text.
async fn call(grpc: &mut Grpc, name: &str, session: &str, user: &str) -> Result<String, Status> {
    let session_id = session.to_owned();
    let turn_id = TURN.to_owned();
    let told = |what: &dyn std::fmt::Debug| format!("{what:?}");
    Ok(match name {
        "CreateSession" => {
            let user_id = user.to_owned();
            let new = proto::CreateSessionRequest { user_id, ..Default::default() };
            told(&grpc.seat.create_session(new).await?)
        }
        "GetSession" => {
            told(&grpc.seat.get_session(proto::GetSessionRequest { session_id }).await?)
        }
        "ListSessions" => {
            told(&grpc.seat.list_sessions(proto::ListSessionsRequest::default()).await?)
        }
        "CompleteSession" => {
            told(&grpc.seat.complete_session(proto::CompleteSessionRequest { session_id }).await?)
        }
        "SubmitRequest" => told(&grpc.submit(session, TURN, &sample::llm_request("2 + 3?")).await?),
        "SubmitDecision" => {
            let raw_json = sample::says("5").to_string().into();
            let response = Some(proto::HumanResponse { raw_json, ..Default::default() });
            let answer = proto::SubmitDecisionRequest { session_id, turn_id, response };
            told(&grpc.seat.submit_decision(answer).await?)
        }
        "DismissTurn" => {
            let wish = proto::DismissTurnRequest { session_id, turn_id, ..Default::default() };
            told(&grpc.seat.dismiss_turn(wish).await?)
        }
        "Subscribe" => {
            let wish = proto::SubscribeRequest { session_id, ..Default::default() };
            told(&grpc.seat.subscribe(wish).await?.into_inner().message().await?)
        }
        "AppendEvents" => told(&grpc.append(session, &[sample::user_event("e-1", "hi")]).await?),
        "ListEvents" => {
            let wish = proto::ListEventsRequest { session_id, ..Default::default() };
            told(&grpc.sessions.list_events(wish).await?)
        }
        "CreateAdkSession" => {
            let new = proto::CreateAdkSessionRequest {
                key: Some(key(user, "new")),
                ..Default::default()
            };
            told(&grpc.sessions.create_adk_session(new).await?)
        }
        "GetAdkSession" => {
            let wish =
                proto::GetAdkSessionRequest { key: Some(key(user, session)), ..Default::default() };
            told(&grpc.sessions.get_adk_session(wish).await?)
        }
        "ListAdkSessions" => {
            let (app_name, user_id) = ("app".to_owned(), user.to_owned());
            let wish = proto::ListAdkSessionsRequest { app_name, user_id, ..Default::default() };
            told(&grpc.sessions.list_adk_sessions(wish).await?)
        }
        "DeleteAdkSession" => {
            let wish = proto::DeleteAdkSessionRequest { key: Some(key(user, session)) };
            told(&grpc.sessions.delete_adk_session(wish).await?.into_inner().deleted)
        }
        "AppendAdkEvent" => {
            let raw_json = sample::user_event("e-2", "hi").to_string().into();
            let key = Some(key(user, session));
            let wish = proto::AppendAdkEventRequest { key, raw_json, ..Default::default() };
            told(&grpc.sessions.append_adk_event(wish).await?)
        }
        "AppendAdkEvents" => {
            let raw_json = sample::user_event("e-3", "hi").to_string().into();
            let key = Some(key(user, session));
            let event = Some(proto::AppendAdkEventRequest { key, raw_json, ..Default::default() });
            let appends = vec![proto::append_adk_events_request::Append { number: 1, event }];
            let wish = tokio_stream::once(proto::AppendAdkEventsRequest { appends });
            let mut answers = grpc.sessions.append_adk_events(wish).await?.into_inner();
            let answer = answers.message().await?.unwrap().answers.remove(0);
            match answer.appended {
                Some(appended) => told(&appended),
                None => {
                    let code = Code::from(i32::try_from(answer.code).unwrap());
                    return Err(Status::new(code, answer.message));
                }
            }
        }
        "GetAdkUserState" => {
            let (app_name, user_id) = ("app".to_owned(), user.to_owned());
            let wish = proto::GetAdkUserStateRequest { app_name, user_id };
            told(&grpc.sessions.get_adk_user_state(wish).await?)
        }
        "Attach" => {
            told(&grpc.worker.attach(tokio_stream::empty()).await?.into_inner().message().await?)
        }
        undecided => panic!("{undecided}: who may do this? Decide here"),
    })
}

#[tokio::test]
async fn every_call_keeps_strangers_out() {
    let server = TestServer::scratch().await;
    let bob = server.user("bob");
    let secret = bob.session_with(&json!({"description": "secret plan"})).await;
    bob.post("/apps/app/users/bob/sessions", &json!({"session_id": secret})).await.json(200);
    assert_eq!(calls().len(), 18, "all calls of the contract are found");
    for (number, name) in calls().into_iter().enumerate() {
        let mut grpc = server.user(&format!("alice{number}")).grpc().await;
        let theirs = call(&mut grpc, name, &secret, "bob").await;
        let nobodys = call(&mut grpc, name, UNKNOWN, "bob").await;
        match (name, &theirs) {
            ("CreateSession" | "Attach", Err(status)) => {
                assert_eq!(status.code(), Code::PermissionDenied, "{name}: {status}");
            }
            ("ListSessions", Ok(told)) => assert!(!told.contains(&secret), "{told}"),
            ("DeleteAdkSession", Ok(deleted)) => assert_eq!(deleted, "false"),
            (_, Err(status)) => {
                assert_eq!(status.code(), Code::NotFound, "{name}: {status}");
                let words = status.message().replace(&secret, "ID");
                let same = nobodys.unwrap_err().message().replace(UNKNOWN, "ID");
                assert_eq!(words, same, "{name}");
            }
            (_, Ok(told)) => panic!("{name} tells a stranger {told}"),
        }
    }
    let mut grpc = bob.grpc().await;
    for name in ["GetSession", "ListSessions", "ListEvents", "AppendEvents", "AppendAdkEvents"] {
        call(&mut grpc, name, &secret, "bob").await.expect(name);
    }
    let listed = call(&mut grpc, "ListAdkSessions", "", "").await.unwrap();
    assert!(listed.contains(&secret), "without a user, it is the caller: {listed}");
}

#[tokio::test]
async fn an_id_of_ones_own_choosing_gives_nobody_elses_session() {
    let server = TestServer::scratch().await;
    let (mut alice, mut bob) = (server.user("alice").grpc().await, server.user("bob").grpc().await);
    let new = proto::CreateSessionRequest { id: TURN.to_owned(), ..Default::default() };
    let first = bob.seat.create_session(new.clone()).await.unwrap().into_inner();
    assert_eq!(first.user_id, "bob");
    assert_eq!(alice.seat.create_session(new.clone()).await.unwrap_err().code(), Code::NotFound);
    assert_eq!(bob.seat.create_session(new).await.unwrap().into_inner(), first);
}

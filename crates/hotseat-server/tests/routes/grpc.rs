//! What only gRPC callers do, and the codes they get.

use serde_json::{Value, json};
use tonic::Code;

use hotseat_testkit::proto::session_event::Payload;
use hotseat_testkit::proto::{self, part};
use hotseat_testkit::{TestServer, sample};

const TURN: &str = "00000000-0000-4000-8000-000000000001";
const UNKNOWN: &str = "00000000-0000-4000-8000-00000000000f";

#[tokio::test]
async fn a_session_with_an_id_is_created_once() {
    let server = TestServer::sqlite().await;
    let mut grpc = server.api.grpc().await;
    let request = proto::CreateSessionRequest {
        id: TURN.to_owned(),
        description: "ü".repeat(600),
        agent: "anything".to_owned(),
        source: "plugin".to_owned(),
        ..Default::default()
    };
    let first = grpc.seat.create_session(request.clone()).await.unwrap().into_inner();
    assert_eq!((first.id.as_str(), first.description.chars().count()), (TURN, 500));
    assert_eq!((first.agent.as_str(), first.app_name.as_str()), ("anything", "anything"));
    assert_eq!(first.url, format!("{}/sessions/{TURN}", server.api.url));
    let other = proto::CreateSessionRequest { description: "other".to_owned(), ..request };
    assert_eq!(grpc.seat.create_session(other).await.unwrap().into_inner(), first);
    let show = proto::GetSessionRequest { session_id: TURN.to_owned() };
    assert_eq!(grpc.seat.get_session(show).await.unwrap().into_inner(), first);
}

#[tokio::test]
async fn a_turn_submitted_again_changes_nothing() {
    let server = TestServer::sqlite().await;
    let mut grpc = server.api.grpc().await;
    let id = server.api.session().await;
    let first = grpc.submit(&id, TURN, &sample::llm_request("2 + 3?")).await.unwrap();
    assert_eq!((first.seq, first.duplicate), (1, false));
    let again = grpc.submit(&id, TURN, &sample::llm_request("something else")).await.unwrap();
    assert_eq!((again.seq, again.duplicate, &again.event_id), (1, true, &first.event_id));
    server.api.decide(&id, TURN, &sample::says("5")).await.json(200);
    server.api.complete(&id).await;
    let again = grpc.submit(&id, TURN, &sample::llm_request("2 + 3?")).await.unwrap();
    assert!(again.duplicate, "a plugin that reconnects late finds its turn");
    let other = grpc.submit(&id, UNKNOWN, &sample::llm_request("2 + 3?")).await.unwrap_err();
    assert_eq!(other.code(), Code::FailedPrecondition);
    assert_eq!(server.api.events(&id).await.len(), 3);
}

#[tokio::test]
async fn codes_are_precise() {
    let server = TestServer::scratch().await;
    let mut grpc = server.api.grpc().await;
    let id = server.api.session().await;
    let request = sample::llm_request("2 + 3?");
    let code =
        |result: Result<proto::SubmitRequestResponse, tonic::Status>| result.unwrap_err().code();
    assert_eq!(code(grpc.submit(UNKNOWN, TURN, &request).await), Code::NotFound);
    assert_eq!(code(grpc.submit("x", TURN, &request).await), Code::InvalidArgument);
    assert_eq!(code(grpc.submit(&id, "x", &request).await), Code::InvalidArgument);
    assert_eq!(code(grpc.submit(&id, TURN, &json!([])).await), Code::InvalidArgument);
    assert_eq!(code(grpc.submit(&id, TURN, &json!({"contents": 7})).await), Code::InvalidArgument);

    let turns = [grpc.ask(&id).await, grpc.ask(&id).await];
    let decide = |turn: &str, decision: &Value| proto::SubmitDecisionRequest {
        session_id: id.clone(),
        turn_id: turn.to_owned(),
        response: Some(proto::HumanResponse {
            raw_json: decision.to_string().into(),
            ..Default::default()
        }),
    };
    for (request, expected) in [
        (decide(UNKNOWN, &sample::says("5")), Code::NotFound),
        (decide(&turns[1], &sample::says("5")), Code::FailedPrecondition),
        (decide(&turns[0], &sample::says("")), Code::InvalidArgument),
        (decide(&turns[0], &sample::calls("add", &json!({"a": "x"}))), Code::InvalidArgument),
        (
            proto::SubmitDecisionRequest { response: None, ..decide(&turns[0], &json!({})) },
            Code::InvalidArgument,
        ),
    ] {
        let refused = grpc.seat.submit_decision(request).await.unwrap_err();
        assert_eq!(refused.code(), expected, "{refused}");
    }
    let refused =
        grpc.seat.submit_decision(decide(&turns[0], &sample::calls("ad", &json!({})))).await;
    let message = refused.unwrap_err().message().to_owned();
    assert!(message.contains("/candidates/0/parts/0/function_call/name"), "{message}");
    grpc.seat.submit_decision(decide(&turns[0], &sample::says("5"))).await.unwrap();
    let again = grpc.seat.submit_decision(decide(&turns[0], &sample::says("5"))).await.unwrap_err();
    assert_eq!(again.code(), Code::AlreadyExists);

    let subscribe =
        proto::SubscribeRequest { session_id: UNKNOWN.to_owned(), ..Default::default() };
    assert_eq!(grpc.seat.subscribe(subscribe).await.unwrap_err().code(), Code::NotFound);
    let kinds = vec!["thing".to_owned()];
    let subscribe = proto::SubscribeRequest { session_id: id.clone(), kinds, ..Default::default() };
    assert_eq!(grpc.seat.subscribe(subscribe).await.unwrap_err().code(), Code::InvalidArgument);
    let list = proto::ListSessionsRequest { page_token: "x".to_owned(), ..Default::default() };
    assert_eq!(grpc.seat.list_sessions(list).await.unwrap_err().code(), Code::InvalidArgument);
    let get = proto::GetSessionRequest { session_id: UNKNOWN.to_owned() };
    assert_eq!(grpc.seat.get_session(get).await.unwrap_err().code(), Code::NotFound);
    let long = proto::CreateSessionRequest { agent: "x".repeat(101), ..Default::default() };
    assert_eq!(grpc.seat.create_session(long).await.unwrap_err().code(), Code::InvalidArgument);
}

#[tokio::test]
async fn only_events_of_ones_own_kind_can_be_appended() {
    let server = TestServer::scratch().await;
    let mut grpc = server.api.grpc().await;
    let id = server.api.session().await;
    for (kind, raw) in [
        ("request", r#"{"request":{}}"#),
        ("response", r#"{"candidates":[]}"#),
        ("session", r#"{"status":"completed"}"#),
        ("thing", "{}"),
        ("event", "{"),
        ("event", r#"{"id":"x"}"#),
    ] {
        let event = |kind: &str, raw: &str| proto::NewEvent {
            kind: kind.to_owned(),
            raw_json: raw.to_owned().into(),
            ..Default::default()
        };
        let good = event("event", r#"{"author":"root","id":"good"}"#);
        let events = vec![good, event(kind, raw)];
        let append =
            proto::AppendEventsRequest { session_id: id.clone(), events, ..Default::default() };
        let refused = grpc.sessions.append_events(append).await.unwrap_err();
        assert_eq!(refused.code(), Code::InvalidArgument, "{kind} {raw}");
    }
    assert!(server.api.events(&id).await.is_empty());
}

#[tokio::test]
async fn typed_messages_mean_the_same_as_their_json() {
    let server = TestServer::sqlite().await;
    let mut grpc = server.api.grpc().await;
    let id = server.api.session().await;
    let text = |text: &str| proto::Part {
        data: Some(part::Data::Text(text.to_owned())),
        ..Default::default()
    };
    let request = proto::SimulatedLlmRequest {
        contents: vec![proto::Content { role: "user".to_owned(), parts: vec![text("2 + 3?")] }],
        system_instruction: "Add.".to_owned(),
        tools: vec![proto::Tool {
            function_declarations: vec![proto::FunctionDeclaration {
                name: "add".to_owned(),
                description: "Adds.".to_owned(),
                parameters: r#"{"type":"object","properties":{"a":{"type":"integer"}}}"#.to_owned(),
            }],
        }],
        tools_json: r#"{"add":{"kind":"mcp"}}"#.into(),
        state_json: r#"{"city":"Bern"}"#.into(),
        ..Default::default()
    };
    let submit = proto::SubmitRequestRequest {
        session_id: id.clone(),
        turn_id: TURN.to_owned(),
        agent_name: "root".to_owned(),
        request: Some(request),
        branch: "root.child".to_owned(),
        parent_call_id: "adk-0".to_owned(),
        ..Default::default()
    };
    grpc.seat.submit_request(submit).await.unwrap();
    let pending = server.api.pending(&id).await;
    let shown = &pending[0]["request"];
    assert_eq!(
        (&shown["system_instruction"], &shown["state"]),
        (&json!("Add."), &json!({"city": "Bern"}))
    );
    assert_eq!(shown["contents"], json!([{"role": "user", "parts": [{"text": "2 + 3?"}]}]));
    assert_eq!(
        (&shown["tools"][0]["name"], &shown["tools"][0]["kind"]),
        (&json!("add"), &json!("mcp"))
    );
    assert_eq!(
        (&pending[0]["branch"], &pending[0]["parent_call_id"]),
        (&json!("root.child"), &json!("adk-0"))
    );

    let call = proto::FunctionCall {
        name: "add".to_owned(),
        args: r#"{"a":1}"#.to_owned(),
        ..Default::default()
    };
    let part = proto::Part { data: Some(part::Data::FunctionCall(call)), ..Default::default() };
    let decision = proto::SubmitDecisionRequest {
        session_id: id.clone(),
        turn_id: TURN.to_owned(),
        response: Some(proto::HumanResponse {
            candidates: vec![proto::Content { role: "model".to_owned(), parts: vec![part] }],
            ..Default::default()
        }),
    };
    grpc.seat.submit_decision(decision).await.unwrap();

    let mut stream = grpc.subscribe(&id, 0).await;
    let asked = stream.message().await.unwrap().unwrap();
    let Some(Payload::LlmRequest(request)) = asked.payload else { panic!("a request") };
    assert_eq!(request.system_instruction, "Add.");
    assert_eq!(request.contents[0].parts[0].data, text("2 + 3?").data);
    let answered = stream.message().await.unwrap().unwrap();
    assert_eq!((answered.kind.as_str(), answered.turn_id.as_str()), ("response", TURN));
    let Some(Payload::LlmResponse(response)) = answered.payload else { panic!("a response") };
    let Some(part::Data::FunctionCall(call)) = &response.candidates[0].parts[0].data else {
        panic!("a call");
    };
    assert_eq!((call.name.as_str(), call.args.as_str()), ("add", r#"{"a":1}"#));
    assert!(call.id.starts_with("adk-"));
    assert_eq!(response.raw_json, answered.raw_json);
    let marker = stream.message().await.unwrap().unwrap();
    let Some(Payload::HistoryComplete(marker)) = marker.payload else { panic!("a marker") };
    assert_eq!((marker.last_seq, marker.event_count), (2, 2));
}

#[tokio::test]
async fn a_subscription_can_be_limited_to_kinds() {
    let server = TestServer::scratch().await;
    let mut grpc = server.api.grpc().await;
    let id = server.api.session().await;
    grpc.append(&id, &[sample::user_event("u", "hi")]).await.unwrap();
    let turn = grpc.ask(&id).await;
    let subscribe = proto::SubscribeRequest {
        session_id: id.clone(),
        kinds: vec!["response".to_owned()],
        ..Default::default()
    };
    let mut stream = grpc.seat.subscribe(subscribe).await.unwrap().into_inner();
    let marker = stream.message().await.unwrap().unwrap();
    assert!(matches!(marker.payload, Some(Payload::HistoryComplete(_))), "{marker:?}");
    grpc.append(&id, &[sample::agent_event("a", "root", "…")]).await.unwrap();
    server.api.decide(&id, &turn, &sample::says("5")).await.json(200);
    let response = hotseat_testkit::soon("a response", stream.message()).await.unwrap().unwrap();
    assert_eq!((response.kind.as_str(), response.seq), ("response", 4));
}

#[tokio::test]
async fn the_log_is_read_in_pages() {
    let server = TestServer::scratch().await;
    let mut grpc = server.api.grpc().await;
    let id = server.api.session().await;
    let events: Vec<_> =
        (1..=600).map(|n| sample::agent_event(&n.to_string(), "root", "x")).collect();
    assert_eq!(grpc.append(&id, &events).await.unwrap(), 600);
    let mut page = async |after_seq, limit| {
        let list = proto::ListEventsRequest {
            session_id: id.clone(),
            after_seq,
            limit,
            ..Default::default()
        };
        let page = grpc.sessions.list_events(list).await.unwrap().into_inner();
        (page.events.first().map(|event| event.seq), page.events.len(), page.more)
    };
    assert_eq!(page(0, 0).await, (Some(1), 500, true));
    assert_eq!(page(500, 0).await, (Some(501), 100, false));
    assert_eq!(page(0, 3).await, (Some(1), 3, true));
    assert_eq!(page(597, 3).await, (Some(598), 3, false));
    assert_eq!(page(600, 3).await, (None, 0, false));
}

#[tokio::test]
async fn sessions_are_listed_in_pages() {
    let server = TestServer::sqlite().await;
    let mut grpc = server.api.grpc().await;
    for _ in 0..5 {
        server.api.session().await;
    }
    let (mut ids, mut page_token) = (Vec::new(), String::new());
    loop {
        let list = proto::ListSessionsRequest { page_size: 2, page_token, ..Default::default() };
        let page = grpc.seat.list_sessions(list).await.unwrap().into_inner();
        ids.extend(page.sessions.into_iter().map(|session| session.id));
        page_token = page.next_page_token;
        if page_token.is_empty() {
            break;
        }
    }
    let whole = server.api.get("/api/v1/sessions").await.json(200);
    let whole: Vec<_> =
        whole["items"].as_array().unwrap().iter().map(|item| item["id"].clone()).collect();
    assert_eq!(ids, whole);
}

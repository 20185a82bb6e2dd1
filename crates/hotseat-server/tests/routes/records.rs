//! The record and the messages of a session, and its raw events as they were sent.

use serde_json::{Value, json};

use hotseat_server::LedgerConfig;
use hotseat_testkit::{TestServer, sample};

const UNKNOWN: &str = "7d0f6a52-32f1-4b3e-9e0d-1f4f9f6b2a11";

fn at(session: &str, rest: &str) -> String {
    format!("/api/v1/sessions/{session}/{rest}")
}

async fn ingest(server: &TestServer, session: &str, events: &Value) {
    server.api.post(&at(session, "events"), events).await.json(201);
}

async fn record(server: &TestServer, session: &str) -> Value {
    server.api.get(&at(session, "record")).await.json(200)
}

async fn messages(server: &TestServer, session: &str) -> Value {
    server.api.get(&at(session, "messages")).await.json(200)["items"].clone()
}

fn contents(messages: &Value) -> Vec<&str> {
    let messages = messages.as_array().unwrap().iter();
    messages.map(|message| message["content"].as_str().unwrap()).collect()
}

/// Research as it is told: begun, on its way, done.
fn research() -> [Value; 3] {
    [
        json!({"id": "1", "type": "research_started", "timestamp": 1000.0,
            "data": {"status": "running", "overall_progress": 0, "current_phase": "Planning"}}),
        json!({"id": "2", "type": "research_progress", "timestamp": 1001.0,
            "data": {"status": "running", "overall_progress": 45.5, "current_phase": "Reading",
                "partial_results": {"key_findings": "Two", "sources": [1, 2], "third": "x"}}}),
        json!({"id": "3", "type": "research_complete", "timestamp": 1002.0,
            "data": {"status": "completed", "overall_progress": 1.0, "final_report": "All is well."}}),
    ]
}

#[tokio::test]
async fn a_record_shows_what_is_asked_for_and_messages_unless_they_are_not() {
    let server = TestServer::sqlite().await;
    let id = server.api.session_with(&json!({"user_id": "ada"})).await;
    let event = sample::user_event("u", "Research AI safety");
    ingest(&server, &id, &event).await;

    let shown = server.api.show(&id).await;
    let message = json!({"id": "u", "role": "user", "content": "Research AI safety",
        "timestamp": "2026-01-05T10:00:00.250Z", "metadata": null});
    let expected = json!({
        "id": id, "created_at": shown["created_at"], "updated_at": shown["updated_at"],
        "status": "pending", "title": "Research AI safety", "user_id": "ada", "progress": null,
        "current_phase": null, "final_report": null, "error": null, "messages": [message],
    });
    assert_eq!(record(&server, &id).await, expected);

    let with = async |query: &str| {
        let record = server.api.get(&at(&id, &format!("record?{query}"))).await.json(200);
        let extra = record.as_object().unwrap().iter();
        let extra = extra.filter(|(key, _)| expected.get(key).is_none() || *key == "messages");
        Value::Object(extra.map(|(key, value)| (key.clone(), value.clone())).collect())
    };
    assert_eq!(with("include_messages=false").await, json!({}));
    let security = json!({"last_access_at": null, "failed_access_attempts": 0,
        "is_security_flagged": false, "security_warnings": []});
    let mut seen = with("includeMessages=false&include_security=true").await;
    seen["last_access_at"] = json!(null);
    assert_eq!(seen, security);
    let events = with("include_events=true&include_messages=false").await;
    assert_eq!(events, json!({"events": [event], "event_count": 1}));
    let all = with("includeEvents=true&includeSecurity=true&includeMessages=true").await;
    assert_eq!(all.as_object().unwrap().len(), 7, "{all}");
    server.api.get(&at(&id, "record?include_events=7")).await.problem(400, "bad_request");
}

#[tokio::test]
async fn a_session_of_nothing_has_an_empty_record() {
    let server = TestServer::scratch().await;
    let id = server.api.session().await;
    let path = at(&id, "record?include_events=true");
    let record = server.api.get(&path).await.json(200);
    assert_eq!(
        (&record["messages"], &record["events"], &record["event_count"], &record["status"]),
        (&json!([]), &json!([]), &json!(0), &json!("pending"))
    );
    server.api.complete(&id).await;
    assert_eq!(server.api.get(&path).await.json(200)["status"], "completed");
}

#[tokio::test]
async fn research_is_told_by_the_record_and_by_one_message() {
    let server = TestServer::sqlite().await;
    let id = server.api.session().await;
    let [started, progress, complete] = research();

    ingest(&server, &id, &started).await;
    let begun = record(&server, &id).await;
    assert_eq!((&begun["status"], &begun["progress"]), (&json!("running"), &json!(0.0)));
    assert_eq!((&begun["current_phase"], &begun["messages"]), (&json!("Planning"), &json!([])));

    ingest(&server, &id, &progress).await;
    let going = record(&server, &id).await;
    assert_eq!((&going["progress"], &going["current_phase"]), (&json!(0.455), &json!("Reading")));
    assert_eq!(
        contents(&going["messages"]),
        ["**Reading**\n\nProgress: 46%\n\n- Key Findings: Two\n\n- Sources: [1, 2]"]
    );
    assert_eq!(going["messages"][0]["metadata"], json!({"kind": "assistant-progress"}));

    ingest(&server, &id, &complete).await;
    let done = record(&server, &id).await;
    assert_eq!((&done["status"], &done["progress"]), (&json!("completed"), &json!(1.0)));
    assert_eq!(done["final_report"], "All is well.");
    assert_eq!(contents(&done["messages"]), ["All is well."]);
    assert_eq!(done["messages"][0]["id"], going["messages"][0]["id"], "the same message");
    assert_eq!(done["messages"][0]["metadata"]["completed"], true);
    assert_eq!(server.api.show(&id).await["progress"], 1.0, "the session tells it too");

    ingest(&server, &id, &json!({"type": "error", "data": {"error": "no quota"}})).await;
    ingest(&server, &id, &complete).await;
    let mut late = complete.clone();
    late["id"] = json!("late");
    ingest(&server, &id, &late).await;
    let failed = record(&server, &id).await;
    assert_eq!((&failed["status"], &failed["error"]), (&json!("error"), &json!("no quota")));
}

#[tokio::test]
async fn what_is_malformed_or_unknown_is_kept_and_derives_nothing() {
    let server = TestServer::scratch().await;
    let id = server.api.session().await;
    let odd = json!([
        {"type": "research_started", "data": {"overall_progress": "many", "status": ""}},
        {"type": "research_started", "data": "text"},
        {"type": "research_started", "data": null, "overall_progress": [1]},
        {"type": "connection", "data": {"status": "connected", "overall_progress": 9}},
        {"id": "evt_1", "author": "assistant"},
    ]);
    ingest(&server, &id, &odd).await;
    let record = server.api.get(&at(&id, "record?include_events=true")).await.json(200);
    assert_eq!((&record["events"], &record["messages"]), (&odd, &json!([])));
    assert_eq!((&record["status"], &record["progress"]), (&json!("pending"), &json!(null)));
}

#[tokio::test]
async fn messages_and_events_stand_side_by_side() {
    let server = TestServer::sqlite().await;
    let id = server.api.session().await;
    let post = async |body: &Value| server.api.post(&at(&id, "messages"), body).await;
    let first = json!({"id": "m", "role": "user", "content": "Hello",
        "timestamp": "2026-01-05T10:00:00Z", "metadata": {"a": 1}});
    let written = post(&first).await.json(201);
    let expected = json!({"id": "m", "role": "user", "content": "Hello",
        "timestamp": "2026-01-05T10:00:00.000Z", "metadata": {"a": 1}});
    assert_eq!(written, expected);
    let bare = post(&json!({"content": "Hm"})).await.json(201);
    assert_eq!((&bare["role"], &bare["metadata"]), (&json!("assistant"), &json!(null)));
    ingest(&server, &id, &json!({"id": "evt_1", "author": "assistant"})).await;
    ingest(&server, &id, &sample::agent_event("a", "root", "Hi")).await;
    assert_eq!(contents(&messages(&server, &id).await), ["Hello", "Hm", "Hi"]);
    assert_eq!(server.api.show(&id).await["title"], "Hello");

    let newer = json!({"id": "m", "role": "system", "content": "Hello!"});
    post(&newer).await.json(201);
    let seen = messages(&server, &id).await;
    assert_eq!(contents(&seen), ["Hello!", "Hm", "Hi"], "it keeps its place");
    assert_eq!((&seen[0]["role"], &seen[0]["metadata"]), (&json!("user"), &json!({"a": 1})));
    assert_eq!(record(&server, &id).await["messages"], seen);
    let included = server.api.get(&format!("/api/v1/sessions/{id}?include=messages")).await;
    assert_eq!(included.json(200)["messages"], seen);

    for wrong in [json!({}), json!({"content": 7}), json!([]), json!({"content": "x", "id": 7})] {
        post(&wrong).await.problem(422, "invalid");
    }
    let message = json!({"content": "x"});
    let nowhere = server.api.post(&at(UNKNOWN, "messages"), &message).await;
    nowhere.problem(404, "session_not_found");
}

#[tokio::test]
async fn only_the_latest_messages_are_kept() {
    let mut ledger = LedgerConfig::default();
    ledger.limits.max_messages_per_session = 2;
    let server = TestServer::with(ledger).await;
    let id = server.api.session().await;
    for word in ["one", "two", "three"] {
        let message = json!({"content": word});
        server.api.post(&at(&id, "messages"), &message).await.json(201);
    }
    assert_eq!(contents(&messages(&server, &id).await), ["two", "three"]);
    assert_eq!(server.api.events(&id).await.len(), 3, "the log keeps them all");
}

#[tokio::test]
async fn events_are_summed_up() {
    let server = TestServer::scratch().await;
    let id = server.api.session().await;
    let nothing = json!({"total_events": 0, "event_types": {}, "authors": {},
        "first_event_timestamp": null, "last_event_timestamp": null});
    let summary = async || server.api.get(&at(&id, "events/summary")).await.json(200);
    assert_eq!(summary().await, nothing);
    let mut grpc = server.api.grpc().await;
    grpc.ask(&id).await;
    ingest(&server, &id, &json!(research())).await;
    ingest(
        &server,
        &id,
        &json!([
            {"author": "root", "timestamp": 2000.5}, {"author": "root", "timestamp": 999.0},
            {"author": "user"},
        ]),
    )
    .await;
    let expected = json!({
        "total_events": 6,
        "event_types": {"research_started": 1, "research_progress": 1, "research_complete": 1,
            "unknown": 3},
        "authors": {"root": 2, "unknown": 3, "user": 1},
        "first_event_timestamp": 999.0, "last_event_timestamp": 2000.5,
    });
    assert_eq!(summary().await, expected);
}

#[tokio::test]
async fn cleared_events_leave_the_messages_and_a_mark() {
    let server = TestServer::sqlite().await;
    let id = server.api.session().await;
    ingest(&server, &id, &json!([sample::user_event("u", "Hello"), research()[1]])).await;
    let before = record(&server, &id).await;
    let cleared = server.api.delete(&at(&id, "events")).await.json(200);
    assert_eq!(cleared, json!({"removed": 2}));
    assert!(server.api.events(&id).await.is_empty());
    assert_eq!(record(&server, &id).await, before);
    let shown = server.api.show(&id).await;
    assert_eq!((&shown["removed_through"], &shown["last_seq"]), (&json!(2), &json!(2)));
    assert_eq!((&shown["event_count"], &shown["message_count"]), (&json!(0), &json!(2)));

    ingest(&server, &id, &sample::agent_event("a", "root", "Hi")).await;
    assert_eq!(server.api.events(&id).await[0]["seq"], 3, "the log goes on behind the gap");
    let mut grpc = server.api.grpc().await;
    grpc.ask(&id).await;
    server.api.delete(&at(&id, "events")).await.problem(409, "conflict");
}

#[tokio::test]
async fn what_is_derived_can_be_computed_again() {
    let server = TestServer::sqlite().await;
    let id = server.api.session().await;
    ingest(&server, &id, &json!([sample::user_event("u", "Hello"), research()[1]])).await;
    server.api.post(&at(&id, "messages"), &json!({"id": "m", "content": "x"})).await.json(201);
    server.api.post(&at(&id, "messages"), &json!({"id": "m", "content": "y"})).await.json(201);
    let mut event = sample::agent_event("a", "root", "Hi");
    event["actions"]["stateDelta"] = json!({"step": 1});
    ingest(&server, &id, &event).await;

    let whole = format!("/api/v1/sessions/{id}?include=history,events,messages,state");
    let before = (server.api.get(&whole).await.json(200), record(&server, &id).await);
    let rebuilt = server.api.post(&at(&id, "rebuild"), &json!({})).await.json(200);
    assert_eq!(rebuilt, server.api.show(&id).await);
    assert_eq!((server.api.get(&whole).await.json(200), record(&server, &id).await), before);
}

#[tokio::test]
async fn messages_without_events_get_events_once() {
    let server = TestServer::sqlite().await;
    let id = server.api.session().await;
    for (role, content) in [("user", "Hello"), ("assistant", "Hi")] {
        let message = json!({"id": content, "role": role, "content": content, "timestamp": 1000});
        server.api.post(&at(&id, "messages"), &message).await.json(201);
    }
    let before = messages(&server, &id).await;
    let backfill = async || server.api.post(&at(&id, "backfill"), &json!({})).await.json(200);
    assert_eq!(backfill().await, json!({"events": 2}));
    assert_eq!(backfill().await, json!({"events": 0}));
    let record = server.api.get(&at(&id, "record?include_events=true")).await.json(200);
    let expected = |id_: &str, author: &str, role: &str| {
        json!({"id": id_, "invocationId": format!("backfill_{id}"), "author": author,
            "timestamp": 1000.0, "content": {"role": role, "parts": [{"text": id_}]}})
    };
    let events = [expected("Hello", "user", "user"), expected("Hi", "assistant", "model")];
    assert_eq!(record["events"], json!(events));
    assert_eq!(contents(&record["messages"]), contents(&before), "nothing is said twice");

    let other = server.api.session().await;
    ingest(&server, &other, &sample::user_event("u", "Hello")).await;
    let nothing = server.api.post(&at(&other, "backfill"), &json!({})).await.json(200);
    assert_eq!(nothing, json!({"events": 0}), "it has events of its own");
}

#[tokio::test]
async fn a_server_that_takes_no_events_still_takes_messages() {
    let server = TestServer::with(LedgerConfig { ingest: false, ..LedgerConfig::default() }).await;
    let id = server.api.session().await;
    let event = sample::user_event("u", "Hello");
    let refused = server.api.post(&at(&id, "events"), &event).await.problem(409, "ingest_off");
    assert!(refused["detail"].as_str().unwrap().contains("no_ingest"), "{refused}");
    server.api.post(&at(&id, "messages"), &json!({"content": "Hi"})).await.json(201);
    assert_eq!(contents(&messages(&server, &id).await), ["Hi"]);
    assert_eq!(server.api.get("/api/v1/stats").await.json(200)["config"]["ingest"], false);
}

#[tokio::test]
async fn an_event_that_is_too_large_is_refused_with_all_that_came_with_it() {
    let ledger = LedgerConfig { max_event_bytes: 1000, ..LedgerConfig::default() };
    let server = TestServer::with(ledger).await;
    let id = server.api.session().await;
    // Bytes count, not characters: 400 of these are 800 bytes and the rest.
    let sized = |bytes: usize| {
        let mut event = json!({"author": "root", "id": bytes.to_string(), "pad": "ü".repeat(400)});
        let missing = bytes - event.to_string().len() - r#","x":"""#.len();
        event["x"] = json!("x".repeat(missing));
        assert_eq!(event.to_string().len(), bytes);
        event
    };
    let mut progress = research()[1].clone();
    progress["data"]["pad"] = json!("x".repeat(1000));
    for too_large in [sized(1001), json!([sample::user_event("u", "Hello"), progress])] {
        let answer = server.api.post(&at(&id, "events"), &too_large).await;
        let problem = answer.problem(413, "too_large");
        assert!(problem["detail"].as_str().unwrap().contains("limit of 1000"), "{problem}");
    }
    let message = json!({"content": "x".repeat(1000)});
    server.api.post(&at(&id, "messages"), &message).await.problem(413, "too_large");
    assert!(server.api.events(&id).await.is_empty());
    let record = record(&server, &id).await;
    assert_eq!((&record["messages"], &record["progress"]), (&json!([]), &json!(null)));
    ingest(&server, &id, &sized(1000)).await;
}

#[tokio::test]
async fn odd_events_come_back_byte_for_byte_through_every_door() {
    let server = TestServer::sqlite().await;
    let adk = "/apps/notes/users/ada/sessions/s";
    server.api.post(adk, &json!({})).await.json(200);
    let id = server.api.get("/api/v1/sessions").await.json(200)["items"][0]["id"].clone();
    let id = id.as_str().unwrap();
    let large = "QUJD".repeat(5000); // Beyond what is stored uncompressed.
    let odd = [
        r#"{"id":"1","author":"root","timestamp":1.0,"n":123456789012345678901234567890,"f":1.50}"#.to_owned(),
        r#"{"id":"2","invocationId":"i","author":"root","timestamp":2,"actions":{"state_delta":{"big":12345678901234567890123},"skip_summarization":false},"long_running_tool_ids":["c"]}"#.to_owned(),
        r#"{"id":"3","invocation_id":"i","author":"root","timestamp":3.25,"usageMetadata":{"promptTokenCount":7},"newThing":{"z":1,"a":[]},"same":1,"same":2}"#.to_owned(),
        r#"{"id":"4","author":"root","timestamp":4.0,"content":{"role":"model","parts":[{"functionResponse":{"name":"plan","response":{"result":"{\"sections\": [\"Intro\"]}"}}},{"executableCode":{"code":"1+1"}}]},"branch":"a.b"}"#.to_owned(),
        format!(r#"{{"id":"5","author":"root","timestamp":5.0,"content":{{"parts":[{{"inlineData":{{"mimeType":"image/png","data":"{large}"}}}}]}}}}"#),
    ];
    for raw in &odd {
        server.api.post_text(&at(id, "events"), raw).await.json(201);
    }
    let listed = server.api.get(&at(id, "events")).await;
    let recorded = server.api.get(&at(id, "record?include_events=true")).await;
    let read = server.api.get(adk).await;
    let array = format!("\"events\":[{}]", odd.join(","));
    for raw in &odd {
        assert!(listed.body.contains(&format!("\"event\":{raw}")), "{raw}");
    }
    assert!(recorded.body.contains(&array), "{}", recorded.body);
    // ADK's own clients read camelCase; what was written so comes back as it was.
    for number in [0, 3, 4] {
        assert!(read.body.contains(&odd[number]), "{}", read.body);
    }
    for camel in [
        r#""actions":{"stateDelta":{"big":12345678901234567890123},"skipSummarization":false},"longRunningToolIds":["c"]"#,
        r#"{"id":"3","invocationId":"i","author":"root","timestamp":3.25,"usageMetadata":{"promptTokenCount":7}"#,
    ] {
        assert!(read.body.contains(camel), "{}", read.body);
    }
    assert!(read.body.contains(r#""big":12345678901234567890123"#), "the state is exact");
}

#[tokio::test]
async fn events_are_found_by_their_own_time() {
    let server = TestServer::sqlite().await;
    let id = server.api.session().await;
    // 2026-01-05T10:00:00Z and the seconds around it, not in order.
    let event = |id: &str, seconds: f64| json!({"id": id, "author": "root", "timestamp": seconds});
    ingest(
        &server,
        &id,
        &json!([
            event("b", 1_767_607_201.0), event("a", 1_767_607_200.0), event("c", 1_767_607_202.5),
            {"id": "never", "author": "root"},
            {"id": "text", "type": "note", "timestamp": "2026-01-05T10:00:01Z"},
        ]),
    )
    .await;
    let found = async |query: &str| -> Vec<String> {
        let page = server.api.get(&at(&id, &format!("events?{query}"))).await.json(200);
        let items = page["items"].as_array().unwrap().clone();
        items.iter().map(|event| event["event_id"].as_str().unwrap().to_owned()).collect()
    };
    for exact in
        ["1767607201", "1767607201.0", "2026-01-05T10:00:01Z", "2026-01-05T11:00:01%2B01:00"]
    {
        assert_eq!(found(&format!("after_timestamp={exact}")).await, ["c"], "strictly after");
    }
    assert_eq!(found("afterTimestamp=1767607200.5").await, ["b", "c", "text"]);
    assert_eq!(found("recent=2").await, ["text", "c"], "the latest, oldest first");
    assert_eq!(found("recent=100").await, ["never", "a", "b", "text", "c"]);
    assert_eq!(found("recent=1&after_timestamp=1767607200").await, ["c"]);
    assert_eq!(found("recent=3&author=root").await, ["a", "b", "c"]);
    for wrong in ["inf", "NaN", "yesterday"] {
        let path = at(&id, &format!("events?after_timestamp={wrong}"));
        server.api.get(&path).await.problem(400, "bad_request");
    }
}

#[tokio::test]
async fn events_are_found_by_author_invocation_and_branch() {
    let server = TestServer::scratch().await;
    let id = server.api.session().await;
    ingest(
        &server,
        &id,
        &json!([
            {"author": "root", "invocationId": "i-1", "branch": "root"},
            {"author": "child", "invocation_id": "i-1", "branch": "root.child"},
            {"author": "child", "invocationId": "i-2", "branch": "root.child"},
        ]),
    )
    .await;
    let found = async |query: &str| -> Vec<u64> {
        let page = server.api.get(&at(&id, &format!("events?{query}"))).await.json(200);
        let items = page["items"].as_array().unwrap().clone();
        items.iter().map(|event| event["seq"].as_u64().unwrap()).collect()
    };
    assert_eq!(found("invocation_id=i-1").await, [1, 2], "in either spelling");
    assert_eq!(found("invocationId=i-1&author=child").await, [2]);
    assert_eq!(found("branch=root.child").await, [2, 3]);
    assert_eq!(found("branch=root").await, [1], "exactly");
    assert_eq!(found("invocation_id=i-3").await, [0; 0]);
}

#[tokio::test]
async fn events_are_found_by_their_type() {
    let server = TestServer::scratch().await;
    let id = server.api.session().await;
    ingest(
        &server,
        &id,
        &json!([
            {"type": "research_progress", "author": "a", "timestamp": 20, "data": {}},
            {"author": "a", "timestamp": 30},
            {"type": "research_progress", "author": "b", "timestamp": 10, "data": {}},
            {"type": "research_update", "timestamp": 40, "data": {}},
        ]),
    )
    .await;
    let found = async |query: &str| -> Vec<u64> {
        let page = server.api.get(&at(&id, &format!("events?{query}"))).await.json(200);
        let items = page["items"].as_array().unwrap().clone();
        items.iter().map(|event| event["seq"].as_u64().unwrap()).collect()
    };
    assert_eq!(found("type=research_progress").await, [1, 3]);
    assert_eq!(found("type=research_progress&recent=5").await, [3, 1], "by their own time");
    assert_eq!(found("type=research_progress&author=b").await, [3]);
    assert_eq!(found("type=research_progress&order=desc&limit=1").await, [3]);
    assert_eq!(found("type=research_progress&after_seq=1").await, [3]);
    assert_eq!(found("type=no_such").await, [0; 0]);
    let wish = hotseat_testkit::proto::ListEventsRequest {
        session_id: id.clone(),
        r#type: "research_update".to_owned(),
        ..Default::default()
    };
    let listed = server.api.grpc().await.sessions.list_events(wish).await.unwrap().into_inner();
    assert_eq!(listed.events.iter().map(|event| event.seq).collect::<Vec<_>>(), [4]);
    let unknown = server.api.get(&at(UNKNOWN, "events?type=research_update")).await;
    unknown.problem(404, "session_not_found");
}

#[tokio::test]
async fn what_is_derived_of_an_unknown_session_is_not_found() {
    let server = TestServer::scratch().await;
    for rest in ["record", "messages", "events", "events?recent=3", "events/summary"] {
        server.api.get(&at(UNKNOWN, rest)).await.problem(404, "session_not_found");
    }
    for rest in ["rebuild", "backfill"] {
        let answer = server.api.post(&at(UNKNOWN, rest), &json!({})).await;
        answer.problem(404, "session_not_found");
    }
    server.api.delete(&at(UNKNOWN, "events")).await.problem(404, "session_not_found");
}

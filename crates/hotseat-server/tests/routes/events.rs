//! Raw ADK events, in and out.

use serde_json::{Value, json};

use hotseat_testkit::{TestServer, sample};

fn path(session: &str) -> String {
    format!("/api/v1/sessions/{session}/events")
}

#[tokio::test]
async fn one_event_or_an_array_is_taken() {
    let server = TestServer::sqlite().await;
    let id = server.api.session().await;
    let one = server.api.post(&path(&id), &sample::user_event("u", "hello")).await.json(201);
    assert_eq!(one, json!({"last_seq": 1, "appended": 1}));
    let more =
        json!([sample::agent_event("a", "root", "1"), sample::agent_event("b", "root", "2")]);
    let more = server.api.post(&path(&id), &more).await.json(201);
    assert_eq!(more, json!({"last_seq": 3, "appended": 2}));
    let again = server.api.post(&path(&id), &sample::user_event("u", "hello")).await.json(201);
    assert_eq!(again, json!({"last_seq": 3, "appended": 0}));
    let none = server.api.post(&path(&id), &json!([])).await.json(201);
    assert_eq!(none, json!({"last_seq": 3, "appended": 0}));

    let events = server.api.events(&id).await;
    let first = &events[0];
    let at = first["timestamp"].as_str().unwrap();
    let expected = json!({
        "seq": 1, "event_id": "u", "session_id": id, "timestamp": at, "kind": "event",
        "turn_id": null, "invocation_id": "e-1", "author": "user", "agent_name": "user",
        "branch": null, "parent_call_id": null, "event": sample::user_event("u", "hello"),
    });
    assert_eq!(*first, expected);
}

#[tokio::test]
async fn an_array_with_one_bad_event_is_refused_whole() {
    let server = TestServer::scratch().await;
    let id = server.api.session().await;
    for (bad, reason) in [
        (json!({"id": "x"}), "the event has no author"),
        (json!({"author": " "}), "the event has no author"),
        (json!({"author": 7}), "author of the event must be a string"),
        (json!({"author": "root", "content": "text"}), "content of the event must be an object"),
        (
            json!({"author": "root", "content": {"parts": {}}}),
            "parts of the event must be an array",
        ),
        (json!({"author": "root", "timestamp": "now"}), "timestamp of the event must be a number"),
        (json!("text"), "an event must be an object"),
        (json!(7), "an event must be an object"),
    ] {
        let body = json!([sample::user_event("u", "hello"), bad]);
        let problem = server.api.post(&path(&id), &body).await.problem(422, "invalid");
        let detail = problem["detail"].as_str().unwrap();
        assert!(detail.starts_with(&format!("event 1 is not an ADK event: {reason}")), "{detail}");
    }
    assert!(server.api.events(&id).await.is_empty());
}

#[tokio::test]
async fn an_event_that_says_nothing_is_passed_over() {
    let server = TestServer::scratch().await;
    let id = server.api.session().await;
    for nothing in ["{}", "null", " { } ", "[{}, null]"] {
        let answer = server.api.post_text(&path(&id), nothing).await.json(201);
        assert_eq!(answer, json!({"last_seq": 0, "appended": 0}), "{nothing}");
    }
    let some = json!([{}, sample::user_event("u", "hello"), null]);
    let some = server.api.post(&path(&id), &some).await.json(201);
    assert_eq!(some, json!({"last_seq": 1, "appended": 1}));

    let unknown = path("7d0f6a52-32f1-4b3e-9e0d-1f4f9f6b2a11");
    server.api.post(&unknown, &json!({})).await.problem(404, "session_not_found");
    assert_eq!(server.api.get("/api/v1/stats").await.json(200)["total_sessions"], 1);
}

#[tokio::test]
async fn too_many_events_at_once_are_refused() {
    let server = TestServer::scratch().await;
    let id = server.api.session().await;
    let events = |n: usize| -> Value {
        (0..n).map(|n| sample::agent_event(&n.to_string(), "root", "x")).collect()
    };
    server.api.post(&path(&id), &events(1001)).await.problem(422, "invalid");
    server.api.post(&path(&id), &events(1000)).await.json(201);
}

#[tokio::test]
async fn raw_events_stay_byte_for_byte() {
    let server = TestServer::sqlite().await;
    let id = server.api.session().await;
    let odd = [
        "{ \"author\" :\t\"root\" ,\r\n \"id\":\"1\", \"newThing\": [ ] }",
        r#"{"z":1,"author":"root","id":"2","a":{"same":1,"same":2}}"#,
        r#"{"author":"root","id":"3","n":1180591620717411303424,"f":1.50,"e":1E+400}"#,
        r#"{"author":"root","id":"4","t":"\u00e4\u0000\/\ud83d\ude00 ä😀 </script>"}"#,
    ];
    server.api.post_text(&path(&id), odd[0]).await.json(201);
    let array = format!("[ {} ,\n{}]", odd[1], odd[2]);
    server.api.post_text(&path(&id), &array).await.json(201);
    server.api.post_text(&path(&id), odd[3]).await.json(201);

    let listed = server.api.get(&path(&id)).await;
    listed.json(200);
    for raw in odd {
        assert!(listed.body.contains(&format!("\"event\":{raw}")), "{raw} in {}", listed.body);
    }
    let mut grpc = server.api.grpc().await;
    let mut stream = grpc.subscribe(&id, 0).await;
    for raw in odd {
        let event = stream.message().await.unwrap().unwrap();
        assert_eq!(event.raw_json, raw.as_bytes());
    }
}

#[tokio::test]
async fn events_are_filtered_and_paged() {
    let server = TestServer::scratch().await;
    let id = server.api.session().await;
    let mut grpc = server.api.grpc().await;
    let mut late = sample::agent_event("4", "other", "x");
    late["invocationId"] = json!("e-2");
    let events = json!([sample::user_event("1", "hi"), sample::agent_event("2", "root", "x")]);
    server.api.post(&path(&id), &events).await.json(201);
    grpc.ask(&id).await;
    server.api.post(&path(&id), &late).await.json(201);

    let list = async |query: &str| -> Vec<u64> {
        let page = server.api.get(&format!("{}?{query}", path(&id))).await.json(200);
        let items = page["items"].as_array().unwrap().clone();
        items.iter().map(|event| event["seq"].as_u64().unwrap()).collect()
    };
    assert_eq!(list("").await, [1, 2, 3, 4]);
    assert_eq!(list("after_seq=2").await, [3, 4]);
    assert_eq!(list("afterSeq=2&order=asc").await, [3, 4]);
    assert_eq!(list("order=desc&limit=2").await, [4, 3]);
    assert_eq!(list("order=desc&after_seq=3").await, [2, 1]);
    assert_eq!(list("kind=request").await, [3]);
    assert_eq!(list("kind=request,%20event&author=root").await, [2, 3]);
    assert_eq!(list("invocation_id=e-2").await, [4]);
    assert_eq!(list("author=user").await, [1]);
    let seen = server.api.events(&id).await;
    let newest = seen[3]["timestamp"].as_str().unwrap();
    assert_eq!(list(&format!("after_timestamp={newest}")).await, [0; 0], "strictly after");
    assert_eq!(list("after_timestamp=2020-01-01T00:00:00Z").await, [1, 2, 3, 4]);

    let page = server.api.get(&format!("{}?limit=3", path(&id))).await.json(200);
    assert_eq!(page["next_cursor"], "3");
    let page = server.api.get(&format!("{}?limit=4", path(&id))).await.json(200);
    assert_eq!(page["next_cursor"], json!(null));
}

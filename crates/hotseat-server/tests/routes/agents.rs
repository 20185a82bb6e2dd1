//! Agents and the workers that host them.

use serde_json::json;
use tonic::Code;

use hotseat_testkit::{ScriptedWorker, TestServer, proto};

#[tokio::test]
async fn agents_are_listed_while_their_worker_lives_and_afterwards() {
    let server = TestServer::scratch().await;
    let none = server.api.get("/api/v1/agents").await.json(200);
    assert_eq!(none, json!({"items": [], "next_cursor": null, "problems": []}));

    let mut register = ScriptedWorker::registering("w", "math");
    register.agents[0].input_schema_json = r#"{"type":"object"}"#.into();
    register.agents[0].eval_set_path = "/somewhere/math.evalset.json".to_owned();
    register.problems.push(proto::LoadProblem {
        source: "broken_agent".to_owned(),
        message: "ImportError: no module".to_owned(),
        traceback: "Traceback".to_owned(),
    });
    let worker = ScriptedWorker::attach_as(&server.api, register).await.unwrap();
    let list = server.api.get("/api/v1/agents").await.json(200);
    let agent = &list["items"][0];
    assert_eq!((&agent["name"], &agent["app_name"]), (&json!("math"), &json!("math_app")));
    assert_eq!((&agent["connected"], &agent["runtime"]), (&json!(true), &json!("adk")));
    assert_eq!(agent["tools"][0]["name"], "add");
    assert_eq!(agent["tools"][0]["parameters"]["properties"]["a"]["type"], "integer");
    assert_eq!(agent["input_schema"], json!({"type": "object"}));
    assert_eq!(agent["output_schema"], json!(null));
    let problem = json!({"source": "broken_agent", "message": "ImportError: no module", "traceback": "Traceback"});
    assert_eq!(list["problems"], json!([problem]));

    drop(worker);
    server.api.until_connected("math", false).await;
    let list = server.api.get("/api/v1/agents").await.json(200);
    assert_eq!((&list["items"][0]["name"], &list["problems"]), (&json!("math"), &json!([])));
}

#[tokio::test]
async fn a_worker_that_attaches_again_replaces_its_older_self() {
    let server = TestServer::scratch().await;
    let older = ScriptedWorker::attach(&server.api, "w", "math").await;
    let mut newer = ScriptedWorker::attach(&server.api, "w", "math").await;
    drop(older);
    let session = server.api.session_with(&json!({"agent": "math"})).await;
    let query = format!("/api/v1/sessions/{session}/query");
    server.api.post(&query, &json!({"text": "hello"})).await.json(202);
    assert_eq!(newer.run().await.session_id, session);
}

#[tokio::test]
async fn a_worker_that_does_not_say_who_it_is_is_refused() {
    let server = TestServer::scratch().await;
    let mut nameless = ScriptedWorker::registering("w", "math");
    nameless.worker_id = String::new();
    let mut blank = ScriptedWorker::registering("w", " ");
    let mut broken = ScriptedWorker::registering("w", "math");
    broken.agents[0].tools_json = "{".into();
    blank.agents[0].app_name = "app".to_owned();
    for register in [nameless, blank, broken] {
        let refused = ScriptedWorker::attach_as(&server.api, register).await.unwrap_err();
        assert_eq!(refused.code(), Code::InvalidArgument, "{refused}");
    }
    let agents = server.api.get("/api/v1/agents").await.json(200);
    assert_eq!(agents["items"], json!([]));
}

//! Runs of `adk eval`, carried out by a worker.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde_json::{Value, json};

use hotseat_testkit::proto::Answer;
use hotseat_testkit::{ScriptedWorker, TestServer};

fn eval_set(server: &TestServer, name: &str) -> PathBuf {
    let path = server.eval_sets().join(name);
    std::fs::write(&path, r#"{"eval_set_id": "sums", "eval_cases": []}"#).unwrap();
    path
}

/// Starts a run, and gives its id.
async fn start(server: &TestServer, body: &Value) -> String {
    let run = server.api.post("/api/v1/eval-sets/run", body).await.json(202);
    assert_eq!((&run["status"], &run["ended_at"]), (&json!("running"), &json!(null)));
    run["eval_run_id"].as_str().unwrap().to_owned()
}

async fn show(server: &TestServer, id: &str) -> Value {
    server.api.get(&format!("/api/v1/eval-runs/{id}")).await.json(200)
}

#[tokio::test]
async fn a_run_ends_as_adk_eval_did() {
    let server = TestServer::scratch().await;
    let path = eval_set(&server, "a.evalset.json");
    let mut worker = ScriptedWorker::attach(&server.api, "w", "math").await;
    for (exit_code, status) in [(0, "passed"), (1, "failed")] {
        let id = start(&server, &json!({"path": path, "agent": "math"})).await;
        let (ask, question) = worker.asked("eval").await;
        assert_eq!(question, json!({"agent": "math", "path": path}), "nothing that nobody said");
        assert_eq!(show(&server, &id).await["status"], "running");
        let metrics = json!([{"name": "tool_trajectory_avg_score", "score": 1.0, "threshold": 1.0, "passed": true}]);
        let cases = json!([{"eval_id": "one", "passed": exit_code == 0, "metrics": metrics}]);
        let told = json!({"exit_code": exit_code, "output": "ran 1", "cases": cases});
        worker.answer(&ask, &told).await;

        let run = server.api.until_evaluated(&id).await;
        assert_eq!((&run["status"], &run["output"]), (&json!(status), &json!("ran 1")));
        assert_eq!((&run["path"], &run["agent"]), (&json!(path), &json!("math")));
        assert_eq!(run["cases"], cases);
        assert!(run["ended_at"].as_str().unwrap() >= run["started_at"].as_str().unwrap());
    }
}

#[tokio::test]
async fn what_was_wished_reaches_the_worker() {
    let server = TestServer::scratch().await;
    let path = eval_set(&server, "a.evalset.json");
    let mut worker = ScriptedWorker::attach(&server.api, "w", "math").await;
    let criteria = json!({"response_match_score": 0.5});
    for ids in ["eval_ids", "evalIds"] {
        let wish = json!({"path": path, "agent": "math", ids: ["one"], "criteria": criteria});
        start(&server, &wish).await;
        let (_, question) = worker.asked("eval").await;
        assert_eq!((&question["eval_ids"], &question["criteria"]), (&json!(["one"]), &criteria));
    }
}

#[tokio::test]
async fn a_run_that_could_not_be_carried_out_says_why() {
    let server = TestServer::scratch().await;
    let path = eval_set(&server, "a.evalset.json");
    let mut worker = ScriptedWorker::attach(&server.api, "w", "math").await;
    let wish = json!({"path": path, "agent": "math"});
    let failed = Answer { error: "there is no adk".to_owned(), ..Answer::default() };
    let odd = Answer { json: "{}".into(), ..Answer::default() };
    for (answer, words) in [(failed, "there is no adk"), (odd, "cannot be read")] {
        let id = start(&server, &wish).await;
        let (ask, _) = worker.asked("eval").await;
        worker.answer_as(&ask, answer).await;
        let run = server.api.until_evaluated(&id).await;
        assert_eq!(run["status"], "error");
        assert!(run["output"].as_str().unwrap().contains(words), "{run}");
    }
    let unknown = json!({"path": path, "agent": "poet"});
    server.api.post("/api/v1/eval-sets/run", &unknown).await.problem(409, "no_worker");
    drop(worker);
    server.api.until_connected("math", false).await;
    server.api.post("/api/v1/eval-sets/run", &wish).await.problem(409, "no_worker");
}

#[tokio::test]
async fn runs_are_listed_newest_first() {
    let server = TestServer::scratch().await;
    let (a, b) = (eval_set(&server, "a.evalset.json"), eval_set(&server, "b.evalset.json"));
    let mut worker = ScriptedWorker::attach(&server.api, "w", "math").await;
    let mut started = Vec::new();
    for path in [&a, &b, &a] {
        started.push(start(&server, &json!({"path": path, "agent": "math"})).await);
        let (ask, _) = worker.asked("eval").await;
        worker.answer(&ask, &json!({"exit_code": 0})).await;
        server.api.until_evaluated(started.last().unwrap()).await;
    }
    let list = async |query: String| {
        let list = server.api.get(&format!("/api/v1/eval-runs{query}")).await.json(200);
        list["items"].as_array().unwrap().clone()
    };
    let all = list(String::new()).await;
    // Two may have been started in the same millisecond.
    let time = |run: &Value| run["started_at"].as_str().unwrap().to_owned();
    assert!(all.is_sorted_by(|newer, older| time(newer) >= time(older)), "{all:?}");
    let ids = |runs: &[Value]| -> BTreeSet<String> {
        runs.iter().map(|run| run["eval_run_id"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(ids(&all), started.iter().cloned().collect());
    let of_b = list(format!("?path={}", b.display())).await;
    assert_eq!(ids(&of_b), BTreeSet::from([started[1].clone()]));
    for nobody in ["00000000-0000-4000-8000-000000000000", "..%2Ftoken", "a"] {
        let path = format!("/api/v1/eval-runs/{nobody}");
        server.api.get(&path).await.problem(404, "nothing_there");
    }
}

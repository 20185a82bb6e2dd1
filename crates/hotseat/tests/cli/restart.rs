//! What a server still knows after it was started again.

use hotseat_testkit::{Launch, ScriptedWorker};
use serde_json::json;

use crate::HOTSEAT;

#[tokio::test]
async fn eval_runs_survive_and_one_that_was_cut_off_is_an_error() {
    let hotseat = Launch::new(HOTSEAT).start();
    let path = hotseat.folder().canonicalize().unwrap().join("a.evalset.json");
    std::fs::write(&path, r#"{"eval_set_id": "sums", "eval_cases": []}"#).unwrap();
    let mut worker = ScriptedWorker::attach(&hotseat.api, "w", "math").await;
    let wish = json!({"path": path, "agent": "math"});
    let start = async || {
        let run = hotseat.api.post("/api/v1/eval-sets/run", &wish).await.json(202);
        run["eval_run_id"].as_str().unwrap().to_owned()
    };
    let first = start().await;
    let (ask, _) = worker.asked("eval").await;
    let cases = json!([{"eval_id": "one", "passed": true}]);
    worker.answer(&ask, &json!({"exit_code": 0, "output": "ran", "cases": cases})).await;
    let ended = hotseat.api.until_evaluated(&first).await;
    assert_eq!(ended["status"], "passed");
    let second = start().await;
    worker.asked("eval").await;

    let hotseat = hotseat.restart();
    let kept = hotseat.api.get(&format!("/api/v1/eval-runs/{first}")).await.json(200);
    assert_eq!(kept, ended);
    let cut = hotseat.api.get(&format!("/api/v1/eval-runs/{second}")).await.json(200);
    assert_eq!((&cut["status"], &cut["ended_at"]), (&json!("error"), &json!(null)));
    assert_eq!(cut["output"], "the server stopped before the run had ended");
    let list = hotseat.api.get("/api/v1/eval-runs").await.json(200);
    assert_eq!(list["items"].as_array().unwrap().len(), 2);
}

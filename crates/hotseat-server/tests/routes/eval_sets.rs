//! EvalSet files: which are known, what is in them, and changes to their cases.

use std::path::{Path, PathBuf};

use reqwest::Method;
use serde_json::{Value, json};

use hotseat_testkit::proto::Answer as Told;
use hotseat_testkit::{Answer, Api, ScriptedWorker, TestServer};

/// A file as Hotseat lays it out, with a field and a number that only its owner understands.
const FILE: &str = r#"{
  "eval_set_id": "sums",
  "name": "Sums",
  "x-note": 1.50,
  "eval_cases": [
    {
      "eval_id": "one",
      "conversation": []
    },
    {
      "eval_id": "two",
      "conversation": [],
      "x-weight": 2.50
    },
    {
      "eval_id": "three",
      "conversation": []
    }
  ]
}
"#;

fn write(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path
}

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

/// A case that `adk eval` could run.
fn case(eval_id: &str, question: &str) -> Value {
    let user_content = json!({"role": "user", "parts": [{"text": question}]});
    json!({"eval_id": eval_id, "conversation": [{"user_content": user_content}]})
}

async fn read(api: &Api, path: &Path) -> Answer {
    api.get(&format!("/api/v1/eval-sets/file?path={}", path.display())).await
}

async fn put(api: &Api, body: &Value) -> Answer {
    api.put("/api/v1/eval-sets/case", body).await
}

async fn remove(api: &Api, path: &Path, eval_id: &str) -> Answer {
    let path = path.display();
    api.delete(&format!("/api/v1/eval-sets/case?path={path}&eval_id={eval_id}")).await
}

async fn eval_ids(api: &Api, path: &Path) -> Vec<Value> {
    let file = read(api, path).await.json(200);
    file["cases"].as_array().unwrap().iter().map(|case| case["eval_id"].clone()).collect()
}

#[tokio::test]
async fn files_of_agents_and_of_the_folder_are_known() {
    let server = TestServer::scratch().await;
    let root = server.eval_sets();
    let here = write(root, "a.evalset.json", FILE);
    let broken = write(root, "b.evalset.json", "{\"eval_cases\": [");
    write(root, "other.json", FILE);
    std::fs::create_dir(root.join("below")).unwrap();
    write(&root.join("below"), "c.evalset.json", FILE);
    std::fs::create_dir(root.join("folder.evalset.json")).unwrap();
    let project = tempfile::tempdir().unwrap();
    let named = write(project.path(), "math.json", FILE);
    let beside = write(project.path(), "more.evalset.json", FILE);
    write(project.path(), "package.json", "{}");
    let mut register = ScriptedWorker::registering("w", "math");
    register.agents[0].eval_set_path = named.to_str().unwrap().to_owned();
    let worker = ScriptedWorker::attach_as(&server.api, register).await.unwrap();

    let listed = server.api.get("/api/v1/eval-sets").await.json(200);
    let mut rows = listed["items"].as_array().unwrap().clone();
    rows.sort_by_key(|row| row["path"] == json!(named) || row["path"] == json!(beside));
    let facts = |row: &Value| (row["path"].clone(), row["agent"].clone(), row["cases"].clone());
    let expected = [
        (&here, None, 3),
        (&broken, None, 0),
        (&named, Some("math"), 3),
        (&beside, Some("math"), 3),
    ]
    .map(|(path, agent, cases)| (json!(path), json!(agent), json!(cases)));
    assert_eq!(rows.iter().map(facts).collect::<Vec<_>>(), expected);
    assert_eq!((&rows[0]["eval_set_id"], &rows[0]["name"]), (&json!("sums"), &json!("Sums")));
    assert!(rows[0]["modified_at"].as_str().unwrap().ends_with('Z'), "{}", rows[0]);
    assert_eq!(rows[0].get("error"), None);
    assert_eq!(rows[1]["error"], "the file is not JSON");

    drop(worker);
    server.api.until_connected("math", false).await;
    assert_eq!(read(&server.api, &named).await.status, 200, "still known without its worker");
}

#[tokio::test]
async fn a_file_is_read_with_its_cases() {
    let server = TestServer::scratch().await;
    let path = write(server.eval_sets(), "a.evalset.json", FILE);
    let answer = read(&server.api, &path).await;
    let cases: Value = serde_json::from_str(FILE).unwrap();
    assert_eq!(
        answer.json(200),
        json!({"path": path, "agent": null, "eval_set_id": "sums", "name": "Sums",
               "description": null, "cases": cases["eval_cases"]})
    );
    assert!(answer.body.contains("2.50"), "numbers stay as they are written");

    let broken = write(server.eval_sets(), "b.evalset.json", "[]");
    let problem = read(&server.api, &broken).await.problem(409, "eval_set_unreadable");
    let detail = problem["detail"].as_str().unwrap();
    assert!(detail.contains(broken.to_str().unwrap()) && detail.contains("legacy"), "{detail}");
}

#[tokio::test]
async fn files_that_are_not_known_are_not_there() {
    let server = TestServer::scratch().await;
    let root = server.eval_sets();
    write(root, "a.evalset.json", FILE);
    std::fs::create_dir(root.join("below")).unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let _worker = ScriptedWorker::attach(&server.api, "w", "math").await;
    for path in [
        "/etc/passwd".into(),
        write(root, "notes.json", FILE),
        write(&root.join("below"), "a.evalset.json", FILE),
        write(elsewhere.path(), "a.evalset.json", FILE),
        root.join("below/../a.evalset.json"),
        root.join("missing.evalset.json"),
        root.to_owned(),
        "a.evalset.json".into(),
        PathBuf::new(),
    ] {
        let before = std::fs::read(&path).ok();
        read(&server.api, &path).await.problem(404, "nothing_there");
        let body = json!({"path": path, "case": case("new", "2 + 3?")});
        put(&server.api, &body).await.problem(404, "nothing_there");
        remove(&server.api, &path, "one").await.problem(404, "nothing_there");
        let body = json!({"path": path, "agent": "math"});
        for action in ["validate", "run"] {
            let answer = server.api.post(&format!("/api/v1/eval-sets/{action}"), &body).await;
            answer.problem(404, "nothing_there");
        }
        assert_eq!(std::fs::read(&path).ok(), before, "{}", path.display());
    }
    assert_eq!(text(&root.join("a.evalset.json")), FILE);
    assert_eq!(server.api.get("/api/v1/eval-runs").await.json(200)["items"], json!([]));
}

#[tokio::test]
async fn a_case_is_appended_updated_or_put_in_its_place() {
    let server = TestServer::scratch().await;
    let path = write(server.eval_sets(), "a.evalset.json", FILE);
    let new = case("new", "2 + 3?");
    let answer = put(&server.api, &json!({"path": path, "case": new})).await.json(200);
    assert_eq!(answer, json!({"action": "appended", "case": new}));
    assert_eq!(eval_ids(&server.api, &path).await, ["one", "two", "three", "new"]);

    let edited = case("two", "And 3 + 4?");
    let body = json!({"path": path, "case": edited, "index": 0});
    assert_eq!(put(&server.api, &body).await.json(200)["action"], "updated");
    let file = read(&server.api, &path).await.json(200);
    assert_eq!(file["cases"][1], edited, "it stays where it stood");

    let body = json!({"path": path, "case": case("first", "1 + 1?"), "index": 0});
    assert_eq!(put(&server.api, &body).await.json(200)["action"], "appended");
    assert_eq!(eval_ids(&server.api, &path).await, ["first", "one", "two", "three", "new"]);
    assert!(text(&path).contains("\"x-note\": 1.50,"), "the rest is its owner's");
}

#[tokio::test]
async fn a_case_that_could_not_be_run_is_not_written() {
    let server = TestServer::scratch().await;
    let path = write(server.eval_sets(), "a.evalset.json", FILE);
    for (case, pointers) in [
        (json!({}), vec!["/case/eval_id", "/case/conversation"]),
        (json!([]), vec!["/case"]),
        (json!({"eval_id": "a:b", "conversation": []}), vec!["/case/eval_id"]),
        (
            json!({"evalId": "", "conversation": [{"userContent": {"parts": []}, "x/y": 1}]}),
            vec![
                "/case/evalId",
                "/case/conversation/0/x~1y",
                "/case/conversation/0/userContent/parts",
            ],
        ),
    ] {
        let answer = put(&server.api, &json!({"path": path, "case": case})).await;
        let problem = answer.problem(422, "invalid");
        let errors = problem["errors"].as_array().unwrap();
        let found: Vec<_> = errors.iter().map(|error| error["path"].as_str().unwrap()).collect();
        assert_eq!(found, pointers, "{problem}");
    }
    put(&server.api, &json!({"path": path})).await.problem(422, "invalid");
    assert_eq!(text(&path), FILE);

    let broken = write(server.eval_sets(), "b.evalset.json", "{\"eval_cases\":  [");
    let body = json!({"path": broken, "case": case("new", "2 + 3?")});
    let problem = put(&server.api, &body).await.problem(409, "eval_set_unreadable");
    assert!(problem["detail"].as_str().unwrap().contains(broken.to_str().unwrap()), "{problem}");
    remove(&server.api, &broken, "new").await.problem(409, "eval_set_unreadable");
    assert_eq!(text(&broken), "{\"eval_cases\":  [");
}

#[tokio::test]
async fn a_removed_case_can_be_put_back() {
    let server = TestServer::scratch().await;
    let path = write(server.eval_sets(), "a.evalset.json", FILE);
    // The case goes back as the answer's own bytes, as a page that reads numbers exactly does.
    for (eval_id, index) in [("one", 0), ("two", 1), ("three", 2)] {
        let answer = remove(&server.api, &path, eval_id).await;
        let removed = answer.json(200);
        assert_eq!(
            (&removed["case"]["eval_id"], &removed["index"]),
            (&json!(eval_id), &json!(index))
        );
        assert!(!eval_ids(&server.api, &path).await.contains(&json!(eval_id)));
        let body = format!("{{\"path\":{},{}", json!(path), &answer.body[1..]);
        let request = server.api.request(Method::PUT, "/api/v1/eval-sets/case");
        let request = request.header("content-type", "application/json").body(body);
        assert_eq!(server.api.send(request).await.json(200)["action"], "appended");
        assert_eq!(text(&path), FILE, "every byte is back");
    }
    remove(&server.api, &path, "four").await.problem(404, "nothing_there");
    assert_eq!(text(&path), FILE);
    let without = format!("/api/v1/eval-sets/case?path={}", path.display());
    server.api.delete(&without).await.problem(400, "bad_request");
}

#[tokio::test]
async fn a_worker_judges_a_file() {
    let server = TestServer::scratch().await;
    let path = write(server.eval_sets(), "a.evalset.json", FILE);
    let body = json!({"path": path});
    let validate = || server.api.post("/api/v1/eval-sets/validate", &body);
    validate().await.problem(409, "no_worker");

    let mut worker = ScriptedWorker::attach(&server.api, "w", "math").await;
    for (told, answered) in [
        (json!({"valid": true}), json!({"valid": true, "errors": []})),
        (
            json!({"valid": false, "errors": [{"path": "/eval_cases/0", "message": "no"}]}),
            json!({"valid": false, "errors": [{"path": "/eval_cases/0", "message": "no"}]}),
        ),
    ] {
        let (answer, ()) = tokio::join!(validate(), async {
            let (ask, question) = worker.asked("validate").await;
            assert_eq!(question, json!({"text": FILE}));
            worker.answer(&ask, &told).await;
        });
        assert_eq!(answer.json(200), answered);
    }
    let (answer, ()) = tokio::join!(validate(), async {
        let (ask, _) = worker.asked("validate").await;
        let error = "google-adk is too old".to_owned();
        worker.answer_as(&ask, Told { error, ..Told::default() }).await;
    });
    let problem = answer.problem(502, "worker_failed");
    assert!(problem["detail"].as_str().unwrap().contains("google-adk is too old"), "{problem}");
}

//! Golden traces into EvalSet files.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Value, json};

use hotseat_testkit::{Answer, Api, ScriptedWorker, TestServer, sample};

/// A completed session in which `question` was answered.
async fn answered(api: &Api, body: &Value, question: &str) -> String {
    let id = api.session_with(body).await;
    let log = json!([sample::user_event("u", question), sample::agent_event("a", "root", "5")]);
    api.post(&format!("/api/v1/sessions/{id}/events"), &log).await.json(201);
    api.complete(&id).await;
    id
}

async fn export(api: &Api, id: &str, body: &Value) -> Answer {
    api.post(&format!("/api/v1/sessions/{id}/export"), body).await
}

fn read(path: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn eval_ids(file: &Value) -> Vec<&str> {
    file["eval_cases"]
        .as_array()
        .unwrap()
        .iter()
        .map(|case| case["eval_id"].as_str().unwrap())
        .collect()
}

#[tokio::test]
async fn a_trace_creates_extends_and_updates_its_file() {
    let server = TestServer::sqlite().await;
    let file = server.eval_sets().join("hotseat.evalset.json");
    let first = answered(&server.api, &json!({}), "2 + 3?").await;
    let preview = format!("/api/v1/sessions/{first}/export");
    let previewed = server.api.get(&preview).await.json(200);
    assert_eq!((&previewed["exists"], &previewed["path"]), (&json!(false), &json!(file)));
    assert!(!file.exists(), "a preview writes nothing");

    let created = export(&server.api, &first, &json!({})).await.json(200);
    assert_eq!((&created["action"], &created["path"]), (&json!("created"), &json!(file)));
    assert_eq!(created["case"], previewed["case"]);
    assert_eq!(read(&file)["eval_cases"][0], created["case"]);
    let conversation = &created["case"]["conversation"][0];
    assert_eq!(conversation["user_content"]["parts"][0]["text"], "2 + 3?");
    assert_eq!(conversation["final_response"]["parts"][0]["text"], "5");
    let eval_id = created["eval_id"].as_str().unwrap();
    assert!(!eval_id.contains(':'), "adk eval splits at colons: {eval_id}");

    let second = answered(&server.api, &json!({}), "3 + 4?").await;
    let appended = export(&server.api, &second, &json!({})).await.json(200);
    assert_eq!(appended["action"], "appended");
    assert_ne!(appended["eval_id"], created["eval_id"]);

    let updated =
        server.api.send(server.api.request(reqwest::Method::POST, &preview)).await.json(200);
    assert_eq!((&updated["action"], &updated["eval_id"]), (&json!("updated"), &created["eval_id"]));
    let ids = [eval_id, appended["eval_id"].as_str().unwrap()];
    assert_eq!(eval_ids(&read(&file)), ids);
    assert_eq!(server.api.get(&preview).await.json(200)["exists"], true);
}

#[tokio::test]
async fn a_session_can_be_had_as_adk_itself_writes_it() {
    let server = TestServer::scratch().await;
    let id = server.api.session_with(&json!({"user_id": "ada"})).await;
    let events = [sample::user_event("u", "2 + 3?"), sample::agent_event("a", "root", "5")];
    server.api.post(&format!("/api/v1/sessions/{id}/events"), &json!(events)).await.json(201);
    let path = format!("/api/v1/sessions/{id}/export");
    // A session that goes on can be had as well.
    let answer = server.api.get(&format!("{path}?format=session")).await;
    assert_eq!(
        answer.json(200),
        json!({"id": id, "appName": "hotseat", "userId": "ada", "state": {}, "events": events,
               "lastUpdateTime": 1_767_607_201.5})
    );
    let disposition = format!("attachment; filename=\"{id}.session.json\"");
    assert_eq!(answer.header("content-disposition"), disposition);

    server.api.get(&format!("{path}?format=yaml")).await.problem(400, "bad_request");
    let nobody = "/api/v1/sessions/00000000-0000-4000-8000-000000000000/export?format=session";
    server.api.get(nobody).await.problem(404, "session_not_found");
}

/// FR-021
#[tokio::test]
async fn a_trace_goes_where_the_agents_worker_says() {
    let server = TestServer::scratch().await;
    let elsewhere = tempfile::tempdir().unwrap();
    let file = elsewhere.path().join("new/folder/math.evalset.json");
    let mut register = ScriptedWorker::registering("w", "math");
    register.agents[0].eval_set_path = file.to_str().unwrap().to_owned();
    let _worker = ScriptedWorker::attach_as(&server.api, register).await.unwrap();
    let id = answered(&server.api, &json!({"agent": "math"}), "2 + 3?").await;
    let created = export(&server.api, &id, &json!({})).await.json(200);
    assert_eq!(created["path"], json!(file));
    assert_eq!(read(&file)["eval_cases"][0]["session_input"]["app_name"], "math_app");
    // The page sends back the path that it was shown.
    let again = export(&server.api, &id, &json!({"eval_set_path": file})).await.json(200);
    assert_eq!(again["action"], "updated");
}

#[tokio::test]
async fn a_caller_may_name_a_file_below_the_folder() {
    let server = TestServer::scratch().await;
    let id = answered(&server.api, &json!({}), "2 + 3?").await;
    let absolute = server.eval_sets().join("b.json");
    for (wish, file) in [
        (json!({"eval_set_path": "evals/a.json"}), "evals/a.json"),
        (json!({"evalSetPath": "./a.json"}), "a.json"),
        (json!({"eval_set_path": absolute}), "b.json"),
    ] {
        assert_eq!(export(&server.api, &id, &wish).await.json(200)["action"], "created");
        assert_eq!(eval_ids(&read(&server.eval_sets().join(file))).len(), 1);
    }
}

#[tokio::test]
async fn nothing_is_written_outside_the_folder() {
    let server = TestServer::scratch().await;
    let outside = tempfile::tempdir().unwrap();
    let victim = outside.path().join("victim.json");
    std::fs::write(&victim, "{}").unwrap();
    let root = server.eval_sets();
    std::os::unix::fs::symlink(outside.path(), root.join("link")).unwrap();
    std::os::unix::fs::symlink(&victim, root.join("link.json")).unwrap();
    std::fs::create_dir(root.join("inside")).unwrap();

    let id = answered(&server.api, &json!({}), "2 + 3?").await;
    let name = outside.path().file_name().unwrap().to_str().unwrap();
    for wish in [
        "../x.json".to_owned(),
        format!("../{name}/x.json"),
        "inside/../../x.json".to_owned(),
        outside.path().join("x.json").to_str().unwrap().to_owned(),
        "/x.json".to_owned(),
        format!("{}/../x.json", root.display()),
        "link/x.json".to_owned(),
        "link/new/x.json".to_owned(),
        "link.json".to_owned(),
        "script.py".to_owned(),
        "inside".to_owned(),
        String::new(),
    ] {
        let answer = export(&server.api, &id, &json!({"eval_set_path": wish})).await;
        answer.problem(422, "invalid_eval_set_path");
    }
    let there: Vec<_> =
        std::fs::read_dir(outside.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(there, [victim.as_path()]);
    assert_eq!(std::fs::read_to_string(&victim).unwrap(), "{}");
    assert!(!root.parent().unwrap().join("x.json").exists());
}

#[tokio::test]
async fn what_is_not_finished_is_not_exported() {
    let server = TestServer::scratch().await;
    let open = server.api.session().await;
    let events = format!("/api/v1/sessions/{open}/events");
    server.api.post(&events, &sample::user_event("u", "2 + 3?")).await.json(201);
    export(&server.api, &open, &json!({})).await.problem(409, "session_not_completed");
    server.api.complete(&open).await;
    export(&server.api, &open, &json!({})).await.problem(409, "no_golden_trace");
    let silent = server.api.session().await;
    server.api.complete(&silent).await;
    export(&server.api, &silent, &json!({})).await.problem(409, "no_golden_trace");
    assert!(!server.eval_sets().join("hotseat.evalset.json").exists());
}

#[tokio::test]
async fn a_file_that_is_no_eval_set_is_left_alone() {
    let server = TestServer::scratch().await;
    let id = answered(&server.api, &json!({}), "2 + 3?").await;
    let file = server.eval_sets().join("hotseat.evalset.json");
    for text in [
        "not json at all",
        "{\"eval_cases\": [",
        "[ ]",
        "{\"name\":  \"x\"}",
        "{\"eval_set_id\": \"x\", \"eval_cases\": {}}",
        "\"eval_cases\"",
    ] {
        std::fs::write(&file, text).unwrap();
        let problem =
            export(&server.api, &id, &json!({})).await.problem(409, "eval_set_unreadable");
        assert!(problem["detail"].as_str().unwrap().contains(file.to_str().unwrap()));
        assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
    }
    std::fs::write(&file, [0xff, 0xfe, 0x00]).unwrap();
    assert!(export(&server.api, &id, &json!({})).await.status.is_client_error());
    assert_eq!(std::fs::read(&file).unwrap(), [0xff, 0xfe, 0x00]);
}

#[tokio::test]
async fn what_a_person_wrote_into_the_file_stays() {
    let server = TestServer::scratch().await;
    let id = answered(&server.api, &json!({}), "2 + 3?").await;
    let file = server.eval_sets().join("hotseat.evalset.json");
    let own = "{\n  \"eval_set_id\": \"mine\",\n  \"x-note\": 1.50,\n  \"eval_cases\": [\n    {\"eval_id\": \"hand\", \"conversation\": []}\n  ]\n}\n";
    std::fs::write(&file, own).unwrap();
    export(&server.api, &id, &json!({})).await.json(200);
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.starts_with(&own[..own.find("\n  ]").unwrap()]), "{text}");
    assert_eq!(eval_ids(&read(&file))[0], "hand");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_exporters_share_one_file() {
    const EXPORTERS: usize = 12;
    let server = TestServer::sqlite().await;
    let file = server.eval_sets().join("hotseat.evalset.json");
    let mut ids = Vec::new();
    for n in 0..EXPORTERS {
        ids.push(answered(&server.api, &json!({}), &format!("{n} + 1?")).await);
    }
    let (done, reading) = std::sync::mpsc::channel::<()>();
    let watched = file.clone();
    let reader = std::thread::spawn(move || {
        let (mut reads, mut most) = (0, 0);
        while reading.try_recv() == Err(std::sync::mpsc::TryRecvError::Empty) {
            if let Ok(text) = std::fs::read_to_string(&watched) {
                let file: Value = serde_json::from_str(&text).expect("whole at every moment");
                let cases = eval_ids(&file).len();
                assert!(cases >= most, "a case was lost");
                (reads, most) = (reads + 1, cases);
            }
        }
        reads
    });
    let exporters: Vec<_> = ids
        .iter()
        .map(|id| {
            let (api, id) = (server.api.clone(), id.clone());
            tokio::spawn(async move { export(&api, &id, &json!({})).await.json(200) })
        })
        .collect();
    let mut created = 0;
    for exporter in exporters {
        created += usize::from(exporter.await.unwrap()["action"] == "created");
    }
    drop(done);
    assert!(reader.join().unwrap() > 0, "somebody looked");
    assert_eq!(created, 1);
    let file = read(&file);
    let questions: BTreeSet<_> = file["eval_cases"]
        .as_array()
        .unwrap()
        .iter()
        .map(|case| case["conversation"][0]["user_content"]["parts"][0]["text"].to_string())
        .collect();
    assert_eq!(questions.len(), EXPORTERS);
    assert_eq!(eval_ids(&file).into_iter().collect::<BTreeSet<_>>().len(), EXPORTERS);
}

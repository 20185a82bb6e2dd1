//! Named users: what their tokens do, and when they stop doing it.

use hotseat_testkit::proto::CreateSessionRequest;
use hotseat_testkit::{Api, TestServer, sample, soon};
use reqwest::Method;
use serde_json::{Value, json};
use tonic::Code;

async fn tokens(server: &TestServer, name: &str) -> Vec<Value> {
    let list = server.api.get(&format!("/api/v1/users/{name}/tokens")).await.json(200);
    list["items"].as_array().unwrap().clone()
}

#[tokio::test]
async fn everybody_learns_who_they_are() {
    let server = TestServer::scratch().await;
    let ada = server.member("ada", "developer").await;
    let owner = server.api.get("/api/v1/me").await.json(200);
    assert_eq!(owner, json!({"name": "owner", "role": "admin"}));
    assert_eq!(ada.get("/api/v1/me").await.json(200), json!({"name": "ada", "role": "developer"}));
    let user = server.user("guest");
    assert_eq!(user.get("/api/v1/me").await.json(200), json!({"name": "guest", "role": null}));
}

#[tokio::test]
async fn users_are_listed_and_a_name_is_given_once() {
    let server = TestServer::scratch().await;
    server.member("bob", "viewer").await;
    let ada = server.api.post("/api/v1/users", &json!({"name": "ada", "role": "admin"})).await;
    let ada = ada.json(201);
    let list = server.api.get("/api/v1/users").await.json(200);
    assert_eq!(list["items"][0], ada);
    assert_eq!(list["items"][1]["name"], "bob");
    for (name, role, status, code) in [
        ("ada", "viewer", 409, "name_taken"),
        ("Ada", "viewer", 422, "invalid"),
        ("owner", "viewer", 422, "invalid"),
        ("eve", "boss", 422, "invalid"),
    ] {
        let refused = server.api.post("/api/v1/users", &json!({"name": name, "role": role})).await;
        refused.problem(status, code);
    }
    let promoted = server.api.put("/api/v1/users/bob/role", &json!({"role": "developer"})).await;
    assert_eq!(promoted.json(200)["role"], "developer");
    server
        .api
        .put("/api/v1/users/eve/role", &json!({"role": "admin"}))
        .await
        .problem(404, "user_not_found");
    server.api.delete("/api/v1/users/eve").await.problem(404, "user_not_found");
    server.api.get("/api/v1/users/eve/tokens").await.problem(404, "user_not_found");
}

#[tokio::test]
async fn a_token_is_shown_once_and_its_use_is_noted() {
    let server = TestServer::scratch().await;
    let ada = server.member("ada", "viewer").await;
    let shown = tokens(&server, "ada").await;
    assert_eq!((shown.len(), &shown[0]["last_used_at"]), (1, &Value::Null));
    assert!(shown[0].get("token").is_none());
    let text = ada.token.clone().unwrap();
    assert!(text.starts_with(shown[0]["prefix"].as_str().unwrap()) && text.len() > 40);
    ada.get("/api/v1/me").await.json(200);
    assert!(tokens(&server, "ada").await[0]["last_used_at"].is_string());
}

#[tokio::test]
async fn a_token_is_accepted_in_a_cookie_and_over_grpc() {
    let server = TestServer::scratch().await;
    let ada = server.member("ada", "developer").await;
    let token = ada.token.clone().unwrap();
    let nobody = server.api.without_token();
    let swapped = nobody.get(&format!("/?token={token}")).await;
    assert_eq!((swapped.status.as_u16(), swapped.header("location")), (303, "/"));
    let cookie = swapped.header("set-cookie").to_owned();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
    let pair = cookie.split(';').next().unwrap();
    let request = nobody.request(Method::GET, "/api/v1/me").header("cookie", pair);
    assert_eq!(nobody.send(request).await.json(200)["name"], "ada");

    let mut grpc = ada.grpc().await;
    let session = ada.session().await;
    grpc.ask(&session).await;
    assert_eq!(ada.show(&session).await["user_id"], "ada");
    let forged = Api::new(ada.url.clone(), Some(format!("hst_{}", "A".repeat(43))));
    forged.get("/api/v1/me").await.problem(401, "unauthenticated");
    let refused = forged.grpc().await.submit(&session, &session, &json!({})).await.unwrap_err();
    assert_eq!(refused.code(), Code::Unauthenticated);
}

#[tokio::test]
async fn revocation_takes_effect_at_once_and_ends_streams() {
    let server = TestServer::scratch().await;
    let one = server.member("ada", "viewer").await;
    let other = server.another_token("ada").await;
    let mut stream = one.stream("/api/v1/stream").await;
    stream.next_of("ready").await;
    let id = tokens(&server, "ada").await[0]["id"].as_str().unwrap().to_owned();
    server.api.delete(&format!("/api/v1/tokens/{id}")).await.json(200);
    one.get("/api/v1/me").await.problem(401, "unauthenticated");
    other.get("/api/v1/me").await.json(200);
    assert!(stream.next().await.is_none(), "nothing was sent, and it is over");

    server.api.delete("/api/v1/users/ada").await.json(200);
    other.get("/api/v1/me").await.problem(401, "unauthenticated");
    let refused = server.api.post("/api/v1/users/ada/tokens", &json!({})).await;
    refused.problem(409, "user_revoked");
    server.api.delete("/api/v1/tokens/none").await.problem(404, "token_not_found");
}

#[tokio::test]
async fn a_revoked_user_does_not_come_back_with_a_sealed_token() {
    let server = TestServer::scratch().await;
    let ada = server.member("ada", "developer").await;
    let session = ada.session().await;
    let bound = ada.post(&format!("/api/v1/sessions/{session}/binding"), &json!({})).await;
    let bound = bound.json(200)["binding_token"].as_str().unwrap().to_owned();
    let bound = Api::new(ada.url.clone(), Some(bound));
    let sealed = server.user("ada");
    bound.show(&session).await;
    sealed.show(&session).await;
    server.api.delete("/api/v1/users/ada").await.json(200);
    for api in [ada, bound, sealed] {
        api.get(&format!("/api/v1/sessions/{session}")).await.problem(401, "unauthenticated");
    }
}

#[tokio::test]
async fn an_expired_token_is_refused() {
    let server = TestServer::scratch().await;
    server.member("ada", "viewer").await;
    for hours in [0, -1, 10_000_000] {
        let body = json!({"expires_in_hours": hours});
        server.api.post("/api/v1/users/ada/tokens", &body).await.problem(422, "invalid");
    }
    let body = json!({"expires_in_hours": 1});
    let made = server.api.post("/api/v1/users/ada/tokens", &body).await.json(201);
    assert!(made["expires_at"].is_string());
}

#[tokio::test]
async fn members_see_all_sessions_and_delete_their_own() {
    let server = TestServer::scratch().await;
    let ada = server.member("ada", "developer").await;
    let bob = server.member("bob", "developer").await;
    let vera = server.member("vera", "viewer").await;
    let anna = server.member("anna", "admin").await;
    let [one, two] = [ada.session().await, ada.session().await];
    for api in [&bob, &vera, &anna] {
        assert_eq!(api.show(&one).await["user_id"], "ada");
        let list = api.get("/api/v1/sessions").await.json(200);
        assert_eq!(list["items"].as_array().unwrap().len(), 2);
    }
    bob.delete(&format!("/api/v1/sessions/{one}")).await.problem(403, "role");
    bob.delete(&format!("/api/v1/sessions/{one}/events")).await.problem(403, "role");
    bob.post(&format!("/api/v1/sessions/{one}/binding"), &json!({})).await.problem(403, "role");
    assert_eq!(ada.delete(&format!("/api/v1/sessions/{one}")).await.status, 204);
    assert_eq!(anna.delete(&format!("/api/v1/sessions/{two}")).await.status, 204);
    // Others' sessions that are nobody's in particular are the owner's.
    let local = server.api.session().await;
    bob.delete(&format!("/api/v1/sessions/{local}")).await.problem(403, "role");
}

#[tokio::test]
async fn a_member_acts_in_no_name_but_their_own() {
    let server = TestServer::scratch().await;
    let ada = server.member("ada", "developer").await;
    let bob = server.member("bob", "developer").await;
    let anna = server.member("anna", "admin").await;
    let other = ada.post("/api/v1/sessions", &json!({"user_id": "bob"})).await;
    other.problem(403, "other_user");
    assert_eq!(bob.post("/apps/app/users/bob/sessions/s", &json!({})).await.status, 200);
    for path in ["/apps/app/users/bob/sessions/s", "/apps/app/users/bob/sessions"] {
        assert_eq!(bob.get(path).await.status, 200);
        assert_eq!(ada.get(path).await.status, 404, "{path}");
        assert_eq!(anna.get(path).await.status, 200);
    }
    assert_eq!(ada.post("/apps/app/users/bob/sessions/t", &json!({})).await.status, 404);
    assert_eq!(ada.delete("/apps/app/users/bob/sessions/s").await.status, 404);
    // A program of theirs may call its user anything.
    let request = CreateSessionRequest {
        user_id: "user".to_owned(),
        source: "plugin".to_owned(),
        ..Default::default()
    };
    let made = ada.grpc().await.seat.create_session(request).await.unwrap().into_inner();
    assert_eq!(ada.show(&made.id).await["user_id"], "ada");
    let for_bob = anna.post("/api/v1/sessions", &json!({"user_id": "bob"})).await.json(201);
    assert_eq!(for_bob["user_id"], "bob");
}

#[tokio::test]
async fn the_audit_is_listed_by_pages_and_exported_by_lines() {
    let server = TestServer::scratch().await;
    let ada = server.member("ada", "developer").await;
    let session = ada.session().await;
    ada.delete(&format!("/api/v1/sessions/{session}")).await;
    let first = server.api.get("/api/v1/audit?limit=2").await.json(200);
    let actions = |page: &Value| {
        let items = page["items"].as_array().unwrap().iter();
        items.map(|entry| entry["action"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(actions(&first), ["session.deleted", "token.added"]);
    let deleted = &first["items"][0];
    assert_eq!((&deleted["actor"], &deleted["session_id"]), (&json!("ada"), &json!(session)));
    let cursor = first["next_cursor"].as_str().unwrap();
    let second = server.api.get(&format!("/api/v1/audit?limit=2&cursor={cursor}")).await.json(200);
    assert_eq!(
        (actions(&second), &second["next_cursor"]),
        (vec!["user.added".to_owned()], &Value::Null)
    );
    for (filter, expected) in [
        ("actor=ada", 1),
        ("actor=owner", 2),
        ("action=user.added", 1),
        (&format!("session={session}"), 1),
    ] {
        let page = server.api.get(&format!("/api/v1/audit?{filter}")).await.json(200);
        assert_eq!(actions(&page).len(), expected, "{filter}");
    }
    let exported = server.api.get("/api/v1/audit/export").await;
    assert_eq!(exported.header("content-type"), "application/x-ndjson");
    let lines: Vec<Value> =
        exported.body.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let told: Vec<_> = lines.iter().map(|line| line["action"].as_str().unwrap()).collect();
    assert_eq!(told, ["user.added", "token.added", "session.deleted", "audit.exported"]);
    server.api.get("/api/v1/audit?limit=0").await.problem(400, "bad_request");
    server.api.get("/api/v1/audit?session=x").await.problem(400, "bad_request");
}

#[tokio::test]
async fn what_is_done_to_sessions_and_files_is_written_down() {
    let server = TestServer::scratch().await;
    let ada = server.member("ada", "developer").await;
    let session = ada.session().await;
    let log = json!([sample::user_event("u", "2 + 3?"), sample::agent_event("a", "root", "5")]);
    ada.post(&format!("/api/v1/sessions/{session}/events"), &log).await.json(201);
    server.api.grpc().await.ask(&session).await;
    ada.post(&format!("/api/v1/sessions/{session}/cancel"), &json!({})).await;
    ada.complete(&session).await;
    ada.post(&format!("/api/v1/sessions/{session}/rebuild"), &json!({})).await.json(200);
    let exported = ada.post(&format!("/api/v1/sessions/{session}/export"), &json!({})).await;
    let exported = exported.json(200);
    let (path, eval_id) = (exported["path"].as_str().unwrap(), &exported["eval_id"]);
    let case = json!({"path": path, "case": exported["case"]});
    ada.put("/api/v1/eval-sets/case", &case).await.json(200);
    let removed =
        format!("/api/v1/eval-sets/case?path={path}&eval_id={}", eval_id.as_str().unwrap());
    ada.delete(&removed).await.json(200);
    ada.delete(&format!("/api/v1/sessions/{session}/events")).await.json(200);
    let audit = server.api.get("/api/v1/audit?actor=ada").await.json(200);
    let told: Vec<_> = audit["items"].as_array().unwrap().iter().rev().collect();
    let actions: Vec<_> = told.iter().map(|entry| entry["action"].as_str().unwrap()).collect();
    assert_eq!(
        actions,
        [
            "run.cancelled",
            "session.completed",
            "session.rebuilt",
            "session.exported",
            "eval_set.changed",
            "eval_set.changed",
            "session.events_cleared"
        ]
    );
    assert_eq!((&told[3]["subject"], &told[3]["detail"]["eval_id"]), (&json!(path), eval_id));
    assert_eq!(told[5]["detail"], json!({"removed": eval_id}));
}

#[tokio::test]
async fn an_export_of_many_entries_is_complete() {
    let server = TestServer::scratch().await;
    for n in 0..601 {
        let role = if n % 2 == 0 { "viewer" } else { "developer" };
        let name = "ada";
        if n == 0 {
            server.member(name, role).await;
        } else {
            server.api.put("/api/v1/users/ada/role", &json!({"role": role})).await.json(200);
        }
    }
    let exported = soon("an export", server.api.get("/api/v1/audit/export")).await;
    assert_eq!(exported.body.lines().count(), 603);
}

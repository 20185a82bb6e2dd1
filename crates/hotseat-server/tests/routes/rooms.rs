//! Several people at one session.

use hotseat_testkit::{Api, SseReader, TestServer, sample};
use reqwest::Method;
use serde_json::{Value, json};

/// A server with a session of Ada's in which a turn waits.
struct Scene {
    server: TestServer,
    ada: Api,
    bob: Api,
    session: String,
    turn: String,
}

async fn scene() -> Scene {
    let server = TestServer::scratch().await;
    let ada = server.member("ada", "developer").await;
    let bob = server.member("bob", "developer").await;
    let session = ada.session().await;
    let turn = server.api.grpc().await.ask(&session).await;
    Scene { server, ada, bob, session, turn }
}

impl Scene {
    fn path(&self, rest: &str) -> String {
        format!("/api/v1/sessions/{}/turns/{}/{rest}", self.session, self.turn)
    }

    async fn claim(&self, api: &Api) -> Value {
        api.put(&self.path("claim"), &json!({})).await.json(200)
    }

    /// The stream of the session, from its end on.
    async fn stream(&self, api: &Api) -> SseReader {
        let mut stream = api.stream(&format!("/api/v1/sessions/{}/stream", self.session)).await;
        stream.next_of("history_complete").await;
        stream
    }
}

/// News of a room until they are as wanted; how many there are on the way is up to time.
async fn news(stream: &mut SseReader, wanted: impl Fn(&Value) -> bool) -> Value {
    loop {
        let message = stream.next_of("room").await;
        let news = message.data();
        if wanted(&news) {
            return news;
        }
    }
}

#[tokio::test]
async fn a_claimed_turn_is_answered_by_its_holder_and_refused_to_others_by_name() {
    let scene = scene().await;
    let claim = scene.claim(&scene.ada).await;
    assert_eq!((&claim["holder"], &claim["turn_id"]), (&json!("ada"), &json!(scene.turn)));
    let answer = sample::says("5");
    let refused = scene.bob.decide(&scene.session, &scene.turn, &answer).await;
    let problem = refused.problem(409, "turn_claimed");
    assert_eq!(problem["claim"]["holder"], "ada");
    assert!(problem["detail"].as_str().unwrap().contains("claimed by ada"), "{problem}");
    for request in [
        scene.bob.put(&scene.path("claim"), &json!({})).await,
        scene.bob.delete(&scene.path("claim")).await,
        scene.bob.post(&scene.path("dismiss"), &json!({})).await,
        scene.bob.post(&scene.path("hand-over"), &json!({"to": "bob"})).await,
        // Nobody is above it: who must answer takes the claim away first.
        scene.server.api.decide(&scene.session, &scene.turn, &answer).await,
    ] {
        request.problem(409, "turn_claimed");
    }
    let pending = scene.bob.pending(&scene.session).await;
    assert_eq!(pending[0]["claim"]["holder"], "ada");
    scene.ada.decide(&scene.session, &scene.turn, &answer).await.json(200);
    scene.ada.put(&scene.path("claim"), &json!({})).await.problem(409, "turn_answered");
}

#[tokio::test]
async fn a_turn_that_nobody_claimed_is_anybodys() {
    let scene = scene().await;
    assert_eq!(scene.bob.pending(&scene.session).await[0]["claim"], Value::Null);
    scene.claim(&scene.ada).await;
    assert_eq!(scene.ada.delete(&scene.path("claim")).await.status, 204);
    assert_eq!(scene.ada.delete(&scene.path("claim")).await.status, 204, "once is enough");
    scene.bob.decide(&scene.session, &scene.turn, &sample::says("5")).await.json(200);
}

#[tokio::test]
async fn a_claim_is_kept_by_asking_again_and_written_down_once() {
    let scene = scene().await;
    let first = scene.claim(&scene.ada).await;
    let second = scene.claim(&scene.ada).await;
    assert_eq!(first["since"], second["since"]);
    assert!(second["until"].as_str() >= first["until"].as_str());
    let audit = scene.server.api.get("/api/v1/audit?action=turn.claimed").await.json(200);
    assert_eq!(audit["items"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_turn_is_handed_over_to_somebody_who_can_answer() {
    let scene = scene().await;
    scene.server.member("vera", "viewer").await;
    scene.claim(&scene.ada).await;
    for nobody in ["vera", "eve", "", "owner"] {
        let refused = scene.ada.post(&scene.path("hand-over"), &json!({"to": nobody})).await;
        refused.problem(422, "invalid");
    }
    let given = scene.ada.post(&scene.path("hand-over"), &json!({"to": "bob"})).await.json(200);
    assert_eq!(given["holder"], "bob");
    let refused = scene.ada.decide(&scene.session, &scene.turn, &sample::says("5")).await;
    refused.problem(409, "turn_claimed");
    scene.bob.decide(&scene.session, &scene.turn, &sample::says("5")).await.json(200);
}

#[tokio::test]
async fn an_admin_takes_a_claim_away() {
    let scene = scene().await;
    let anna = scene.server.member("anna", "admin").await;
    scene.claim(&scene.ada).await;
    assert_eq!(anna.delete(&scene.path("claim")).await.status, 204);
    scene.claim(&scene.bob).await;
    let audit = scene.server.api.get("/api/v1/audit?action=turn.released").await.json(200);
    let released = &audit["items"][0];
    assert_eq!(
        (&released["actor"], &released["detail"]["holder"]),
        (&json!("anna"), &json!("ada"))
    );
}

#[tokio::test]
async fn those_who_look_at_a_session_hear_of_each_other() {
    let scene = scene().await;
    let mut stream = scene.stream(&scene.ada).await;
    let others = scene.stream(&scene.bob).await;
    news(&mut stream, |news| news["present"] == json!(["ada", "bob"])).await;
    scene.claim(&scene.bob).await;
    let told = news(&mut stream, |news| news["claims"] != json!([])).await;
    assert_eq!(told["claims"][0]["holder"], "bob");
    let typing = format!("/api/v1/sessions/{}/typing", scene.session);
    assert_eq!(scene.bob.post(&typing, &json!({})).await.status, 204);
    news(&mut stream, |news| news["typing"] == json!(["bob"])).await;
    // He stops without a word, and it is noticed.
    news(&mut stream, |news| news["typing"] == json!([])).await;
    drop(others);
    news(&mut stream, |news| news["present"] == json!(["ada"])).await;
    scene.bob.decide(&scene.session, &scene.turn, &sample::says("5")).await.json(200);
    news(&mut stream, |news| news["claims"] == json!([])).await;
}

#[tokio::test]
async fn an_empty_room_says_nothing() {
    let scene = scene().await;
    let mut stream = scene.stream(&scene.ada).await;
    scene.server.api.grpc().await.ask(&scene.session).await;
    assert_eq!(stream.next().await.unwrap().event, "event", "and nothing of a room before");
}

#[tokio::test]
async fn the_history_says_who_answered_and_so_does_the_audit() {
    let scene = scene().await;
    scene.bob.decide(&scene.session, &scene.turn, &sample::says("5")).await.json(200);
    let said = sample::agent_event("a", "root", "5");
    scene.server.api.grpc().await.append(&scene.session, &[said]).await.unwrap();
    let path = format!("/api/v1/sessions/{}?include=history", scene.session);
    let shown = scene.ada.get(&path).await.json(200);
    let entry = shown["history"].as_array().unwrap().last().unwrap().clone();
    assert_eq!((&entry["answered_by"], &entry["person"]), (&json!("human"), &json!("bob")));
    let events = scene.ada.events(&scene.session).await;
    let response = events.iter().find(|event| event["kind"] == "response").unwrap();
    assert_eq!(
        (&response["author"], &response["event"]["person"]),
        (&json!("human"), &json!("bob"))
    );

    let audit = format!("/api/v1/audit?action=turn.decided&session={}", scene.session);
    let audit = scene.server.api.get(&audit).await.json(200);
    let decided = &audit["items"][0];
    assert_eq!(decided["actor"], "bob");
    assert_eq!(decided["subject"], format!("turn:{}", scene.turn));
    assert_eq!(decided["detail"]["seq"], response["seq"]);
}

#[tokio::test]
async fn decisions_over_grpc_and_dismissals_are_written_down_too() {
    let scene = scene().await;
    let request = scene.bob.request(Method::POST, &scene.path("dismiss"));
    scene.bob.send(request.json(&json!({"reason": "no"}))).await.json(200);
    let audit = scene.server.api.get("/api/v1/audit?actor=bob").await.json(200);
    assert_eq!(audit["items"][0]["action"], "turn.dismissed");
}

//! `hotseat users`: who works with a server, with or without one running.

use hotseat_testkit::{Api, Ended, Launch};
use serde_json::Value;

use crate::HOTSEAT;

#[track_caller]
fn printed(ended: Ended) -> String {
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{ended:?}");
    ended.stdout
}

#[tokio::test]
async fn a_running_server_knows_at_once_what_the_command_line_did() {
    let launch = Launch::new(HOTSEAT);
    let hotseat = launch.start();
    printed(launch.call(&["users", "add", "ada", "--role", "developer"]));
    let token = printed(launch.call(&["users", "token", "ada", "--label", "laptop"]));
    let ada = Api::new(hotseat.api.url.clone(), Some(token.trim().to_owned()));
    assert_eq!(ada.get("/api/v1/me").await.json(200)["role"], "developer");

    printed(launch.call(&["users", "role", "ada", "viewer"]));
    assert_eq!(ada.get("/api/v1/me").await.json(200)["role"], "viewer");

    let list = printed(launch.call(&["users", "tokens", "ada", "--json"]));
    let list: Value = serde_json::from_str(&list).unwrap();
    assert_eq!(list["items"][0]["label"], "laptop");
    printed(launch.call(&["users", "revoke-token", list["items"][0]["id"].as_str().unwrap()]));
    ada.get("/api/v1/me").await.problem(401, "unauthenticated");

    let audit = hotseat.api.get("/api/v1/audit?actor=owner").await.json(200);
    assert_eq!(audit["items"].as_array().unwrap().len(), 4);
}

#[tokio::test]
async fn users_are_listed_and_mistakes_are_told() {
    let launch = Launch::new(HOTSEAT);
    drop(launch.start());
    printed(launch.call(&["users", "add", "bob", "--role", "viewer"]));
    printed(launch.call(&["users", "add", "ada", "--role", "admin", "--json"]));
    printed(launch.call(&["users", "revoke", "bob"]));
    let rows = printed(launch.call(&["users", "list"]));
    let rows: Vec<_> = rows.lines().collect();
    assert!(rows[0].starts_with("ada") && rows[0].ends_with("valid"), "{rows:?}");
    assert!(rows[1].starts_with("bob") && rows[1].contains("revoked"), "{rows:?}");

    let again = launch.call(&["users", "add", "bob", "--role", "admin"]);
    let words = "error: there is a user `bob` already: a name is given once\n";
    assert_eq!((again.code, again.stderr.as_str()), (Some(1), words));
    let wrong = launch.call(&["users", "add", "eve", "--role", "boss"]);
    assert_eq!(wrong.code, Some(2), "{}", wrong.stderr);
    let token = printed(launch.call(&["users", "token", "ada", "--expires", "30d", "--json"]));
    let token: Value = serde_json::from_str(&token).unwrap();
    assert!(
        token["token"].as_str().unwrap().starts_with("hst_") && token["expires_at"].is_string()
    );
}

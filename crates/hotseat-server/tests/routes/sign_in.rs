//! Signing in with an account from elsewhere, against a real provider.

use hotseat_core::Role;
use hotseat_server::OidcConfig;
use hotseat_testkit::{Accounts, Answer, Api, TestServer};
use reqwest::Method;
use reqwest::header::SET_COOKIE;
use serde_json::{Value, json};

/// A server that knows `accounts`, told more by `change`.
async fn knowing(accounts: &Accounts, change: impl FnOnce(&mut OidcConfig)) -> TestServer {
    let mut oidc = OidcConfig {
        issuer: accounts.issuer.clone(),
        client_id: Accounts::CLIENT_ID.to_owned(),
        client_secret: Some(Accounts::CLIENT_SECRET.to_owned()),
        scopes: vec!["email".to_owned()],
        name_claim: "email".to_owned(),
        role_claim: Some("groups".to_owned()),
        roles: vec![("ops".to_owned(), Role::Admin), ("dev".to_owned(), Role::Developer)],
        default_role: Some(Role::Viewer),
    };
    change(&mut oidc);
    TestServer::told(|config| config.people.oidc = Some(oidc)).await
}

/// The cookies that an answer sets, without what is said of them.
fn cookies(answer: &Answer) -> Vec<String> {
    let all = answer.headers.get_all(SET_COOKIE).iter().map(|value| value.to_str().unwrap());
    all.map(|cookie| cookie.split(';').next().unwrap().to_owned()).collect()
}

async fn get(api: &Api, path: &str, cookie: &str) -> Answer {
    api.send(api.request(Method::GET, path).header("cookie", cookie)).await
}

/// Goes to the provider and back, as a browser does; the callback's address and the cookie.
async fn sent_back(server: &TestServer, to: &str) -> (String, String) {
    let nobody = server.api.without_token();
    let login = nobody.get(&format!("/auth/login?to={to}")).await;
    assert_eq!(login.status, 303, "{}", login.body);
    let provider = Api::new(login.header("location").to_owned(), None);
    let back = provider.get("").await;
    let address = back.header("location").to_owned();
    let path = address.strip_prefix(&server.api.url).expect("back to us").to_owned();
    (path, cookies(&login).remove(0))
}

/// What the callback answers.
async fn signed_in(server: &TestServer) -> Answer {
    let (path, cookie) = sent_back(server, "/").await;
    get(&server.api.without_token(), &path, &cookie).await
}

#[tokio::test]
async fn somebody_signs_in_and_is_who_the_provider_says() {
    let accounts = Accounts::start().await;
    let server = knowing(&accounts, |_| {}).await;
    accounts.person(json!({"sub": "1", "email": "Ada@Example.org", "groups": ["dev", "x"]}));
    let (path, attempt) = sent_back(&server, "/sessions/1").await;
    let nobody = server.api.without_token();
    let answer = get(&nobody, &path, &attempt).await;
    assert_eq!((answer.status.as_u16(), answer.header("location")), (303, "/sessions/1"));
    let set = answer.headers.get_all(SET_COOKIE).iter().next().unwrap().to_str().unwrap();
    for word in ["HttpOnly", "SameSite=Lax", "Max-Age=43200", "Path=/;"] {
        assert!(set.contains(word), "{set}");
    }
    let cookie = cookies(&answer).remove(0);
    let me = get(&nobody, "/api/v1/me", &cookie).await.json(200);
    assert_eq!(me, json!({"name": "ada@example.org", "role": "developer"}));
    let audit = server.api.get("/api/v1/audit?action=user.signed_in").await.json(200);
    assert_eq!(audit["items"][0]["actor"], "ada@example.org");

    // The role is the provider's to change, and the name is ours to revoke.
    accounts.person(json!({"sub": "1", "email": "ada@example.org", "groups": "ops"}));
    assert_eq!(signed_in(&server).await.status, 303);
    assert_eq!(get(&nobody, "/api/v1/me", &cookie).await.json(200)["role"], "admin");
    server.api.delete("/api/v1/users/ada@example.org").await.json(200);
    get(&nobody, "/api/v1/me", &cookie).await.problem(401, "unauthenticated");
    signed_in(&server).await.problem(403, "stranger");
}

#[tokio::test]
async fn a_cookie_of_a_sign_in_does_not_let_other_pages_change_anything() {
    let accounts = Accounts::start().await;
    let server = knowing(&accounts, |oidc| oidc.default_role = Some(Role::Developer)).await;
    let cookie = cookies(&signed_in(&server).await).remove(0);
    let nobody = server.api.without_token();
    let change = || {
        let request = nobody.request(Method::POST, "/api/v1/sessions");
        request.header("cookie", &cookie).json(&json!({}))
    };
    nobody.send(change()).await.problem(403, "csrf");
    nobody
        .send(change().header("origin", "http://evil.example"))
        .await
        .problem(403, "foreign_origin");
    nobody.send(change().header("sec-fetch-site", "same-origin")).await.json(201);
    let token = cookie.split_once('=').unwrap().1.to_owned();
    let bearer = Api::new(nobody.url.clone(), Some(token));
    bearer.get("/api/v1/me").await.problem(401, "unauthenticated");
    let out = nobody.post("/auth/logout", &json!({})).await;
    assert!(out.header("set-cookie").contains("Max-Age=0"));
}

#[tokio::test]
async fn what_cannot_be_believed_lets_nobody_in() {
    type Change = fn(&mut Value, &mut Value);
    let lies: [(&str, Change); 7] = [
        ("nonce", |_, claims| claims["nonce"] = json!("another")),
        ("audience", |_, claims| claims["aud"] = json!("another")),
        ("issuer", |_, claims| claims["iss"] = json!("https://evil.example")),
        ("expiry", |_, claims| claims["exp"] = json!(1_000_000_000)),
        ("no signature", |header, _| header["alg"] = json!("none")),
        ("another algorithm", |header, _| header["alg"] = json!("HS256")),
        ("an unknown key", |header, _| header["kid"] = json!("k2")),
    ];
    let accounts = Accounts::start().await;
    let server = knowing(&accounts, |_| {}).await;
    for (lie, change) in lies {
        accounts.mischief(change);
        let answer = signed_in(&server).await;
        answer.problem(403, "sign_in_refused");
        assert!(cookies(&answer).is_empty(), "{lie}");
    }
    accounts.mischief(|_, _| {});
    assert_eq!(signed_in(&server).await.status, 303);
    let users = server.api.get("/api/v1/users").await.json(200);
    assert_eq!(users["items"].as_array().unwrap().len(), 1, "nobody else was added");
}

#[tokio::test]
async fn a_sign_in_ends_in_the_browser_that_began_it_and_once() {
    let accounts = Accounts::start().await;
    let server = knowing(&accounts, |_| {}).await;
    let nobody = server.api.without_token();
    let (path, cookie) = sent_back(&server, "/").await;
    get(&nobody, &path, "other=1").await.problem(400, "sign_in_lost");
    let (_, others) = sent_back(&server, "/").await;
    get(&nobody, &path, &others).await.problem(400, "sign_in_lost");
    get(&nobody, &format!("{path}&error=access_denied"), &cookie)
        .await
        .problem(403, "sign_in_refused");
    assert_eq!(get(&nobody, &path, &cookie).await.status, 303);
    // The provider knows a code once.
    get(&nobody, &path, &cookie).await.problem(502, "sign_in_unavailable");
}

#[tokio::test]
async fn strangers_are_refused_where_no_role_is_for_them() {
    let accounts = Accounts::start().await;
    let server = knowing(&accounts, |oidc| oidc.default_role = None).await;
    signed_in(&server).await.problem(403, "stranger");
    accounts.person(json!({"sub": "1", "email": "a@b.example", "email_verified": false}));
    signed_in(&server).await.problem(403, "sign_in_refused");
    accounts.person(json!({"sub": "1", "email": "a@b.example", "groups": ["dev"]}));
    assert_eq!(signed_in(&server).await.status, 303);
}

#[tokio::test]
async fn without_a_provider_there_is_nothing_to_sign_in_with() {
    let server = TestServer::scratch().await;
    server.api.without_token().get("/auth/login").await.problem(404, "not_found");
    let gone = Accounts::start().await;
    let server = knowing(&gone, |_| {}).await;
    drop(gone);
    let answer = server.api.without_token().get("/auth/login").await;
    answer.problem(502, "sign_in_unavailable");
}

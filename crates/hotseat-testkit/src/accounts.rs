//! A provider of accounts: OpenID Connect over a real socket.
//!
//! It publishes its configuration and its key, sends browsers back with a code, and gives an
//! ID token for it to whoever knows the code's verifier and the client's secret. What it
//! signs can be changed, to see who believes it.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex};

use axum::extract::{Form, Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// Changes the header and the claims of a token before it is signed.
pub type Mischief = Box<dyn Fn(&mut Value, &mut Value) + Send + Sync>;

/// A running provider. It stops when this is dropped.
#[derive(Debug)]
pub struct Accounts {
    /// By which it names itself.
    pub issuer: String,
    shared: Arc<Shared>,
    server: JoinHandle<()>,
}

struct Shared {
    issuer: String,
    key: EcdsaKeyPair,
    /// Who signs in next, as claims.
    person: Mutex<Value>,
    mischief: Mutex<Option<Mischief>>,
    /// What was asked for, by the code that was given out for it.
    codes: Mutex<HashMap<String, HashMap<String, String>>>,
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("issuer", &self.issuer).finish_non_exhaustive()
    }
}

impl Accounts {
    /// The client that it knows.
    pub const CLIENT_ID: &'static str = "hotseat";

    /// The client's secret.
    pub const CLIENT_SECRET: &'static str = "open-sesame";

    /// Starts a provider.
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let issuer = format!("http://{}", listener.local_addr().expect("an address"));
        let (algorithm, random) = (&ECDSA_P256_SHA256_FIXED_SIGNING, SystemRandom::new());
        let pkcs8 = EcdsaKeyPair::generate_pkcs8(algorithm, &random).expect("a key");
        let shared = Arc::new(Shared {
            issuer: issuer.clone(),
            key: EcdsaKeyPair::from_pkcs8(algorithm, pkcs8.as_ref(), &random).expect("a key"),
            person: Mutex::new(json!({"sub": "1", "email": "ada@example.org"})),
            mischief: Mutex::default(),
            codes: Mutex::default(),
        });
        let router = Router::new()
            .route("/.well-known/openid-configuration", get(configuration))
            .route("/authorize", get(authorize))
            .route("/token", post(token))
            .route("/jwks", get(keys))
            .with_state(Arc::clone(&shared));
        let server = tokio::spawn(async move {
            axum::serve(listener, router).await.expect("the provider serves");
        });
        Self { issuer, shared, server }
    }

    /// Who signs in from now on.
    pub fn person(&self, claims: Value) {
        *self.shared.person.lock().expect("no panic") = claims;
    }

    /// What is done to tokens from now on.
    pub fn mischief(&self, mischief: impl Fn(&mut Value, &mut Value) + Send + Sync + 'static) {
        *self.shared.mischief.lock().expect("no panic") = Some(Box::new(mischief));
    }
}

impl Drop for Accounts {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn configuration(State(shared): State<Arc<Shared>>) -> Json<Value> {
    let at = |path: &str| format!("{}{path}", shared.issuer);
    Json(json!({
        "issuer": shared.issuer,
        "authorization_endpoint": at("/authorize"),
        "token_endpoint": at("/token"),
        "jwks_uri": at("/jwks"),
        "response_types_supported": ["code"],
        "id_token_signing_alg_values_supported": ["ES256"],
    }))
}

/// Everybody is let in at once.
async fn authorize(
    State(shared): State<Arc<Shared>>,
    Query(asked): Query<HashMap<String, String>>,
) -> Response {
    let proper = asked.get("response_type").is_some_and(|kind| kind == "code")
        && asked.get("client_id").is_some_and(|id| id == Accounts::CLIENT_ID)
        && asked.get("code_challenge_method").is_some_and(|method| method == "S256")
        && asked.get("scope").is_some_and(|scope| scope.split(' ').any(|word| word == "openid"));
    let (Some(back), Some(state)) = (asked.get("redirect_uri"), asked.get("state")) else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    if !proper {
        return StatusCode::BAD_REQUEST.into_response();
    }
    let code = uuid::Uuid::new_v4().to_string();
    let to = format!("{back}?code={code}&state={state}");
    shared.codes.lock().expect("no panic").insert(code, asked);
    Redirect::to(&to).into_response()
}

async fn token(
    State(shared): State<Arc<Shared>>,
    headers: HeaderMap,
    Form(form): Form<HashMap<String, String>>,
) -> Response {
    let secret = format!("{}:{}", Accounts::CLIENT_ID, Accounts::CLIENT_SECRET);
    let basic = format!("Basic {}", STANDARD.encode(secret));
    let known = headers.get(header::AUTHORIZATION).is_some_and(|given| given == basic.as_str());
    let field = |name: &str| form.get(name).map(String::as_str).unwrap_or_default();
    // A code is good once.
    let asked = shared.codes.lock().expect("no panic").remove(field("code"));
    let Some(asked) = asked.filter(|_| known) else {
        return (StatusCode::BAD_REQUEST, Json(json!({"error": "invalid_grant"}))).into_response();
    };
    let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(field("code_verifier").as_bytes()));
    if asked["code_challenge"] != challenge || asked["redirect_uri"] != field("redirect_uri") {
        return (StatusCode::BAD_REQUEST, Json(json!({"error": "invalid_grant"}))).into_response();
    }
    let now = std::time::SystemTime::UNIX_EPOCH.elapsed().expect("after 1970").as_secs();
    let mut claims = shared.person.lock().expect("no panic").clone();
    claims["iss"] = json!(shared.issuer);
    claims["aud"] = json!(Accounts::CLIENT_ID);
    claims["iat"] = json!(now);
    claims["exp"] = json!(now + 300);
    claims["nonce"] = json!(asked["nonce"]);
    let id_token = shared.sign(claims);
    Json(json!({"access_token": "x", "token_type": "Bearer", "id_token": id_token})).into_response()
}

async fn keys(State(shared): State<Arc<Shared>>) -> Json<Value> {
    let point = shared.key.public_key().as_ref();
    let (x, y) = (URL_SAFE_NO_PAD.encode(&point[1..33]), URL_SAFE_NO_PAD.encode(&point[33..]));
    let key = json!({"kty": "EC", "crv": "P-256", "kid": "k1", "use": "sig", "x": x, "y": y});
    Json(json!({"keys": [key]}))
}

impl Shared {
    fn sign(&self, mut claims: Value) -> String {
        let mut header = json!({"alg": "ES256", "kid": "k1"});
        if let Some(mischief) = &*self.mischief.lock().expect("no panic") {
            mischief(&mut header, &mut claims);
        }
        let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let signed = format!("{}.{}", part(&header), part(&claims));
        if header["alg"] == "none" {
            return format!("{signed}.");
        }
        let signature = self.key.sign(&SystemRandom::new(), signed.as_bytes()).expect("signed");
        format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature))
    }
}

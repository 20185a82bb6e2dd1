//! Model providers that say what a script tells them, over real sockets.
//!
//! One [`Provider`] speaks the wire formats of OpenAI, Azure, Anthropic, Gemini and
//! Ollama on their real paths, streaming or whole. It refuses what the real ones
//! refuse, with their status and in their format, so a client that sends a wrong
//! request fails its test. Answers are sent in small chunks that end inside of
//! lines and characters.

mod anthropic;
mod checks;
mod gemini;
mod ollama;
mod openai;
mod script;
mod sending;
mod wire;

use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::{oneshot, watch};

use crate::soon;
use script::Ending;
pub use script::{Reply, Script, Tokens};
pub use wire::Wire;

/// Most requests that are remembered; older ones are forgotten.
const MAX_REMEMBERED: usize = 10_000;
/// Most bytes of a request.
const MAX_REQUEST_BYTES: usize = 64 << 20;

/// A running provider. It stops when this is dropped.
#[derive(Debug)]
pub struct Provider {
    /// Where it listens, such as `http://127.0.0.1:4000`.
    pub url: String,
    shared: Arc<Shared>,
    _stop: oneshot::Sender<()>,
}

/// A request that a provider got.
#[derive(Debug, Clone)]
pub struct Asked {
    /// Whose format it is in.
    pub wire: Wire,
    /// The path and the query.
    pub path: String,
    /// The headers, with lower-case names.
    pub headers: BTreeMap<String, String>,
    /// The body.
    pub body: Value,
}

#[derive(Debug)]
struct Shared {
    script: Mutex<Script>,
    asked: Mutex<VecDeque<Asked>>,
    /// How many requests came, how many answers were broken off by the client, and
    /// how many held answers may go on.
    counts: watch::Sender<Counts>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    asked: usize,
    hung_up: usize,
    held: usize,
    released: usize,
}

impl Provider {
    /// Starts one on a port of its own.
    pub async fn start(script: Script) -> Self {
        Self::start_on(SocketAddr::from(([127, 0, 0, 1], 0)), script).await
    }

    /// Starts one on this address.
    pub async fn start_on(address: SocketAddr, script: Script) -> Self {
        let listener = TcpListener::bind(address).await.expect("the address is free");
        let address = listener.local_addr().expect("an address");
        let shared = Arc::new(Shared {
            script: Mutex::new(script),
            asked: Mutex::default(),
            counts: watch::Sender::new(Counts::default()),
        });
        let router = Router::new()
            .fallback(answer)
            .layer(axum::extract::DefaultBodyLimit::max(MAX_REQUEST_BYTES))
            .with_state(Arc::clone(&shared));
        let (stop, stopped) = oneshot::channel::<()>();
        tokio::spawn(async move {
            // Dropping the sender is the signal. Connections must not outlive the test,
            // so there is nothing graceful about it.
            tokio::select! {
                _ = stopped => {}
                served = axum::serve(listener, router) => served.expect("the provider serves"),
            }
        });
        Self { url: format!("http://{address}"), shared, _stop: stop }
    }

    /// The endpoint to give to a client of this format.
    pub fn endpoint(&self, wire: Wire) -> String {
        match wire {
            Wire::OpenAi => format!("{}/v1", self.url),
            Wire::Azure | Wire::Anthropic | Wire::Gemini | Wire::Ollama => self.url.clone(),
        }
    }

    /// All requests so far, refused ones included.
    pub fn asked(&self) -> Vec<Asked> {
        self.shared.asked.lock().expect("no panic before").iter().cloned().collect()
    }

    /// The last request.
    pub fn last_asked(&self) -> Asked {
        self.asked().pop().expect("somebody asked")
    }

    /// Waits until so many requests came.
    pub async fn until_asked(&self, times: usize) {
        self.until("requests", |counts| counts.asked >= times).await;
    }

    /// Waits until so many answers are held back.
    pub async fn until_held(&self, times: usize) {
        self.until("held answers", |counts| counts.held >= times).await;
    }

    /// Waits until so many clients hung up in the middle of an answer.
    pub async fn until_hung_up(&self, times: usize) {
        self.until("clients that hang up", |counts| counts.hung_up >= times).await;
    }

    /// Lets one held answer go on.
    pub fn release(&self) {
        self.shared.counts.send_modify(|counts| counts.released += 1);
    }

    async fn until(&self, what: &str, mut enough: impl FnMut(&Counts) -> bool) {
        let mut counts = self.shared.counts.subscribe();
        soon(what, counts.wait_for(|counts| enough(counts))).await.expect("the provider lives");
    }
}

async fn answer(
    State(shared): State<Arc<Shared>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let Some(wire) = Wire::of(&method, &uri) else {
        return (StatusCode::NOT_FOUND, "no provider has this path").into_response();
    };
    let Ok(body) = serde_json::from_slice::<Value>(&body) else {
        return refusal(wire, 400, "the body is not JSON", None);
    };
    shared.remember(wire, &uri, &headers, &body);
    if let Err((status, message)) = wire.check(&uri, &headers, &body) {
        return refusal(wire, status, &message, None);
    }
    let (number, reply) = shared.script.lock().expect("no panic before").next();
    let Some(reply) = reply else {
        return refusal(wire, 500, "the script is over", None);
    };
    if let Ending::Refused { status, message, retry_after } = &reply.ending {
        return refusal(wire, *status, message, retry_after.as_deref());
    }
    if let Ending::Page(html) = reply.ending {
        return axum::response::Html(html).into_response();
    }
    let chunk_bytes = shared.script.lock().expect("no panic before").chunk_bytes;
    if wire.streams(&uri, &body) {
        sending::streamed(wire, number, &reply, chunk_bytes, shared)
    } else {
        axum::Json(wire.whole(number, &reply)).into_response()
    }
}

fn refusal(wire: Wire, status: u16, message: &str, retry_after: Option<&str>) -> Response {
    let status_code = StatusCode::from_u16(status).expect("a status");
    let mut response = (status_code, axum::Json(wire.refusal(status, message))).into_response();
    if let Some(retry_after) = retry_after {
        let value = retry_after.parse().expect("a header's value");
        response.headers_mut().insert(header::RETRY_AFTER, value);
    }
    response
}

impl Shared {
    fn remember(&self, wire: Wire, uri: &Uri, headers: &HeaderMap, body: &Value) {
        let path = uri.path_and_query().map_or(uri.path(), |path| path.as_str()).to_owned();
        let headers = headers.iter().map(|(name, value)| {
            (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned())
        });
        let request = Asked { wire, path, headers: headers.collect(), body: body.clone() };
        let mut asked = self.asked.lock().expect("no panic before");
        if asked.len() >= MAX_REMEMBERED {
            asked.pop_front();
        }
        asked.push_back(request);
        drop(asked);
        self.counts.send_modify(|counts| counts.asked += 1);
    }

    /// Waits until as many answers were released as were held up to this one.
    async fn hold(&self) {
        let mut place = 0;
        self.counts.send_modify(|counts| {
            counts.held += 1;
            place = counts.held;
        });
        let mut counts = self.counts.subscribe();
        // Without an end: whoever is kept waiting has a time-out of its own.
        let _ = counts.wait_for(|counts| counts.released >= place).await;
    }
}

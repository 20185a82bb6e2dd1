//! A caller of the server, over HTTP and gRPC.

use std::time::Duration;

use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use tonic::metadata::{Ascii, MetadataValue};
use tonic::service::Interceptor;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::Channel;
use tonic::{Request, Status};

use crate::proto::seat_client::SeatClient;
use crate::proto::sessions_client::SessionsClient;
use crate::proto::worker_client::WorkerClient;
use crate::proto::{self, SubmitRequestRequest, SubmitRequestResponse};
use crate::{Answer, SseReader, sample, soon};

/// A caller with or without the token.
#[derive(Debug, Clone)]
pub struct Api {
    /// Where the server is, without a slash at the end.
    pub url: String,
    /// What the caller presents.
    pub token: Option<String>,
    client: reqwest::Client,
}

/// The services of the contract, as the caller sees them.
#[derive(Debug, Clone)]
pub struct Grpc {
    /// Turns.
    pub seat: SeatClient<Connection>,
    /// The log.
    pub sessions: SessionsClient<Connection>,
    /// Workers.
    pub worker: WorkerClient<Connection>,
}

/// A connection on which every call carries the token.
pub type Connection = InterceptedService<Channel, Bearer>;

/// Puts the token on a call.
#[derive(Debug, Clone)]
pub struct Bearer(Option<MetadataValue<Ascii>>);

impl Interceptor for Bearer {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        if let Some(token) = &self.0 {
            request.metadata_mut().insert("authorization", token.clone());
        }
        Ok(request)
    }
}

impl Api {
    /// A caller of the server at `url`.
    pub fn new(url: impl Into<String>, token: Option<String>) -> Self {
        // TLS is built in for the sake of model providers, and no client can be made
        // before its cryptography is chosen. Most callers need none, so no certificates.
        Self { url: url.into(), token, client: client([]) }
    }

    /// The same caller, who believes in the certificates below this one, in PEM, and no others.
    #[must_use]
    pub fn trusting(self, authority: &str) -> Self {
        let authority = reqwest::Certificate::from_pem(authority.as_bytes()).expect("PEM");
        Self { client: client([authority]), ..self }
    }

    /// The same caller without the token.
    #[must_use]
    pub fn without_token(&self) -> Self {
        Self::new(self.url.clone(), None)
    }

    /// A request to fill in; it carries the token.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.client.request(method, format!("{}{path}", self.url));
        match &self.token {
            Some(token) => request.bearer_auth(token),
            None => request,
        }
    }

    /// Sends a request and reads the whole answer.
    pub async fn send(&self, request: RequestBuilder) -> Answer {
        self.try_send(request).await.expect("the server answers")
    }

    /// Sends a request to a server that may be gone.
    pub async fn try_send(&self, request: RequestBuilder) -> Result<Answer, reqwest::Error> {
        soon("an answer", async { Ok(Answer::read(request.send().await?).await) }).await
    }

    /// GET.
    pub async fn get(&self, path: &str) -> Answer {
        self.send(self.request(Method::GET, path)).await
    }

    /// POST with a JSON body.
    pub async fn post(&self, path: &str, body: &Value) -> Answer {
        self.send(self.request(Method::POST, path).json(body)).await
    }

    /// POST with a body that is JSON already, or is meant not to be.
    pub async fn post_text(&self, path: &str, body: &str) -> Answer {
        let request = self.request(Method::POST, path).header("content-type", "application/json");
        self.send(request.body(body.to_owned())).await
    }

    /// PUT with a JSON body.
    pub async fn put(&self, path: &str, body: &Value) -> Answer {
        self.send(self.request(Method::PUT, path).json(body)).await
    }

    /// DELETE.
    pub async fn delete(&self, path: &str) -> Answer {
        self.send(self.request(Method::DELETE, path)).await
    }

    /// A stream of server-sent events.
    pub async fn stream(&self, path: &str) -> SseReader {
        self.stream_with(self.request(Method::GET, path)).await
    }

    /// A stream of server-sent events, asked for in the caller's own way.
    pub async fn stream_with(&self, request: RequestBuilder) -> SseReader {
        SseReader::new(soon("a stream", request.send()).await.expect("the server answers"))
    }

    /// The same from a server that may be gone, or about to go.
    pub async fn try_stream(&self, request: RequestBuilder) -> Option<SseReader> {
        let response = soon("a stream", request.send()).await.ok()?;
        (response.status() == 200).then(|| SseReader::new(response))
    }

    /// A gRPC connection of its own.
    pub async fn grpc(&self) -> Grpc {
        self.try_grpc().await.expect("the server listens")
    }

    /// A gRPC connection of its own to a server that may be gone.
    pub async fn try_grpc(&self) -> Result<Grpc, tonic::transport::Error> {
        let endpoint = Channel::from_shared(self.url.clone()).expect("a URL");
        let channel = soon("a connection", endpoint.connect()).await?;
        let bearer =
            Bearer(self.token.as_ref().map(|token| {
                format!("Bearer {token}").parse().expect("a token is a header value")
            }));
        let limit = 64 * 1024 * 1024;
        Ok(Grpc {
            seat: SeatClient::with_interceptor(channel.clone(), bearer.clone())
                .max_decoding_message_size(limit),
            sessions: SessionsClient::with_interceptor(channel.clone(), bearer.clone())
                .max_decoding_message_size(limit),
            worker: WorkerClient::with_interceptor(channel, bearer),
        })
    }

    /// A session without an agent, by its id.
    pub async fn session(&self) -> String {
        self.session_with(&json!({})).await
    }

    /// A session, by its id.
    pub async fn session_with(&self, body: &Value) -> String {
        let session = self.post("/api/v1/sessions", body).await.json(201);
        session["id"].as_str().expect("an id").to_owned()
    }

    /// A session as the server shows it.
    pub async fn show(&self, session: &str) -> Value {
        self.get(&format!("/api/v1/sessions/{session}")).await.json(200)
    }

    /// The log of a session, all of it.
    pub async fn events(&self, session: &str) -> Vec<Value> {
        let mut events = Vec::new();
        loop {
            let after = events.last().map_or(0, |event: &Value| event["seq"].as_u64().unwrap());
            let path = format!("/api/v1/sessions/{session}/events?after_seq={after}&limit=900");
            let page = self.get(&path).await.json(200);
            events.extend(page["items"].as_array().expect("items").iter().cloned());
            if page["next_cursor"].is_null() {
                return events;
            }
        }
    }

    /// The turns of a session that wait, oldest first.
    pub async fn pending(&self, session: &str) -> Vec<Value> {
        let path = format!("/api/v1/sessions/{session}/turns?state=pending");
        self.get(&path).await.json(200)["items"].as_array().expect("items").clone()
    }

    /// Answers a turn with `decision`.
    pub async fn decide(&self, session: &str, turn: &str, decision: &Value) -> Answer {
        self.post(&format!("/api/v1/sessions/{session}/turns/{turn}/decision"), decision).await
    }

    /// Completes a session.
    pub async fn complete(&self, session: &str) -> Value {
        self.post(&format!("/api/v1/sessions/{session}/complete"), &json!({})).await.json(200)
    }

    /// Sends a text message to the agent of a session.
    pub async fn query(&self, session: &str, text: &str) -> Answer {
        self.post(&format!("/api/v1/sessions/{session}/query"), &json!({"text": text})).await
    }

    /// Reads a run of `adk eval` again and again until it is over. Nothing tells of
    /// its end, so there is nothing else to wait for.
    pub async fn until_evaluated(&self, eval_run: &str) -> Value {
        soon("the end of an eval run", async {
            loop {
                let run = self.get(&format!("/api/v1/eval-runs/{eval_run}")).await.json(200);
                if run["status"] != "running" {
                    return run;
                }
            }
        })
        .await
    }

    /// Waits for a turn, and gives its session and its id.
    pub async fn until_turn(&self) -> (String, String) {
        soon("a turn", async {
            loop {
                let turns = self.get("/api/v1/turns?state=pending").await.json(200);
                if let Some(turn) = turns["items"].get(0) {
                    let id = |key: &str| turn[key].as_str().expect("an id").to_owned();
                    return (id("session_id"), id("turn_id"));
                }
            }
        })
        .await
    }

    /// Reads the agents again and again, whenever the server says that they changed,
    /// until `agent` is connected or not, as wanted.
    pub async fn until_connected(&self, agent: &str, wanted: bool) {
        let mut changes = self.stream("/api/v1/stream").await;
        changes.next_of("ready").await;
        loop {
            let agents = self.get("/api/v1/agents").await.json(200);
            let known = agents["items"].as_array().expect("items").iter();
            let connected = known.filter(|known| known["connected"] == true);
            if connected.into_iter().any(|known| known["name"] == agent) == wanted {
                return;
            }
            changes.next_of("agents").await;
        }
    }
}

fn client<const N: usize>(authorities: [reqwest::Certificate; N]) -> reqwest::Client {
    // A second time it is refused, because of the first.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
        .no_proxy()
        // Servers of tests close connections that nobody uses for two seconds, and one must not
        // be used just then.
        .pool_idle_timeout(Duration::from_secs(1))
        .tls_certs_only(authorities)
        .redirect(reqwest::redirect::Policy::none())
        .build()
        .expect("a client")
}

impl Grpc {
    /// Opens a turn with a request of [`sample::llm_request`], and gives its id.
    pub async fn ask(&mut self, session: &str) -> String {
        let turn = uuid::Uuid::new_v4().to_string();
        self.submit(session, &turn, &sample::llm_request("What is 2 + 3?")).await.unwrap();
        turn
    }

    /// Submits the model request `raw` as a turn of `root`.
    pub async fn submit(
        &mut self,
        session: &str,
        turn: &str,
        raw: &Value,
    ) -> Result<SubmitRequestResponse, Status> {
        let request = SubmitRequestRequest {
            session_id: session.to_owned(),
            turn_id: turn.to_owned(),
            agent_name: "root".to_owned(),
            request: Some(proto::SimulatedLlmRequest {
                raw_json: raw.to_string().into(),
                ..Default::default()
            }),
            invocation_id: "e-1".to_owned(),
            ..Default::default()
        };
        soon("a submitted turn", self.seat.submit_request(request))
            .await
            .map(tonic::Response::into_inner)
    }

    /// Appends raw ADK events.
    pub async fn append(&mut self, session: &str, events: &[Value]) -> Result<u64, Status> {
        let events = events.iter().map(|raw| proto::NewEvent {
            kind: "event".to_owned(),
            raw_json: raw.to_string().into(),
            ..Default::default()
        });
        let request = proto::AppendEventsRequest {
            session_id: session.to_owned(),
            events: events.collect(),
            ..Default::default()
        };
        let answer = soon("an append", self.sessions.append_events(request)).await?;
        Ok(answer.into_inner().last_seq)
    }

    /// Follows the log of a session.
    pub async fn subscribe(
        &mut self,
        session: &str,
        after_seq: u64,
    ) -> tonic::Streaming<proto::SessionEvent> {
        let session_id = session.to_owned();
        let request = proto::SubscribeRequest { session_id, after_seq, kinds: Vec::new() };
        soon("a subscription", self.seat.subscribe(request)).await.unwrap().into_inner()
    }
}

//! The least server over PostgreSQL: what the network, the database's protocol and one durable
//! transaction cost anybody whose servers share a log.
//!
//! As the one over SQLite, it looks into nothing and only appends. What waits goes into the table
//! `limit_events`, which has our columns and our indexes, with one statement that is its own
//! transaction; so many of them are under way at a time as at a server of ours. The events of a
//! session have numbers without gaps, whichever server they came to: so each transaction changes a
//! row for every session, of which `limit_sessions` keeps nothing but the last number.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::Response;
use axum::routing::any;
use hotseat_testkit::proto::{
    AdkSession, AdkSessionKey, AppendAdkEventRequest, AppendAdkEventResponse,
    CreateAdkSessionRequest,
};
use tokio::sync::{mpsc, oneshot};
use tokio_postgres::{Client, NoTls};
use tonic::Status;
use tonic::codegen::BoxFuture;
use tonic::server::UnaryService;
use uuid::Uuid;

use crate::least::unary;
use crate::net;

/// Transactions that are under way at a time, as at a server of ours.
const LANES: usize = 2;

/// Rows of one transaction at most, as ours.
const MOST_ROWS: usize = 512;

const CREATE: &str = "INSERT INTO limit_sessions (session_id, last_seq) VALUES ($1, 0)";

/// Whoever calls waits for the answer, so a session is at most once in it.
const INSERT: &str = "WITH sent AS (SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::bytea[]) \
    AS n (session_id, key, payload)), numbered AS (UPDATE limit_sessions s \
    SET last_seq = s.last_seq + 1 FROM sent WHERE s.session_id = sent.session_id \
    RETURNING s.session_id, s.last_seq, sent.key, sent.payload) \
    INSERT INTO limit_events (session_id, seq, place, event_id, event_key, timestamp, time, kind, \
    agent_name, invocation_id, author, size, packed, payload) SELECT session_id, last_seq, \
    last_seq, key::text, key, 1767607200000, 1.5, 'event', 'agent', 'e-1', 'agent', \
    length(payload), false, payload FROM numbered";

/// An event of a session, and whom to tell that it is on the disk.
type Job = (Uuid, Bytes, oneshot::Sender<()>);

/// The ways to the database, which take turns.
#[derive(Clone)]
struct Writers {
    lanes: Arc<[Lane]>,
    next: Arc<AtomicUsize>,
}

#[derive(Clone)]
struct Lane {
    client: Arc<Client>,
    jobs: mpsc::UnboundedSender<Job>,
}

/// Serves until stdin ends.
pub(crate) fn serve(url: &str) {
    net::serve_with(async || {
        let mut lanes = Vec::new();
        for _ in 0..LANES {
            let (client, connection) =
                tokio_postgres::connect(url, NoTls).await.expect("a database");
            tokio::spawn(connection);
            let (sender, jobs) = mpsc::unbounded_channel();
            let client = Arc::new(client);
            tokio::spawn(write(Arc::clone(&client), jobs));
            lanes.push(Lane { client, jobs: sender });
        }
        let writers = Writers { lanes: lanes.into(), next: Arc::default() };
        Router::new()
            .route("/hotseat.v1.Sessions/CreateAdkSession", any(create))
            .route("/hotseat.v1.Sessions/AppendAdkEvent", any(append))
            .with_state(writers)
    });
}

/// Commits what waits, until nobody is left who could send.
async fn write(client: Arc<Client>, mut jobs: mpsc::UnboundedReceiver<Job>) {
    let insert = client.prepare(INSERT).await.expect("tables of the limit");
    let mut waiting = Vec::new();
    while jobs.recv_many(&mut waiting, MOST_ROWS).await > 0 {
        let sessions: Vec<Uuid> = waiting.iter().map(|(session, ..)| *session).collect();
        let keys: Vec<Uuid> = waiting.iter().map(|_| Uuid::new_v4()).collect();
        let payloads: Vec<&[u8]> = waiting.iter().map(|(_, payload, _)| &payload[..]).collect();
        client.execute(&insert, &[&sessions, &keys, &payloads]).await.expect("rows");
        for (.., done) in waiting.drain(..) {
            // Whoever went away needs no answer.
            let _ = done.send(());
        }
    }
}

async fn create(State(writers): State<Writers>, request: Request) -> Response<Body> {
    unary(Create(writers.lane()), request).await
}

async fn append(State(writers): State<Writers>, request: Request) -> Response<Body> {
    unary(Append(writers.lane()), request).await
}

impl Writers {
    fn lane(&self) -> Lane {
        let next = self.next.fetch_add(1, Ordering::Relaxed);
        self.lanes[next % self.lanes.len()].clone()
    }
}

fn id_of(key: Option<&AdkSessionKey>) -> Uuid {
    let key = key.expect("a session");
    Uuid::new_v5(&Uuid::NAMESPACE_OID, key.id.as_bytes())
}

struct Create(Lane);

impl UnaryService<CreateAdkSessionRequest> for Create {
    type Response = AdkSession;
    type Future = BoxFuture<tonic::Response<AdkSession>, Status>;

    fn call(&mut self, request: tonic::Request<CreateAdkSessionRequest>) -> Self::Future {
        let client = Arc::clone(&self.0.client);
        Box::pin(async move {
            let key = request.into_inner().key;
            client.execute(CREATE, &[&id_of(key.as_ref())]).await.expect("a row");
            Ok(tonic::Response::new(AdkSession { key, ..Default::default() }))
        })
    }
}

struct Append(Lane);

impl UnaryService<AppendAdkEventRequest> for Append {
    type Response = AppendAdkEventResponse;
    type Future = BoxFuture<tonic::Response<AppendAdkEventResponse>, Status>;

    fn call(&mut self, request: tonic::Request<AppendAdkEventRequest>) -> Self::Future {
        let lane = self.0.clone();
        Box::pin(async move {
            let request = request.into_inner();
            let (done, committed) = oneshot::channel();
            let job = (id_of(request.key.as_ref()), request.raw_json, done);
            lane.jobs.send(job).expect("a writer");
            committed.await.expect("a commit");
            Ok(tonic::Response::new(AppendAdkEventResponse::default()))
        })
    }
}

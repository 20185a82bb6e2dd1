//! The least server over PostgreSQL: what the network, the database's protocol and one durable
//! transaction cost anybody.
//!
//! As the one over SQLite, it looks into nothing and only appends. What waits goes into the table
//! `limit_events`, which has our columns and our indexes, with one statement that is its own
//! transaction; so many of them are under way at a time as at a server of ours.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::Response;
use axum::routing::any;
use hotseat_testkit::proto::{AppendAdkEventRequest, AppendAdkEventResponse};
use tokio::sync::{mpsc, oneshot};
use tokio_postgres::{Client, NoTls};
use tonic::Status;
use tonic::codegen::BoxFuture;
use tonic::server::UnaryService;
use uuid::Uuid;

use crate::least::{create, unary};
use crate::net;

/// Transactions that are under way at a time, as at a server of ours.
const LANES: usize = 2;

/// Rows of one transaction at most, as ours.
const MOST_ROWS: usize = 512;

const INSERT: &str = "INSERT INTO limit_events (session_id, seq, place, event_id, event_key, timestamp, time, kind, \
    agent_name, invocation_id, author, size, packed, payload) SELECT $1, seq, seq, key::text, key, 1767607200000, \
    1.5, 'event', 'agent', 'e-1', 'agent', length(payload), false, payload \
    FROM unnest($2::bigint[], $3::uuid[], $4::bytea[]) AS n (seq, key, payload)";

type Job = (Bytes, oneshot::Sender<()>);

/// The ways to the database, which take turns.
#[derive(Clone)]
struct Writers {
    lanes: Arc<[mpsc::UnboundedSender<Job>]>,
    next: Arc<AtomicUsize>,
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
            tokio::spawn(write(client, jobs));
            lanes.push(sender);
        }
        let writers = Writers { lanes: lanes.into(), next: Arc::default() };
        Router::new()
            .route("/hotseat.v1.Sessions/CreateAdkSession", any(create))
            .route("/hotseat.v1.Sessions/AppendAdkEvent", any(append))
            .with_state(writers)
    });
}

/// Commits what waits, until nobody is left who could send.
async fn write(client: Client, mut jobs: mpsc::UnboundedReceiver<Job>) {
    let insert = client.prepare(INSERT).await.expect("the table `limit_events`");
    let (session, mut written, mut waiting) = (Uuid::new_v4(), 0, Vec::new());
    while jobs.recv_many(&mut waiting, MOST_ROWS).await > 0 {
        let count = i64::try_from(waiting.len()).expect("a small number");
        let seqs: Vec<i64> = (written + 1..=written + count).collect();
        let keys: Vec<Uuid> = waiting.iter().map(|_| Uuid::new_v4()).collect();
        let payloads: Vec<&[u8]> = waiting.iter().map(|(payload, _)| &payload[..]).collect();
        client.execute(&insert, &[&session, &seqs, &keys, &payloads]).await.expect("rows");
        written += count;
        for (_, done) in waiting.drain(..) {
            // Whoever went away needs no answer.
            let _ = done.send(());
        }
    }
}

async fn append(State(writers): State<Writers>, request: Request) -> Response<Body> {
    unary(writers, request).await
}

impl UnaryService<AppendAdkEventRequest> for Writers {
    type Response = AppendAdkEventResponse;
    type Future = BoxFuture<tonic::Response<AppendAdkEventResponse>, Status>;

    fn call(&mut self, request: tonic::Request<AppendAdkEventRequest>) -> Self::Future {
        let lane = self.next.fetch_add(1, Ordering::Relaxed) % self.lanes.len();
        let lane = self.lanes[lane].clone();
        Box::pin(async move {
            let (done, committed) = oneshot::channel();
            lane.send((request.into_inner().raw_json, done)).expect("a writer");
            committed.await.expect("a commit");
            Ok(tonic::Response::new(AppendAdkEventResponse::default()))
        })
    }
}

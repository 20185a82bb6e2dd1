//! The least server whose answers are durable: what the network and one durable write cost anybody.
//!
//! It speaks what the clients of the bench speak, so that the same programs measure it. An append
//! is unpacked and put into "SQLite alone"'s tables: where it stands if nothing else is being
//! written, and else by one thread, with whatever waits there, in one commit. The answer leaves
//! after that. Nothing looks into an event, there are no
//! ids, no order, no state, and nobody is asked who he is. A read is all rows of the table as one
//! body, with what ours tells of them. A run is a row before its first piece and one behind its
//! last. Turns are in `turns.rs`.

use std::convert::Infallible;
use std::io::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::Response;
use axum::response::sse::{Event, Sse};
use axum::routing::{any, get, post};
use futures_util::{Stream, StreamExt as _};
use hotseat_testkit::proto::append_adk_events_response::Answer;
use hotseat_testkit::proto::{
    AdkSession, AppendAdkEventRequest, AppendAdkEventResponse, AppendAdkEventsRequest,
    AppendAdkEventsResponse, CreateAdkSessionRequest,
};
use prost::Message;
use rusqlite::types::ValueRef;
use tokio::sync::oneshot;
use tonic::codegen::BoxFuture;
use tonic::server::{Grpc, StreamingService, UnaryService};
use tonic::{Status, Streaming};
use tonic_prost::ProstCodec;

use crate::net;
use crate::sample::event;
use crate::sqlite::{File, Rows};
use crate::turns;

/// Rows that one commit takes at most, as ours does.
const MAX_ROWS: usize = 4096;

/// Nobody looks to which session an event belongs: they go to so many in turn.
const SESSIONS: usize = 64;

/// Rows of a read, as many as are asked of ours.
const ROWS: usize = 1000;

/// What a page of ours tells of an event.
const PAGE: &str = "SELECT seq, event_id, session_id, timestamp, kind, turn_id, invocation_id, \
    author, agent_name, branch, parent_call_id, payload FROM events ORDER BY id";

/// How each of these begins, and what is around it if it is a text. Nothing here needs an escape.
const TOLD: [(&[u8], &[u8]); 12] = [
    (b"{\"seq\":", b""),
    (b",\"event_id\":", b"\""),
    (b",\"session_id\":", b"\""),
    (b",\"timestamp\":", b""),
    (b",\"kind\":", b"\""),
    (b",\"turn_id\":", b"\""),
    (b",\"invocation_id\":", b"\""),
    (b",\"author\":", b"\""),
    (b",\"agent_name\":", b"\""),
    (b",\"branch\":", b"\""),
    (b",\"parent_call_id\":", b"\""),
    (b",\"event\":", b""),
];

type Job = (Vec<Bytes>, oneshot::Sender<()>);

/// How it is written.
#[derive(Clone)]
pub(crate) struct Writer {
    file: Arc<Mutex<File>>,
    jobs: mpsc::Sender<Job>,
    /// Those who wait for a commit.
    waiting: Arc<AtomicUsize>,
}

/// Serves until stdin ends.
pub(crate) fn serve(folder: &Path) {
    let file = Arc::new(Mutex::new(File::open(folder, Rows::All, SESSIONS)));
    let (sender, jobs) = mpsc::channel();
    let pen = Writer { file: Arc::clone(&file), jobs: sender, waiting: Arc::default() };
    std::thread::spawn(move || write(&file, &jobs));
    let mut rows = File::open(folder, Rows::Events, 1);
    let events: Vec<String> = (0..ROWS).map(event).collect();
    rows.insert(events.iter().map(String::as_str));
    let reads = Router::new().route("/events", get(read)).with_state(Arc::new(Mutex::new(rows)));
    let writes = Router::new()
        .route("/hotseat.v1.Sessions/CreateAdkSession", any(create))
        .route("/hotseat.v1.Sessions/AppendAdkEvent", any(append))
        .route("/hotseat.v1.Sessions/AppendAdkEvents", any(append_all))
        .route("/ag-ui/least", post(run))
        .with_state(pen.clone());
    net::serve(reads.merge(writes).merge(turns::router(pen)));
}

/// Commits what waits, until nobody is left who could send.
fn write(file: &Mutex<File>, jobs: &mpsc::Receiver<Job>) {
    while let Ok(first) = jobs.recv() {
        let (mut rows, mut waiting) = (first.0, vec![first.1]);
        while rows.len() < MAX_ROWS
            && let Ok((more, done)) = jobs.try_recv()
        {
            rows.extend(more);
            waiting.push(done);
        }
        insert(file, &rows);
        for done in waiting {
            // Whoever went away needs no answer.
            let _ = done.send(());
        }
    }
}

fn insert(file: &Mutex<File>, rows: &[Bytes]) {
    let payloads = rows.iter().map(|row| std::str::from_utf8(row).expect("JSON is UTF-8"));
    file.lock().expect("no writer has failed").insert(payloads);
}

impl Writer {
    /// Returns when the rows are on the disk.
    pub(crate) async fn commit(&self, rows: Vec<Bytes>) {
        let is_alone = self.waiting.fetch_add(1, Ordering::Relaxed) == 0;
        let _waits = Waits(&self.waiting);
        if is_alone {
            insert(&self.file, &rows);
        } else {
            let (done, committed) = oneshot::channel();
            self.jobs.send((rows, done)).expect("a writer");
            committed.await.expect("a commit");
        }
    }
}

/// Counts somebody until they have their answer or went away.
struct Waits<'w>(&'w AtomicUsize);

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

async fn read(State(rows): State<Arc<Mutex<File>>>) -> Vec<u8> {
    let file = rows.lock().expect("no reader has failed");
    let mut statement = file.connection.prepare_cached(PAGE).expect("a statement");
    let mut rows = statement.query([]).expect("rows");
    let mut body = vec![b'['];
    while let Some(row) = rows.next().expect("a row") {
        body.push(if body.len() > 1 { b',' } else { b' ' });
        for (column, (name, quote)) in TOLD.iter().enumerate() {
            body.extend_from_slice(name);
            match row.get_ref(column).expect("a column") {
                ValueRef::Text(text) => {
                    body.extend_from_slice(quote);
                    body.extend_from_slice(text);
                    body.extend_from_slice(quote);
                }
                ValueRef::Integer(number) => write!(body, "{number}").expect("room"),
                _ => body.extend_from_slice(b"null"),
            }
        }
        body.push(b'}');
    }
    body.push(b']');
    body
}

async fn run(
    State(writer): State<Writer>,
    question: Bytes,
) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    writer.commit(vec![question.clone()]).await;
    let end = futures_util::stream::once(async move { writer.commit(vec![question]).await });
    Sse::new(net::pieces().chain(end.filter_map(async |()| None)))
}

pub(crate) async fn create(request: Request) -> Response<Body> {
    unary(Create, request).await
}

async fn append(State(writer): State<Writer>, request: Request) -> Response<Body> {
    unary(writer, request).await
}

async fn append_all(State(writer): State<Writer>, request: Request) -> Response<Body> {
    let codec = ProstCodec::<AppendAdkEventsResponse, AppendAdkEventsRequest>::default();
    Grpc::new(codec).streaming(writer, request).await.map(Body::new)
}

pub(crate) async fn unary<Q, S>(service: S, request: Request) -> Response<Body>
where
    Q: Message + Default + Send + 'static,
    S: UnaryService<Q, Response: Message + Send + 'static>,
{
    let codec = ProstCodec::<S::Response, Q>::default();
    Grpc::new(codec).unary(service, request).await.map(Body::new)
}

/// Sessions are only named.
struct Create;

impl UnaryService<CreateAdkSessionRequest> for Create {
    type Response = AdkSession;
    type Future = BoxFuture<tonic::Response<AdkSession>, Status>;

    fn call(&mut self, request: tonic::Request<CreateAdkSessionRequest>) -> Self::Future {
        let key = request.into_inner().key;
        Box::pin(async { Ok(tonic::Response::new(AdkSession { key, ..Default::default() })) })
    }
}

impl UnaryService<AppendAdkEventRequest> for Writer {
    type Response = AppendAdkEventResponse;
    type Future = BoxFuture<tonic::Response<AppendAdkEventResponse>, Status>;

    fn call(&mut self, request: tonic::Request<AppendAdkEventRequest>) -> Self::Future {
        let writer = self.clone();
        Box::pin(async move {
            writer.commit(vec![request.into_inner().raw_json]).await;
            Ok(tonic::Response::new(AppendAdkEventResponse::default()))
        })
    }
}

type Answers =
    std::pin::Pin<Box<dyn Stream<Item = Result<AppendAdkEventsResponse, Status>> + Send + 'static>>;

impl StreamingService<AppendAdkEventsRequest> for Writer {
    type Response = AppendAdkEventsResponse;
    type ResponseStream = Answers;
    type Future = BoxFuture<tonic::Response<Answers>, Status>;

    fn call(&mut self, request: tonic::Request<Streaming<AppendAdkEventsRequest>>) -> Self::Future {
        let writer = self.clone();
        let answers = request.into_inner().then(move |batch| {
            let writer = writer.clone();
            async move { Ok(writer.batch(batch?).await) }
        });
        Box::pin(async { Ok(tonic::Response::new(Box::pin(answers) as Answers)) })
    }
}

impl Writer {
    async fn batch(&self, batch: AppendAdkEventsRequest) -> AppendAdkEventsResponse {
        let (mut rows, mut answers) = (Vec::new(), Vec::new());
        for append in batch.appends {
            rows.extend(append.event.map(|event| event.raw_json));
            let appended = Some(AppendAdkEventResponse::default());
            answers.push(Answer { number: append.number, appended, ..Default::default() });
        }
        self.commit(rows).await;
        AppendAdkEventsResponse { answers }
    }
}

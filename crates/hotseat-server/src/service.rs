//! The use cases, without a transport.
//!
//! HTTP and gRPC both come in through [`App`] and add nothing to what is allowed
//! here. State lives in the log; what is held in memory (attached workers) is
//! only how to reach those who are connected now. What several servers over one
//! log need of each other is in `replicas.rs`.

mod adk_sessions;
mod admission;
mod agents;
mod artifacts;
mod asks;
mod audit;
mod chat;
mod counters;
mod draining;
mod enumeration;
mod error;
mod eval_runs;
mod eval_set_file;
mod eval_sets;
mod export;
mod files;
mod follow;
mod fork;
mod guests;
mod ingest;
mod keeping;
mod live;
mod native;
mod people;
mod query;
mod records;
mod replicas;
mod reply;
mod rooms;
mod run_watch;
mod runs;
mod seats;
mod sessions;
mod spans;
mod stats;
mod threads;
mod turns;
mod workers;

use std::sync::Arc;

use hotseat_store::{Change, Counts, Store, StoreError};
use jiff::Timestamp;
use tokio::sync::{broadcast, watch};

pub(crate) use adk_sessions::{AdkKey, AdkSession, NewAdkSession, none as no_events, seen};
pub(crate) use admission::shown as shown_session;
pub use agents::{Agent, AgentList, LoadProblem};
pub(crate) use artifacts::Artifact;
pub(crate) use asks::{AskAnswer, What};
pub(crate) use audit::EXPORT_PAGE;
pub(crate) use chat::{MAX_MESSAGE_CHARS, Saying};
pub(crate) use counters::Counters;
pub(crate) use draining::{ServerState, Waiter};
pub(crate) use enumeration::{Enumeration, Suspect};
pub(crate) use error::ServiceError;
pub(crate) use eval_runs::{EvalRun, EvalRunWish, EvalRuns};
pub(crate) use eval_sets::{EvalSetSummary, Validation};
pub(crate) use export::{Exported, Preview};
pub(crate) use files::{
    FileProblem, MAX_FILE_BYTES, MAX_FILES, MAX_FILES_BYTES, Upload, decoded_len, is_taken,
    may_be_taken,
};
pub(crate) use follow::{Followed, Followers};
pub use guests::ServeConfig;
pub(crate) use ingest::adk_event;
pub(crate) use people::{MadeToken, Proof, TokenWish};
pub(crate) use query::{FunctionResponse, Query};
pub(crate) use records::EventSummary;
pub(crate) use reply::{Reply, ReplyPart, TokenUsage, ToolCallInfo, failure};
pub(crate) use rooms::{Claim, RoomNews, Rooms};
pub(crate) use run_watch::{RunStep, WatchedRun};
pub(crate) use runs::{RunEnd, RunWish, StartRun};
pub use seats::SeatConfig;
pub(crate) use sessions::CreateSession;
pub(crate) use spans::continue_trace;
pub(crate) use stats::{Meter, Stats};
pub(crate) use threads::{PendingCall, Thread};
pub(crate) use turns::{Decided, SubmitTurn, TurnView};
pub(crate) use workers::{Attachment, Registration, Reservation, Reserved, ToWorker, Workers};

use self::draining::Waiters;
use self::guests::Guests;
use self::keeping::Keeping;
use self::live::Live;
use self::native::Natives;
use self::replicas::Replicas;
use self::seats::Seats;
use self::spans::Hosted;
use crate::clock;
use crate::config::Config;
use crate::identity::Visitor;
use crate::oidc::Oidc;

/// The server's use cases. Cheap to clone; all clones are one server.
#[derive(Debug, Clone)]
pub struct App {
    server: Arc<Server>,
    /// On whose behalf this clone does things.
    pub(crate) visitor: Visitor,
}

/// What all clones share.
#[derive(Debug)]
pub struct Server {
    /// The front doors do not reach it: what they may see is decided here.
    store: Store,
    pub(crate) config: Config,
    pub(crate) workers: Workers,
    pub(crate) eval_runs: EvalRuns,
    pub(crate) keeping: Keeping,
    pub(crate) enumeration: Enumeration,
    pub(crate) followers: Followers,
    pub(crate) counters: Counters,
    pub(crate) live: Live,
    hosted: Hosted,
    rooms: Rooms,
    pub(crate) seats: Seats,
    natives: Natives,
    /// The provider of accounts, where there is one.
    pub(crate) oidc: Option<Oidc>,
    guests: Guests,
    waiters: Waiters,
    replicas: Replicas,
    pub(crate) started_at: Timestamp,
    closing: watch::Sender<bool>,
}

impl std::ops::Deref for App {
    type Target = Server;

    fn deref(&self) -> &Server {
        &self.server
    }
}

impl App {
    /// An app over an open store.
    pub fn new(store: Store, config: Config) -> Self {
        let oidc = config.people.oidc.clone().and_then(|oidc| match Oidc::new(oidc) {
            Ok(oidc) => Some(oidc),
            Err(error) => {
                tracing::error!(%error, "nobody can sign in: no connection can be made");
                None
            }
        });
        let replicas = Replicas::over(&store);
        let server = Server {
            oidc,
            store,
            config,
            workers: Workers::default(),
            eval_runs: EvalRuns::default(),
            keeping: Keeping::default(),
            enumeration: Enumeration::default(),
            followers: Followers::default(),
            counters: Counters::default(),
            live: Live::among(replicas.clone()),
            hosted: Hosted::default(),
            rooms: Rooms::among(replicas.clone()),
            seats: Seats::default(),
            natives: Natives::default(),
            guests: Guests::default(),
            waiters: Waiters::default(),
            replicas,
            started_at: clock::now(),
            closing: watch::Sender::new(false),
        };
        Self { server: Arc::new(server), visitor: Visitor::INSIDE }
    }

    /// Tells every stream to end, so that the server can stop.
    pub fn close(&self) {
        self.closing.send_replace(true);
    }

    fn is_closing(&self) -> bool {
        *self.closing.borrow()
    }

    /// Resolves once [`App::close`] was called.
    pub async fn closed(&self) {
        let mut closing = self.closing.subscribe();
        // An error means the sender is gone, which is as closed as it gets.
        let _ = closing.wait_for(|closing| *closing).await;
    }

    /// How much there is, which anyone may know. Also the cheapest proof that the store answers.
    pub(crate) async fn counts(&self) -> Result<Counts, StoreError> {
        self.store.counts().await
    }

    /// Every change of every session: whoever listens asks [`App::visible`] and
    /// [`App::concerns`] which of them to tell.
    pub(crate) fn changes(&self) -> broadcast::Receiver<Change> {
        self.store.changes()
    }

    /// Shows a problem of the worker's process to the people at the page: it
    /// could not be started, or it ended. `None` clears it.
    pub fn report_worker_problem(&self, problem: Option<LoadProblem>) {
        self.workers.set_process_problem(problem);
    }
}

//! Sessions of those who talk to an agent over REST: how many there may be, and how
//! long one that says nothing stays.
//!
//! What a session is, and when something last happened in it, is in the log. Counted
//! here is only who came lately, so that the count costs nothing; after a restart it
//! is read from the log again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hotseat_core::{SessionId, SessionStatus};
use hotseat_store::{Session, SessionQuery};
use jiff::Timestamp;
use tokio::sync::OnceCell;

use super::{App, ServiceError};
use crate::clock;

/// The source of sessions that were made over REST.
pub(super) const REST: &str = "rest";

/// Sessions looked at after a restart.
const LOOKED_AT: usize = 10_000;

/// How the agent server treats those who come.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is a setting that is on or off")]
pub struct ServeConfig {
    /// One agent is served, and nothing is ready before it is there.
    pub single: bool,
    /// Whether REST is offered.
    pub rest: bool,
    /// Whether AG-UI is offered.
    pub agui: bool,
    /// A session that was silent for this long is over.
    pub session_ttl: Duration,
    /// How many sessions may be talked in at a time.
    pub max_sessions: usize,
    /// How long those who wait for an answer may still wait when the server stops.
    pub drain: Duration,
    /// Whether every request is logged.
    pub access_log: bool,
    /// Whether what is said is logged, too.
    pub log_content: bool,
}

impl Default for ServeConfig {
    fn default() -> Self {
        Self {
            single: false,
            rest: true,
            agui: true,
            session_ttl: Duration::from_mins(30),
            max_sessions: 1000,
            drain: Duration::from_secs(5),
            access_log: false,
            log_content: false,
        }
    }
}

/// Who came lately.
#[derive(Debug, Clone, Default)]
pub(crate) struct Guests {
    seen: Arc<Mutex<HashMap<SessionId, Timestamp>>>,
    read: Arc<OnceCell<()>>,
}

impl Guests {
    fn lock(&self) -> MutexGuard<'_, HashMap<SessionId, Timestamp>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn left(&self, session: SessionId) {
        self.lock().remove(&session);
    }
}

impl App {
    /// Lets a new session in, if there is room.
    pub(super) async fn let_in(&self, session: SessionId) -> Result<(), ServiceError> {
        self.read_guests().await?;
        let now = clock::now();
        let ServeConfig { max_sessions, session_ttl, .. } = self.config.serve;
        let mut seen = self.guests.lock();
        if seen.len() >= max_sessions {
            seen.retain(|_, last| is_fresh(*last, now, session_ttl));
        }
        if seen.len() >= max_sessions {
            return Err(ServiceError::Full { active: seen.len(), limit: max_sessions });
        }
        seen.insert(session, now);
        Ok(())
    }

    /// The session of a guest who is heard now.
    pub(super) async fn guest(&self, id: SessionId) -> Result<Session, ServiceError> {
        let session = self.present_guest(id).await?;
        self.guests.lock().insert(id, clock::now());
        Ok(session)
    }

    /// The session of a guest, if it is one and was not silent for too long.
    pub(crate) async fn present_guest(&self, id: SessionId) -> Result<Session, ServiceError> {
        let session = self.session(id).await?;
        let now = clock::now();
        let fresh = is_fresh(session.updated_at, now, self.config.serve.session_ttl);
        let waiting = session.run.is_some();
        if session.source != REST
            || session.status == SessionStatus::Completed
            || !(fresh || waiting)
        {
            self.guests.left(id);
            return Err(ServiceError::SessionNotFound(id));
        }
        Ok(session)
    }

    /// How many sessions are talked in.
    pub(crate) async fn active_guests(&self) -> Result<usize, ServiceError> {
        self.read_guests().await?;
        let (now, ttl) = (clock::now(), self.config.serve.session_ttl);
        let mut seen = self.guests.lock();
        seen.retain(|_, last| is_fresh(*last, now, ttl));
        Ok(seen.len())
    }

    /// Counts those who came before a restart.
    async fn read_guests(&self) -> Result<(), ServiceError> {
        let read = self.guests.read.get_or_try_init(|| async {
            let (now, ttl) = (clock::now(), self.config.serve.session_ttl);
            let mut query = SessionQuery::default();
            let mut looked_at = 0;
            loop {
                let page = self.store.sessions(query.clone()).await?;
                looked_at += page.items.len();
                let fresh = page.items.iter().filter(|session| {
                    session.source == REST
                        && session.status == SessionStatus::Active
                        && is_fresh(session.updated_at, now, ttl)
                });
                self.guests.lock().extend(fresh.map(|session| (session.id, session.updated_at)));
                query.cursor = page.next;
                if query.cursor.is_none() || looked_at >= LOOKED_AT {
                    return Ok::<_, ServiceError>(());
                }
            }
        });
        read.await.copied()
    }
}

fn is_fresh(last: Timestamp, now: Timestamp, ttl: Duration) -> bool {
    let silent = now.duration_since(last);
    Duration::try_from(silent).is_ok_and(|silent| silent < ttl) || silent.is_negative()
}

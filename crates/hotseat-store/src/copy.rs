//! Copying a store into another one, of any database, and comparing two.
//!
//! Rows are carried over, not events appended again: what limits removed cannot be computed anew,
//! and the log's order of all sessions stays. The target must be empty, because the rows of two
//! stores cannot be told apart where their ids meet. Leases stay behind: they end by themselves.

use hotseat_core::{Event, Message, Seq, SessionId, TurnId};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::tally::Tally;
use crate::{
    Access, AuditEntry, AuditQuery, Removal, Session, SessionQuery, Store, StoreError, Token, User,
};

/// Events carried at once.
pub(crate) const EVENTS_AT_ONCE: usize = 500;

/// Sessions listed at once.
const SESSIONS_AT_ONCE: usize = 500;

/// All that is kept of a session besides its events.
#[derive(Debug, Clone)]
pub(crate) struct Parts {
    pub(crate) session: Session,
    pub(crate) turns: Vec<TurnPart>,
    pub(crate) asks: Vec<AskPart>,
    /// Names and JSON.
    pub(crate) state: Vec<(String, String)>,
    pub(crate) messages: Vec<(Seq, Message)>,
    pub(crate) access: Option<Access>,
}

/// A turn as it is kept.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TurnPart {
    pub(crate) turn: TurnId,
    pub(crate) request: Seq,
    /// Unix time, milliseconds.
    pub(crate) requested_at: i64,
    pub(crate) response: Option<Seq>,
}

/// Something ADK asked the user for.
#[derive(Debug, Clone)]
pub(crate) struct AskPart {
    pub(crate) call_id: String,
    pub(crate) asked: Seq,
    pub(crate) answered: Option<Seq>,
}

/// An event with its place among those of all sessions.
#[derive(Debug, Clone)]
pub(crate) struct Placed {
    pub(crate) place: i64,
    pub(crate) event: Event,
}

/// What belongs to no session.
#[derive(Debug, Clone, Default)]
pub(crate) struct Common {
    /// App, user, name and JSON.
    pub(crate) shared: Vec<(String, String, String, String)>,
    pub(crate) tally: Tally,
    pub(crate) removals: Vec<Removal>,
    pub(crate) users: Vec<User>,
    pub(crate) tokens: Vec<TokenPart>,
}

/// A token as it is kept.
#[derive(Debug, Clone)]
pub(crate) struct TokenPart {
    pub(crate) token: Token,
    pub(crate) user_id: Uuid,
    pub(crate) hash: Vec<u8>,
}

impl Common {
    /// In an order that does not depend on the database.
    fn sorted(mut self) -> Self {
        self.shared.sort();
        self.removals.sort_by_key(|removal| removal.reason.as_str());
        self.users.sort_by_key(|user| user.id);
        self.tokens.sort_by_key(|part| part.token.id);
        self
    }
}

/// How far a copy or a comparison is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Sessions that are done.
    pub done: u64,
    /// Sessions that there are.
    pub all: u64,
}

/// Why a store was not copied.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    /// There is something in the target.
    #[error("the target holds {sessions} sessions already: copy into an empty store")]
    NotEmpty {
        /// How many.
        sessions: u64,
    },
    /// A database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Store {
    /// Copies everything into `target`, which has to be empty. Nobody may write to either
    /// meanwhile. Returns how many sessions were copied.
    pub async fn copy_to(
        &self,
        target: &Self,
        mut progress: impl FnMut(Progress),
    ) -> Result<u64, CopyError> {
        let sessions = target.counts().await?.sessions;
        if sessions > 0 {
            return Err(CopyError::NotEmpty { sessions });
        }
        let ids = self.session_ids().await?;
        let all = ids.len() as u64;
        progress(Progress { done: 0, all });
        for (done, id) in (1..).zip(&ids) {
            // One that was deleted since it was listed is no loss.
            if let Some(parts) = self.parts(*id).await? {
                target.put_parts(parts).await?;
                let mut after = Seq::START;
                loop {
                    let events = self.placed_events(*id, after).await?;
                    let Some(last) = events.last() else { break };
                    after = last.event.seq;
                    target.put_events(events).await?;
                }
            }
            progress(Progress { done, all });
        }
        target.put_common(self.common().await?).await?;
        let mut after = None;
        loop {
            let entries = self.audit_page(after).await?;
            let Some(last) = entries.last() else { return Ok(all) };
            after = Some(last.seq);
            target.put_audit(entries).await?;
        }
    }

    /// Compares everything with what `other` holds. Returns the sessions that differ or are
    /// missing in one of them, and whether what belongs to no session differs.
    pub async fn differences(
        &self,
        other: &Self,
        mut progress: impl FnMut(Progress),
    ) -> Result<(Vec<SessionId>, bool), StoreError> {
        let mut ids = self.session_ids().await?;
        ids.extend(other.session_ids().await?);
        ids.sort_unstable();
        ids.dedup();
        let all = ids.len() as u64;
        let mut different = Vec::new();
        progress(Progress { done: 0, all });
        for (done, id) in (1..).zip(ids) {
            if self.digest(id).await? != other.digest(id).await? {
                different.push(id);
            }
            progress(Progress { done, all });
        }
        let (ours, theirs) = (self.common().await?.sorted(), other.common().await?.sorted());
        let same = format!("{ours:?}") == format!("{theirs:?}") && self.same_audit(other).await?;
        Ok((different, !same))
    }

    async fn same_audit(&self, other: &Self) -> Result<bool, StoreError> {
        let mut after = None;
        loop {
            let (ours, theirs) = (self.audit_page(after).await?, other.audit_page(after).await?);
            if ours != theirs {
                return Ok(false);
            }
            let Some(last) = ours.last() else { return Ok(true) };
            after = Some(last.seq);
        }
    }

    async fn audit_page(&self, after: Option<u64>) -> Result<Vec<AuditEntry>, StoreError> {
        let query = AuditQuery { after, limit: EVENTS_AT_ONCE, ..AuditQuery::default() };
        self.audit_entries(query).await
    }

    async fn session_ids(&self) -> Result<Vec<SessionId>, StoreError> {
        let mut query = SessionQuery { limit: SESSIONS_AT_ONCE, ..SessionQuery::default() };
        let mut ids = Vec::new();
        loop {
            let page = self.sessions(query.clone()).await?;
            ids.extend(page.items.iter().map(|session| session.id));
            query.cursor = page.next;
            if query.cursor.is_none() {
                return Ok(ids);
            }
        }
    }

    /// A hash of all that is kept of a session; none if it is not there.
    async fn digest(&self, id: SessionId) -> Result<Option<[u8; 32]>, StoreError> {
        let Some(mut parts) = self.parts(id).await? else { return Ok(None) };
        parts.turns.sort_by_key(|turn| turn.turn);
        parts.asks.sort_by(|a, b| a.call_id.cmp(&b.call_id));
        parts.state.sort();
        parts.messages.sort_by(|a, b| (a.0, &a.1.id).cmp(&(b.0, &b.1.id)));
        let mut hash = Sha256::new();
        hash.update(format!("{parts:?}"));
        let mut after = Seq::START;
        loop {
            let events = self.placed_events(id, after).await?;
            let Some(last) = events.last() else { return Ok(Some(hash.finalize().into())) };
            after = last.event.seq;
            for placed in &events {
                // The payload with its length, so that no two logs look alike.
                let payload = placed.event.payload.get();
                hash.update(format!("{placed:?} {} {payload}", payload.len()));
            }
        }
    }
}

//! Copying a store into another one, of any database, and comparing two.
//!
//! Rows are carried over, not events appended again: what limits removed cannot be computed anew,
//! and the log's order of all sessions stays. The target must be empty, because the rows of two
//! stores cannot be told apart where their ids meet, or hold a part of the same copy, which was
//! cut off: what is there is compared and not believed, and then it goes on behind it. Leases
//! stay behind: they end by themselves.

mod compare;

use std::collections::HashSet;

use hotseat_core::{Event, Message, Seq, SessionId, TurnId};
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

/// What is there of a copy that was cut off.
#[derive(Debug)]
struct Begun {
    sessions: HashSet<SessionId>,
    common: bool,
    /// How far the audit is.
    audit: Option<u64>,
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
    /// There is something in the target that is not of this copy.
    #[error("the target holds {what} that are no copy of this store's: copy into an empty store")]
    NotEmpty {
        /// What is in the way.
        what: String,
    },
    /// The target holds a part of a copy, and since then one of the stores was changed.
    #[error(
        "session {session} is in the target already and is not the same there: was one of the \
         stores written to since the copy was cut off? Empty the target and copy again"
    )]
    Changed {
        /// The first that differs.
        session: SessionId,
    },
    /// A database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Store {
    /// Copies everything into `target`, which has to be empty or to hold a part of this copy that
    /// was cut off. Nobody may write to either meanwhile. Returns how many sessions were copied.
    pub async fn copy_to(
        &self,
        target: &Self,
        mut progress: impl FnMut(Progress),
    ) -> Result<u64, CopyError> {
        let ids = self.session_ids().await?;
        let begun = self.what_is_there(target, &ids).await?;
        let all = ids.len() as u64;
        progress(Progress { done: 0, all });
        for (done, id) in (1..).zip(&ids) {
            self.copy_session(target, *id, begun.sessions.contains(id)).await?;
            progress(Progress { done, all });
        }
        if !begun.common {
            target.put_common(self.common().await?).await?;
        }
        let mut after = begun.audit;
        loop {
            let entries = self.audit_page(after).await?;
            let Some(last) = entries.last() else { return Ok(all) };
            after = Some(last.seq);
            target.put_audit(entries).await?;
        }
    }

    async fn copy_session(
        &self,
        target: &Self,
        id: SessionId,
        begun: bool,
    ) -> Result<(), CopyError> {
        // One that was deleted since it was listed is no loss.
        let Some(parts) = self.parts(id).await? else { return Ok(()) };
        if !begun {
            target.put_parts(parts).await?;
        } else if !target.parts(id).await?.is_some_and(|there| there.are_as(parts)) {
            return Err(CopyError::Changed { session: id });
        }
        let (mut after, mut begun) = (Seq::START, begun);
        loop {
            let mut events = self.placed_events(id, after).await?;
            let there = if begun { target.placed_events(id, after).await? } else { Vec::new() };
            let same = there.iter().zip(&events).all(|(there, here)| there.is_as(here));
            if !same || there.len() > events.len() {
                return Err(CopyError::Changed { session: id });
            }
            let Some(last) = events.last() else { return Ok(()) };
            after = last.event.seq;
            // What was cut off ends before its source does.
            begun &= there.len() == events.len();
            events.drain(..there.len());
            if !events.is_empty() {
                target.put_events(events).await?;
            }
        }
    }

    /// What of this copy is in the target; nothing else may be.
    async fn what_is_there(&self, target: &Self, ids: &[SessionId]) -> Result<Begun, CopyError> {
        let sessions: HashSet<SessionId> = target.session_ids().await?.into_iter().collect();
        let own: HashSet<&SessionId> = ids.iter().collect();
        let foreign = sessions.iter().filter(|id| !own.contains(id)).count();
        if foreign > 0 {
            return Err(CopyError::NotEmpty { what: format!("{foreign} sessions") });
        }
        let (ours, theirs) = (self.common().await?.sorted(), target.common().await?.sorted());
        let common = !theirs.is_as(&Common::default());
        if common && !theirs.is_as(&ours) {
            return Err(CopyError::NotEmpty { what: "users, shared state or figures".to_owned() });
        }
        let mut audit = None;
        loop {
            let (ours, theirs) = (self.audit_page(audit).await?, target.audit_page(audit).await?);
            if !ours.starts_with(&theirs) {
                return Err(CopyError::NotEmpty { what: "entries of the audit".to_owned() });
            }
            let Some(last) = theirs.last() else { return Ok(Begun { sessions, common, audit }) };
            audit = Some(last.seq);
        }
    }

    pub(super) async fn audit_page(
        &self,
        after: Option<u64>,
    ) -> Result<Vec<AuditEntry>, StoreError> {
        let query = AuditQuery { after, limit: EVENTS_AT_ONCE, ..AuditQuery::default() };
        self.audit_entries(query).await
    }

    pub(super) async fn session_ids(&self) -> Result<Vec<SessionId>, StoreError> {
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
}

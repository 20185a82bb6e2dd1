//! Sessions: create, find, list, complete, delete; and the events put into them.

use std::collections::HashMap;
use std::time::Duration;

use hotseat_core::{
    AgentName, Dismissal, Event, Kind, NewEvent, RunStatus, Seq, SessionId, SessionStatus,
    truncate_description,
};
use hotseat_store::{
    Access, AppendError, Appended, AuditAction, EventQuery, Expected, NewSession, Page, SearchPage,
    SearchQuery, Session, SessionQuery, TurnQuery, WriteEvent, WrittenEvents,
};
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

use super::replicas::Word;
use super::{App, ServiceError};
use crate::clock;
use crate::config::MAX_EVENTS_PER_APPEND;
use crate::identity::Caller;

/// How long completing a session waits for a run that should be ending.
const SETTLING: Duration = Duration::from_secs(5);

/// How often what is open is looked up again, when it changed while it was being ended.
const ATTEMPTS: usize = 20;

/// Events of a conversation read at once.
const PAGE: usize = 256;

/// Events of a whole log read before the others, so that looking at them begins at once.
const FIRST_PAGE: usize = 128;

/// What a caller may say about a new session.
#[derive(Debug, Default)]
pub(crate) struct CreateSession {
    pub(crate) id: Option<SessionId>,
    pub(crate) agent: Option<String>,
    pub(crate) app_name: Option<String>,
    pub(crate) user_id: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) source: Option<String>,
}

impl App {
    /// Creates a session, or returns the one that has the id already.
    pub(crate) async fn create_session(
        &self,
        wish: CreateSession,
    ) -> Result<Session, ServiceError> {
        // A program's Runner calls its user what it likes; the session is the member's.
        let plugin = wish.source.as_deref() == Some("plugin");
        let named = match &self.visitor.caller {
            Caller::Member(_) if plugin => None,
            _ => wish.user_id,
        };
        let user_id = self.user_of_new(named)?;
        let agent = wish.agent.map(|name| parse_agent_name(&name)).transpose()?;
        let source = wish.source.unwrap_or_else(|| "web".to_owned());
        if !matches!(source.as_str(), "web" | "plugin") {
            return Err(ServiceError::invalid("`source` must be `web` or `plugin`"));
        }
        let registered = agent.as_deref().and_then(|agent| self.workers.agent(agent));
        if let (Some(agent), None, "web") = (&agent, &registered, source.as_str()) {
            return Err(ServiceError::NoWorker(agent.clone()));
        }
        let app_name = wish
            .app_name
            .or_else(|| registered.map(|agent| agent.app_name.clone()))
            .or_else(|| agent.clone())
            .unwrap_or_else(|| "hotseat".to_owned());
        let new = NewSession {
            id: wish.id.unwrap_or_else(|| SessionId::new(clock::new_id())),
            created_at: clock::now(),
            description: wish
                .description
                .as_deref()
                .map(|text| truncate_description(text).to_owned())
                .filter(|text| !text.trim().is_empty()),
            agent,
            app_name,
            user_id,
            source,
            adk_id: None,
            opening: Vec::new(),
        };
        let id = new.id;
        let there = self.store.create_session(new).await?.into_session();
        // The id may be that of somebody else's session.
        self.admit(id, Some(there)).ok_or(ServiceError::SessionNotFound(id))
    }

    /// Those that the caller may see.
    pub(crate) async fn sessions(
        &self,
        mut query: SessionQuery,
    ) -> Result<Page<Session>, ServiceError> {
        let caller = &self.visitor.caller;
        if let Some(user) = caller.user() {
            if query.user_id.as_deref().is_some_and(|wish| wish != &**user) {
                return Ok(Page { items: Vec::new(), next: None });
            }
            query.user_id = Some(user.to_string());
        }
        let mut page = self.store.sessions(query).await?;
        page.items.retain(|session| caller.may_see(session.id, &session.user_id));
        Ok(page)
    }

    /// Completes a session for good. What is still open ends with it: pending
    /// turns are dismissed and the run is cancelled, in the same append.
    ///
    /// A run that nobody has to answer for is about to end by itself, most often
    /// because the final response has just been given. It gets a moment to, so that
    /// the response is in the log before the log is closed.
    pub(crate) async fn complete_session(&self, id: SessionId) -> Result<Session, ServiceError> {
        let mut session = self.settled_session(id).await?;
        for _ in 0..ATTEMPTS {
            if session.status == SessionStatus::Completed {
                return Ok(session);
            }
            let mut events = self.ends_of_everything(&session, "the session was completed").await?;
            let agent = session.agent.clone().unwrap_or_default();
            events.push(server_event(Kind::Session, &agent, raw(&json!({"status": "completed"}))));
            match self.store.append(id, Expected::Any, events).await {
                Ok(_) => {
                    self.cancel_at_worker(&session);
                    self.note_session(AuditAction::SessionCompleted, id).await;
                    return self.session(id).await;
                }
                Err(error) if open_ends_changed(&error) => session = self.session(id).await?,
                Err(error) => return Err(error.into()),
            }
        }
        Err(ServiceError::Conflict { session: id })
    }

    async fn settled_session(&self, id: SessionId) -> Result<Session, ServiceError> {
        let mut head = self.store.watch(id);
        let deadline = tokio::time::Instant::now() + SETTLING;
        loop {
            head.borrow_and_update();
            let session = self.session(id).await?;
            if session.run.is_none() || session.pending_turns > 0 {
                return Ok(session);
            }
            let changed = tokio::time::timeout_at(deadline, head.changed()).await;
            if !matches!(changed, Ok(Ok(()))) {
                return self.session(id).await;
            }
        }
    }

    /// Stops the run that is going on.
    pub(crate) async fn cancel_run(&self, id: SessionId) -> Result<(), ServiceError> {
        for _ in 0..ATTEMPTS {
            let session = self.session(id).await?;
            let events = self.ends_of_everything(&session, "the run was cancelled").await?;
            if events.is_empty() {
                return Err(ServiceError::NoRun(id));
            }
            match self.store.append(id, Expected::Any, events).await {
                Ok(_) => {
                    self.cancel_at_worker(&session);
                    self.note_session(AuditAction::RunCancelled, id).await;
                    return Ok(());
                }
                Err(error) if open_ends_changed(&error) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(ServiceError::Conflict { session: id })
    }

    /// The events that end every pending turn and the open run of a session.
    async fn ends_of_everything(
        &self,
        session: &Session,
        reason: &str,
    ) -> Result<Vec<NewEvent>, ServiceError> {
        let query = TurnQuery { session: Some(session.id), ..TurnQuery::default() };
        let agent = session.agent.clone().unwrap_or_default();
        let mut events = Vec::new();
        for turn in self.store.turns(query).await? {
            let mut event =
                server_event(Kind::Response, &agent, Dismissal::new(Some(reason)).to_payload());
            event.turn_id = Some(turn.turn_id);
            events.push(event);
        }
        if let Some(run) = &session.run {
            let change = json!({"run_id": run.run_id, "status": "cancelled"});
            let mut event = server_event(Kind::Run, &agent, raw(&change));
            event.event_id = format!("run-{}-cancelled", run.run_id);
            events.push(event);
        }
        Ok(events)
    }

    fn cancel_at_worker(&self, session: &Session) {
        let Some(run) = &session.run else { return };
        self.counters.ended(self.seats.of(session.id), RunStatus::Cancelled);
        self.cancel_here(session.id, &run.run_id);
        self.replicas.tell(session.id, &Word::Cancelled { run_id: run.run_id.clone() });
    }

    /// Stops whoever works on a run here.
    pub(super) fn cancel_here(&self, session: SessionId, run_id: &str) {
        self.live.end(session);
        self.hosted.end(session, None);
        self.workers.cancel(run_id);
    }

    pub(crate) async fn delete_session(&self, id: SessionId) -> Result<(), ServiceError> {
        let session = self.managed(id).await?;
        if !self.store.delete_session(id).await? {
            return Err(ServiceError::SessionNotFound(id));
        }
        self.cancel_at_worker(&session);
        let detail = json!({"user_id": session.user_id});
        self.note(AuditAction::SessionDeleted, id.to_string(), Some(id), detail).await;
        Ok(())
    }

    /// What readers did to sessions that the caller was shown. The latest visits may be
    /// missing: a read does not wait for them to be written.
    pub(crate) async fn access(
        &self,
        sessions: &[Session],
    ) -> Result<HashMap<SessionId, Access>, ServiceError> {
        let ids = sessions.iter().map(|session| session.id).collect();
        Ok(self.store.access(ids).await?)
    }

    /// What readers did to a session, up to now.
    pub(crate) async fn security(&self, id: SessionId) -> Result<Option<Access>, ServiceError> {
        self.session(id).await?;
        self.note_visits().await;
        Ok(self.store.access(vec![id]).await?.remove(&id))
    }

    /// In what the caller may see.
    pub(crate) async fn search(&self, mut query: SearchQuery) -> Result<SearchPage, ServiceError> {
        if let Caller::Session { session, .. } = &self.visitor.caller {
            query.session = query.session.or(Some(*session));
        }
        if let Some(session) = query.session {
            self.session(session).await?;
        }
        query.user_id = self.visitor.caller.user().map(ToString::to_string);
        Ok(self.store.search(query).await?)
    }

    /// The raw events of a session, as they arrived.
    pub(crate) async fn raw_events(
        &self,
        id: SessionId,
    ) -> Result<Vec<Box<RawValue>>, ServiceError> {
        let events = self.all_events(id).await?;
        let raw = events.into_iter().filter(|event| event.kind == Kind::Event);
        Ok(raw.map(|event| event.entry.payload).collect())
    }

    /// What was said and done in a session, as its agent knows it: raw events, up to an
    /// entry of the log or all, without what happened inside tool calls.
    pub(crate) async fn conversation(
        &self,
        id: SessionId,
        before: Option<Seq>,
    ) -> Result<Vec<Value>, ServiceError> {
        let is_before = |seq: Seq| before.is_none_or(|before| seq < before);
        let mut raw = Vec::new();
        let mut query =
            EventQuery { kinds: vec![Kind::Event], limit: PAGE, ..EventQuery::default() };
        loop {
            let page = self.store.events(id, query.clone()).await?;
            let Some(last) = page.last() else { return Ok(raw) };
            query.after = last.seq;
            let own =
                page.iter().filter(|event| is_before(event.seq) && event.parent_call_id.is_none());
            raw.extend(own.filter_map(|event| serde_json::from_str(event.payload.get()).ok()));
            if page.len() < PAGE || !is_before(query.after) {
                return Ok(raw);
            }
        }
    }

    /// Refuses an event that is too large, and counts it.
    pub(super) fn check_size(&self, bytes: usize) -> Result<(), ServiceError> {
        let limit = self.config.ledger.max_event_bytes;
        if bytes > limit {
            self.keeping.refused();
            tracing::warn!(bytes, limit, "an event was too large and was refused");
            return Err(ServiceError::TooLarge { bytes, limit });
        }
        Ok(())
    }

    /// Appends events that others made, all or none; those of a worker's run only while no other
    /// worker has it.
    pub(crate) async fn append_events(
        &self,
        id: SessionId,
        events: Vec<NewEvent>,
        worker: Option<&str>,
    ) -> Result<Appended, ServiceError> {
        if events.len() > MAX_EVENTS_PER_APPEND {
            return Err(ServiceError::invalid(format!(
                "{} events in one call are more than the limit of {MAX_EVENTS_PER_APPEND}",
                events.len()
            )));
        }
        for event in &events {
            self.check_size(event.payload.get().len())?;
        }
        self.owned(id).await?;
        Ok(self.append_said(id, events, worker).await?)
    }

    /// Appends events that may complete answers of which pieces were told.
    pub(super) async fn append_said(
        &self,
        id: SessionId,
        events: Vec<NewEvent>,
        worker: Option<&str>,
    ) -> Result<Appended, AppendError> {
        self.live.complete(id, &events);
        self.hosted.logged(id, &events);
        let appended = match worker {
            Some(worker) => self.store.append_work(id, worker, events).await?,
            None => self.store.append(id, Expected::Any, events).await?,
        };
        self.live.reached(id, appended.last_seq);
        Ok(appended)
    }

    /// Events of a session that exists.
    pub(crate) async fn events(
        &self,
        id: SessionId,
        query: EventQuery,
    ) -> Result<Vec<Event>, ServiceError> {
        self.owned(id).await?;
        let events = self.store.events(id, query).await?;
        if events.is_empty() {
            self.session(id).await?;
        }
        Ok(events)
    }

    /// Events of a session that exists, written behind `text` where they are read.
    pub(crate) async fn write_events(
        &self,
        id: SessionId,
        query: EventQuery,
        text: Vec<u8>,
        write: WriteEvent,
    ) -> Result<WrittenEvents, ServiceError> {
        self.owned(id).await?;
        let written = self.store.write_events(id, query, text, write).await?;
        if written.last.is_none() {
            self.session(id).await?;
        }
        Ok(written)
    }

    /// The whole log of a session that exists.
    pub(crate) async fn all_events(&self, id: SessionId) -> Result<Vec<Event>, ServiceError> {
        let mut all = Vec::new();
        self.each_page(id, |page| all.extend(page)).await?;
        Ok(all)
    }

    /// Shows the whole log of a session that exists, page by page. While one is looked at, the
    /// next is read.
    pub(super) async fn each_page(
        &self,
        id: SessionId,
        mut look: impl FnMut(Vec<Event>) + Send,
    ) -> Result<(), ServiceError> {
        self.session(id).await?;
        let read =
            |after, limit| self.store.events(id, EventQuery { after, limit, ..Default::default() });
        let mut page = read(Seq::START, FIRST_PAGE).await?;
        while let Some(last) = page.last() {
            let next = read(last.seq, 0);
            // In this order: reading begins with the first poll, on a thread of its own.
            let (next, ()) = tokio::join!(biased; next, async { look(page) });
            page = next?;
        }
        Ok(())
    }
}

/// Whether an append was refused because a turn was opened or ended, or the session
/// completed, after the ends were put together. Other writers are in nobody's way.
fn open_ends_changed(error: &AppendError) -> bool {
    matches!(
        error,
        AppendError::StillOpen { .. }
            | AppendError::TurnAnswered { .. }
            | AppendError::Completed { .. }
    )
}

pub(super) fn parse_agent_name(name: &str) -> Result<String, ServiceError> {
    AgentName::parse(name)
        .map(|name| name.as_str().to_owned())
        .map_err(|error| ServiceError::invalid(error.to_string()))
}

/// An event that the server itself makes.
pub(super) fn server_event(kind: Kind, agent_name: &str, payload: Box<RawValue>) -> NewEvent {
    named_event(clock::new_id().to_string(), kind, agent_name, payload)
}

/// The same with an id that says what it is, so that telling it twice is telling it once.
pub(super) fn named_event(
    event_id: String,
    kind: Kind,
    agent_name: &str,
    payload: Box<RawValue>,
) -> NewEvent {
    NewEvent {
        event_id,
        timestamp: clock::now(),
        kind,
        turn_id: None,
        invocation_id: None,
        author: "hotseat".to_owned(),
        agent_name: agent_name.to_owned(),
        branch: None,
        parent_call_id: None,
        payload,
    }
}

#[expect(clippy::expect_used, reason = "what has text keys only always serialises")]
pub(super) fn raw(value: &impl Serialize) -> Box<RawValue> {
    to_raw_value(value).expect("a JSON value serialises")
}

//! A store that forgets everything with the process, for tests.
//!
//! It keeps the same contract as SQLite, and the same suite proves it.
#![expect(
    clippy::unnecessary_wraps,
    clippy::needless_pass_by_value,
    reason = "the signatures are those of the databases that can fail"
)]

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hotseat_core::{Event, NewEvent, Seq, SessionId, SessionStatus, TurnId};

use crate::hub::Hub;
use crate::query::{DEFAULT_EVENTS, MAX_PAGE, Running, Waiting, page_size};
use crate::rules::{self, Ledger};
use crate::{
    AppendError, Appended, Counts, Created, Cursor, EventQuery, Expected, NewSession, Order, Page,
    Session, SessionQuery, StoreError, Turn, TurnQuery,
};

#[derive(Debug, Clone)]
pub(crate) struct Memory {
    sessions: Arc<Mutex<HashMap<SessionId, Log>>>,
    hub: Hub,
}

#[derive(Debug, Clone)]
struct Log {
    session: Session,
    events: Vec<Arc<Event>>,
    turns: BTreeMap<Seq, Turn>,
}

impl Memory {
    pub(crate) fn new(hub: Hub) -> Self {
        Self { sessions: Arc::default(), hub }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<SessionId, Log>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn create_session(&self, new: NewSession) -> Result<Created, StoreError> {
        let mut sessions = self.lock();
        if let Some(log) = sessions.get(&new.id) {
            return Ok(Created::Existing(log.session.clone()));
        }
        let session = Session::fresh(new);
        let log = Log { session: session.clone(), events: Vec::new(), turns: BTreeMap::new() };
        sessions.insert(session.id, log);
        drop(sessions);
        self.hub.grew(session.id, Seq::START);
        Ok(Created::New(session))
    }

    pub(crate) fn session(&self, id: SessionId) -> Result<Option<Session>, StoreError> {
        Ok(self.lock().get(&id).map(|log| log.session.clone()))
    }

    pub(crate) fn sessions(&self, query: SessionQuery) -> Result<Page<Session>, StoreError> {
        let limit = page_size(query.limit, 50);
        let mut items: Vec<_> = self
            .lock()
            .values()
            .map(|log| log.session.clone())
            .filter(|session| matches(session, &query))
            .collect();
        items.sort_by_key(|session| std::cmp::Reverse(Cursor::of(session)));
        let more = items.len() > limit;
        items.truncate(limit);
        let next = if more { items.last().map(Cursor::of) } else { None };
        Ok(Page { items, next })
    }

    pub(crate) fn delete_session(&self, id: SessionId) -> Result<bool, StoreError> {
        let deleted = self.lock().remove(&id).is_some();
        if deleted {
            self.hub.deleted(id);
        }
        Ok(deleted)
    }

    pub(crate) fn append(
        &self,
        id: SessionId,
        expected: Expected,
        events: Vec<NewEvent>,
    ) -> Result<Appended, AppendError> {
        let mut sessions = self.lock();
        let log = sessions.get_mut(&id).ok_or(AppendError::NoSession { session: id })?;
        // All or none: the rules work on a copy that replaces the log only when they succeed.
        let mut copy = log.clone();
        let mut session = copy.session.clone();
        let appended = rules::apply(&mut session, expected, &events, &mut copy)?;
        copy.session = session;
        *log = copy;
        drop(sessions);
        if appended.new > 0 {
            self.hub.grew(id, appended.last_seq);
        }
        Ok(appended)
    }

    pub(crate) fn events(
        &self,
        id: SessionId,
        query: EventQuery,
    ) -> Result<Vec<Event>, StoreError> {
        let limit = page_size(query.limit, DEFAULT_EVENTS);
        let sessions = self.lock();
        let Some(log) = sessions.get(&id) else { return Ok(Vec::new()) };
        let wanted = log.events.iter().filter(|event| {
            let after = match query.order {
                Order::Ascending => event.seq > query.after,
                Order::Descending => query.after == Seq::START || event.seq < query.after,
            };
            after
                && query.after_timestamp.is_none_or(|after| event.timestamp > after)
                && (query.kinds.is_empty() || query.kinds.contains(&event.kind))
                && (query.invocation_id.is_none() || query.invocation_id == event.invocation_id)
                && query.author.as_ref().is_none_or(|author| *author == event.author)
        });
        let events = match query.order {
            Order::Ascending => wanted.take(limit).map(|event| (**event).clone()).collect(),
            Order::Descending => wanted.rev().take(limit).map(|event| (**event).clone()).collect(),
        };
        Ok(events)
    }

    pub(crate) fn turns(&self, query: TurnQuery) -> Result<Vec<Turn>, StoreError> {
        let sessions = self.lock();
        let mut turns: Vec<_> = sessions
            .values()
            .filter(|log| query.session.is_none_or(|id| id == log.session.id))
            .flat_map(|log| {
                log.turns
                    .values()
                    .filter(|turn| query.answered || turn.response.is_none())
                    .map(|turn| (requested_at(log, turn.request), turn.clone()))
            })
            .collect();
        // Within a session the log decides, whatever the clock said.
        if query.session.is_none() {
            turns.sort_by_key(|(at, turn)| (*at, turn.session_id, turn.request));
        }
        turns.truncate(MAX_PAGE);
        Ok(turns.into_iter().map(|(_, turn)| turn).collect())
    }

    pub(crate) fn turn(&self, id: SessionId, turn: TurnId) -> Result<Option<Turn>, StoreError> {
        let sessions = self.lock();
        let Some(log) = sessions.get(&id) else { return Ok(None) };
        Ok(log.turns.values().find(|known| known.turn_id == turn).cloned())
    }

    pub(crate) fn counts(&self) -> Result<Counts, StoreError> {
        let sessions = self.lock();
        Ok(Counts {
            sessions: sessions.len() as u64,
            pending_turns: sessions.values().map(|log| u64::from(log.session.pending_turns)).sum(),
        })
    }
}

fn requested_at(log: &Log, request: Seq) -> Option<jiff::Timestamp> {
    log.events.iter().find(|event| event.seq == request).map(|event| event.timestamp)
}

fn matches(session: &Session, query: &SessionQuery) -> bool {
    let text = query.text.as_ref().map(|text| text.to_lowercase());
    let holds = |field: &Option<String>, text: &str| {
        field.as_ref().is_some_and(|field| field.to_lowercase().contains(text))
    };
    query.cursor.is_none_or(|cursor| Cursor::of(session) < cursor)
        && query.status.is_none_or(|status| status == session.status)
        && (query.agent.is_none() || query.agent == session.agent)
        && query.user_id.as_ref().is_none_or(|user| *user == session.user_id)
        && (query.waiting == Waiting::Either || session.pending_turns > 0)
        && (query.running == Running::Either || session.run.is_some())
        && text.is_none_or(|text| {
            holds(&session.title, &text)
                || holds(&session.description, &text)
                || holds(&session.agent, &text)
                || session.id.to_string().starts_with(&text)
        })
}

impl Ledger for Log {
    fn seq_of(&mut self, event_id: &str) -> Result<Option<Seq>, StoreError> {
        Ok(self.events.iter().find(|event| event.event_id == event_id).map(|event| event.seq))
    }

    fn turn(&mut self, turn: TurnId) -> Result<Option<(Seq, Option<Seq>)>, StoreError> {
        let found = self.turns.values().find(|known| known.turn_id == turn);
        Ok(found.map(|turn| (turn.request, turn.response)))
    }

    fn head(&mut self) -> Result<Option<TurnId>, StoreError> {
        let head = self.turns.values().find(|turn| turn.response.is_none());
        Ok(head.map(|turn| turn.turn_id))
    }

    fn insert(&mut self, seq: Seq, event: &NewEvent) -> Result<(), StoreError> {
        let event = Event { session_id: self.session.id, seq, entry: event.clone() };
        self.events.push(Arc::new(event));
        Ok(())
    }

    fn open_turn(&mut self, turn_id: TurnId, request: Seq) -> Result<(), StoreError> {
        let turn = Turn { session_id: self.session.id, turn_id, request, response: None };
        self.turns.insert(request, turn);
        Ok(())
    }

    fn close_turn(&mut self, turn_id: TurnId, response: Seq) -> Result<(), StoreError> {
        for turn in self.turns.values_mut().filter(|turn| turn.turn_id == turn_id) {
            turn.response = Some(response);
        }
        Ok(())
    }
}

impl Session {
    /// A session without a log.
    pub(crate) fn fresh(new: NewSession) -> Self {
        Self {
            id: new.id,
            created_at: new.created_at,
            updated_at: new.created_at,
            description: new.description,
            title: None,
            status: SessionStatus::Active,
            agent: new.agent,
            app_name: new.app_name,
            user_id: new.user_id,
            source: new.source,
            last_seq: Seq::START,
            pending_turns: 0,
            run: None,
        }
    }
}

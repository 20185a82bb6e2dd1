//! One session within a batch: what is known of it, and what the batch changes.
//!
//! Everything the rules may ask for was read before, in one go for all sessions of the batch,
//! and everything they change is written afterwards, in one go as well. In between, nothing
//! waits for the database. An append that is refused is undone here, in memory.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use hotseat_core::{Account, Effect, Kind, Message, Seq, SessionId, StateOwner, TurnId};
use jiff::Timestamp;
use serde_json::Value;
use uuid::Uuid;

use super::text::key;
use crate::rules::{self, Ledger, Prepared, Removed};
use crate::{AppendError, Appended, Expected, Lease, Limits, Session, StoreError, claim_on};

/// A session's part of a batch.
#[derive(Debug)]
pub(super) struct Book {
    pub(super) id: SessionId,
    /// The session; none if there is no such session.
    pub(super) session: Option<Session>,
    /// How often its row was written before.
    pub(super) version: i64,
    /// The batch creates it.
    pub(super) created: bool,
    /// Its summary has to be written.
    pub(super) touched: bool,
    pub(super) known: Known,
    pub(super) changes: Changes,
    /// Events to be written.
    pub(super) events: Vec<(Seq, Prepared)>,
    /// Events that a limit may remove, oldest first.
    pub(super) removable: Vec<Removable>,
    /// How many events limits removed.
    pub(super) trimmed: u64,
}

/// What the rules may ask for.
#[derive(Debug, Clone, Default)]
pub(super) struct Known {
    pub(super) events: HashMap<Uuid, Seq>,
    pub(super) turns: HashMap<TurnId, (Seq, Option<Seq>)>,
    pub(super) pending: BTreeMap<Seq, TurnId>,
    pub(super) asks: HashMap<Uuid, (Seq, Option<Seq>)>,
    pub(super) messages: HashMap<Uuid, Seq>,
    /// By what is held.
    pub(super) claims: HashMap<String, Lease>,
    pub(super) last_worker: Option<String>,
}

/// What has to be written, besides events and the summary.
#[derive(Debug, Clone, Default)]
pub(super) struct Changes {
    pub(super) turns: BTreeMap<TurnId, TurnRow>,
    pub(super) asks: BTreeMap<Uuid, AskRow>,
    pub(super) state: BTreeMap<String, String>,
    /// By app, user and key.
    pub(super) shared: BTreeMap<(String, String, String), String>,
    /// Messages that go, before others come.
    pub(super) forgotten: BTreeSet<Uuid>,
    pub(super) messages: BTreeMap<Uuid, (Seq, Message)>,
    pub(super) removed_through: Option<Seq>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct TurnRow {
    pub(super) request: Seq,
    /// Not known of a turn that was there before, and not needed.
    pub(super) requested_at: i64,
    pub(super) response: Option<Seq>,
}

#[derive(Debug, Clone)]
pub(super) struct AskRow {
    pub(super) call_id: String,
    pub(super) asked: Seq,
    pub(super) answered: Option<Seq>,
}

/// An event that may go.
#[derive(Debug)]
pub(super) struct Removable {
    pub(super) seq: Seq,
    pub(super) kind: Kind,
    pub(super) size: u64,
    /// What was said in it.
    pub(super) said: Option<Message>,
}

impl Removable {
    pub(super) fn of(seq: Seq, event: &hotseat_core::NewEvent) -> Self {
        let said = match Effect::of(event).account {
            Account::Said(message) => Some(message),
            Account::Nothing | Account::Research(..) => None,
        };
        Self { seq, kind: event.kind, size: event.payload.get().len() as u64, said }
    }
}

impl Book {
    pub(super) fn new(id: SessionId) -> Self {
        Self {
            id,
            session: None,
            version: 0,
            created: false,
            touched: false,
            known: Known::default(),
            changes: Changes::default(),
            events: Vec::new(),
            removable: Vec::new(),
            trimmed: 0,
        }
    }

    /// Appends by the rules, or leaves everything as it was.
    pub(super) fn append(
        &mut self,
        expected: Expected,
        events: Vec<Prepared>,
        limits: &Limits,
    ) -> Result<Appended, AppendError> {
        let Some(mut session) = self.session.clone() else { return Err(self.missing()) };
        // One event is refused before anything is written.
        let way_back = (events.len() > 1).then(|| (self.known.clone(), self.changes.clone()));
        let (count, before) = (self.events.len(), session.removed_through);
        let applied =
            rules::apply(&mut session, expected, events, limits, &mut Entering(self, limits));
        match applied {
            Ok(appended) => {
                self.touched |= appended.new > 0;
                self.trimmed += session.removed_through.get() - before.get();
                self.session = Some(session);
                Ok(appended)
            }
            Err(refusal) => {
                self.events.truncate(count);
                if let Some((known, changes)) = way_back {
                    (self.known, self.changes) = (known, changes);
                }
                Err(refusal)
            }
        }
    }

    /// The events to be written that were not removed again.
    pub(super) fn lasting(&self) -> impl Iterator<Item = (SessionId, Seq, &Prepared)> {
        let removed = self.changes.removed_through.unwrap_or(Seq::START);
        let lasting = self.events.iter().filter(move |(seq, _)| *seq > removed);
        lasting.map(|(seq, event)| (self.id, *seq, event))
    }

    /// Removes all events.
    pub(super) fn clear(&mut self, limits: &Limits) -> Result<Removed, AppendError> {
        let Some(mut session) = self.session.take() else { return Err(self.missing()) };
        if session.pending_turns > 0 || session.run.is_some() {
            return Err(AppendError::StillOpen { session: session.id });
        }
        let through = session.last_seq;
        let removed = rules::remove_through(&mut session, through, &mut Entering(self, limits))?;
        self.touched = true;
        self.session = Some(session);
        Ok(removed)
    }

    /// Folds an event of the log again.
    pub(super) fn refold(
        &mut self,
        session: &mut Session,
        event: hotseat_core::Event,
        limits: &Limits,
    ) -> Result<(), StoreError> {
        rules::refold(session, event.seq, event.entry, limits, &mut Entering(self, limits))
    }

    fn missing(&self) -> AppendError {
        AppendError::NoSession { session: self.id }
    }
}

/// A book that the rules write in.
struct Entering<'b>(&'b mut Book, &'b Limits);

impl Ledger for Entering<'_> {
    fn seq_of(&mut self, event_id: &str) -> Result<Option<Seq>, StoreError> {
        Ok(self.0.known.events.get(&key(event_id)).copied())
    }

    fn turn(&mut self, turn: TurnId) -> Result<Option<(Seq, Option<Seq>)>, StoreError> {
        Ok(self.0.known.turns.get(&turn).copied())
    }

    fn claim(&mut self, turn: TurnId) -> Result<Option<Lease>, StoreError> {
        Ok(self.0.known.claims.get(&claim_on(turn)).cloned())
    }

    fn last_worker(&mut self) -> Result<Option<&str>, StoreError> {
        Ok(self.0.known.last_worker.as_deref())
    }

    fn head(&mut self) -> Result<Option<TurnId>, StoreError> {
        Ok(self.0.known.pending.first_key_value().map(|(_, turn)| *turn))
    }

    fn insert(&mut self, _: Seq, _: &Prepared) -> Result<(), StoreError> {
        Ok(())
    }

    fn entered(&mut self, seq: Seq, event: Prepared) {
        self.0.known.events.insert(key(&event.event.event_id), seq);
        self.0.events.push((seq, event));
    }

    fn open_turn(&mut self, turn: TurnId, seq: Seq, at: Timestamp) -> Result<(), StoreError> {
        self.0.known.turns.insert(turn, (seq, None));
        self.0.known.pending.insert(seq, turn);
        let row = TurnRow { request: seq, requested_at: at.as_millisecond(), response: None };
        self.0.changes.turns.insert(turn, row);
        Ok(())
    }

    fn close_turn(&mut self, turn: TurnId, seq: Seq) -> Result<(), StoreError> {
        let Some((request, response)) = self.0.known.turns.get_mut(&turn) else { return Ok(()) };
        *response = Some(seq);
        self.0.known.pending.remove(request);
        let row = TurnRow { request: *request, requested_at: 0, response: Some(seq) };
        self.0.changes.turns.entry(turn).or_insert(row).response = Some(seq);
        Ok(())
    }

    fn open_ask(&mut self, call_id: &str, seq: Seq) -> Result<bool, StoreError> {
        let key = key(call_id);
        if self.0.known.asks.contains_key(&key) {
            return Ok(false);
        }
        self.0.known.asks.insert(key, (seq, None));
        let row = AskRow { call_id: call_id.to_owned(), asked: seq, answered: None };
        self.0.changes.asks.insert(key, row);
        Ok(true)
    }

    fn close_ask(&mut self, call_id: &str, seq: Seq) -> Result<bool, StoreError> {
        let key = key(call_id);
        let Some((asked, answered @ None)) = self.0.known.asks.get_mut(&key) else {
            return Ok(false);
        };
        *answered = Some(seq);
        let row = AskRow { call_id: call_id.to_owned(), asked: *asked, answered: None };
        self.0.changes.asks.entry(key).or_insert(row).answered = Some(seq);
        Ok(true)
    }

    fn set_state(
        &mut self,
        session: &Session,
        owner: StateOwner<'_>,
        value: &Value,
    ) -> Result<(), StoreError> {
        let (changes, value) = (&mut self.0.changes, value.to_string());
        let mut share = |user_id: &str, key: &str, value| {
            let of = (session.app_name.clone(), user_id.to_owned(), key.to_owned());
            changes.shared.insert(of, value)
        };
        match owner {
            StateOwner::App(key) => share("", key, value),
            StateOwner::User(key) => share(&session.user_id, key, value),
            StateOwner::Session(key) => changes.state.insert(key.to_owned(), value),
        };
        Ok(())
    }

    fn put_message(&mut self, seq: Seq, message: &Message) -> Result<bool, StoreError> {
        let (known, changes) = (&mut self.0.known.messages, &mut self.0.changes);
        let key = key(&message.id);
        let Some(first) = known.get(&key) else {
            known.insert(key, seq);
            changes.messages.insert(key, (seq, message.clone()));
            return Ok(true);
        };
        let mut replaced = message.clone();
        if let Some((_, before)) = changes.messages.remove(&key) {
            replaced.role = before.role;
            replaced.metadata = replaced.metadata.or(before.metadata);
        }
        changes.messages.insert(key, (*first, replaced));
        Ok(false)
    }

    fn trim_messages(&mut self, keep: u64) -> Result<(), StoreError> {
        let (known, changes) = (&mut self.0.known.messages, &mut self.0.changes);
        let mut places: Vec<Seq> = known.values().copied().collect();
        places.sort_unstable_by(|a, b| b.cmp(a));
        let keep = usize::try_from(keep).unwrap_or(usize::MAX);
        let Some(last) = places.get(keep).copied() else { return Ok(()) };
        known.retain(|key, seq| {
            let stays = *seq > last;
            if !stays {
                changes.messages.remove(key);
                changes.forgotten.insert(*key);
            }
            stays
        });
        Ok(())
    }

    fn remove_events(&mut self, through: Seq) -> Result<Removed, StoreError> {
        let mut removed = Removed::default();
        let mut said = Vec::new();
        let mut remove = |event: Removable| {
            removed.entries += 1;
            removed.events += u64::from(event.kind == Kind::Event);
            removed.bytes += event.size;
            said.extend(event.said.map(|message| (event.seq, message)));
        };
        let stays = self.0.removable.partition_point(|event| event.seq <= through);
        self.0.removable.drain(..stays).for_each(&mut remove);
        let gone = |seq: Seq| seq <= through;
        let already = self.0.changes.removed_through.unwrap_or(Seq::START);
        for (seq, event) in self.0.events.iter().filter(|(seq, _)| gone(*seq) && *seq > already) {
            remove(Removable::of(*seq, &event.event));
        }
        for (seq, message) in said {
            self.put_message(seq, &message)?;
        }
        self.trim_messages(self.1.max_messages_per_session)?;
        let known = &mut self.0.known;
        known.events.retain(|_, seq| !gone(*seq));
        known.turns.retain(|_, (request, response)| response.is_none() || !gone(*request));
        self.0.changes.removed_through = Some(through);
        Ok(removed)
    }
}

//! The rules of an append, the same for every database.
//!
//! [`apply`] walks the new events in order, decides for each where it goes and
//! whether it may go there, and folds its effect into the session's summary. A
//! database supplies the look-ups and writes through [`Ledger`], inside a
//! transaction of its own that it throws away when `apply` fails. [`refold`]
//! computes what is derived from a log anew, with the same fold, and [`catch_up`] brings
//! a summary that was not written down to where its log is.
//!
//! An append of one event is refused before anything is written, so it needs no way back. Nor
//! do most of several ([`may_break_off`]).

mod prepared;

use hotseat_core::{
    Account, Kind, Message, NewEvent, Record, RunEffect, Seq, SessionStatus, StateOwner, TurnEnd,
    TurnId, read_message,
};
use jiff::Timestamp;
use serde_json::Value;

pub use self::prepared::Answerer;
pub(crate) use self::prepared::Prepared;
use crate::{AppendError, Appended, Expected, Lease, Limits, OpenRun, Session, StoreError};

/// One session's part of a database, within a transaction.
pub(crate) trait Ledger {
    /// Where the event with this id stands, if it is there.
    fn seq_of(&mut self, event_id: &str) -> Result<Option<Seq>, StoreError>;
    /// Where the request and the response of a turn stand.
    fn turn(&mut self, turn: TurnId) -> Result<Option<(Seq, Option<Seq>)>, StoreError>;
    /// The claim on a turn, whether it is over or not.
    fn claim(&mut self, turn: TurnId) -> Result<Option<Lease>, StoreError>;
    /// The worker that was the last to have a run of the session.
    fn last_worker(&mut self) -> Result<Option<&str>, StoreError>;
    /// The pending turn with the oldest request.
    fn head(&mut self) -> Result<Option<TurnId>, StoreError>;
    /// Writes an event that is known to be new.
    fn insert(&mut self, seq: Seq, event: &Prepared) -> Result<(), StoreError>;
    /// Remembers an event that was written, until it is settled.
    fn entered(&mut self, seq: Seq, event: Prepared);
    /// Notes that a turn was requested at `seq`.
    fn open_turn(&mut self, turn: TurnId, seq: Seq, at: Timestamp) -> Result<(), StoreError>;
    /// Notes that a turn was answered at `seq`.
    fn close_turn(&mut self, turn: TurnId, seq: Seq) -> Result<(), StoreError>;
    /// Notes that ADK asks the user; `false` if that was known.
    fn open_ask(&mut self, call_id: &str, seq: Seq) -> Result<bool, StoreError>;
    /// Notes that the user answered; `false` if nothing was open.
    fn close_ask(&mut self, call_id: &str, seq: Seq) -> Result<bool, StoreError>;
    /// Sets a value of the state.
    fn set_state(
        &mut self,
        session: &Session,
        owner: StateOwner<'_>,
        value: &Value,
    ) -> Result<(), StoreError>;
    /// Writes a message, or replaces the one with its id; `true` if it is new.
    fn put_message(&mut self, seq: Seq, message: &Message) -> Result<bool, StoreError>;
    /// Removes the oldest messages until `keep` are left.
    fn trim_messages(&mut self, keep: u64) -> Result<(), StoreError>;
    /// Removes events up to `through`, keeps what was said in them as messages, and says
    /// how many raw ADK events and bytes went.
    fn remove_events(&mut self, through: Seq) -> Result<Removed, StoreError>;
}

/// What went with removed events.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Removed {
    pub(crate) entries: u64,
    pub(crate) events: u64,
    pub(crate) bytes: u64,
}

/// Appends `events` through `ledger` and updates the summary in `session`.
pub(crate) fn apply(
    session: &mut Session,
    expected: Expected,
    events: Vec<Prepared>,
    limits: &Limits,
    ledger: &mut impl Ledger,
) -> Result<Appended, AppendError> {
    if let Expected::Exactly(expected) = expected
        && expected != session.last_seq
    {
        let actual = session.last_seq;
        return Err(AppendError::Conflict { session: session.id, expected, actual });
    }
    // Asked of every event: one that is there already may only have come back with its session.
    if let Expected::Incarnation { incarnation, .. } = expected
        && incarnation != session.incarnation
    {
        return Err(AppendError::Remade { session: session.id });
    }
    let mut seqs = Vec::with_capacity(events.len());
    let (mut new, mut claimed) = (0, false);
    for event in events {
        if let Some(seq) = already_there(&event.event, ledger)? {
            seqs.push(seq);
            continue;
        }
        // Asked only of what is new: the same event sent again is never stale.
        if let Some(expected) = expected.event_head()
            && new == 0
            && expected != session.event_head
        {
            let actual = session.event_head;
            return Err(AppendError::Conflict { session: session.id, expected, actual });
        }
        let (seq, had_claim) = append_one(session, &event, ledger)?;
        fold_derived(session, seq, &event, limits, ledger)?;
        ledger.entered(seq, event);
        seqs.push(seq);
        new += 1;
        claimed |= had_claim;
    }
    if new > 0 {
        trim_events(session, limits, ledger)?;
    }
    Ok(Appended {
        last_seq: session.last_seq,
        seqs,
        new,
        claimed,
        event_head: session.event_head,
        update_time: session.adk_update_time(),
    })
}

/// Whether an append of these events may be refused when some of them are written already. The
/// first that is new is refused before it is written, and what comes behind it mostly is not
/// asked for anything that the first was not; only answers, new runs and what comes with the end
/// of a session are.
pub(crate) fn may_break_off(events: &[Prepared]) -> bool {
    let is_asked = |event: &Prepared| {
        let begins =
            matches!(&event.effect.run, Some(RunEffect::Open { status, .. }) if status == "queued");
        begins || event.event.kind == Kind::Response
    };
    let ends = events.iter().any(|event| event.effect.completes);
    events.len() > 1 && (ends || events[1..].iter().any(is_asked))
}

/// Whether a session that begins with these events is made in any case.
pub(crate) fn may_begin_with(events: &[Prepared]) -> bool {
    let first = events.first().map(|first| first.event.kind);
    first != Some(Kind::Response) && !may_break_off(events)
}

/// A request is known by its turn, every other event by its id.
fn already_there(event: &NewEvent, ledger: &mut impl Ledger) -> Result<Option<Seq>, StoreError> {
    if let (Kind::Request, Some(turn)) = (event.kind, event.turn_id)
        && let Some((request, _)) = ledger.turn(turn)?
    {
        return Ok(Some(request));
    }
    ledger.seq_of(&event.event_id)
}

/// Appends one event. Says where, and whether the turn it answers is still claimed.
fn append_one(
    session: &mut Session,
    prepared: &Prepared,
    ledger: &mut impl Ledger,
) -> Result<(Seq, bool), AppendError> {
    let Prepared { event, effect, .. } = prepared;
    if session.status == SessionStatus::Completed {
        return Err(AppendError::Completed { session: session.id });
    }
    if let Some(worker) = &prepared.worker {
        check_worker(session, worker, ledger)?;
    }
    let seq = session.last_seq.next();
    let was_open = session.pending_turns > 0;
    let mut claimed = false;
    if let (Kind::Response, Some(turn)) = (event.kind, event.turn_id) {
        let end = effect.turn_end.unwrap_or(TurnEnd::Decided);
        claimed = check_response(session, turn, end, prepared.by.as_ref(), ledger)?;
    }
    fold_run(session, event, effect.run.clone())?;
    if effect.completes && (was_open || session.run.is_some()) {
        return Err(AppendError::StillOpen { session: session.id });
    }
    match (event.kind, event.turn_id) {
        (Kind::Request, Some(turn)) => ledger.open_turn(turn, seq, event.timestamp)?,
        (Kind::Response, Some(turn)) => ledger.close_turn(turn, seq)?,
        (
            Kind::Request
            | Kind::Response
            | Kind::Event
            | Kind::ToolRun
            | Kind::Run
            | Kind::Session
            | Kind::Message,
            _,
        ) => {}
    }
    ledger.insert(seq, prepared)?;
    advance(session, seq, prepared);
    Ok((seq, claimed))
}

/// What every event does to the summary.
fn advance(session: &mut Session, seq: Seq, Prepared { event, effect, .. }: &Prepared) {
    session.last_seq = seq;
    session.bytes += event.payload.get().len() as u64;
    // The log's own order is `seq`; a clock that jumps back must not make a session look older.
    session.updated_at = session.updated_at.max(event.timestamp);
    if effect.completes {
        session.status = SessionStatus::Completed;
    }
    // A request or a response that is in the log was the first of its turn.
    match (event.kind, event.turn_id) {
        (Kind::Request, Some(_)) => session.pending_turns += 1,
        (Kind::Response, Some(_)) => {
            session.pending_turns = session.pending_turns.saturating_sub(1);
        }
        _ => {}
    }
}

/// Folds an event of the log that is not in the summary yet. It wrote nothing besides
/// itself and its turn when it was appended, or the summary would have been written with it.
pub(crate) fn catch_up(session: &mut Session, seq: Seq, event: &Prepared, limits: &Limits) {
    // It was let in, so there is no run in its way.
    let _ = fold_run(session, &event.event, event.effect.run.clone());
    advance(session, seq, event);
    fold_summary(session, seq, event, limits);
}

/// Folds what is derived: title, state, requests to the user, record and messages.
fn fold_derived(
    session: &mut Session,
    seq: Seq,
    prepared: &Prepared,
    limits: &Limits,
    ledger: &mut impl Ledger,
) -> Result<(), StoreError> {
    let effect = &prepared.effect;
    for (key, value) in &effect.state {
        let owner =
            if session.shares_state() { StateOwner::of(key) } else { StateOwner::Session(key) };
        ledger.set_state(session, owner, value)?;
    }
    for call_id in &effect.asks {
        if ledger.open_ask(call_id, seq)? {
            session.open_requests += 1;
        }
    }
    for call_id in &effect.answers {
        if ledger.close_ask(call_id, seq)? {
            session.open_requests = session.open_requests.saturating_sub(1);
        }
    }
    let Some(message) = fold_summary(session, seq, prepared, limits) else { return Ok(()) };
    if ledger.put_message(seq, &message)? {
        session.message_count += 1;
    }
    if session.message_count > limits.max_messages_per_session {
        session.message_count = limits.max_messages_per_session;
        ledger.trim_messages(session.message_count)?;
    }
    Ok(())
}

/// Folds what is derived from an event into the summary alone: title, record and counts.
/// Returns the message that has to be written down, if there is one.
fn fold_summary(
    session: &mut Session,
    seq: Seq,
    prepared: &Prepared,
    limits: &Limits,
) -> Option<Message> {
    let Prepared { event, effect, .. } = prepared;
    if session.title.is_none() {
        session.title.clone_from(&effect.title);
    }
    let message = match event.kind {
        Kind::Event => {
            session.event_count += 1;
            // What happens inside a tool call is in a session of its own for ADK.
            if event.parent_call_id.is_none() {
                session.event_head = seq;
                session.update_time = effect.time;
            }
            session.record.fold(&effect.account, event)
        }
        Kind::Message => read_message(&event.payload, &event.event_id, event.timestamp).ok(),
        Kind::Request | Kind::Response | Kind::ToolRun | Kind::Run | Kind::Session => None,
    }?;
    if message.role == "user" && session.title.is_none() {
        session.title = hotseat_core::title_from(&message.content);
    }
    // What was said is in the event and need not be written twice.
    if matches!(effect.account, Account::Said(_)) {
        session.message_count =
            session.message_count.saturating_add(1).min(limits.max_messages_per_session);
        return None;
    }
    Some(message)
}

/// Forgets what was derived, as far as the log can tell it again.
pub(crate) fn before_refold(session: &mut Session) {
    session.open_requests = 0;
    session.event_count = 0;
    session.bytes = 0;
    // What removed events said is known only here.
    if session.removed_through == Seq::START {
        session.title = None;
        session.event_head = Seq::START;
        session.update_time = None;
        session.record = Record::default();
    }
}

/// Folds one event of the log again.
pub(crate) fn refold(
    session: &mut Session,
    seq: Seq,
    event: NewEvent,
    limits: &Limits,
    ledger: &mut impl Ledger,
) -> Result<(), StoreError> {
    session.bytes += event.payload.get().len() as u64;
    let mut prepared = Prepared::again(event);
    if session.shares_state() {
        // What is shared may have been changed by others since.
        prepared
            .effect
            .state
            .retain(|key, _| matches!(StateOwner::of(key), StateOwner::Session(_)));
    }
    fold_derived(session, seq, &prepared, limits, ledger)
}

/// Removes the oldest events beyond the limit, but none that somebody still has to answer.
fn trim_events(
    session: &mut Session,
    limits: &Limits,
    ledger: &mut impl Ledger,
) -> Result<(), StoreError> {
    let Some(keep) = limits.max_events_per_session else { return Ok(()) };
    let mut through = session.last_seq.get().saturating_sub(keep);
    if through <= session.removed_through.get() {
        return Ok(());
    }
    if let Some(head) = ledger.head()?
        && let Some((request, _)) = ledger.turn(head)?
    {
        through = through.min(request.get().saturating_sub(1));
    }
    if through > session.removed_through.get() {
        remove_through(session, Seq::new(through), ledger)?;
    }
    Ok(())
}

/// Removes events up to `through` and notes it in the summary.
pub(crate) fn remove_through(
    session: &mut Session,
    through: Seq,
    ledger: &mut impl Ledger,
) -> Result<Removed, StoreError> {
    let removed = ledger.remove_events(through)?;
    session.removed_through = through;
    session.event_count = session.event_count.saturating_sub(removed.events);
    session.bytes = session.bytes.saturating_sub(removed.bytes);
    Ok(removed)
}

/// A worker whose run was taken over writes nothing more, also when the run has ended since.
fn check_worker(
    session: &Session,
    worker: &str,
    ledger: &mut impl Ledger,
) -> Result<(), AppendError> {
    match ledger.last_worker()? {
        Some(last) if last != worker => Err(AppendError::RunElsewhere { session: session.id }),
        Some(_) | None => Ok(()),
    }
}

/// Whether a turn may be answered. Says whether there is a claim on it, which is then the
/// answerer's or over.
fn check_response(
    session: &Session,
    turn: TurnId,
    end: TurnEnd,
    by: Option<&Answerer>,
    ledger: &mut impl Ledger,
) -> Result<bool, AppendError> {
    match ledger.turn(turn)? {
        None => return Err(AppendError::NoTurn { session: session.id, turn }),
        Some((_, Some(response))) => return Err(AppendError::TurnAnswered { turn, response }),
        Some((_, None)) => {}
    }
    let mut claimed = false;
    if let Some(by) = by
        && let Some(Lease { holder, until, .. }) = ledger.claim(turn)?
    {
        if holder != by.name && until > by.now {
            return Err(AppendError::TurnClaimed { turn, holder, until });
        }
        claimed = true;
    }
    match (end, ledger.head()?) {
        (TurnEnd::Decided, Some(head)) if head != turn => {
            Err(AppendError::TurnNotHead { turn, head })
        }
        (TurnEnd::Decided | TurnEnd::Dismissed, _) => Ok(claimed),
    }
}

fn fold_run(
    session: &mut Session,
    event: &NewEvent,
    run: Option<RunEffect>,
) -> Result<(), AppendError> {
    match run {
        None => {}
        Some(RunEffect::Open { run_id, status }) => {
            let open = session.run.as_ref().map(|open| open.run_id.as_str());
            let is_open = open == Some(run_id.as_str());
            if let (Some(open), false, "queued") = (open, is_open, status.as_str()) {
                let run_id = open.to_owned();
                return Err(AppendError::RunOpen { session: session.id, run_id });
            }
            // Here a run is queued before it starts. One that is not open has ended, and a
            // worker that began while it was being cancelled must not open it again: its
            // end is in the log already, and nothing would close it a second time.
            let queued_here =
                session.source != "plugin" && run_id.parse::<hotseat_core::RunId>().is_ok();
            let late = queued_here && status == "started" && !is_open;
            if !late {
                session.run = Some(OpenRun { run_id, status, since: event.timestamp });
            }
        }
        Some(RunEffect::Closed { run_id }) => {
            session.run = session.run.take().filter(|open| open.run_id != run_id);
        }
    }
    Ok(())
}

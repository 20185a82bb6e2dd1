//! The rules of an append, the same for every database.
//!
//! [`apply`] walks the new events in order, decides for each where it goes and
//! whether it may go there, and folds its effect into the session's summary. A
//! database supplies the look-ups and writes through [`Ledger`], inside a
//! transaction of its own that it throws away when `apply` fails.

use hotseat_core::{Effect, Kind, NewEvent, RunEffect, Seq, SessionStatus, TurnEnd, TurnId};

use crate::{AppendError, Appended, Expected, OpenRun, Session, StoreError};

/// One session's part of a database, within a transaction.
pub(crate) trait Ledger {
    /// Where the event with this id stands, if it is there.
    fn seq_of(&mut self, event_id: &str) -> Result<Option<Seq>, StoreError>;
    /// Where the request and the response of a turn stand.
    fn turn(&mut self, turn: TurnId) -> Result<Option<(Seq, Option<Seq>)>, StoreError>;
    /// The pending turn with the oldest request.
    fn head(&mut self) -> Result<Option<TurnId>, StoreError>;
    /// Writes an event that is known to be new.
    fn insert(&mut self, seq: Seq, event: &NewEvent) -> Result<(), StoreError>;
    /// Notes that a turn was requested at `seq`.
    fn open_turn(&mut self, turn: TurnId, seq: Seq) -> Result<(), StoreError>;
    /// Notes that a turn was answered at `seq`.
    fn close_turn(&mut self, turn: TurnId, seq: Seq) -> Result<(), StoreError>;
}

/// Appends `events` through `ledger` and updates the summary in `session`.
pub(crate) fn apply(
    session: &mut Session,
    expected: Expected,
    events: &[NewEvent],
    ledger: &mut impl Ledger,
) -> Result<Appended, AppendError> {
    if let Expected::Exactly(expected) = expected
        && expected != session.last_seq
    {
        let actual = session.last_seq;
        return Err(AppendError::Conflict { session: session.id, expected, actual });
    }
    let mut seqs = Vec::with_capacity(events.len());
    let mut new = 0;
    for event in events {
        if let Some(seq) = already_there(event, ledger)? {
            seqs.push(seq);
            continue;
        }
        let seq = append_one(session, event, ledger)?;
        seqs.push(seq);
        new += 1;
    }
    Ok(Appended { last_seq: session.last_seq, seqs, new })
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

fn append_one(
    session: &mut Session,
    event: &NewEvent,
    ledger: &mut impl Ledger,
) -> Result<Seq, AppendError> {
    if session.status == SessionStatus::Completed {
        return Err(AppendError::Completed { session: session.id });
    }
    let seq = session.last_seq.next();
    let effect = Effect::of(event);
    match (event.kind, event.turn_id) {
        (Kind::Request, Some(turn)) => {
            ledger.open_turn(turn, seq)?;
            session.pending_turns += 1;
        }
        (Kind::Response, Some(turn)) => {
            let end = effect.turn_end.unwrap_or(TurnEnd::Decided);
            check_response(session, turn, end, ledger)?;
            ledger.close_turn(turn, seq)?;
            session.pending_turns = session.pending_turns.saturating_sub(1);
        }
        (
            Kind::Request
            | Kind::Response
            | Kind::Event
            | Kind::ToolRun
            | Kind::Run
            | Kind::Session,
            _,
        ) => {}
    }
    fold_run(session, event, effect.run)?;
    ledger.insert(seq, event)?;
    session.last_seq = seq;
    // The log's own order is `seq`; a clock that jumps back must not make a session look older.
    session.updated_at = session.updated_at.max(event.timestamp);
    session.title = session.title.take().or(effect.title);
    if effect.completes {
        if session.pending_turns > 0 || session.run.is_some() {
            return Err(AppendError::StillOpen { session: session.id });
        }
        session.status = SessionStatus::Completed;
    }
    Ok(seq)
}

fn check_response(
    session: &Session,
    turn: TurnId,
    end: TurnEnd,
    ledger: &mut impl Ledger,
) -> Result<(), AppendError> {
    match ledger.turn(turn)? {
        None => return Err(AppendError::NoTurn { session: session.id, turn }),
        Some((_, Some(response))) => return Err(AppendError::TurnAnswered { turn, response }),
        Some((_, None)) => {}
    }
    match (end, ledger.head()?) {
        (TurnEnd::Decided, Some(head)) if head != turn => {
            Err(AppendError::TurnNotHead { turn, head })
        }
        (TurnEnd::Decided | TurnEnd::Dismissed, _) => Ok(()),
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
            let late = session.source == "web" && status == "started" && !is_open;
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

//! Where readers find events that are not settled yet.
//!
//! Nothing on the disk leads from a session to those of its events that are not settled, and
//! looking through all that wait would make every reader pay for every writer. So the writer
//! shows which rows of the log they are: after the commit, before it answers, so that whoever
//! was answered finds what they wrote.
//!
//! A reader asks here first and begins to read afterwards. What is settled in between it
//! finds among the settled; what is appended in between was not there when it asked. A list
//! counts only under the epoch that the log itself names: where another process wrote, the
//! epoch is another one, and the reader looks through all that wait.

#[cfg(test)]
mod tests;

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, PoisonError, RwLock};

use hotseat_core::SessionId;
use rusqlite::Connection;
use rusqlite::types::Value;

/// The rows of unsettled events, by session. Clones are one list.
#[derive(Debug, Clone, Default)]
pub(super) struct Whereabouts {
    known: Arc<RwLock<Known>>,
}

#[derive(Debug, Default)]
struct Known {
    /// None until the writer has read the log for the first time.
    epoch: Option<i64>,
    rows: HashMap<SessionId, VecDeque<i64>>,
}

/// One change that the writer made.
#[derive(Debug, Clone, Copy)]
pub(super) enum Moved {
    /// The event in this row waits.
    In(SessionId, i64),
    /// Events up to this row are settled.
    Out(SessionId, i64),
}

impl Whereabouts {
    /// What is known of a session's unsettled events. To be asked before reading.
    pub(super) fn of(&self, session: SessionId) -> Clue {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let rows = known.rows.get(&session);
        Clue { epoch: known.epoch, rows: rows.into_iter().flatten().copied().collect() }
    }

    /// Shows what a commit changed. With an epoch, nothing of before counts.
    pub(super) fn show(&self, epoch: Option<i64>, moves: impl Iterator<Item = Moved>) {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if epoch.is_some() {
            *known = Known { epoch, rows: HashMap::new() };
        }
        for moved in moves {
            known.note(moved);
        }
    }
}

impl Known {
    fn note(&mut self, moved: Moved) {
        match moved {
            Moved::In(session, row) => self.rows.entry(session).or_default().push_back(row),
            Moved::Out(session, through) => {
                let Some(rows) = self.rows.get_mut(&session) else { return };
                while rows.front().is_some_and(|row| *row <= through) {
                    rows.pop_front();
                }
                if rows.is_empty() {
                    self.rows.remove(&session);
                }
            }
        }
    }
}

/// What was known of a session's unsettled events when a reader asked.
#[derive(Debug)]
pub(super) struct Clue {
    epoch: Option<i64>,
    rows: Vec<i64>,
}

/// A session's rows of `events e` that are not settled, of all that are not.
const AMONG_ALL: &str = "FROM events e WHERE e.id > (SELECT settled_through FROM places) \
     AND e.session_id = ?1 AND e.seq > (SELECT settled_seq FROM sessions WHERE id = ?1)";

impl Clue {
    /// For whoever knows that none wait, and for whoever knows nothing: the log decides.
    pub(super) fn none() -> Self {
        Self { epoch: None, rows: Vec::new() }
    }

    /// The end of a SELECT of a session's unsettled rows of `events e`, to which conditions can
    /// be added; the session is parameter 1, and `values` may get one more. `None` if there are
    /// no such rows.
    pub(super) fn rows(
        &self,
        moment: &Connection,
        values: &mut Vec<Value>,
    ) -> rusqlite::Result<Option<String>> {
        let mut select = moment.prepare_cached("SELECT epoch FROM places")?;
        let epoch: i64 = select.query_row([], |found| found.get(0))?;
        if self.epoch != Some(epoch) {
            return Ok(Some(AMONG_ALL.to_owned()));
        }
        if self.rows.is_empty() {
            return Ok(None);
        }
        let rows: Vec<_> = self.rows.iter().map(ToString::to_string).collect();
        values.push(Value::Text(format!("[{}]", rows.join(","))));
        Ok(Some(format!(
            "FROM json_each(?{}) j CROSS JOIN events e ON e.id = j.value WHERE e.session_id = ?1 \
             AND e.seq > (SELECT settled_seq FROM sessions WHERE id = ?1)",
            values.len()
        )))
    }
}

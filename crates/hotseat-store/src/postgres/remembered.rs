//! The rows of sessions as a lane has left them.
//!
//! Whoever was the last to write to a session knows its row without asking. Other processes may
//! have written since: so a row is written only if it still is as it is remembered (`SUMMARISE`),
//! and a lane that was wrong asks and decides anew. A session that several processes write to in
//! turns would make it wrong again and again. That one is remembered, but not trusted, until it
//! is found as it was left.

use std::collections::HashMap;

use hotseat_core::SessionId;

use super::book::Book;
use super::facts::Needs;
use crate::{Limits, Session};

/// Sessions that a lane remembers. With one more it begins anew.
const MOST_SESSIONS: usize = 2048;

/// Bytes of what people wrote into a row; one with more is not remembered.
const MOST_TEXT: usize = 2048;

#[derive(Debug, Default)]
pub(super) struct Remembered {
    rows: HashMap<SessionId, Row>,
}

#[derive(Debug)]
struct Row {
    session: Session,
    version: i64,
    trusted: bool,
}

impl Remembered {
    /// What a batch can begin with, if all that it needs is remembered.
    pub(super) fn books(&self, needs: &Needs, limits: &Limits) -> Option<HashMap<SessionId, Book>> {
        if !needs.only_rows(limits) {
            return None;
        }
        let book = |id| {
            let row = self.rows.get(&id).filter(|row| row.trusted)?;
            let session = Some(row.session.clone());
            Some((id, Book { session, version: row.version, ..Book::new(id) }))
        };
        needs.sessions().map(book).collect()
    }

    /// Trusts nothing of what a batch needs until it is known to be right.
    pub(super) fn doubt(&mut self, needs: &Needs) {
        for id in needs.sessions() {
            if let Some(row) = self.rows.get_mut(&id) {
                row.trusted = false;
            }
        }
    }

    /// Remembers what was committed.
    pub(super) fn keep(&mut self, books: Vec<Book>) {
        for Book { id, session, version, created, touched, .. } in books {
            let before = self.rows.remove(&id);
            let Some(session) = session.filter(is_light) else { continue };
            let as_it_was = |before: Row| {
                before.version == version && before.session.incarnation == session.incarnation
            };
            let trusted = created || before.is_some_and(as_it_was);
            if self.rows.len() >= MOST_SESSIONS {
                self.rows.clear();
            }
            let version = version + i64::from(touched);
            self.rows.insert(id, Row { session, version, trusted });
        }
    }
}

fn is_light(session: &Session) -> bool {
    let Session { description, title, app_name, user_id, record, .. } = session;
    let texts = [description, title, &record.final_report, &record.error];
    let bytes: usize = texts.iter().filter_map(|text| text.as_deref()).map(str::len).sum();
    bytes + app_name.len() + user_id.len() <= MOST_TEXT
}

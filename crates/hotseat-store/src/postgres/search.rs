//! The words of the log.
//!
//! Appending does not index: it only leaves a note which sessions it wrote to. The notes are
//! worked off now and then, and before every search. Words are cut and
//! folded here, not by PostgreSQL, so that both databases find the same: by the beginnings of
//! words, whatever their case and accents.

use std::collections::BTreeSet;

use deadpool_postgres::Client;
use hotseat_core::{search_text, snippet};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;
use uuid::Uuid;

use super::failure::Failure;
use super::held::Held;
use super::reader::{Question, value, words as text_value};
use super::row;
use crate::query::page_size;
use crate::words::{SNIPPET, words};
use crate::{SearchHit, SearchPage, SearchQuery};

/// Notes worked off in one transaction.
const NOTES: i64 = 500;

/// Events of a session indexed in one transaction.
const EVENTS: usize = 500;

/// Bytes of a word in the index; PostgreSQL takes 2046.
const WORD: usize = 256;

/// Indexes what the next notes tell of. Returns whether there may be more.
pub(super) async fn index(held: &mut Held) -> Result<bool, Failure> {
    let statement =
        held.prepare_cached("SELECT id, sessions FROM unindexed ORDER BY id LIMIT $1").await?;
    let notes = held.query(&statement, &[&NOTES]).await?;
    let mut sessions = BTreeSet::<Uuid>::new();
    let mut ids = Vec::<i64>::new();
    for note in &notes {
        ids.push(row::get(note, 0)?);
        sessions.extend(row::get::<Vec<Uuid>>(note, 1)?);
    }
    // Each in a transaction of its own, because whoever wants to write to the session waits.
    for session in sessions {
        while !index_some(held, session).await? {}
    }
    if !ids.is_empty() {
        held.execute("DELETE FROM unindexed WHERE id = ANY ($1)", &[&ids]).await?;
    }
    Ok(!notes.is_empty())
}

/// Indexes some events of a session. Returns whether all are.
async fn index_some(held: &mut Held, session: Uuid) -> Result<bool, Failure> {
    let transaction = held.transaction().await?;
    // Locked, so that nobody else indexes or deletes it meanwhile.
    let lock = transaction
        .prepare_cached(
            "SELECT indexed_through FROM sessions WHERE session_id = $1 FOR NO KEY UPDATE",
        )
        .await?;
    let Some(through) = transaction.query_opt(&lock, &[&session]).await? else { return Ok(true) };
    let through: i64 = row::get(&through, 0)?;
    let sql = format!(
        "SELECT {}, e.place FROM events e WHERE e.session_id = $1 AND e.seq > $2 \
         ORDER BY e.seq LIMIT {EVENTS}",
        row::EVENT
    );
    let select = transaction.prepare_cached(&sql).await?;
    let rows = transaction.query(&select, &[&session, &through]).await?;
    let Some(last) = rows.last() else { return Ok(true) };
    let last: i64 = row::get(last, 1)?;
    let (mut seqs, mut places, mut words) = (Vec::new(), Vec::new(), Vec::new());
    for found in &rows {
        let event = row::event(found)?;
        if let Some(text) = search_text(&event.entry) {
            seqs.push(row::number(event.seq));
            places.push(row::get::<i64>(found, 13)?);
            words.push(folded(&text).into_iter().collect::<Vec<_>>().join(" "));
        }
    }
    let insert = transaction
        .prepare_cached(
            "INSERT INTO search (session_id, seq, place, words) \
             SELECT $1, n.seq, n.place, array_to_tsvector(string_to_array(n.words, ' ')) \
             FROM unnest($2::bigint[], $3::bigint[], $4::text[]) AS n (seq, place, words)",
        )
        .await?;
    transaction.execute(&insert, &[&session, &seqs, &places, &words]).await?;
    let note = transaction
        .prepare_cached("UPDATE sessions SET indexed_through = $2 WHERE session_id = $1")
        .await?;
    transaction.execute(&note, &[&session, &last]).await?;
    transaction.commit().await?;
    Ok(rows.len() < EVENTS)
}

/// The different words of a text, without case and accents.
fn folded(text: &str) -> BTreeSet<String> {
    let plain: String =
        text.nfd().filter(|character| !is_combining_mark(*character)).collect::<String>();
    let lower = plain.to_lowercase();
    let words = lower.split(|character: char| !character.is_alphanumeric());
    words.filter(|word| !word.is_empty()).map(|word| cut(word).to_owned()).collect()
}

fn cut(word: &str) -> &str {
    let mut end = word.len().min(WORD);
    while !word.is_char_boundary(end) {
        end -= 1;
    }
    &word[..end]
}

/// The events that hold all words, newest first.
pub(super) async fn search(client: &Client, query: &SearchQuery) -> Result<SearchPage, Failure> {
    let words = words(&query.text);
    let beginnings: Vec<String> =
        folded(&words.join(" ")).iter().map(|word| format!("'{word}':*")).collect();
    if beginnings.is_empty() {
        return Ok(SearchPage::default());
    }
    let limit = page_size(query.limit, 20);
    let mut question = Question::new(format!(
        "SELECT {}, e.place, s.title FROM search w JOIN events e USING (session_id, seq) \
         JOIN sessions s USING (session_id)",
        row::EVENT
    ));
    question.add(" WHERE w.words @@ (?::text)::tsquery", [value(beginnings.join(" & "))]);
    if let Some(before) = query.before {
        question.add(" AND w.place < ?", [value(before)]);
    }
    if let Some(session) = query.session {
        question.add(" AND w.session_id = ?", [value(session.uuid())]);
    }
    if let Some(user) = &query.user_id {
        question.add(" AND s.user_id = ?", [text_value(user)]);
    }
    // One more than asked for tells whether there is a next page.
    let wanted = [value(row::signed(limit as u64 + 1))];
    question.add(" ORDER BY w.place DESC LIMIT ?", wanted);
    let mut page = SearchPage::default();
    let mut last = 0;
    for found in question.ask(client).await? {
        if page.hits.len() == limit {
            page.next = Some(last);
            break;
        }
        last = row::get(&found, 13)?;
        let event = row::event(&found)?;
        let text = search_text(&event).unwrap_or_default();
        page.hits.push(SearchHit {
            session_id: event.session_id,
            title: row::text_if(&found, 14)?,
            seq: event.seq,
            kind: event.kind.as_str(),
            timestamp: event.timestamp,
            snippet: snippet(&text, &words, SNIPPET),
            author: event.entry.author,
        });
    }
    Ok(page)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_without_case_and_accents() {
        let words: Vec<_> = folded("Crème BRÛLÉE, crème! 3.14 a_b").into_iter().collect();
        assert_eq!(words, ["14", "3", "a", "b", "brulee", "creme"]);
        assert_eq!(folded(&"ü".repeat(1000)).first().map(String::len), Some(WORD));
    }
}

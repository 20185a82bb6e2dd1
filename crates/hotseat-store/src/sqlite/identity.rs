//! How an event that is sent again is recognised.
//!
//! Ids of events come from outside and are random, so an index of them is written to all
//! over. It is kept small instead: a hash of 64 bits, next to those of the same session. A
//! hash only says where to look; the ids decide.
//!
//! The hash is in the file. Changing it would let every event in twice.

use hotseat_core::{Seq, SessionId};
use rusqlite::{Connection, OptionalExtension, params};

use super::row;
use super::writer::Work;

/// Bits of the hash that are the session's, which once kept its events together. The rest
/// tell them apart.
const SESSION_BITS: u32 = 24;

/// The hash of an event.
pub(super) fn hash(session: SessionId, event_id: &str) -> i64 {
    let session = mixed(fnv(session.uuid().as_bytes()));
    let event = mixed(fnv(event_id.as_bytes()));
    let upper = session >> (u64::BITS - SESSION_BITS) << (u64::BITS - SESSION_BITS);
    (upper | event >> SESSION_BITS).cast_signed()
}

/// FNV-1a.
fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// FNV leaves its upper bits poorly mixed, and those are the ones used here.
fn mixed(mut hash: u64) -> u64 {
    hash ^= hash >> 33;
    hash = hash.wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash ^= hash >> 33;
    hash = hash.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    hash ^ hash >> 33
}

/// The rows of settled events of a session that have a hash.
pub(super) const CANDIDATES: &str = "SELECT i.id FROM sessions s CROSS JOIN event_identities i \
     WHERE s.id = ?1 AND i.session = s.number AND i.hash = ?2";

/// Where the settled event with this id stands in its session.
pub(super) fn find(
    work: &mut Work<'_>,
    session: SessionId,
    key: &str,
    event_id: &str,
) -> rusqlite::Result<Option<Seq>> {
    // One table at a time: nearly always there is nothing, and as a join it is several times
    // the work to find that out.
    let connection = work.connection;
    let mut candidates = work.candidates()?.query(params![key, hash(session, event_id)])?;
    while let Some(candidate) = candidates.next()? {
        let found = connection
            .prepare_cached(
                "SELECT seq FROM events WHERE id = ?1 AND session_id = ?2 AND event_id = ?3",
            )?
            .query_row(params![candidate.get::<_, i64>(0)?, key, event_id], |found| {
                found.get(0).map(row::seq)
            })
            .optional()?;
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

/// Notes an event: the session's number, the hash, the row.
pub(super) const INSERT: &str =
    "INSERT INTO event_identities (session, hash, id) VALUES (?1, ?2, ?3)";

/// Forgets the settled events of a session up to `through`.
pub(super) fn remove(
    connection: &Connection,
    session: SessionId,
    of: Option<i64>,
    through: i64,
) -> rusqlite::Result<()> {
    let mut delete = connection.prepare_cached(
        "DELETE FROM event_identities WHERE session = ?1 AND hash = ?2 AND id = ?3",
    )?;
    let mut select = connection.prepare_cached(
        "SELECT e.id, e.event_id FROM event_places p JOIN events e ON e.id = p.id \
         WHERE p.session = ?1 AND p.seq <= ?2",
    )?;
    let mut rows = select.query(params![of, through])?;
    while let Some(found) = rows.next()? {
        let event_id = found.get_ref(1)?.as_str()?;
        delete.execute(params![of, hash(session, event_id), found.get::<_, i64>(0)?])?;
    }
    Ok(())
}

/// Notes every event, for a file of a version that kept their ids another way.
pub(super) fn insert_all(connection: &Connection) -> rusqlite::Result<()> {
    let mut select = connection.prepare(
        "SELECT e.id, e.session_id, e.event_id, s.number FROM events e \
         JOIN sessions s ON s.id = e.session_id",
    )?;
    let mut insert = connection.prepare(INSERT)?;
    let mut rows = select.query([])?;
    while let Some(found) = rows.next()? {
        let session: SessionId = row::parsed(found, 1)?;
        let hash = hash(session, found.get_ref(2)?.as_str()?);
        let (of, id): (Option<i64>, i64) = (found.get(3)?, found.get(0)?);
        insert.execute(params![of, hash, id])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_what_it_was_when_files_were_written() {
        let session: SessionId = "0190163d-8694-739b-aea5-966c26f8ad91".parse().unwrap();
        assert_eq!(hash(session, "e-1"), 8_359_238_186_475_280_135);
        assert_eq!(hash(session, "e-1") >> 40, hash(session, "another") >> 40);
        assert_ne!(hash(session, "e-1"), hash(session, "e-2"));
    }
}

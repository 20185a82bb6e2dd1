//! An event on its way into a log: with all that can be worked out before a database is asked.

use std::sync::Arc;

use hotseat_core::{Effect, NewEvent, Seq, SessionId};
use jiff::Timestamp;
use serde_json::json;

use crate::{AuditAction, Limits, NewAuditEntry, claim_on};

/// How hard payloads are compressed: fast, as every append pays for it.
const ZSTD_LEVEL: i32 = 1;

/// An event with what it does, worked out before it reaches the database.
#[derive(Debug, Clone)]
pub(crate) struct Prepared {
    pub(crate) event: NewEvent,
    pub(crate) effect: Effect,
    /// The payload, where it is large enough to be kept compressed.
    pub(crate) compressed: Option<Vec<u8>>,
    /// Who answers with it, in whose way somebody may be who has claimed the turn.
    pub(crate) by: Option<Answerer>,
    /// The worker that writes it of its run, in whose way another may be who has the run.
    pub(crate) worker: Option<Arc<str>>,
}

/// Somebody who answers a turn, and when.
#[derive(Debug, Clone)]
pub struct Answerer {
    /// Their name.
    pub name: String,
    /// What time it is.
    pub now: Timestamp,
    /// The worker that ends a turn of its own run, if it is one.
    pub worker: Option<String>,
    /// What is written into the audit of it, if anything is. It is there if the answer is.
    pub noted: Option<AuditAction>,
}

impl Prepared {
    pub(crate) fn new(event: NewEvent, limits: &Limits) -> Self {
        let text = event.payload.get();
        let compressed = limits
            .compress_over_bytes
            .filter(|threshold| text.len() > *threshold)
            .and_then(|_| zstd::bulk::compress(text.as_bytes(), ZSTD_LEVEL).ok())
            .filter(|compressed| compressed.len() < text.len());
        Self { effect: Effect::of(&event), event, compressed, by: None, worker: None }
    }

    /// An answer of somebody's.
    pub(crate) fn answer(event: NewEvent, by: Answerer, limits: &Limits) -> Self {
        let worker = by.worker.as_deref().map(Arc::from);
        Self { by: Some(by), worker, ..Self::new(event, limits) }
    }

    /// What a worker writes of a run.
    pub(crate) fn work(event: NewEvent, worker: &Arc<str>, limits: &Limits) -> Self {
        Self { worker: Some(Arc::clone(worker)), ..Self::new(event, limits) }
    }

    /// An event of the log, to be folded again and not to be written.
    pub(crate) fn again(event: NewEvent) -> Self {
        Self { effect: Effect::of(&event), event, compressed: None, by: None, worker: None }
    }

    /// What is written into the audit of an answer that stands at `seq`.
    pub(crate) fn audit_entry(&self, session: SessionId, seq: Seq) -> Option<NewAuditEntry> {
        let by = self.by.as_ref()?;
        Some(NewAuditEntry {
            at: by.now,
            actor: by.name.clone(),
            action: by.noted?,
            subject: claim_on(self.event.turn_id?),
            session: Some(session),
            detail: json!({"seq": seq}),
        })
    }

    /// When it happened: by its own account, or when it arrived.
    pub(crate) fn time(&self) -> f64 {
        self.effect.time.unwrap_or_else(|| self.event.timestamp.as_duration().as_secs_f64())
    }
}

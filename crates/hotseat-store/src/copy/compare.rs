//! Comparing what two stores hold.

use hotseat_core::{Seq, SessionId};
use sha2::{Digest, Sha256};

use super::{Common, Parts, Placed, Progress};
use crate::{Store, StoreError};

impl Parts {
    /// In an order that does not depend on the database.
    fn sorted(mut self) -> Self {
        self.turns.sort_by_key(|turn| turn.turn);
        self.asks.sort_by(|a, b| a.call_id.cmp(&b.call_id));
        self.state.sort();
        self.messages.sort_by(|a, b| (a.0, &a.1.id).cmp(&(b.0, &b.1.id)));
        self
    }

    pub(super) fn are_as(self, others: Self) -> bool {
        format!("{:?}", self.sorted()) == format!("{:?}", others.sorted())
    }
}

impl Placed {
    /// The event with its payload and the length of that, so that no two look alike.
    fn text(&self) -> String {
        let payload = self.event.payload.get();
        format!("{self:?} {} {payload}", payload.len())
    }

    pub(super) fn is_as(&self, other: &Self) -> bool {
        self.text() == other.text()
    }
}

impl Common {
    /// In an order that does not depend on the database.
    pub(super) fn sorted(mut self) -> Self {
        self.shared.sort();
        self.removals.sort_by_key(|removal| removal.reason.as_str());
        self.users.sort_by_key(|user| user.id);
        self.tokens.sort_by_key(|part| part.token.id);
        self
    }

    /// Whether both say the same, if both are sorted.
    pub(super) fn is_as(&self, other: &Self) -> bool {
        format!("{self:?}") == format!("{other:?}")
    }
}

impl Store {
    /// Compares everything with what `other` holds. Returns the sessions that differ or are
    /// missing in one of them, and whether what belongs to no session differs.
    pub async fn differences(
        &self,
        other: &Self,
        mut progress: impl FnMut(Progress),
    ) -> Result<(Vec<SessionId>, bool), StoreError> {
        let mut ids = self.session_ids().await?;
        ids.extend(other.session_ids().await?);
        ids.sort_unstable();
        ids.dedup();
        let all = ids.len() as u64;
        let mut different = Vec::new();
        progress(Progress { done: 0, all });
        for (done, id) in (1..).zip(ids) {
            if self.digest(id).await? != other.digest(id).await? {
                different.push(id);
            }
            progress(Progress { done, all });
        }
        let (ours, theirs) = (self.common().await?.sorted(), other.common().await?.sorted());
        let same = ours.is_as(&theirs) && self.same_audit(other).await?;
        Ok((different, !same))
    }

    async fn same_audit(&self, other: &Self) -> Result<bool, StoreError> {
        let mut after = None;
        loop {
            let (ours, theirs) = (self.audit_page(after).await?, other.audit_page(after).await?);
            if ours != theirs {
                return Ok(false);
            }
            let Some(last) = ours.last() else { return Ok(true) };
            after = Some(last.seq);
        }
    }

    /// A hash of all that is kept of a session; none if it is not there.
    async fn digest(&self, id: SessionId) -> Result<Option<[u8; 32]>, StoreError> {
        let Some(parts) = self.parts(id).await? else { return Ok(None) };
        let mut hash = Sha256::new();
        hash.update(format!("{:?}", parts.sorted()));
        let mut after = Seq::START;
        loop {
            let events = self.placed_events(id, after).await?;
            let Some(last) = events.last() else { return Ok(Some(hash.finalize().into())) };
            after = last.event.seq;
            for placed in &events {
                hash.update(placed.text());
            }
        }
    }
}

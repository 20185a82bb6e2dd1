//! Pieces of answers, on their way to whoever watches.
//!
//! They are in no log: the complete event that follows says it all again. So a
//! watcher that is slow loses pieces, not content, and where nobody watches they
//! cost nothing.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hotseat_core::{Piece, SessionId};
use tokio::sync::broadcast;

/// Pieces that a watcher may lag behind before it loses some.
const PIECES_KEPT: usize = 1024;

/// Where pieces are told and heard.
#[derive(Debug, Clone, Default)]
pub(crate) struct Live {
    sessions: Arc<Mutex<HashMap<SessionId, broadcast::Sender<Arc<Piece>>>>>,
}

/// Hears the pieces of one session until it is dropped.
#[derive(Debug)]
pub(crate) struct Ear {
    live: Live,
    session: SessionId,
    pieces: broadcast::Receiver<Arc<Piece>>,
}

impl Live {
    /// Tells a piece to those who listen now.
    pub(crate) fn tell(&self, session: SessionId, piece: Piece) {
        let sender = self.lock().get(&session).cloned();
        if let Some(sender) = sender {
            // The last listener may just have gone.
            let _ = sender.send(Arc::new(piece));
        }
    }

    /// Listens from now on.
    pub(crate) fn listen(&self, session: SessionId) -> Ear {
        let pieces = self
            .lock()
            .entry(session)
            .or_insert_with(|| broadcast::Sender::new(PIECES_KEPT))
            .subscribe();
        Ear { live: self.clone(), session, pieces }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<SessionId, broadcast::Sender<Arc<Piece>>>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ear {
    /// The next piece; waits for one.
    pub(crate) async fn hear(&mut self) -> Arc<Piece> {
        loop {
            match self.pieces.recv().await {
                Ok(piece) => return piece,
                Err(broadcast::error::RecvError::Lagged(_)) => {}
                Err(broadcast::error::RecvError::Closed) => std::future::pending().await,
            }
        }
    }

    /// A piece that was told already.
    pub(crate) fn heard(&mut self) -> Option<Arc<Piece>> {
        loop {
            match self.pieces.try_recv() {
                Ok(piece) => return Some(piece),
                Err(broadcast::error::TryRecvError::Lagged(_)) => {}
                Err(
                    broadcast::error::TryRecvError::Empty | broadcast::error::TryRecvError::Closed,
                ) => return None,
            }
        }
    }
}

impl Drop for Ear {
    fn drop(&mut self) {
        let mut sessions = self.live.lock();
        let alone = sessions.get(&self.session).is_some_and(|sender| sender.receiver_count() <= 1);
        if alone {
            sessions.remove(&self.session);
        }
    }
}

#[cfg(test)]
mod tests {
    use hotseat_core::Delta;
    use uuid::Uuid;

    use super::*;

    fn piece(text: &str) -> Piece {
        Piece {
            invocation_id: "e-1".to_owned(),
            author: "math".to_owned(),
            branch: None,
            event_id: None,
            delta: Delta::Text(text.to_owned()),
        }
    }

    #[tokio::test]
    async fn those_who_listen_hear_and_nothing_stays_when_they_go() {
        let live = Live::default();
        let session = SessionId::new(Uuid::from_u128(7));
        live.tell(session, piece("nobody"));
        let (mut one, mut two) = (live.listen(session), live.listen(session));
        live.tell(session, piece("both"));
        assert_eq!(one.hear().await.delta, Delta::Text("both".to_owned()));
        assert_eq!(
            two.heard().map(|piece| piece.delta.clone()),
            Some(Delta::Text("both".to_owned()))
        );
        assert!(two.heard().is_none());
        drop(one);
        assert_eq!(live.lock().len(), 1);
        drop(two);
        assert!(live.lock().is_empty());
    }
}

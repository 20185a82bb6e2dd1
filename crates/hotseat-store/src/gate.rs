//! Several servers in one process, for a simulation of them.
//!
//! A simulation has to decide which call of the database goes next, or the threads of this
//! machine would; and it has to lose, delay and double the wake-ups that servers get of each
//! other's writes, or none would be. [`Store::apart`](crate::Store::apart) gives a server that
//! is open to both. Nothing else uses it.

use std::any::Any;
use std::fmt;
use std::future::Future;
use std::pin::Pin;

use hotseat_core::{Seq, SessionId};

use crate::hub::{Hub, Wake};

/// Where every call of the database waits until it may go on.
pub trait Gate: fmt::Debug + Send + Sync {
    /// Resolves when the call may begin. The call is over when what this gives is dropped.
    fn pass(&self) -> Pin<Box<dyn Future<Output = Box<dyn Any + Send>> + Send>>;
}

/// The wake-ups of one server, which come only from here.
#[derive(Debug, Clone)]
pub struct Wakes(pub(crate) Hub);

impl Wakes {
    /// Tells that the log of a session grew to this place.
    pub fn grew(&self, session: SessionId, head: Seq) {
        self.0.wake(vec![Wake::Grew(session, head, Vec::new())]);
    }
}

//! A connection that somebody writes with.
//!
//! It goes back to the others only after a transaction that has ended. Whoever fails, or is
//! given up on, leaves it in a state that nobody knows; then it is closed, and the server undoes
//! what was not committed.

use std::ops::{Deref, DerefMut};

use deadpool_postgres::{Client, Pool};

use super::failure::Failure;

pub(super) struct Held {
    client: Option<Client>,
}

impl Held {
    pub(super) async fn get(pool: &Pool) -> Result<Self, Failure> {
        Ok(Self { client: Some(pool.get().await?) })
    }

    /// Closes all that lie idle, because one was silent for too long: the others went the same
    /// way, and each of them would cost somebody as long to find out.
    pub(super) fn distrust(pool: &Pool) {
        pool.retain(|_, _| false);
    }

    /// Gives the connection back.
    pub(super) fn done(mut self) {
        self.client = None;
    }

    /// Ends a transaction that wrote nothing, and gives the connection back.
    pub(super) async fn undo(self) -> Result<(), Failure> {
        self.batch_execute("ROLLBACK").await?;
        self.done();
        Ok(())
    }
}

impl Deref for Held {
    type Target = Client;

    #[expect(clippy::expect_used, reason = "it is taken only by those who consume this")]
    fn deref(&self) -> &Client {
        self.client.as_ref().expect("a connection that is held")
    }
}

impl DerefMut for Held {
    #[expect(clippy::expect_used, reason = "it is taken only by those who consume this")]
    fn deref_mut(&mut self) -> &mut Client {
        self.client.as_mut().expect("a connection that is held")
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if let Some(client) = self.client.take() {
            drop(Client::take(client));
        }
    }
}

//! The log on SQLite: one thread that writes, a few connections that read.

mod reader;
mod row;
mod schema;
mod writer;

use std::path::Path;

use hotseat_core::{Event, NewEvent, SessionId, TurnId};
use tokio::sync::{mpsc, oneshot};

use self::reader::Readers;
use self::writer::Operation;
use crate::hub::Hub;
use crate::{
    AppendError, Appended, Counts, Created, EventQuery, Expected, NewSession, OpenError, Page,
    Session, SessionQuery, StoreError, Turn, TurnQuery,
};

#[derive(Debug, Clone)]
pub(crate) struct Sqlite {
    writer: mpsc::Sender<Operation>,
    readers: Readers,
}

impl Sqlite {
    pub(crate) fn open(path: &Path, hub: Hub) -> Result<Self, OpenError> {
        let connection = schema::open_writer(path)?;
        let writer = writer::start(path, connection, hub).map_err(OpenError::Thread)?;
        Ok(Self { writer, readers: Readers::new(path) })
    }

    pub(crate) async fn create_session(&self, new: NewSession) -> Result<Created, StoreError> {
        let (reply, answer) = oneshot::channel();
        self.send(Operation::Create(new, reply)).await?;
        answer.await.map_err(|_| StoreError::Closed)?
    }

    pub(crate) async fn delete_session(&self, id: SessionId) -> Result<bool, StoreError> {
        let (reply, answer) = oneshot::channel();
        self.send(Operation::Delete(id, reply)).await?;
        answer.await.map_err(|_| StoreError::Closed)?
    }

    pub(crate) async fn append(
        &self,
        session: SessionId,
        expected: Expected,
        events: Vec<NewEvent>,
    ) -> Result<Appended, AppendError> {
        let (reply, answer) = oneshot::channel();
        self.send(Operation::Append { session, expected, events, reply }).await?;
        answer.await.map_err(|_| StoreError::Closed)?
    }

    async fn send(&self, operation: Operation) -> Result<(), StoreError> {
        self.writer.send(operation).await.map_err(|_| StoreError::Closed)
    }

    pub(crate) async fn session(&self, id: SessionId) -> Result<Option<Session>, StoreError> {
        self.readers
            .read("read a session", move |connection| row::find_session(connection, id))
            .await
    }

    pub(crate) async fn sessions(&self, query: SessionQuery) -> Result<Page<Session>, StoreError> {
        self.readers
            .read("list sessions", move |connection| reader::sessions(connection, &query))
            .await
    }

    pub(crate) async fn events(
        &self,
        session: SessionId,
        query: EventQuery,
    ) -> Result<Vec<Event>, StoreError> {
        self.readers
            .read("read events", move |connection| reader::events(connection, session, &query))
            .await
    }

    pub(crate) async fn turns(&self, query: TurnQuery) -> Result<Vec<Turn>, StoreError> {
        self.readers.read("list turns", move |connection| reader::turns(connection, query)).await
    }

    pub(crate) async fn turn(
        &self,
        session: SessionId,
        turn: TurnId,
    ) -> Result<Option<Turn>, StoreError> {
        self.readers
            .read("read a turn", move |connection| reader::turn(connection, session, turn))
            .await
    }

    pub(crate) async fn counts(&self) -> Result<Counts, StoreError> {
        self.readers.read("count sessions", reader::counts).await
    }
}

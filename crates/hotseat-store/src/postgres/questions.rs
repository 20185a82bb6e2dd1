//! Questions between servers, and their answers.

use std::time::Duration;

use uuid::Uuid;

use super::failure::{Failure, Patience};
use super::held::Held;
use super::servers::{NOW, millis};
use super::{Postgres, retry, row};
use crate::StoreError;

impl Postgres {
    pub(crate) async fn put_question(
        &self,
        id: Uuid,
        question: &[u8],
        life: Duration,
    ) -> Result<(), StoreError> {
        let forget = format!("DELETE FROM questions WHERE until < {NOW}");
        let put = format!(
            "INSERT INTO questions (question_id, until, question) VALUES ($1, {NOW} + $2, $3) \
             ON CONFLICT DO NOTHING"
        );
        let life = millis(life);
        retry!(self, Patience::to_write("put a question"), |held| {
            held.execute(&forget, &[]).await?;
            held.execute(&put, &[&id, &life, &question]).await?;
            Ok(())
        })
    }

    pub(crate) async fn take_question(&self, id: Uuid) -> Result<Option<Vec<u8>>, StoreError> {
        let sql = "UPDATE questions SET taken = true WHERE question_id = $1 AND NOT taken \
                   RETURNING question";
        retry!(self, Patience::to_write("take a question"), |held| {
            let found = held.query_opt(sql, &[&id]).await?;
            found.map(|found| row::get(&found, 0)).transpose()
        })
    }

    pub(crate) async fn answer_question(&self, id: Uuid, answer: &[u8]) -> Result<(), StoreError> {
        let sql = "UPDATE questions SET answer = $2 WHERE question_id = $1";
        retry!(self, Patience::to_write("answer a question"), |held| {
            held.execute(sql, &[&id, &answer]).await?;
            Ok(())
        })
    }

    pub(crate) async fn question_answer(&self, id: Uuid) -> Result<Option<Vec<u8>>, StoreError> {
        let sql = "SELECT answer FROM questions WHERE question_id = $1 AND answer IS NOT NULL";
        retry!(self, Patience::to_read("read an answer"), |held| {
            let found = held.query_opt(sql, &[&id]).await?;
            found.map(|found| row::get(&found, 0)).transpose()
        })
    }

    pub(crate) async fn drop_question(&self, id: Uuid) -> Result<(), StoreError> {
        let sql = "DELETE FROM questions WHERE question_id = $1";
        retry!(self, Patience::to_write("take a question back"), |held| {
            held.execute(sql, &[&id]).await?;
            Ok(())
        })
    }
}

//! Appends into many sessions over one stream.
//!
//! Each is answered once it is durable, in one message with all others that are by then:
//! what a commit carried together goes back together. No more are under way than the limit
//! says; who sends more is not read until some are answered.

use std::pin::Pin;

use futures_util::future::BoxFuture;
use futures_util::stream::{self, FuturesUnordered, Stream, StreamExt as _};
use futures_util::{FutureExt as _, TryStreamExt as _};
use tonic::{Status, Streaming};

use super::adk;
use crate::proto::append_adk_events_request::Append;
use crate::proto::append_adk_events_response::Answer;
use crate::proto::{AppendAdkEventsRequest, AppendAdkEventsResponse};
use crate::service::App;

/// Appends of one stream that are under way at once.
const MAX_UNDER_WAY: usize = 1024;

/// The answers of one stream.
pub(super) type Appending =
    Pin<Box<dyn Stream<Item = Result<AppendAdkEventsResponse, Status>> + Send>>;

struct Stage {
    app: App,
    incoming: Streaming<AppendAdkEventsRequest>,
    under_way: FuturesUnordered<BoxFuture<'static, Answer>>,
    /// Nothing more is read.
    ended: bool,
}

/// Answers what comes, until the caller ends its side or the server closes. What is under way
/// then is still answered.
pub(super) fn answers(app: App, incoming: Streaming<AppendAdkEventsRequest>) -> Appending {
    let stage = Stage { app, incoming, under_way: FuturesUnordered::new(), ended: false };
    let answers = stream::try_unfold(stage, |mut stage| async {
        Ok(stage.next().await?.map(|answers| (answers, stage)))
    });
    Box::pin(answers.into_stream())
}

impl Stage {
    async fn next(&mut self) -> Result<Option<AppendAdkEventsResponse>, Status> {
        loop {
            let reads = !self.ended && self.under_way.len() < MAX_UNDER_WAY;
            tokio::select! {
                biased;
                Some(first) = self.under_way.next(), if !self.under_way.is_empty() => {
                    return Ok(Some(self.answered(first)));
                }
                message = self.incoming.message(), if reads => match message? {
                    Some(message) => self.begin(message),
                    None => self.ended = true,
                },
                () = self.app.closed(), if !self.ended => self.ended = true,
                else => return Ok(None),
            }
        }
    }

    fn begin(&mut self, message: AppendAdkEventsRequest) {
        for append in message.appends {
            self.under_way.push(one(self.app.clone(), append).boxed());
        }
    }

    /// An answer, with all others that are ready.
    fn answered(&mut self, first: Answer) -> AppendAdkEventsResponse {
        let mut answers = vec![first];
        while let Some(Some(next)) = self.under_way.next().now_or_never() {
            answers.push(next);
        }
        AppendAdkEventsResponse { answers }
    }
}

async fn one(app: App, Append { number, event }: Append) -> Answer {
    match adk::append(&app, event.unwrap_or_default()).await {
        Ok(appended) => Answer { number, appended: Some(appended), ..Answer::default() },
        Err(status) => Answer {
            number,
            appended: None,
            code: i32::from(status.code()).unsigned_abs(),
            message: status.message().to_owned(),
        },
    }
}

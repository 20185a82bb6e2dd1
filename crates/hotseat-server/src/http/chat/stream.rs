//! A reply as it comes, in the events of the REST protocol.
//!
//! The first is `stream_start` and the last is `stream_end` or `error`; nothing follows
//! that. Whoever waits for it is counted until then.

use std::collections::VecDeque;
use std::time::Instant;

use serde_json::json;
use ulid::Ulid;

use super::{Problem, ended, millis, ulid_of};
use crate::http::journal;
use crate::http::sse::Message;
use crate::service::{App, Reply, ReplyPart, RunStep, ServiceError, Waiter, WatchedRun};

/// A reply on its way to a client.
pub(super) struct Stream {
    app: App,
    run: WatchedRun,
    reply: Reply,
    message_id: String,
    began: Instant,
    /// The request that it answers, which is over as far as anyone else knows.
    instance: Option<String>,
    ready: VecDeque<Message>,
    over: bool,
    _waiter: Waiter,
}

impl Stream {
    pub(super) fn new(app: App, run: WatchedRun, waiter: Waiter, began: Instant) -> Self {
        let message_id = Ulid::new().to_string();
        let session_id = ulid_of(run.session());
        let start =
            json!({"session_id": session_id, "message_id": message_id, "run_id": run.run_id()});
        Self {
            app,
            run,
            reply: Reply::default(),
            message_id,
            began,
            instance: journal::instance(),
            ready: [Message::new("stream_start", &start)].into(),
            over: false,
            _waiter: waiter,
        }
    }

    pub(super) async fn next(&mut self) -> Option<Message> {
        loop {
            if let Some(message) = self.ready.pop_front() {
                return Some(message);
            }
            if self.over {
                return None;
            }
            match self.run.next().await {
                Ok(Some(RunStep::Piece(told))) => {
                    let part = self.reply.piece(&told.piece);
                    self.ready.extend(part.map(|part| self.message(&part)));
                }
                Ok(Some(RunStep::Logged(event))) => {
                    let parts = self.reply.logged(&event);
                    let messages: Vec<_> = parts.iter().map(|part| self.message(part)).collect();
                    self.ready.extend(messages);
                }
                Ok(Some(RunStep::Ended(end))) => {
                    self.over = true;
                    let last = ended(&end, &self.reply)
                        .map_or_else(|| self.end(), |problem| self.error(problem));
                    self.ready.push_back(last);
                }
                Ok(Some(RunStep::Closing) | None) => {
                    self.over = true;
                    self.ready.push_back(self.error(ServiceError::Closing.into()));
                }
                Err(failed) => {
                    self.over = true;
                    self.ready.push_back(self.error(failed.into()));
                }
            }
        }
    }

    fn message(&self, part: &ReplyPart) -> Message {
        let message_id = &self.message_id;
        match part {
            ReplyPart::Text(text) => {
                Message::new("message_delta", &json!({"delta": text, "message_id": message_id}))
            }
            ReplyPart::CallStart { id, name } => Message::new(
                "tool_call_start",
                &json!({"tool_call_id": id, "name": name, "message_id": message_id}),
            ),
            ReplyPart::CallArgs { id, json: args } => {
                Message::new("tool_call_args", &json!({"tool_call_id": id, "args_delta": args}))
            }
            ReplyPart::CallEnd { id, status } => {
                Message::new("tool_call_end", &json!({"tool_call_id": id, "status": status}))
            }
        }
    }

    fn end(&self) -> Message {
        let content = self.reply.content();
        self.app.log_answered(self.run.session(), self.run.run_id(), &content);
        let end = json!({
            "message_id": self.message_id,
            "session_id": ulid_of(self.run.session()),
            "content": content,
            "tool_calls": self.reply.calls,
            "tokens_used": self.reply.usage,
            "execution_time_ms": millis(self.began),
        });
        Message::new("stream_end", &end)
    }

    fn error(&self, problem: Problem) -> Message {
        Message::new("error", &problem.within(self.instance.as_deref()))
    }
}

//! A run as a front end sees it.
//!
//! Every event goes through the protocol's own rules before it is sent. What breaks
//! them is a mistake of ours: the client is told that the run failed, in a form that
//! it understands, and the log says what it was.

use std::collections::VecDeque;
use std::convert::Infallible;

use axum::body::{Body as HttpBody, Bytes};
use axum::http::{HeaderName, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::stream::{StreamExt, unfold};
use hotseat_agui::{
    Body, Encoding, Event, History, Message, Outcome, RunAgentInput, Start, Translator, Verifier,
};
use hotseat_core::{Event as Entry, Kind, RunChange, RunStatus, Seat, Seq};
use serde_json::Value;

use crate::http::sse;
use crate::service::{Agent, RunStep, ServiceError, Thread, Waiter, WatchedRun, failure};

/// Room for what is mostly ready at once.
const FRAME_BYTES: usize = 1024;

/// A run on its way to a front end.
pub(super) struct AguiRun {
    translator: Translator,
    verifier: Verifier,
    /// What is to be sent; with the place in the log that a client has then read to, where it
    /// can go on from there.
    ready: VecDeque<(Event, Option<Seq>)>,
    run: Option<WatchedRun>,
    seat: Option<Seat>,
}

impl AguiRun {
    /// A run that a request began.
    pub(super) fn of(
        thread: &Thread,
        agent: &Agent,
        input: RunAgentInput,
        interrupts: bool,
    ) -> Self {
        let start = Start {
            thread_id: input.thread_id,
            run_id: input.run_id,
            parent_run_id: input.parent_run_id,
            input: None,
            state: state(thread),
            agent: agent.name.clone(),
            interrupts,
            history: History::of(&thread.events),
        };
        Self::new(start)
    }

    /// A run that a client comes back to. `before` is what was said before it.
    pub(super) fn again(thread: &Thread, agent: &Agent, run_id: &str, before: &[Value]) -> Self {
        let start = Start {
            thread_id: thread.id().to_owned(),
            run_id: run_id.to_owned(),
            state: state(thread),
            agent: agent.name.clone(),
            history: History::of(before),
            ..Start::default()
        };
        Self::new(start)
    }

    fn new(start: Start) -> Self {
        let translator = Translator::new(start);
        // Calls of earlier runs may get their results in this one: those that wait, and
        // those that waited for a confirmation.
        let verifier = translator.verifier();
        Self { translator, verifier, ready: VecDeque::new(), run: None, seat: None }
    }

    /// Follows a run from its beginning to its end.
    pub(super) fn watch(mut self, run: WatchedRun) -> Self {
        let started = self.translator.start();
        self.send(started);
        self.run = Some(run);
        self
    }

    /// Shows the thread as it is, without running anything.
    pub(super) fn only_show(mut self, messages: Vec<Message>) -> Self {
        let mut events = self.translator.start();
        if !messages.is_empty() {
            events.push(Event::new(Body::MessagesSnapshot { messages }));
        }
        events.extend(self.translator.finish(None));
        self.send(events);
        self
    }

    /// Says which results are still waited for, without running anything.
    pub(super) fn wait_for(mut self, call_ids: Vec<String>) -> Self {
        let mut events = self.translator.start();
        events.extend(self.translator.finish(None));
        if let Some(Event { body: Body::RunFinished { outcome, .. }, .. }) = events.last_mut() {
            *outcome = Some(Outcome::Success { pending_tool_call_ids: call_ids });
        }
        self.send(events);
        self
    }

    /// Takes up a run: what happened up to `known` is shown as it is now, then it goes on. A
    /// client that has `read` to a place in between is shown only what follows.
    pub(super) async fn take_up(
        mut self,
        mut run: WatchedRun,
        known: Seq,
        read: Option<Seq>,
        messages: Vec<Message>,
    ) -> Result<Self, ServiceError> {
        let mut end = None;
        drop(self.translator.start());
        let read = read.filter(|read| (run.place()..=known).contains(read));
        let shown_through = read.unwrap_or(known);
        while run.place() < shown_through && end.is_none() {
            match run.next().await? {
                Some(RunStep::Piece(told)) => drop(self.translator.piece(&told.piece)),
                Some(RunStep::Logged(entry)) => drop(self.logged(&entry)),
                Some(RunStep::Ended(ended)) => end = Some(ended),
                Some(RunStep::Closing) | None => return Err(ServiceError::Closing),
            }
        }
        self.verifier = self.translator.verifier();
        let shown = self.translator.reattach(messages);
        // In the middle of an answer nobody can be sure what was read of it.
        let goes_on = read.is_some() && self.translator.is_at_rest();
        self.send(shown);
        if goes_on {
            self.ready.clear();
        }
        if let Some(end) = end {
            let last = self.ended(&end);
            if !goes_on {
                self.send(last);
            }
        } else {
            self.run = Some(run);
        }
        Ok(self)
    }

    /// The answer that sends it.
    pub(super) fn response(self, encoding: Encoding, waiter: Waiter) -> Response {
        // The client has read to the end. Anything else would make it come again.
        if self.ready.is_empty() && self.run.is_none() {
            return StatusCode::NO_CONTENT.into_response();
        }
        let headers = [
            (header::CONTENT_TYPE, encoding.content_type()),
            (header::CACHE_CONTROL, "no-cache"),
            // A proxy that collects the answer would hold back what somebody waits for.
            (HeaderName::from_static("x-accel-buffering"), "no"),
        ];
        // On the heap: it is handed on with every frame.
        let frames = unfold(Box::new((self, waiter)), move |mut kept| async move {
            let frame = kept.0.next_frame(encoding).await?;
            Some((frame, kept))
        });
        let body = match encoding {
            Encoding::Sse => HttpBody::from_stream(sse::kept_alive(frames)),
            // A body may be asked again after its end.
            Encoding::Protobuf => HttpBody::from_stream(frames.map(Ok::<_, Infallible>).fuse()),
        };
        (headers, body).into_response()
    }

    /// What is ready, in one frame of the transport.
    async fn next_frame(&mut self, encoding: Encoding) -> Option<Bytes> {
        loop {
            let mut frame = Vec::with_capacity(FRAME_BYTES);
            while let Some((event, place)) = self.ready.pop_front() {
                if let Err(error) = encoding.append(&event, place.map(Seq::get), &mut frame) {
                    self.ready.clear();
                    self.break_off(&error.to_string());
                }
            }
            if !frame.is_empty() {
                return Some(frame.into());
            }
            self.step().await?;
        }
    }

    async fn step(&mut self) -> Option<()> {
        let run = self.run.as_mut()?;
        let step = run.next().await;
        let is_place = matches!(step, Ok(Some(RunStep::Logged(_) | RunStep::Ended(_))));
        let place = Some(run.place()).filter(|_| is_place);
        let events = match step {
            Ok(Some(RunStep::Piece(told))) => self.translator.piece(&told.piece),
            Ok(Some(RunStep::Logged(entry))) => self.logged(&entry),
            Ok(Some(RunStep::Ended(end))) => {
                self.run = None;
                self.ended(&end)
            }
            Ok(Some(RunStep::Closing) | None) => {
                self.run = None;
                self.translator.fail(
                    "the server is shutting down; the run goes on when it is back",
                    Some("closing"),
                )
            }
            Err(error) => {
                self.run = None;
                self.translator.fail(&error.to_string(), Some("lost"))
            }
        };
        self.send(events);
        if self.translator.is_at_rest()
            && let Some((_, last)) = self.ready.back_mut()
        {
            *last = place;
        }
        Some(())
    }

    fn logged(&mut self, entry: &Entry) -> Vec<Event> {
        let payload = || serde_json::from_str::<Value>(entry.payload.get()).unwrap_or_default();
        let turn = entry.turn_id.map(|turn| turn.to_string());
        match (entry.kind, &entry.parent_call_id, turn) {
            (Kind::Event, None, _) => self.translator.event(&payload()),
            (Kind::Event, Some(call_id), _) => self.translator.inner_event(&payload(), call_id),
            (Kind::ToolRun, _, _) => self.translator.progress(&payload()),
            (Kind::Request, _, Some(turn)) if self.has_person() => {
                self.translator.turn_waits(&turn, &entry.agent_name)
            }
            (Kind::Response, _, Some(turn)) if self.has_person() => {
                self.translator.turn_answered(&turn, &entry.agent_name)
            }
            (Kind::Run, _, _) => {
                let change = RunChange::parse(&entry.payload).ok();
                self.seat = change.and_then(|change| change.seat).or(self.seat);
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    fn has_person(&self) -> bool {
        self.seat.is_none_or(|seat| seat == Seat::Human)
    }

    fn ended(&mut self, end: &RunChange) -> Vec<Event> {
        match (end.status, failure(end)) {
            (RunStatus::Cancelled, _) => self.translator.cancel(),
            (_, Some((code, message))) => self.translator.fail(&message, Some(code)),
            // A run may come to its end without an answer, because the seat gave none.
            (_, None) => match self.translator.no_answer().map(str::to_owned) {
                Some(reason) => self.translator.fail(&reason, Some("agent_failed")),
                None => self.translator.finish(None),
            },
        }
    }

    fn send(&mut self, events: Vec<Event>) {
        for event in events {
            if let Err(violation) = self.verifier.check(&event) {
                return self.break_off(&violation.to_string());
            }
            self.ready.push_back((event, None));
        }
    }

    /// Ends a stream that cannot go on as it should.
    fn break_off(&mut self, reason: &str) {
        tracing::error!(reason, "an AG-UI stream broke its own rules and was ended");
        self.run = None;
        if self.verifier.is_over() {
            return;
        }
        let error = Event::new(Body::RunError {
            message: "the server made a mistake in this stream; its log has the cause".to_owned(),
            code: Some("internal".to_owned()),
            usage: Vec::new(),
        });
        // A run that broke its rules may only end.
        if self.verifier.check(&error).is_ok() {
            self.ready.push_back((error, None));
        }
    }
}

fn state(thread: &Thread) -> Value {
    let shown = thread.state.iter().filter(|(key, _)| !key.starts_with("temp:"));
    let state: serde_json::Map<_, _> =
        shown.map(|(key, value)| (key.clone(), value.clone())).collect();
    if state.is_empty() { Value::Null } else { Value::Object(state) }
}

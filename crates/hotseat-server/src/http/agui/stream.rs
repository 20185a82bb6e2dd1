//! A run as a front end sees it.
//!
//! Every event goes through the protocol's own rules in the moment it is sent, so what
//! they know of a stream is what its client has read. What breaks them is a mistake of
//! ours: the client is told that the run failed, in a form that it understands, and the
//! log says what it was. Whatever happens, a stream has one end, and it is said.

use std::collections::VecDeque;
use std::convert::Infallible;

use axum::body::{Body as HttpBody, Bytes};
use axum::http::{HeaderName, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::stream::{StreamExt, unfold};
use hotseat_agui::{
    Body, Encoding, Event, History, Interrupt, Message, Outcome, RunAgentInput, Start, TooLarge,
    Translator, Verifier,
};
use hotseat_core::{Event as Entry, Kind, RunChange, RunStatus, Seat, Seq};
use serde_json::Value;

use super::remainder::Remainder;
use crate::http::sse;
use crate::service::{
    Agent, PendingCall, RunStep, ServiceError, Thread, Waiter, WatchedRun, failure,
};

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
    /// What is said when the run has ended.
    remainder: Option<Box<Remainder>>,
    /// Whether what is waited for is told as interrupts.
    interrupts: bool,
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
            agent: agent.root_name().to_owned(),
            interrupts,
            history: History::of(&thread.events),
        };
        Self::new(start)
    }

    /// A run that a client comes back to, with what is kept of the request that began it.
    /// `before` is what was said before it.
    pub(super) fn again(
        thread: &Thread,
        agent: &Agent,
        client: Option<&Value>,
        before: &[Value],
    ) -> Self {
        let kept = |name: &str| client.and_then(|client| client.get(name));
        let text = |name: &str| kept(name).and_then(Value::as_str).map(str::to_owned);
        let start = Start {
            thread_id: thread.id().to_owned(),
            run_id: text("run_id").unwrap_or_default(),
            parent_run_id: text("parent_run_id"),
            input: None,
            state: state(thread),
            agent: agent.root_name().to_owned(),
            interrupts: kept("interrupts").and_then(Value::as_bool).unwrap_or_default(),
            history: History::of(before),
        };
        Self::new(start)
    }

    fn new(start: Start) -> Self {
        let interrupts = start.interrupts;
        let translator = Translator::new(start);
        // Calls of earlier runs may get their results in this one: those that wait, and
        // those that waited for a confirmation.
        let verifier = translator.verifier();
        Self {
            translator,
            verifier,
            ready: VecDeque::new(),
            run: None,
            seat: None,
            remainder: None,
            interrupts,
        }
    }

    /// Follows a run from its beginning to its end.
    pub(super) fn watch(mut self, run: WatchedRun) -> Self {
        let started = self.translator.start();
        self.send(started);
        self.run = Some(run);
        self
    }

    /// Goes on with this when the run has ended.
    pub(super) fn then(self, remainder: Option<Remainder>) -> Self {
        Self { remainder: remainder.map(Box::new), ..self }
    }

    /// Shows what there is and which calls are waited for, without running anything.
    pub(super) fn only_show(mut self, messages: Vec<Message>, waiting: &[PendingCall]) -> Self {
        let mut events = self.translator.start();
        if !messages.is_empty() {
            events.push(Event::new(Body::MessagesSnapshot { messages }));
        }
        events.extend(self.translator.finish(None));
        if let Some(Event { body: Body::RunFinished { outcome, .. }, .. }) = events.last_mut()
            && !waiting.is_empty()
        {
            *outcome = Some(self.waits_for(waiting));
        }
        self.send(events);
        self
    }

    fn waits_for(&self, calls: &[PendingCall]) -> Outcome {
        if self.interrupts {
            let interrupt = |call: &PendingCall| {
                Interrupt::of_call(&call.id, &call.name, call.args.as_object())
            };
            return Outcome::Interrupt { interrupts: calls.iter().map(interrupt).collect() };
        }
        let pending_tool_call_ids = calls.iter().map(|call| call.id.clone()).collect();
        Outcome::Success { pending_tool_call_ids }
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
        if goes_on {
            self.has_read(&shown);
        } else {
            self.send(shown);
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
                let before = frame.len();
                if let Err(error) = encoding.append(&event, place.map(Seq::get), &mut frame) {
                    self.too_large(&error);
                } else if let Err(violation) = self.verifier.check(&event) {
                    frame.truncate(before);
                    self.break_off(&violation.to_string());
                }
            }
            if !frame.is_empty() {
                return Some(frame.into());
            }
            if self.run.is_some() {
                self.step().await;
            } else if self.verifier.is_over() {
                return None;
            } else {
                self.break_off("nothing more came, and the run had not ended");
            }
        }
    }

    async fn step(&mut self) {
        let Some(run) = self.run.as_mut() else { return };
        let step = run.next().await;
        let is_place = matches!(step, Ok(Some(RunStep::Logged(_) | RunStep::Ended(_))));
        let place = Some(run.place()).filter(|_| is_place);
        let events = match step {
            Ok(Some(RunStep::Piece(told))) => self.translator.piece(&told.piece),
            Ok(Some(RunStep::Logged(entry))) => self.logged(&entry),
            Ok(Some(RunStep::Ended(end))) => {
                self.run = None;
                self.go_on(&end).await
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
    }

    /// A run that came to its end is followed by what is left to say, and is else the end.
    async fn go_on(&mut self, end: &RunChange) -> Vec<Event> {
        let remainder = self.remainder.take().filter(|_| end.status == RunStatus::Finished);
        let Some(remainder) = remainder else { return self.ended(end) };
        match Box::pin(remainder.say()).await {
            Ok(Some(run)) => {
                self.run = Some(run);
                Vec::new()
            }
            Ok(None) => self.ended(end),
            Err(problem) => self.translator.fail(problem.detail(), Some(problem.code())),
        }
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
        self.ready.extend(events.into_iter().map(|event| (event, None)));
    }

    /// Counts events as sent that the client has from an earlier stream.
    fn has_read(&mut self, events: &[Event]) {
        for event in events {
            if let Err(violation) = self.verifier.check(event) {
                return self.break_off(&violation.to_string());
            }
        }
    }

    /// Ends a stream that holds more than a client could read. That is nobody's mistake here:
    /// the client is told what it was.
    fn too_large(&mut self, error: &TooLarge) {
        tracing::warn!(%error, "an AG-UI stream was ended");
        self.end_with(error.to_string(), "too_large");
    }

    /// Ends a stream that cannot go on as it should.
    fn break_off(&mut self, reason: &str) {
        tracing::error!(reason, "an AG-UI stream broke its own rules and was ended");
        let told = "the server made a mistake in this stream; its log has the cause";
        self.end_with(told.to_owned(), "internal");
    }

    /// Nothing but this error is sent any more, unless the end was said already.
    fn end_with(&mut self, message: String, code: &str) {
        self.run = None;
        self.ready.clear();
        if !self.verifier.is_over() {
            let code = Some(code.to_owned());
            let error = Event::new(Body::RunError { message, code, usage: Vec::new() });
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

#[cfg(test)]
mod tests;

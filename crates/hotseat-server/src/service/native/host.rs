//! What a native run needs of the server: someone to answer, and a log to keep things in.

use async_trait::async_trait;
use hotseat_agent::{Host, NativeAgent, RunError, SeatAnswer, TurnRequest};
use hotseat_core::{
    Delta, Kind, Piece, Replayed, Seat, Seq, SessionId, ToolRun, ToolRunStatus, TurnId,
};
use hotseat_store::{EventQuery, Expected, Order};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;

use super::entries;
use crate::clock;
use crate::service::runs::invocation_of;
use crate::service::sessions::{raw, server_event};
use crate::service::{App, ServiceError, StartRun, SubmitTurn, spans};

/// The host of one run.
pub(super) struct NativeHost {
    app: App,
    agent: NativeAgent,
    session: SessionId,
    invocation_id: String,
    run_id: String,
    name: String,
    seat: Seat,
    stop: CancellationToken,
    /// A turn from before a restart, whose answer is taken instead of asking again.
    turn_before: Mutex<Option<TurnId>>,
    tools: spans::Tools,
}

impl NativeHost {
    pub(super) fn new(
        app: App,
        agent: NativeAgent,
        start: &StartRun,
        stop: CancellationToken,
    ) -> Self {
        Self {
            app,
            agent,
            session: start.session_id,
            invocation_id: invocation_of(&start.run_id.to_string()),
            run_id: start.run_id.to_string(),
            name: start.agent.clone(),
            seat: start.seat,
            stop,
            turn_before: Mutex::new(None),
            tools: spans::Tools::default(),
        }
    }

    /// Looks for a turn of this run from before a restart: one that still waits, or one
    /// that was answered while nobody was left to go on from it.
    pub(super) async fn find_turn(&self) -> Result<(), ServiceError> {
        let latest = EventQuery {
            kinds: vec![Kind::Request],
            order: Order::Descending,
            limit: 1,
            ..EventQuery::default()
        };
        let asked = self.app.store.events(self.session, latest).await?.pop();
        let asked = asked.filter(|asked| asked.invocation_id.as_ref() == Some(&self.invocation_id));
        let Some(turn_id) = asked.and_then(|asked| asked.turn_id) else { return Ok(()) };
        let turn = self.app.store.turn(self.session, turn_id).await?;
        if let Some(answered) = turn.and_then(|turn| turn.response) {
            let later = EventQuery {
                kinds: vec![Kind::Event],
                after: answered,
                limit: 1,
                ..EventQuery::default()
            };
            if !self.app.store.events(self.session, later).await?.is_empty() {
                return Ok(());
            }
        }
        *self.turn_before.lock().await = Some(turn_id);
        Ok(())
    }

    async fn ask_model(&self, turn: &TurnRequest) -> Result<SeatAnswer, RunError> {
        let Some(model) = self.agent.model() else {
            return Err(RunError::host(format!("agent `{}` names no model", self.name)));
        };
        let mut sink = |delta: Delta| {
            self.app.live.tell(
                self.session,
                Piece {
                    invocation_id: self.invocation_id.clone(),
                    author: turn.agent_name.clone(),
                    branch: turn.branch.clone(),
                    after_event_id: None,
                    delta,
                },
            );
        };
        model.generate(&turn.request, &mut sink).await.map_err(RunError::from)
    }

    fn ask_recording(&self, turn: &TurnRequest) -> Result<SeatAnswer, RunError> {
        let contents = turn.request.get("contents").and_then(Value::as_array);
        let contents = contents.map_or(&[][..], Vec::as_slice);
        let Replayed { content, usage } =
            self.app.recorded(&self.name, contents).map_err(RunError::host)?;
        let finish_reason = Some("STOP".to_owned());
        Ok(SeatAnswer { content, usage, finish_reason, ..SeatAnswer::default() })
    }

    async fn ask_human(&self, turn: &TurnRequest) -> Result<SeatAnswer, RunError> {
        let before = self.turn_before.lock().await.take();
        let turn_id = match before {
            Some(turn_id) => turn_id,
            None => self.submit(turn).await?,
        };
        let payload = self.response_to(turn_id).await.map_err(|error| seat_error(&error))?;
        Ok(answer_of(&payload))
    }

    /// Fails when another server has taken over the run: what is written of it is for that one.
    async fn still_mine(&self) -> Result<(), RunError> {
        if self.app.replicas.still_mine(&self.run_id).await {
            return Ok(());
        }
        Err(RunError::host("another server works on this run now"))
    }

    /// Puts a turn where people see it.
    async fn submit(&self, turn: &TurnRequest) -> Result<TurnId, RunError> {
        self.still_mine().await?;
        let turn_id =
            turn.turn_id.parse::<TurnId>().map_err(|error| RunError::host(error.to_string()))?;
        let wish = SubmitTurn {
            session: self.session,
            turn: turn_id,
            agent_name: turn.agent_name.clone(),
            invocation_id: Some(self.invocation_id.clone()),
            branch: turn.branch.clone(),
            parent_call_id: None,
            payload: request_payload(turn),
            // What the server runs itself asks whether it still may before it gets here.
            worker: None,
        };
        self.app.submit_turn(wish).await.map_err(|error| seat_error(&error))?;
        Ok(turn_id)
    }

    /// Waits for the answer to a turn.
    async fn response_to(&self, turn: TurnId) -> Result<Box<RawValue>, ServiceError> {
        let mut head = self.app.store.watch(self.session);
        loop {
            head.borrow_and_update();
            let known = self.app.store.turn(self.session, turn).await?;
            if let Some(seq) = known.and_then(|turn| turn.response)
                && let Some(event) = self.app.store.event(self.session, seq).await?
            {
                return Ok(event.entry.payload);
            }
            if head.changed().await.is_err() {
                return Err(ServiceError::SessionNotFound(self.session));
            }
        }
    }

    /// Resolves when somebody wants a tool stopped.
    async fn tool_cancelled(&self, call_id: &str) {
        let mut head = self.app.store.watch(self.session);
        let mut after = *head.borrow_and_update();
        loop {
            if head.changed().await.is_err() {
                return;
            }
            head.borrow_and_update();
            let query = EventQuery { kinds: vec![Kind::ToolRun], after, ..EventQuery::default() };
            let Ok(events) = self.app.store.events(self.session, query).await else { continue };
            after = events.last().map_or(after, |event| event.seq.max(Seq::START));
            let wanted = events
                .iter()
                .filter_map(|event| ToolRun::parse(&event.payload).ok())
                .any(|run| run.call_id == call_id && run.status == ToolRunStatus::CancelRequested);
            if wanted {
                return;
            }
        }
    }
}

#[async_trait]
impl Host for NativeHost {
    async fn answer(&self, turn: &TurnRequest) -> Result<SeatAnswer, RunError> {
        let span = spans::of_turn(
            &spans::Turn {
                agent_name: &turn.agent_name,
                id: Some(&turn.turn_id),
                model: turn.request.get("model").and_then(Value::as_str),
            },
            self.seat,
        );
        // Those that wait for somebody are on the heap: a recording needs no room for them.
        let answered = async {
            match self.seat {
                Seat::Human => Box::pin(self.ask_human(turn)).await,
                Seat::Model => Box::pin(self.ask_model(turn)).await,
                Seat::Replay => self.ask_recording(turn),
            }
        };
        let answer = answered.instrument(span.clone()).await?;
        spans::answered(&span, &answer);
        Ok(answer)
    }

    async fn keep(&self, events: Vec<Value>) -> Result<(), RunError> {
        self.still_mine().await?;
        let entries = entries(&events).map_err(|error| RunError::host(error.to_string()))?;
        let kept = self.app.append_said(self.session, entries, None).await;
        kept.map(drop).map_err(|error| seat_error(&error.into()))
    }

    async fn tool_run(&self, run: Value) -> Result<(), RunError> {
        self.still_mine().await?;
        let payload = raw(&run);
        if let Ok(run) = ToolRun::parse(&payload) {
            self.tools.note(&run);
        }
        let mut event = server_event(Kind::ToolRun, &self.name, payload);
        event.invocation_id = Some(self.invocation_id.clone());
        let kept = self.app.store.append(self.session, Expected::Any, vec![event]).await;
        kept.map(drop).map_err(|error| seat_error(&error.into()))
    }

    fn now(&self) -> f64 {
        clock::now().as_duration().as_secs_f64()
    }

    async fn cancelled(&self, call_id: Option<&str>) {
        match call_id {
            None => self.stop.cancelled().await,
            Some(call_id) => tokio::select! {
                () = self.stop.cancelled() => {}
                () = Box::pin(self.tool_cancelled(call_id)) => {}
            },
        }
    }
}

fn seat_error(error: &ServiceError) -> RunError {
    RunError::host(error.to_string())
}

/// The payload of the `request` event.
fn request_payload(turn: &TurnRequest) -> Box<RawValue> {
    raw(&json!({"request": turn.request}))
}

/// A person's answer as the loop takes it.
fn answer_of(payload: &RawValue) -> SeatAnswer {
    let mut payload: Value = serde_json::from_str(payload.get()).unwrap_or_default();
    if let Some(error) = payload.get("error").filter(|error| !error.is_null()) {
        let text = |key: &str| error.get(key).and_then(Value::as_str).map(str::to_owned);
        return SeatAnswer {
            error_code: text("code").or_else(|| Some("DISMISSED".to_owned())),
            error_message: text("message"),
            ..SeatAnswer::default()
        };
    }
    let content = payload.pointer_mut("/candidates/0").map(Value::take).unwrap_or_default();
    SeatAnswer { content, finish_reason: Some("STOP".to_owned()), ..SeatAnswer::default() }
}

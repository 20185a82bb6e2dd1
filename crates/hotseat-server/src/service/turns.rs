//! Turns: a model request comes in, waits, and is answered once.
//!
//! Whether a turn may be answered, and by whom, is decided by the store in the transaction
//! that appends the answer, so two tabs cannot both win. Whether the answer fits
//! the request is decided here, before it.

use std::collections::HashMap;

use hotseat_core::{
    Decision, Dismissal, Event, Kind, ModelRequest, NewEvent, Seat, Seq, SessionId, TurnId,
};
use hotseat_store::{Answerer, AppendError, AuditAction, Expected, Turn, TurnQuery};
use serde_json::Value;
use serde_json::value::RawValue;

use super::sessions::{parse_agent_name, server_event};
use super::{App, Claim, ServiceError};
use crate::clock;
use crate::identity::Caller;

/// A model request that asks for an answer.
#[derive(Debug)]
pub(crate) struct SubmitTurn {
    pub(crate) session: SessionId,
    pub(crate) turn: TurnId,
    pub(crate) agent_name: String,
    pub(crate) invocation_id: Option<String>,
    pub(crate) branch: Option<String>,
    pub(crate) parent_call_id: Option<String>,
    pub(crate) payload: Box<RawValue>,
    /// The worker whose run it is, where a worker asks.
    pub(crate) worker: Option<String>,
}

/// What submitting a turn did.
#[derive(Debug)]
pub(crate) struct Submitted {
    pub(crate) event_id: String,
    pub(crate) seq: Seq,
    pub(crate) duplicate: bool,
}

/// What answering a turn did.
#[derive(Debug)]
pub(crate) struct Decided {
    pub(crate) event_id: String,
    pub(crate) seq: Seq,
    pub(crate) call_ids: Vec<String>,
}

/// A turn with its request.
#[derive(Debug)]
pub(crate) struct TurnView {
    pub(crate) turn: Turn,
    /// Place in its session's queue, from 1; `None` once it is answered.
    pub(crate) position: Option<usize>,
    pub(crate) opened: Event,
    /// Who has it for themselves.
    pub(crate) claim: Option<Claim>,
}

impl App {
    /// Opens a turn. The same turn submitted again changes nothing.
    pub(crate) async fn submit_turn(&self, wish: SubmitTurn) -> Result<Submitted, ServiceError> {
        let agent_name = parse_agent_name(&wish.agent_name)?;
        self.check_size(wish.payload.get().len())?;
        let request = ModelRequest::parse(&wish.payload)
            .map_err(|error| ServiceError::invalid(error.to_string()))?;
        let (session, turn) = (wish.session, wish.turn);
        let asker = agent_name.clone();
        let event = NewEvent {
            event_id: clock::new_id().to_string(),
            timestamp: clock::now(),
            kind: Kind::Request,
            turn_id: Some(wish.turn),
            invocation_id: wish.invocation_id,
            author: agent_name.clone(),
            agent_name,
            branch: wish.branch,
            parent_call_id: wish.parent_call_id,
            payload: wish.payload,
        };
        let event_id = event.event_id.clone();
        self.owned(wish.session).await?;
        let appended = match &wish.worker {
            Some(worker) => self.store.append_work(session, worker, vec![event]).await?,
            None => self.store.append(session, Expected::Any, vec![event]).await?,
        };
        let seq = appended.seqs.first().copied().unwrap_or(appended.last_seq);
        if appended.new == 1 {
            self.hosted.turn_waits(session, &asker, turn);
        }
        // Also when it is submitted again: whoever asked the first time may not have lived to
        // see the answer.
        if self.seat_of(session).await? == Seat::Replay {
            self.replay_turn(session, turn, &asker, &request).await?;
        }
        if appended.new == 1 {
            return Ok(Submitted { event_id, seq, duplicate: false });
        }
        let first = self.store.event(wish.session, seq).await?;
        let event_id = first.map_or(event_id, |event| event.entry.event_id);
        Ok(Submitted { event_id, seq, duplicate: true })
    }

    /// Answers a turn for `seat`, which is who sits there: `human`.
    pub(crate) async fn decide(
        &self,
        session: SessionId,
        turn: TurnId,
        answer: Value,
        seat: &str,
    ) -> Result<Decided, ServiceError> {
        let opened = self.opened(session, turn).await?;
        let mut decision = Decision::parse(answer).map_err(ServiceError::InvalidDecision)?;
        let request = ModelRequest::parse(&opened.payload)
            .map_err(|error| ServiceError::invalid(error.to_string()))?;
        decision.check(&request).map_err(ServiceError::InvalidDecision)?;
        // The prefix is ADK's own for ids that a model did not give: it takes such ids out of
        // the contents again, so that later requests look as they would with a real model.
        let call_ids = decision.assign_call_ids(|| format!("adk-{}", clock::new_id()));
        let payload = signed(decision.to_payload(), self.signature());
        let event = response_to(&opened, turn, seat, payload);
        self.check_size(event.payload.get().len())?;
        let event_id = event.event_id.clone();
        let seq =
            self.append_response(session, turn, event, None, AuditAction::TurnDecided).await?;
        Ok(Decided { event_id, seq, call_ids })
    }

    /// Ends a turn with an error that the agent sees.
    pub(crate) async fn dismiss(
        &self,
        session: SessionId,
        turn: TurnId,
        reason: Option<&str>,
    ) -> Result<Decided, ServiceError> {
        self.end_turn(session, turn, reason, None).await
    }

    /// Ends a turn of a run for the worker that works on it, and waits for no answer any more.
    pub(crate) async fn withdraw(
        &self,
        session: SessionId,
        turn: TurnId,
        reason: Option<&str>,
        worker: &str,
    ) -> Result<Decided, ServiceError> {
        self.end_turn(session, turn, reason, Some(worker)).await
    }

    async fn end_turn(
        &self,
        session: SessionId,
        turn: TurnId,
        reason: Option<&str>,
        worker: Option<&str>,
    ) -> Result<Decided, ServiceError> {
        let opened = self.opened(session, turn).await?;
        let payload = signed(Dismissal::new(reason).to_payload(), self.signature());
        let event = response_to(&opened, turn, "human", payload);
        let event_id = event.event_id.clone();
        let act = AuditAction::TurnDismissed;
        let seq = self.append_response(session, turn, event, worker, act).await?;
        Ok(Decided { event_id, seq, call_ids: Vec::new() })
    }

    /// Turns of one session or of all, oldest first.
    pub(crate) async fn turns(&self, mut query: TurnQuery) -> Result<Vec<TurnView>, ServiceError> {
        if let Caller::Session { session, .. } = &self.visitor.caller {
            query.session = query.session.or(Some(*session));
        }
        if let Some(session) = query.session {
            self.session(session).await?;
        }
        query.user_id = self.visitor.caller.user().map(ToString::to_string);
        let mut views = Vec::<TurnView>::new();
        let mut claims = HashMap::<SessionId, Vec<Claim>>::new();
        for turn in self.store.turns(query).await? {
            let Some(opened) = self.store.event(turn.session_id, turn.request).await? else {
                continue; // Deleted in between.
            };
            let before = views
                .iter()
                .filter(|view| view.position.is_some() && view.turn.session_id == turn.session_id)
                .count();
            let position = turn.response.is_none().then_some(before + 1);
            let session = turn.session_id;
            if position.is_some() && !claims.contains_key(&session) {
                claims.insert(session, self.claims(session).await?);
            }
            let mut held = claims.get(&session).into_iter().flatten();
            let claim = held.find(|claim| claim.turn == turn.turn_id).cloned();
            views.push(TurnView { turn, position, opened, claim });
        }
        Ok(views)
    }

    /// Whether a turn may still be answered.
    pub(super) async fn open_turn(
        &self,
        session: SessionId,
        turn: TurnId,
    ) -> Result<(), ServiceError> {
        self.opened(session, turn).await.map(drop)
    }

    /// The request event of a turn that may still be answered. Its session is not looked at: one
    /// with an open turn is not completed, and a summary has to be summed up before it is read.
    async fn opened(&self, session: SessionId, turn: TurnId) -> Result<Event, ServiceError> {
        self.owned(session).await?;
        let known = self.store.turn(session, turn).await?;
        let opened = match &known {
            Some(Turn { response: Some(response), .. }) => {
                return Err(self.answered(session, turn, *response).await);
            }
            Some(Turn { request, .. }) => self.store.event(session, *request).await?,
            None => None,
        };
        if let Some(opened) = opened {
            return Ok(opened);
        }
        self.session(session).await?;
        Err(ServiceError::TurnNotFound { session, turn })
    }

    async fn append_response(
        &self,
        session: SessionId,
        turn: TurnId,
        event: NewEvent,
        worker: Option<&str>,
        act: AuditAction,
    ) -> Result<Seq, ServiceError> {
        let by = Answerer {
            name: self.visitor.caller.name().to_owned(),
            now: clock::now(),
            worker: worker.map(str::to_owned),
            noted: self.is_noted().then_some(act),
        };
        match self.store.answer(session, event, by).await {
            Ok(appended) => {
                self.hosted.turn_ended(session, turn);
                self.no_longer_typing(session);
                if appended.claimed {
                    self.claim_is_over(session, turn).await;
                }
                Ok(appended.last_seq)
            }
            Err(AppendError::TurnAnswered { turn, response }) => {
                Err(self.answered(session, turn, response).await)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// The refusal of a second answer, with the first one.
    async fn answered(&self, session: SessionId, turn: TurnId, response: Seq) -> ServiceError {
        match self.store.event(session, response).await {
            Ok(first) => ServiceError::TurnAnswered {
                turn,
                decision: first.map(|event| event.entry.payload),
            },
            Err(error) => error.into(),
        }
    }
}

/// An answer with the name of whoever gave it.
fn signed(payload: Box<RawValue>, person: Option<&str>) -> Box<RawValue> {
    let (Some(person), Some(rest)) = (person, payload.get().strip_prefix('{')) else {
        return payload;
    };
    let text = format!("{{\"person\":{},{rest}", Value::from(person));
    RawValue::from_string(text).unwrap_or(payload)
}

fn response_to(opened: &Event, turn: TurnId, seat: &str, payload: Box<RawValue>) -> NewEvent {
    NewEvent {
        turn_id: Some(turn),
        invocation_id: opened.invocation_id.clone(),
        author: seat.to_owned(),
        branch: opened.branch.clone(),
        parent_call_id: opened.parent_call_id.clone(),
        ..server_event(Kind::Response, &opened.agent_name, payload)
    }
}

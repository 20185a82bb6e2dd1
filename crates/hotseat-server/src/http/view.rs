//! How things look in JSON.

use hotseat_core::{
    Event, HistoryEntry, Kind, ModelRequest, RunId, SessionState, SessionStatus, rfc3339,
};
use hotseat_store::Session;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::records::{MessageView, SecurityView};
use super::rooms::ClaimView;
use crate::service::{App, TurnView};

/// A page of a list.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(super) struct List<T> {
    /// What is on it.
    pub(super) items: Vec<T>,
    /// Where the next page starts.
    pub(super) next_cursor: Option<String>,
}

/// A session.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct SessionView {
    id: String,
    agent: Option<String>,
    app_name: String,
    user_id: String,
    description: Option<String>,
    title: Option<String>,
    /// `active` or `completed`.
    status: &'static str,
    /// `awaiting_query`, `active` or `completed`.
    state: &'static str,
    /// By which door it came: `web`, `plugin`, `adk`, `rest` or `ag-ui`.
    source: String,
    created_at: String,
    updated_at: String,
    last_seq: u64,
    /// Entries up to this one were removed.
    removed_through: u64,
    pending_turns: u32,
    /// How many times ADK waits for the user: for a confirmation, a credential, an input.
    open_requests: u32,
    run: Option<RunView>,
    /// ADK's own id of it.
    adk_id: String,
    /// Raw ADK events.
    event_count: u64,
    message_count: u64,
    /// Bytes of its payloads.
    bytes: u64,
    /// From 0 to 1, as its events tell.
    progress: Option<f64>,
    current_phase: Option<String>,
    final_report: Option<String>,
    error: Option<String>,
    /// Somebody tried to get into it too often.
    pub(super) flagged: bool,
    /// With `include=state`: the state that ADK shows.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub(super) adk_state: Option<Map<String, Value>>,
    /// With `include=messages`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) messages: Option<Vec<MessageView>>,
    /// With `include=security`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) security: Option<SecurityView>,
    /// With `include=history`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<Object>>)]
    pub(crate) history: Option<Vec<HistoryEntry>>,
    /// With `include=events`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) events: Option<Vec<EventView>>,
}

/// The run that is going on.
#[derive(Debug, Serialize, utoipa::ToSchema)]
struct RunView {
    run_id: String,
    /// `queued` or `started`.
    status: String,
    since: String,
    /// A worker that can go on with it is connected.
    worker_connected: bool,
}

impl SessionView {
    pub(crate) fn new(app: &App, session: Session) -> Self {
        let connected = session
            .agent
            .as_deref()
            .and_then(|agent| app.workers.agent(agent))
            .is_some_and(|agent| agent.connected);
        let adk_id = session.adk_id();
        Self {
            state: state_of(&session).as_str(),
            id: session.id.to_string(),
            agent: session.agent,
            app_name: session.app_name,
            user_id: session.user_id,
            description: session.description,
            title: session.title,
            status: session.status.as_str(),
            source: session.source,
            created_at: rfc3339(session.created_at),
            updated_at: rfc3339(session.updated_at),
            last_seq: session.last_seq.get(),
            removed_through: session.removed_through.get(),
            pending_turns: session.pending_turns,
            open_requests: session.open_requests,
            adk_id,
            event_count: session.event_count,
            message_count: session.message_count,
            bytes: session.bytes,
            progress: session.record.progress,
            current_phase: session.record.current_phase,
            final_report: session.record.final_report,
            error: session.record.error,
            flagged: false,
            adk_state: None,
            messages: None,
            security: None,
            run: session.run.map(|run| RunView {
                worker_connected: connected || run.run_id.parse::<RunId>().is_err(),
                run_id: run.run_id,
                status: run.status,
                since: rfc3339(run.since),
            }),
            history: None,
            events: None,
        }
    }
}

/// What a session is doing.
pub(crate) fn state_of(session: &Session) -> SessionState {
    match session.status {
        SessionStatus::Completed => SessionState::Completed,
        SessionStatus::Active if session.pending_turns > 0 || session.run.is_some() => {
            SessionState::Active
        }
        SessionStatus::Active => SessionState::AwaitingQuery,
    }
}

/// An event of the log.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(super) struct EventView {
    seq: u64,
    event_id: String,
    session_id: String,
    timestamp: String,
    /// `request`, `response`, `event`, `tool_run`, `run`, `session` or `message`.
    kind: &'static str,
    turn_id: Option<String>,
    invocation_id: Option<String>,
    author: String,
    agent_name: String,
    branch: Option<String>,
    parent_call_id: Option<String>,
    /// The payload, as it is in the log.
    #[schema(value_type = Option<Object>)]
    event: Option<Box<RawValue>>,
    /// With `view=history`: the history entries it adds.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<Object>>)]
    entries: Option<Vec<HistoryEntry>>,
}

impl EventView {
    pub(super) fn whole(event: Event) -> Self {
        Self {
            seq: event.seq.get(),
            session_id: event.session_id.to_string(),
            event_id: event.entry.event_id,
            timestamp: rfc3339(event.entry.timestamp),
            kind: event.entry.kind.as_str(),
            turn_id: event.entry.turn_id.map(|turn| turn.to_string()),
            invocation_id: event.entry.invocation_id,
            author: event.entry.author,
            agent_name: event.entry.agent_name,
            branch: event.entry.branch,
            parent_call_id: event.entry.parent_call_id,
            event: Some(event.entry.payload),
            entries: None,
        }
    }

    /// For pages: without the raw objects that grow with the conversation.
    pub(super) fn with_entries(event: Event, entries: Vec<HistoryEntry>) -> Self {
        let heavy = matches!(event.kind, Kind::Request | Kind::Event);
        let mut view = Self::whole(event);
        if heavy {
            view.event = None;
        }
        view.entries = Some(entries);
        view
    }
}

/// A turn.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(super) struct TurnJson {
    turn_id: String,
    session_id: String,
    agent_name: String,
    branch: Option<String>,
    invocation_id: Option<String>,
    parent_call_id: Option<String>,
    created_at: String,
    seq: u64,
    /// Place in the session's queue, from 1; null once it is answered.
    position: Option<usize>,
    /// It is the one to answer now.
    head: bool,
    /// Who has it for themselves, if anybody.
    claim: Option<ClaimView>,
    /// The model request: `{contents, system_instruction, tools, output_schema, state, raw}`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    request: Option<ModelRequest>,
}

impl TurnJson {
    pub(super) fn brief(view: TurnView) -> Self {
        let event = view.opened;
        Self {
            turn_id: view.turn.turn_id.to_string(),
            session_id: view.turn.session_id.to_string(),
            agent_name: event.entry.agent_name,
            branch: event.entry.branch,
            invocation_id: event.entry.invocation_id,
            parent_call_id: event.entry.parent_call_id,
            created_at: rfc3339(event.entry.timestamp),
            seq: event.seq.get(),
            position: view.position,
            head: view.position == Some(1),
            claim: view.claim.map(ClaimView::from),
            request: None,
        }
    }

    pub(super) fn whole(view: TurnView) -> Self {
        let request = ModelRequest::parse(&view.opened.payload).ok();
        Self { request, ..Self::brief(view) }
    }
}

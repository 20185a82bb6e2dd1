//! Sessions: create, list, show, query, complete, cancel, delete.

use axum::Json;
use axum::http::StatusCode;
use hotseat_core::{HistoryProjector, SessionStatus};
use hotseat_store::{SessionQuery, Waiting};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Problem;
use super::extract::{At, Body, Entered, Params, session_id, turn_id};
use super::view::{EventView, List, SessionView};
use crate::service::{CreateSession, FunctionResponse, Query};

#[derive(Debug, Default, Deserialize, utoipa::ToSchema)]
pub(super) struct NewSession {
    /// The agent to talk to.
    agent: Option<String>,
    /// A label; cut at 500 characters.
    description: Option<String>,
    /// ADK's user id; `local` if left out.
    #[serde(alias = "userId")]
    user_id: Option<String>,
}

/// Creates a session.
#[utoipa::path(post, path = "/api/v1/sessions", tag = "sessions", request_body = NewSession,
    responses((status = 201, body = SessionView), (status = 409, body = Problem), (status = 422, body = Problem)))]
pub(super) async fn create(
    Entered(app): Entered,
    Body(new): Body<NewSession>,
) -> Result<(StatusCode, Json<SessionView>), Problem> {
    let wish = CreateSession {
        agent: new.agent,
        description: new.description,
        user_id: new.user_id,
        ..CreateSession::default()
    };
    let session = app.create_session(wish).await?;
    Ok((StatusCode::CREATED, Json(SessionView::new(&app, session))))
}

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct ListParams {
    /// `next_cursor` of the page before.
    cursor: Option<String>,
    /// At most 1000; 50 if left out.
    limit: Option<usize>,
    /// Words in title, description or agent.
    q: Option<String>,
    /// `active` or `completed`.
    status: Option<String>,
    agent: Option<String>,
    #[serde(alias = "userId")]
    user_id: Option<String>,
    /// `waiting`: only sessions that wait for somebody.
    state: Option<String>,
}

/// Lists sessions, newest first.
#[utoipa::path(get, path = "/api/v1/sessions", tag = "sessions", params(ListParams),
    responses((status = 200, body = List<SessionView>), (status = 400, body = Problem)))]
pub(super) async fn list(
    Entered(app): Entered,
    Params(params): Params<ListParams>,
) -> Result<Json<List<SessionView>>, Problem> {
    let page = app.sessions(params.into_query()?).await?;
    let access = app.access(&page.items).await?;
    let items = page.items.into_iter().map(|session| {
        let flagged = access.get(&session.id).is_some_and(|access| access.flagged);
        let mut view = SessionView::new(&app, session);
        view.flagged = flagged;
        view
    });
    Ok(Json(List {
        items: items.collect(),
        next_cursor: page.next.map(|cursor| cursor.to_string()),
    }))
}

impl ListParams {
    fn into_query(self) -> Result<SessionQuery, Problem> {
        let bad = |error: &dyn std::fmt::Display| Problem::bad_request(error.to_string());
        let cursor = self.cursor.map(|cursor| cursor.parse()).transpose();
        let status = self.status.map(|status| status.parse::<SessionStatus>()).transpose();
        let waiting = match self.state.as_deref() {
            None => Waiting::Either,
            Some("waiting") => Waiting::Only,
            Some(_) => return Err(Problem::bad_request("`state` can only be `waiting`")),
        };
        Ok(SessionQuery {
            cursor: cursor.map_err(|error| bad(&error))?,
            limit: self.limit.unwrap_or_default(),
            text: self.q.filter(|text| !text.trim().is_empty()),
            status: status.map_err(|error| bad(&error))?,
            agent: self.agent,
            user_id: self.user_id,
            waiting,
            ..SessionQuery::default()
        })
    }
}

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct ShowParams {
    /// Any of `history`, `events`, `messages`, `state`, `security`, separated by commas.
    include: Option<String>,
}

/// One session.
#[utoipa::path(get, path = "/api/v1/sessions/{id}", tag = "sessions", params(("id" = String, Path), ShowParams),
    responses((status = 200, body = SessionView), (status = 404, body = Problem)))]
pub(super) async fn show(
    Entered(app): Entered,
    At(id): At<String>,
    Params(params): Params<ShowParams>,
) -> Result<Json<SessionView>, Problem> {
    let id = session_id(&id)?;
    let wanted: Vec<_> =
        params.include.as_deref().unwrap_or_default().split(',').map(str::trim).collect();
    let known = ["", "history", "events", "messages", "state", "security"];
    if let Some(unknown) = wanted.iter().find(|word| !known.contains(word)) {
        return Err(Problem::bad_request(format!(
            "`{unknown}` cannot be included: use history, events, messages, state or security"
        )));
    }
    let session = app.session(id).await?;
    // Read once, so that the answer does not contradict itself.
    let wants_security = wanted.contains(&"security");
    let access = if wants_security {
        app.security(id).await?
    } else {
        app.access(std::slice::from_ref(&session)).await?.remove(&id)
    };
    let mut view = SessionView::new(&app, session);
    view.flagged = access.as_ref().is_some_and(|access| access.flagged);
    if wants_security {
        view.security = Some(access.map(Into::into).unwrap_or_default());
    }
    if wanted.contains(&"messages") {
        let messages = app.messages(id).await?;
        view.messages = Some(messages.into_iter().map(Into::into).collect());
    }
    if wanted.contains(&"state") {
        view.adk_state = Some(app.adk_state(id).await?);
    }
    if wanted.contains(&"history") || wanted.contains(&"events") {
        let events = app.all_events(id).await?;
        if wanted.contains(&"history") {
            let mut projector = HistoryProjector::default();
            view.history = Some(events.iter().flat_map(|event| projector.push(event)).collect());
        }
        if wanted.contains(&"events") {
            view.events = Some(events.into_iter().map(EventView::whole).collect());
        }
    }
    Ok(Json(view))
}

/// Completes a session for good. Pending turns are dismissed, the run is cancelled.
#[utoipa::path(post, path = "/api/v1/sessions/{id}/complete", tag = "sessions", params(("id" = String, Path)),
    responses((status = 200, body = SessionView), (status = 404, body = Problem)))]
pub(super) async fn complete(
    Entered(app): Entered,
    At(id): At<String>,
) -> Result<Json<SessionView>, Problem> {
    let session = app.complete_session(session_id(&id)?).await?;
    Ok(Json(SessionView::new(&app, session)))
}

/// Deletes a session with its log.
#[utoipa::path(delete, path = "/api/v1/sessions/{id}", tag = "sessions", params(("id" = String, Path)),
    responses((status = 204), (status = 404, body = Problem)))]
pub(super) async fn delete(
    Entered(app): Entered,
    At(id): At<String>,
) -> Result<StatusCode, Problem> {
    app.delete_session(session_id(&id)?).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Give one of them.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
pub(super) struct QueryBody {
    text: Option<String>,
    /// For agents with an input schema.
    #[schema(value_type = Option<Object>)]
    structured: Option<Value>,
    /// Answers to what ADK asked the user.
    #[serde(alias = "functionResponses")]
    function_responses: Option<Vec<FunctionResponse>>,
}

#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(super) struct AcceptedView {
    run_id: String,
    seq: u64,
}

/// Sends a user message to the session's agent.
#[utoipa::path(post, path = "/api/v1/sessions/{id}/query", tag = "sessions", params(("id" = String, Path)),
    request_body = QueryBody,
    responses((status = 202, body = AcceptedView), (status = 404, body = Problem), (status = 409, body = Problem), (status = 422, body = Problem)))]
pub(super) async fn query(
    Entered(app): Entered,
    At(id): At<String>,
    Body(body): Body<QueryBody>,
) -> Result<(StatusCode, Json<AcceptedView>), Problem> {
    let query = match (body.text, body.structured, body.function_responses) {
        (Some(text), None, None) => Query::Text(text),
        (None, Some(value), None) => Query::Structured(value),
        (None, None, Some(responses)) => Query::FunctionResponses(responses),
        _ => {
            return Err(Problem::new(
                StatusCode::UNPROCESSABLE_ENTITY,
                "invalid",
                "give one of `text`, `structured` and `function_responses`",
            ));
        }
    };
    let accepted = app.query(session_id(&id)?, query).await?;
    let view = AcceptedView { run_id: accepted.run_id, seq: accepted.seq.get() };
    Ok((StatusCode::ACCEPTED, Json(view)))
}

#[derive(Debug, Deserialize, utoipa::ToSchema)]
pub(super) struct ForkBody {
    /// The turn to answer differently.
    #[serde(alias = "turnId")]
    turn_id: String,
}

/// Makes a new session that stands where this one stood before a turn was answered.
#[utoipa::path(post, path = "/api/v1/sessions/{id}/fork", tag = "sessions", params(("id" = String, Path)),
    request_body = ForkBody,
    responses((status = 201, body = SessionView), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(super) async fn fork(
    Entered(app): Entered,
    At(id): At<String>,
    Body(body): Body<ForkBody>,
) -> Result<(StatusCode, Json<SessionView>), Problem> {
    let forked = app.fork(session_id(&id)?, turn_id(&body.turn_id)?).await?;
    Ok((StatusCode::CREATED, Json(SessionView::new(&app, forked))))
}

/// Stops the run that is going on.
#[utoipa::path(post, path = "/api/v1/sessions/{id}/cancel", tag = "sessions", params(("id" = String, Path)),
    responses((status = 202), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(super) async fn cancel(
    Entered(app): Entered,
    At(id): At<String>,
) -> Result<StatusCode, Problem> {
    app.cancel_run(session_id(&id)?).await?;
    Ok(StatusCode::ACCEPTED)
}

/// Stops a tool that is running.
#[utoipa::path(post, path = "/api/v1/sessions/{id}/tools/{call_id}/cancel", tag = "sessions",
    params(("id" = String, Path), ("call_id" = String, Path)),
    responses((status = 202), (status = 404, body = Problem)))]
pub(super) async fn cancel_tool(
    Entered(app): Entered,
    At((id, call_id)): At<(String, String)>,
) -> Result<StatusCode, Problem> {
    app.cancel_tool(session_id(&id)?, &call_id).await?;
    Ok(StatusCode::ACCEPTED)
}

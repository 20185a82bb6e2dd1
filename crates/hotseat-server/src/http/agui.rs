//! AG-UI 1.0: front ends talk to agents, and see what happens as it happens.
//!
//! A thread is a session and a run is a run; this only translates. What a front end
//! sends is read in `agui/request.rs`, what it gets is made in `agui/stream.rs`. A run
//! goes on when its client is gone: sending the same request again, or asking for the
//! run by its id, takes it up where it is.

mod answers;
mod remainder;
mod request;
mod stream;

use std::sync::Arc;

use axum::Json;
use axum::extract::Request;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::{RequestExt, body::Bytes};
use hotseat_agui::{
    Capabilities, Encoding, HumanInTheLoop, Identity, Message, MultiAgent, Multimodal,
    MultimodalInput, Output, Reasoning, RunAgentInput, State, SubagentInfo, Tools, Transport,
    messages_snapshot,
};
use hotseat_core::Seq;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use self::remainder::Remainder;
use self::request::{Next, Wishes};
use self::stream::AguiRun;
use super::Problem;
use super::extract::{At, Entered, Params};
use crate::service::{Agent, App, Thread};

/// How often a request is tried in a thread that others write to. Each time one of them has won.
const MAX_ATTEMPTS: usize = 16;

/// How a request is to be treated; each may also be in `forwardedProps`.
#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default)]
pub(super) struct AguiParams {
    /// Wait for a run that is going on in the thread, instead of being refused with 409.
    queue: Option<bool>,
    /// Who answers for the model in this run: `human`, `model` or `replay`.
    seat: Option<String>,
    /// End a run that waits for somebody with interrupts, to be answered by `resume`.
    interrupts: Option<bool>,
}

/// Runs an agent for a front end and streams AG-UI events, as SSE or protobuf by `Accept`.
#[utoipa::path(post, path = "/ag-ui/{agent}", tag = "ag-ui", params(("agent" = String, Path), AguiParams),
    request_body(content = Object, description = "RunAgentInput of AG-UI 1.0"),
    responses((status = 200, content_type = "text/event-stream", body = String), (status = 404, body = Problem),
        (status = 406, body = Problem), (status = 409, body = Problem), (status = 422, body = Problem),
        (status = 503, body = Problem)))]
pub(super) async fn run(
    Entered(app): Entered,
    At(agent): At<String>,
    Params(params): Params<AguiParams>,
    request: Request,
) -> Result<Response, Problem> {
    let waiter = app.waiter();
    let agent = served(&app, &agent)?;
    let encoding = encoding(request.headers())?;
    let input = read(request).await?;
    let wishes = Wishes::read(&params, &input)?;
    let interrupts = wishes.interrupts;
    if request::seems_first(&input) {
        let thread = app.new_thread(&agent, &input.thread_id)?;
        if let Next::Say { wish, .. } = request::next(&thread, &agent, &input, wishes)?
            && let Some(watched) = app.begin_thread(&thread, &agent, *wish).await?
        {
            let run = AguiRun::of(&thread, &agent, input, interrupts).watch(watched);
            return Ok(run.response(encoding, waiter));
        }
    }
    // On the heap, as what follows: a thread that begins, as most do, needs no room for it.
    let run = Box::pin(go_on(&app, &agent, input, wishes)).await?;
    Ok(run.response(encoding, waiter))
}

/// What a request is to a thread that has begun. Another may be faster, to this server or to one
/// beside it; then what is new in the request is found out again.
async fn go_on(
    app: &App,
    agent: &Arc<Agent>,
    input: RunAgentInput,
    wishes: Wishes,
) -> Result<AguiRun, Problem> {
    let interrupts = wishes.interrupts;
    let mut attempts = 0;
    loop {
        let mut thread = app.thread(agent, &input.thread_id).await?;
        match request::next(&thread, agent, &input, wishes)? {
            Next::Nothing => {
                let open = thread.open_run().map(|(run, seq)| (run.run_id.clone(), seq));
                let run = AguiRun::of(&thread, agent, input, interrupts);
                return Ok(match (&thread.session, open) {
                    (Some(session), Some((run_id, seq))) => {
                        run.watch(app.watch_session(session.id).run(run_id, seq))
                    }
                    _ => run.only_show(messages(&thread), &thread.waiting()),
                });
            }
            Next::Missing(calls) => {
                let run = AguiRun::of(&thread, agent, input, interrupts);
                return Ok(run.only_show(Vec::new(), &calls));
            }
            Next::Keep(state) => {
                if app.keep_state(&mut thread, state).await?.is_some() {
                    let run = AguiRun::of(&thread, agent, input, interrupts);
                    return Ok(run.only_show(messages(&thread), &thread.waiting()));
                }
            }
            Next::Say { mut wish, more } => {
                app.read_message(&mut wish.message).await?;
                if let Some(watched) = app.say_in(&thread, agent, *wish, wishes.queue).await? {
                    let rest = more.then(|| Remainder::of(app, agent, &input, wishes));
                    let run = AguiRun::of(&thread, agent, input, interrupts);
                    return Ok(run.watch(watched).then(rest));
                }
            }
        }
        // Whoever queues waits for as long as it takes.
        attempts += usize::from(!wishes.queue);
        if attempts == MAX_ATTEMPTS {
            return Err(Problem::new(
                StatusCode::CONFLICT,
                "conflict",
                "others say something in this thread all the time: try again",
            ));
        }
    }
}

/// Takes up a run that is going on, or shows how it ended. With `Last-Event-ID`, only what
/// follows that event; 204 if that was all.
#[utoipa::path(get, path = "/ag-ui/{agent}/threads/{thread}/runs/{run}", tag = "ag-ui",
    params(("agent" = String, Path), ("thread" = String, Path), ("run" = String, Path)),
    responses((status = 200, content_type = "text/event-stream", body = String), (status = 204),
        (status = 404, body = Problem)))]
pub(super) async fn attach(
    Entered(app): Entered,
    At((agent, thread, run_id)): At<(String, String, String)>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let agent = known(&app, &agent)?;
    let encoding = encoding(&headers)?;
    let thread = app.thread(&agent, &thread).await?;
    let found = thread.session.as_ref().zip(thread.run(&run_id));
    let Some((session, (run, seq))) = found else {
        return Err(Problem::not_found("there is no such run in this thread"));
    };
    let watched = app.watch_session(session.id).run(run.run_id.clone(), seq);
    let before = app.conversation(session.id, Some(seq)).await?;
    let replayed = AguiRun::again(&thread, &agent, run.client.as_ref(), &before);
    let read = headers.get("last-event-id").and_then(|id| id.to_str().ok()?.parse().ok());
    let read = read.map(Seq::new);
    let run = replayed.take_up(watched, session.last_seq, read, messages(&thread)).await?;
    Ok(run.response(encoding, app.waiter()))
}

/// Stops the run that is going on in a thread.
#[utoipa::path(post, path = "/ag-ui/{agent}/threads/{thread}/cancel", tag = "ag-ui",
    params(("agent" = String, Path), ("thread" = String, Path)),
    responses((status = 202), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(super) async fn cancel(
    Entered(app): Entered,
    At((agent, thread)): At<(String, String)>,
) -> Result<StatusCode, Problem> {
    let agent = known(&app, &agent)?;
    let thread = app.thread(&agent, &thread).await?;
    let session = thread.session.ok_or_else(|| Problem::not_found("there is no such thread"))?;
    app.cancel_run(session.id).await?;
    Ok(StatusCode::ACCEPTED)
}

/// A thread as it stands.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ThreadView {
    thread_id: String,
    /// Its session here.
    session_id: String,
    #[schema(value_type = Vec<Object>)]
    messages: Vec<Message>,
    #[schema(value_type = Object)]
    state: Map<String, Value>,
    /// The run that is going on, by the client's id.
    #[serde(skip_serializing_if = "Option::is_none")]
    run_id: Option<String>,
    /// Calls that wait for their results.
    pending_tool_call_ids: Vec<String>,
}

/// What was said in a thread, its state, and what it waits for.
#[utoipa::path(get, path = "/ag-ui/{agent}/threads/{thread}", tag = "ag-ui",
    params(("agent" = String, Path), ("thread" = String, Path)),
    responses((status = 200, body = ThreadView), (status = 404, body = Problem)))]
pub(super) async fn show(
    Entered(app): Entered,
    At((agent, id)): At<(String, String)>,
) -> Result<Json<ThreadView>, Problem> {
    let agent = known(&app, &agent)?;
    let thread = app.thread(&agent, &id).await?;
    let Some(session) = &thread.session else {
        return Err(Problem::not_found("there is no such thread"));
    };
    let open = thread.open_run().and_then(|(run, _)| run.client.as_ref()?.get("run_id")?.as_str());
    Ok(Json(ThreadView {
        thread_id: id,
        session_id: session.id.to_string(),
        messages: messages(&thread),
        run_id: open.map(str::to_owned),
        pending_tool_call_ids: thread.pending.iter().map(|call| call.id.clone()).collect(),
        state: thread.state,
    }))
}

/// What an agent can do, as AG-UI says it.
#[utoipa::path(get, path = "/ag-ui/{agent}/capabilities", tag = "ag-ui", params(("agent" = String, Path)),
    responses((status = 200, body = Object), (status = 404, body = Problem)))]
pub(super) async fn capabilities(
    Entered(app): Entered,
    At(agent): At<String>,
) -> Result<Response, Problem> {
    let agent = known(&app, &agent)?;
    Ok(Json(capabilities_of(&agent)).into_response())
}

fn capabilities_of(agent: &Agent) -> Capabilities {
    let yes = Some(true);
    Capabilities {
        identity: Some(Identity {
            name: Some(agent.name.clone()),
            r#type: Some(agent.runtime.clone()),
            description: Some(agent.description.clone()).filter(|text| !text.is_empty()),
            version: None,
        }),
        transport: Some(Transport { streaming: yes, http_binary: yes, resumable: yes }),
        tools: Some(Tools { supported: yes, parallel_calls: yes, client_provided: yes }),
        output: Some(Output { structured_output: Some(agent.output_schema.is_some()) }),
        state: Some(State {
            snapshots: yes,
            deltas: yes,
            memory: Some(false),
            persistent_state: yes,
        }),
        multi_agent: Some(MultiAgent {
            supported: Some(!agent.sub_agents.is_empty()),
            subagents: Some(
                agent
                    .sub_agents
                    .iter()
                    .map(|name| SubagentInfo { name: name.clone(), ..SubagentInfo::default() })
                    .collect(),
            ),
            ..MultiAgent::default()
        }),
        reasoning: Some(Reasoning { supported: yes, streaming: yes, encrypted: yes }),
        multimodal: Some(Multimodal {
            input: Some(MultimodalInput { image: yes, ..MultimodalInput::default() }),
            ..Multimodal::default()
        }),
        human_in_the_loop: Some(HumanInTheLoop { supported: yes, ..HumanInTheLoop::default() }),
        custom: None,
    }
}

/// An agent that can be run now.
fn served(app: &App, name: &str) -> Result<Arc<Agent>, Problem> {
    offered(app)?;
    Ok(app.served_agent(name)?)
}

/// An agent whose threads can be looked at, whether it is there now or not.
fn known(app: &App, name: &str) -> Result<Arc<Agent>, Problem> {
    offered(app)?;
    match app.workers.agent(name) {
        Some(agent) => Ok(agent),
        None => Ok(app.served_agent(name)?),
    }
}

fn offered(app: &App) -> Result<(), Problem> {
    if app.config.serve.agui {
        return Ok(());
    }
    Err(Problem::not_found("this server does not offer AG-UI: start it with --protocol both"))
}

fn encoding(headers: &HeaderMap) -> Result<Encoding, Problem> {
    let accept = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok());
    // What a client that sends JSON says of its own accord, without having thought of streams.
    let accept = accept.filter(|accept| !accept.contains("application/json"));
    Encoding::choose(accept).map_err(|error| {
        Problem::new(StatusCode::NOT_ACCEPTABLE, "not_acceptable", error.to_string())
    })
}

async fn read(request: Request) -> Result<RunAgentInput, Problem> {
    let body = request.extract::<Bytes, _>().await?;
    let value: Value = serde_json::from_slice(&body)
        .map_err(|error| Problem::bad_request(format!("the body is not JSON: {error}")))?;
    RunAgentInput::read(&value).map_err(|error| Problem::invalid(error.to_string()))
}

/// What was said in a thread, with the ids by which the client knows it.
fn messages(thread: &Thread) -> Vec<Message> {
    messages_snapshot(&thread.events, &|event, number| {
        let id = event.get("id")?.as_str()?;
        thread.client_message_id(id, number)
    })
}

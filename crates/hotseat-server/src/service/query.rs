//! What the page's user says to an agent: text, a structure, or answers to what ADK asked.

use hotseat_core::{SessionId, violations};
use serde::Deserialize;
use serde_json::{Value, json};

use super::runs::{RunWish, Started};
use super::{Agent, App, ServiceError};

/// The longest user message, in bytes.
const MAX_QUERY_BYTES: usize = 1024 * 1024;

/// What the user says to the agent.
#[derive(Debug)]
pub(crate) enum Query {
    Text(String),
    Structured(Value),
    /// Answers to what ADK asked the user: a confirmation, a credential, the
    /// result of a tool that takes its time.
    FunctionResponses(Vec<FunctionResponse>),
}

/// An answer to a function call that ADK put to the user.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
pub(crate) struct FunctionResponse {
    /// The id of the call.
    id: String,
    /// The name of the call.
    name: String,
    /// What to say.
    #[schema(value_type = Object)]
    response: serde_json::Map<String, Value>,
}

impl App {
    /// Accepts a user message and hands it to whoever runs the agent.
    pub(crate) async fn query(&self, id: SessionId, query: Query) -> Result<Started, ServiceError> {
        let session = self.session(id).await?;
        let agent = self.agent_to_run(&session)?;
        let message = json!({"role": "user", "parts": parts(query, &agent)?});
        self.start_run(&session, &agent, RunWish { message, ..RunWish::default() }).await
    }
}

/// The parts of the user's message.
fn parts(query: Query, agent: &Agent) -> Result<Value, ServiceError> {
    let text = match query {
        Query::FunctionResponses(responses) if responses.is_empty() => {
            return Err(ServiceError::invalid("`function_responses` is empty"));
        }
        Query::FunctionResponses(responses) => {
            return Ok(responses
                .into_iter()
                .map(|FunctionResponse { id, name, response }| {
                    json!({"functionResponse": {"id": id, "name": name, "response": response}})
                })
                .collect());
        }
        Query::Text(text) if text.trim().is_empty() => {
            return Err(ServiceError::invalid("the message is empty"));
        }
        Query::Text(text) => {
            // ADK would fail on text that its agent cannot read as its input.
            if agent.input_schema.is_some() {
                let value = serde_json::from_str(&text).map_err(|_| {
                    ServiceError::invalid(format!(
                        "agent `{}` has an input schema: send `structured`, or JSON as `text`",
                        agent.name
                    ))
                })?;
                check_input(&value, agent, "/text")?;
            }
            text
        }
        Query::Structured(value) => {
            check_input(&value, agent, "/structured")?;
            value.to_string()
        }
    };
    if text.len() > MAX_QUERY_BYTES {
        return Err(ServiceError::TooLarge { bytes: text.len(), limit: MAX_QUERY_BYTES });
    }
    Ok(json!([{"text": text}]))
}

fn check_input(value: &Value, agent: &Agent, at: &str) -> Result<(), ServiceError> {
    let Some(schema) = &agent.input_schema else { return Ok(()) };
    let found = violations(schema, value)
        .map_err(|error| ServiceError::invalid(format!("the agent's input schema: {error}")))?;
    if found.is_empty() {
        return Ok(());
    }
    let violations = found.into_iter().map(|violation| violation.under(at)).collect();
    Err(ServiceError::Invalid {
        detail: "the message does not fit the agent's input schema".to_owned(),
        violations,
    })
}

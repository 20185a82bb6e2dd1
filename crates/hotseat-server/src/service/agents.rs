//! Agents, as callers see them.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use hotseat_core::{Seat, ToolDeclaration};

use super::App;
use super::native::NATIVE;

/// Something that can be run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Agent {
    /// The name it is chosen by.
    pub name: String,
    /// ADK's application name.
    pub app_name: String,
    /// Where its code runs: `adk` is a worker, `native` is the server itself.
    pub runtime: String,
    /// What it is for, in its author's words.
    pub description: String,
    /// Its instruction, before state is filled in.
    pub instruction: String,
    /// The model it would use.
    pub model: String,
    /// Its tools: `{name, description, parameters, kind, error?}`.
    #[schema(value_type = Vec<Object>)]
    pub tools: Vec<ToolDeclaration>,
    /// JSON Schema of its input.
    #[schema(value_type = Option<Object>)]
    pub input_schema: Option<Value>,
    /// JSON Schema of its output.
    #[schema(value_type = Option<Object>)]
    pub output_schema: Option<Value>,
    /// Where its golden traces go.
    pub eval_set_path: Option<String>,
    /// The name that its first agent has in events. ADK's agents are chosen by their folder.
    #[serde(default)]
    pub root_name: String,
    /// Names of the agents below it.
    pub sub_agents: Vec<String>,
    /// Who answers for its model, where it says so itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub seat: Option<Seat>,
    /// Whoever hosts it is connected.
    pub connected: bool,
}

/// An agent that could not be loaded, or a worker that could not be started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct LoadProblem {
    /// What was asked for, as the user wrote it.
    pub source: String,
    /// What happened.
    pub message: String,
    /// Where, in the user's code.
    pub traceback: Option<String>,
}

/// The agents that are known, and what keeps others from being.
#[derive(Debug, Clone, Serialize, utoipa::ToSchema)]
pub struct AgentList {
    /// The agents, by name.
    pub items: Vec<Agent>,
    /// Always null: there is one page.
    pub next_cursor: Option<String>,
    /// What could not be loaded.
    pub problems: Vec<LoadProblem>,
}

impl Agent {
    /// The name of its first agent. A server of an earlier version does not say it.
    pub(crate) fn root_name(&self) -> &str {
        if self.root_name.is_empty() { &self.name } else { &self.root_name }
    }

    /// Whether one message may bring results of calls and words. ADK tells them apart.
    pub(crate) fn takes_words_with_results(&self) -> bool {
        self.runtime == NATIVE
    }
}

impl App {
    /// The agents, and for those who see all where their files are and what went wrong.
    pub(crate) fn agents(&self) -> AgentList {
        let mut list = self.workers.list();
        for agent in &mut list.items {
            agent.seat = Some(self.usual_seat(agent));
        }
        if !self.visitor.caller.sees_all() {
            list.problems.clear();
            for agent in &mut list.items {
                agent.eval_set_path = None;
            }
        }
        list
    }
}

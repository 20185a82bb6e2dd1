//! A host that answers from a script and remembers what it was told.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use hotseat_agent::{
    AgentFile, Functions, Host, NativeAgent, OpenError, RunError, RunInput, SeatAnswer, TurnRequest,
};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::watch;

use crate::file::folder;

/// The time of every event.
pub(crate) const NOW: f64 = 1_700_000_000.5;

/// A host with prepared answers.
pub(crate) struct Script {
    answers: Mutex<VecDeque<SeatAnswer>>,
    pub(crate) seen: Mutex<Seen>,
    /// Which call to cancel once its tool has said this status, or the run.
    cancel: Option<(&'static str, Cancel)>,
    cancelled: watch::Sender<bool>,
}

/// What a script cancels.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cancel {
    Run,
    Call(&'static str),
}

/// Everything that the host was told.
#[derive(Default)]
pub(crate) struct Seen {
    pub(crate) turns: Vec<TurnRequest>,
    pub(crate) kept: Vec<Value>,
    pub(crate) tool_runs: Vec<Value>,
    /// The order of everything, in short.
    pub(crate) order: Vec<String>,
}

impl Script {
    pub(crate) fn new(answers: Vec<SeatAnswer>) -> Self {
        Self {
            answers: Mutex::new(answers.into()),
            seen: Mutex::default(),
            cancel: None,
            cancelled: watch::Sender::new(false),
        }
    }

    /// Cancels as soon as a tool reports `status`.
    pub(crate) fn cancelling(mut self, status: &'static str, what: Cancel) -> Self {
        self.cancel = Some((status, what));
        self
    }

    /// The last request that was asked.
    pub(crate) fn last_request(&self) -> Value {
        self.seen.lock().unwrap().turns.last().unwrap().request.clone()
    }

    /// `tool status` of everything that tools did, in order.
    pub(crate) fn statuses(&self) -> Vec<String> {
        let seen = self.seen.lock().unwrap();
        let text = |run: &Value, key: &str| run[key].as_str().unwrap().to_owned();
        seen.tool_runs
            .iter()
            .map(|run| format!("{} {}", text(run, "tool_name"), text(run, "status")))
            .collect()
    }
}

#[async_trait]
impl Host for Script {
    async fn answer(&self, turn: &TurnRequest) -> Result<SeatAnswer, RunError> {
        let mut seen = self.seen.lock().unwrap();
        seen.order.push("asked".to_owned());
        seen.turns.push(turn.clone());
        let answer = self.answers.lock().unwrap().pop_front();
        answer.ok_or_else(|| RunError::host("the script has no more answers"))
    }

    async fn keep(&self, events: Vec<Value>) -> Result<(), RunError> {
        let mut seen = self.seen.lock().unwrap();
        seen.order.push(format!("kept {}", events.len()));
        seen.kept.extend(events);
        Ok(())
    }

    async fn tool_run(&self, run: Value) -> Result<(), RunError> {
        if let Some((status, _)) = self.cancel
            && run["status"] == status
        {
            self.cancelled.send_replace(true);
        }
        let mut seen = self.seen.lock().unwrap();
        seen.order.push(run["status"].as_str().unwrap().to_owned());
        seen.tool_runs.push(run);
        Ok(())
    }

    async fn cancelled(&self, call_id: Option<&str>) {
        let wanted = match (self.cancel, call_id) {
            (Some((_, Cancel::Run)), None) => true,
            (Some((_, Cancel::Call(cancelled))), Some(id)) => cancelled == id,
            _ => false,
        };
        if !wanted {
            return std::future::pending().await;
        }
        let _ = self.cancelled.subscribe().wait_for(|cancelled| *cancelled).await;
    }

    fn now(&self) -> f64 {
        NOW
    }
}

/// The functions of a worker.
pub(crate) struct Python;

#[async_trait]
impl Functions for Python {
    async fn declaration(&self, _file: &Path, function: &str) -> Result<Value, String> {
        match function {
            "gone" => Err("module `tools` has no function `gone`".to_owned()),
            _ => Ok(json!({
                "name": function,
                "description": "From the function itself.",
                "parameters": {"type": "OBJECT", "properties": {"n": {"type": "INTEGER"}}},
            })),
        }
    }

    async fn call(&self, file: &Path, function: &str, args: &Value) -> Result<Value, String> {
        assert!(file.ends_with("tools.py"), "{file:?}");
        match function {
            "double" => Ok(json!(args["n"].as_i64().unwrap_or_default() * 2)),
            "table" => Ok(json!({"rows": [args]})),
            "large" => Ok(json!("x".repeat(5_000))),
            "forever" => std::future::pending().await,
            other => Err(format!("{other} raised ValueError: no")),
        }
    }
}

/// An agent from the text of its file. The folder must live as long as it.
pub(crate) async fn open(text: &str) -> Result<(NativeAgent, TempDir), OpenError> {
    let folder = folder(&[("agent.yaml", text), ("tools.py", "")]);
    let file = AgentFile::read(folder.path(), &|_| None).unwrap();
    Ok((NativeAgent::open(file, Arc::new(Python)).await?, folder))
}

/// An answer in text.
pub(crate) fn says(text: &str) -> SeatAnswer {
    SeatAnswer {
        content: json!({"role": "model", "parts": [{"text": text}]}),
        usage: Some(json!({"prompt_token_count": 3, "total_token_count": 5})),
        finish_reason: Some("STOP".to_owned()),
        model_version: Some("scripted-1".to_owned()),
        ..SeatAnswer::default()
    }
}

/// An answer with calls: id, tool, arguments.
pub(crate) fn calls(calls: &[(&str, &str, Value)]) -> SeatAnswer {
    let parts: Vec<Value> = calls
        .iter()
        .map(|(id, name, args)| json!({"function_call": {"id": id, "name": name, "args": args}}))
        .collect();
    SeatAnswer { content: json!({"role": "model", "parts": parts}), ..SeatAnswer::default() }
}

/// A run after the user said something.
pub(crate) fn asked(text: &str) -> RunInput {
    RunInput {
        invocation_id: "e-1".to_owned(),
        user_id: "ada".to_owned(),
        session_id: "s-1".to_owned(),
        history: vec![user(json!([{"text": text}]))],
        ..RunInput::default()
    }
}

/// A user event with these parts.
pub(crate) fn user(parts: Value) -> Value {
    event("user", "user", parts)
}

/// An event of the agent with these parts.
pub(crate) fn model(parts: Value) -> Value {
    event("desk", "model", parts)
}

fn event(author: &str, role: &str, parts: Value) -> Value {
    let mut event = json!({"id": "e", "author": author, "content": {"role": role}});
    event["content"]["parts"] = parts;
    event
}

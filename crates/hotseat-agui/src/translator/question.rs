//! What a run waits for: ADK's own requests to the user, and tools that run
//! long and somebody else answers for.

use serde_json::{Map, Value, json};

use super::Translator;
use crate::adk::{self, Adk};
use crate::outcome::Interrupt;

/// How many open questions a run may end with. More are pending calls only.
const MAX_QUESTIONS: usize = 1_000;

/// The calls by which ADK itself asks the user for something.
const REQUESTS: [&str; 3] =
    ["adk_request_confirmation", "adk_request_credential", "adk_request_input"];

/// A call that nobody has answered.
#[derive(Debug)]
pub(super) struct Question {
    pub(super) call_id: String,
    pub(super) owner: Option<String>,
    interrupt: Interrupt,
}

impl Translator {
    /// Notes the call if it is one that the run will wait for.
    pub(super) fn ask(
        &mut self,
        stint: usize,
        adk: Adk<'_>,
        id: &str,
        name: &str,
        args: Option<&Value>,
    ) {
        let args = args.and_then(Value::as_object);
        let known = self.questions.iter().any(|question| question.call_id == id);
        let made_here = self.callers.contains_key(id) && !self.answered.contains(id);
        if known || !made_here || self.questions.len() >= MAX_QUESTIONS {
            return;
        }
        if !REQUESTS.contains(&name) && !adk.is_long_running(id) {
            return;
        }
        let mut interrupt = Interrupt::of_call(id, name, args);
        let owner = self.stints[stint].owner.clone();
        interrupt.subagent_run_id.clone_from(&owner);
        self.questions.push(Question { call_id: id.to_owned(), owner, interrupt });
    }

    pub(super) fn open_questions(&self) -> impl Iterator<Item = &Question> {
        self.questions.iter()
    }

    pub(super) fn interrupts(&self) -> Vec<Interrupt> {
        self.open_questions().map(|question| question.interrupt.clone()).collect()
    }
}

impl Interrupt {
    /// What a call that waits for its result asks for.
    pub fn of_call(id: &str, name: &str, args: Option<&Map<String, Value>>) -> Self {
        let asked = match name {
            "adk_request_confirmation" => confirmation(args),
            "adk_request_credential" => credential(args),
            "adk_request_input" => input(args),
            _ => Self {
                reason: "tool_call".to_owned(),
                tool_call_id: Some(id.to_owned()),
                metadata: Some(Map::from_iter([("toolName".to_owned(), Value::from(name))])),
                ..Self::default()
            },
        };
        Self { id: id.to_owned(), ..asked }
    }
}

fn confirmation(args: Option<&Map<String, Value>>) -> Interrupt {
    let field = |name| args.and_then(|args| adk::get(args, name)).and_then(Value::as_object);
    let call = field("original_function_call");
    let hint = field("tool_confirmation").and_then(|asked| adk::text(asked, "hint"));
    let schema = json!({
        "type": "object",
        "properties": {"confirmed": {"type": "boolean"}, "payload": {}},
        "required": ["confirmed"],
    });
    Interrupt {
        reason: "confirmation".to_owned(),
        message: hint.map(str::to_owned),
        tool_call_id: call.and_then(|call| adk::text(call, "id")).map(str::to_owned),
        response_schema: schema.as_object().cloned(),
        metadata: call.map(|call| Map::from_iter([("call".to_owned(), call.clone().into())])),
        ..Interrupt::default()
    }
}

fn credential(args: Option<&Map<String, Value>>) -> Interrupt {
    let call_id = args.and_then(|args| adk::text(args, "function_call_id"));
    let config = args.and_then(|args| adk::get(args, "auth_config"));
    Interrupt {
        reason: "credential".to_owned(),
        tool_call_id: call_id.map(str::to_owned),
        metadata: config.map(|config| Map::from_iter([("authConfig".to_owned(), config.clone())])),
        ..Interrupt::default()
    }
}

fn input(args: Option<&Map<String, Value>>) -> Interrupt {
    let schema = args.and_then(|args| adk::get(args, "response_schema"));
    let payload = args.and_then(|args| adk::get(args, "payload"));
    Interrupt {
        reason: "input".to_owned(),
        message: args.and_then(|args| adk::text(args, "message")).map(str::to_owned),
        response_schema: schema.and_then(Value::as_object).cloned(),
        metadata: payload.map(|payload| Map::from_iter([("payload".to_owned(), payload.clone())])),
        ..Interrupt::default()
    }
}

//! Calls and their answers, brought together.
//!
//! Providers refuse a whole conversation for one call without an answer, or one
//! answer without a call. Both happen here: somebody stopped a run, a long tool
//! answers after the user went on, a person made the call. So every call gets an
//! answer, if only the one that there is none, and what is left over is said as
//! text. Nothing is dropped.

use std::collections::HashSet;

use serde_json::{Value, json};
use uuid::Uuid;

use super::conversation::{Call, CallResult, Input, Said, Turn};
use super::fields;

/// Longest id of a call that every provider takes.
const MAX_ID_CHARS: usize = 40;
/// Ids that we derive come from this, so that the same request is sent again with
/// the same ids and can be found in a provider's cache.
const IDS: Uuid = Uuid::from_u128(0x6f1d_3b2a_90c4_4e57_8a61_2f0e_7c5d_9b13);

/// Takes contents in their order and gives turns.
#[derive(Debug, Default)]
pub(super) struct Pairing {
    turns: Vec<Turn>,
    open: Vec<Open>,
    used: HashSet<String>,
}

/// A call of the last model turn.
#[derive(Debug)]
struct Open {
    id: String,
    given: Option<String>,
    name: String,
    response: Option<Value>,
}

impl Pairing {
    /// The model said something.
    pub(super) fn model(&mut self, mut said: Vec<Said>) {
        if said.is_empty() {
            return;
        }
        self.close();
        for part in &mut said {
            if let Said::Call(call) = part {
                self.open(call);
            }
        }
        match self.turns.last_mut() {
            Some(Turn::Model(before)) => before.append(&mut said),
            _ => self.turns.push(Turn::Model(said)),
        }
    }

    /// A tool answered.
    pub(super) fn result(&mut self, response: &Value) {
        let given = fields::text(response, "id");
        let name = fields::text(response, "name").unwrap_or_default();
        let value = response.get("response").cloned().unwrap_or_else(|| json!({}));
        let unanswered = |open: &&mut Open| open.response.is_none();
        let call = match given {
            Some(id) => self.open.iter_mut().find(|open| open.given.as_deref() == Some(id)),
            None => self.open.iter_mut().filter(|open| open.name == name).find(unanswered),
        };
        match call.filter(unanswered) {
            Some(call) => call.response = Some(value),
            None => self.user(vec![Input::Text(format!("The tool `{name}` answered: {value}"))]),
        }
    }

    /// The user said something.
    pub(super) fn user(&mut self, mut inputs: Vec<Input>) {
        if inputs.is_empty() {
            return;
        }
        self.close();
        match self.turns.last_mut() {
            Some(Turn::User(before)) => before.append(&mut inputs),
            _ => self.turns.push(Turn::User(inputs)),
        }
    }

    /// All turns.
    pub(super) fn finish(mut self) -> Vec<Turn> {
        self.close();
        self.turns
    }

    fn open(&mut self, call: &mut Call) {
        let given = call.given.clone().unwrap_or_default();
        let usable = !given.is_empty()
            && given.len() <= MAX_ID_CHARS
            && given.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
        call.id.clone_from(&given);
        if !usable || self.used.contains(&given) {
            let seed = format!("{given}/{}", self.used.len());
            call.id = format!("call_{}", Uuid::new_v5(&IDS, seed.as_bytes()).simple());
        }
        self.used.insert(call.id.clone());
        self.open.push(Open {
            id: call.id.clone(),
            given: call.given.clone(),
            name: call.name.clone(),
            response: None,
        });
    }

    fn close(&mut self) {
        if self.open.is_empty() {
            return;
        }
        let results = self.open.drain(..).map(|open| CallResult {
            id: open.id,
            given: open.given,
            name: open.name,
            response: open
                .response
                .unwrap_or_else(|| json!({"error": "There is no answer to this call."})),
        });
        self.turns.push(Turn::Results(results.collect()));
    }
}

#[cfg(test)]
mod tests {
    use super::super::conversation::Conversation;
    use super::*;
    use crate::{ModelSpec, ProviderKind};

    fn turns(contents: &Value) -> Vec<String> {
        let spec = ModelSpec::new(ProviderKind::OpenAi, "m");
        let request = json!({"contents": contents});
        let read = Conversation::read(&request, &spec, "openai").unwrap();
        read.turns.iter().map(short).collect()
    }

    fn short(turn: &Turn) -> String {
        match turn {
            Turn::User(inputs) => format!("user {}", inputs.len()),
            Turn::Model(said) => {
                let ids = said.iter().filter_map(|said| match said {
                    Said::Call(call) => Some(call.id.clone()),
                    _ => None,
                });
                format!("model {}", ids.collect::<Vec<_>>().join(" "))
            }
            Turn::Results(results) => {
                let results =
                    results.iter().map(|result| format!("{}={}", result.id, result.response));
                results.collect::<Vec<_>>().join(" ")
            }
        }
    }

    fn call(id: &str) -> Value {
        json!({"function_call": {"id": id, "name": "add", "args": {}}})
    }

    fn answer(id: &str, n: u32) -> Value {
        json!({"function_response": {"id": id, "name": "add", "response": {"n": n}}})
    }

    #[test]
    fn answers_come_in_the_order_of_their_calls() {
        let contents = json!([
            {"role": "model", "parts": [call("a"), call("b")]},
            {"role": "user", "parts": [answer("b", 2)]},
            {"role": "user", "parts": [{"text": "now"}, answer("a", 1)]},
        ]);
        assert_eq!(turns(&contents), ["model a b", r#"a={"n":1} b={"n":2}"#, "user 1"]);
    }

    #[test]
    fn a_call_without_answer_is_answered_and_a_late_answer_is_said() {
        let contents = json!([
            {"role": "user", "parts": [{"text": "go"}]},
            {"role": "model", "parts": [call("a")]},
            {"role": "user", "parts": [{"text": "hurry"}]},
            {"role": "user", "parts": [answer("a", 1)]},
        ]);
        let none = r#"a={"error":"There is no answer to this call."}"#;
        assert_eq!(turns(&contents), ["user 1", "model a", none, "user 2"]);
    }

    #[test]
    fn calls_without_ids_are_paired_by_name_and_always_get_the_same_ids() {
        let no_id = |part: Value| {
            let mut part = part;
            part.as_object_mut().unwrap().values_mut().for_each(|value| value["id"] = Value::Null);
            part
        };
        let contents = json!([
            {"role": "model", "parts": [no_id(call("")), no_id(call(""))]},
            {"role": "user", "parts": [no_id(answer("", 1)), no_id(answer("", 2))]},
        ]);
        let read = turns(&contents);
        assert!(
            read[1].contains(r#"={"n":1} call_"#) && read[1].ends_with(r#"={"n":2}"#),
            "{read:?}"
        );
        assert_eq!(read, turns(&contents));
    }

    #[test]
    fn ids_of_other_providers_and_repeated_ids_are_replaced() {
        let long = "x".repeat(41);
        let contents = json!([
            {"role": "model", "parts": [call(&long), call("dots.are:bad"), call("fine-1")]},
            {"role": "user", "parts": [answer(&long, 1), answer("dots.are:bad", 2), answer("fine-1", 3)]},
            {"role": "model", "parts": [call("fine-1")]},
            {"role": "user", "parts": [answer("fine-1", 4)]},
        ]);
        let read = turns(&contents);
        let ids: Vec<&str> = read[0].split(' ').skip(1).chain(read[2].split(' ').skip(1)).collect();

        assert_eq!(ids[2], "fine-1");
        assert_eq!(HashSet::<&&str>::from_iter(&ids).len(), 4, "{ids:?}");
        assert!(ids.iter().all(|id| id.len() <= MAX_ID_CHARS && !id.contains('.')), "{ids:?}");
        assert_eq!(read[3], format!(r#"{}={{"n":4}}"#, ids[3]));
    }

    #[test]
    fn nobody_waits_for_the_model_to_answer_itself() {
        assert_eq!(turns(&json!([])), ["user 1"]);
        let spoken = json!([{"role": "model", "parts": [{"text": "I am done"}]}]);
        assert_eq!(turns(&spoken), ["model ", "user 1"]);
    }
}

//! EvalSet files: a golden trace into the file of its agent, and edits of cases.
//!
//! The file belongs to the user. It may hold hand-written cases, comments in
//! fields nobody else knows, numbers written in a certain way. So the file is
//! not parsed and written again: the new case is cut into its text, and every
//! byte around it stays. A file that is not an EvalSet is refused, never
//! repaired.

mod edit;
mod parse;
mod text;

use std::collections::HashSet;

use jiff::Timestamp;
use serde_json::{Value, json};

pub use edit::{EvalSetView, put_case, read_eval_set, remove_case};
pub use text::NewText;

use crate::golden::invocation_prefix;
use crate::instant::seconds;
use crate::{SessionId, alias, snake_case};
use text::EvalSetText;

/// A case to write.
#[derive(Debug, Clone, PartialEq)]
pub struct NewCase {
    /// The session that it was made of.
    pub session_id: SessionId,
    /// The agent, which names a new file.
    pub agent_name: String,
    /// The EvalCase, as [`GoldenTrace`](crate::GoldenTrace) makes it.
    pub case: Value,
}

/// A file with the case in it.
#[derive(Debug, Clone, PartialEq)]
pub struct Merged<'a> {
    /// The whole new text of the file.
    pub text: NewText<'a>,
    /// The id that the case has there.
    pub eval_id: String,
    /// The case as it stands there.
    pub case: Value,
    /// What was done.
    pub action: MergeAction,
}

crate::word::words!(
    /// What merging did.
    MergeAction, "merge action", {
        /// There was no file.
        Created = "created",
        /// The file got another case.
        Appended = "appended",
        /// The case of the same session was replaced.
        Updated = "updated",
    }
);

/// Why a file is left alone.
#[derive(Debug, thiserror::Error)]
pub enum EvalSetError {
    /// The file is not JSON.
    #[error("the file is not JSON")]
    NotJson(#[source] serde_json::Error),
    /// A list of cases, the format before EvalSets.
    #[error("the file has ADK's legacy format, a list: convert it to an EvalSet first")]
    Legacy,
    /// Some other JSON.
    #[error("the file is not an EvalSet: {reason}")]
    NotAnEvalSet {
        /// What is missing or wrong.
        reason: &'static str,
    },
    /// A case that ADK could not read either.
    #[error("case {index} of the EvalSet cannot be read")]
    Case {
        /// Its place, from 0.
        index: usize,
        #[source]
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// The new case is not an object with an `eval_id`.
    #[error("the new case has no eval_id")]
    NewCase,
}

/// Puts a case into the text of an EvalSet file, or makes one.
///
/// An earlier case of the same session, known by the ids of its invocations, is
/// replaced where it stands; it keeps its `eval_id` and the fields that a person
/// added to it. Otherwise the case comes last, under an `eval_id` that is new
/// in the file. An empty file counts as none.
pub fn merge(
    existing: Option<&str>,
    new: NewCase,
    now: Timestamp,
) -> Result<Merged<'_>, EvalSetError> {
    let Value::Object(mut case) = new.case else { return Err(EvalSetError::NewCase) };
    let Some(eval_id) = case.get("eval_id").and_then(Value::as_str).map(str::to_owned) else {
        return Err(EvalSetError::NewCase);
    };
    let Some(existing) = existing.filter(|text| !text.trim().is_empty()) else {
        let case = Value::Object(case);
        let text = new_file(&new.agent_name, &case, now).into();
        return Ok(Merged { text, eval_id, case, action: MergeAction::Created });
    };

    let file = EvalSetText::parse(existing)?;
    if let Some(own) = file.case_of(&invocation_prefix(new.session_id)) {
        let eval_id = own.eval_id.clone();
        case.insert("eval_id".to_owned(), Value::from(eval_id.as_str()));
        for (key, value) in own.read()? {
            if !case.contains_key(&alias::snake_key(&key)) {
                case.insert(key, value);
            }
        }
        let case = Value::Object(case);
        let text = file.replace(own, &case);
        return Ok(Merged { text, eval_id, case, action: MergeAction::Updated });
    }
    let eval_id = unused(eval_id, &file.eval_ids());
    case.insert("eval_id".to_owned(), Value::from(eval_id.as_str()));
    let case = Value::Object(case);
    let text = file.append(&case);
    Ok(Merged { text, eval_id, case, action: MergeAction::Appended })
}

fn unused(eval_id: String, used: &HashSet<&str>) -> String {
    if !used.contains(eval_id.as_str()) {
        return eval_id;
    }
    let mut n: u64 = 2;
    loop {
        let numbered = format!("{eval_id}_{n}");
        if !used.contains(numbered.as_str()) {
            return numbered;
        }
        n += 1;
    }
}

fn new_file(agent_name: &str, case: &Value, now: Timestamp) -> String {
    let eval_set = json!({
        "eval_set_id": format!("{}_evals", snake_case(agent_name)),
        "name": format!("{agent_name} Evaluation Set"),
        "description": format!("Golden traces captured with Hotseat for {agent_name}"),
        "eval_cases": [case],
        "creation_timestamp": seconds(now),
    });
    format!("{eval_set:#}\n")
}

//! Reading an EvalSet file, and changing single cases in its text.

use serde::Serialize;
use serde_json::Value;

use super::text::{EvalSetText, NewText};
use super::{EvalSetError, MergeAction};
use crate::alias;

/// What is in an EvalSet file.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EvalSetView {
    /// The id of the set.
    pub eval_set_id: String,
    /// Its name.
    pub name: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// Its cases as they are written.
    pub cases: Vec<Value>,
}

/// Reads the text of an EvalSet file.
pub fn read_eval_set(text: &str) -> Result<EvalSetView, EvalSetError> {
    let file = EvalSetText::parse(text)?;
    let cases = file.cases.iter().map(|case| case.read().map(Value::Object));
    Ok(EvalSetView {
        eval_set_id: file.eval_set_id.clone(),
        name: file.name.clone(),
        description: file.description.clone(),
        cases: cases.collect::<Result<_, _>>()?,
    })
}

/// Puts a case into the text of an EvalSet file, exactly as it is given.
///
/// It replaces the case with its `eval_id` where that stands. Otherwise it comes
/// before the case that is at `index` now, or last.
pub fn put_case<'a>(
    text: &'a str,
    case: &Value,
    index: Option<usize>,
) -> Result<(NewText<'a>, MergeAction), EvalSetError> {
    let eval_id = case.as_object().and_then(|case| alias::get(case, "eval_id")?.as_str());
    let eval_id = eval_id.filter(|id| !id.is_empty()).ok_or(EvalSetError::NewCase)?;
    let file = EvalSetText::parse(text)?;
    if let Some(old) = file.cases.iter().find(|old| old.eval_id == eval_id) {
        return Ok((file.replace(old, case), MergeAction::Updated));
    }
    let text = match index.and_then(|index| file.cases.get(index)) {
        Some(next) => file.insert_before(next, case),
        None => file.append(case),
    };
    Ok((text, MergeAction::Appended))
}

/// Takes the case with this `eval_id` out of the text of an EvalSet file.
///
/// Returns the new text, the case, and the index at which [`put_case`] puts it
/// back; nothing if there is no such case.
pub fn remove_case<'a>(
    text: &'a str,
    eval_id: &str,
) -> Result<Option<(NewText<'a>, Value, usize)>, EvalSetError> {
    let file = EvalSetText::parse(text)?;
    let Some(index) = file.cases.iter().position(|case| case.eval_id == eval_id) else {
        return Ok(None);
    };
    let case = Value::Object(file.cases[index].read()?);
    Ok(Some((file.remove(index), case, index)))
}

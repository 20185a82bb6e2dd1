//! The text of an EvalSet file and where its cases are in it.

use std::collections::HashSet;
use std::fmt;
use std::ops::Range;

use serde_json::{Map, Value};

use super::EvalSetError;
use super::parse::{Found, FoundCase};
use crate::json_text::text_of;

/// Indentation of a case in a file that gives no example.
const CASE_INDENT: &str = "    ";

pub(super) struct EvalSetText<'a> {
    text: &'a str,
    list: Range<usize>,
    pub(super) eval_set_id: String,
    pub(super) name: Option<String>,
    pub(super) description: Option<String>,
    pub(super) cases: Vec<CaseText<'a>>,
}

/// A case in the text.
pub(super) struct CaseText<'a> {
    pub(super) eval_id: String,
    invocation_ids: Vec<String>,
    text: &'a str,
    span: Range<usize>,
}

/// The text of a file, changed in one place.
///
/// What stays is shown where it lies: a large file is not copied to say that a line of it is new.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewText<'a> {
    before: &'a str,
    insertion: String,
    after: &'a str,
}

impl NewText<'_> {
    /// The pieces that make the text, in their order.
    pub fn pieces(&self) -> [&str; 3] {
        [self.before, &self.insertion, self.after]
    }
}

impl fmt::Display for NewText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.pieces().into_iter().try_for_each(|piece| f.write_str(piece))
    }
}

/// A text with nothing around it.
impl From<String> for NewText<'_> {
    fn from(insertion: String) -> Self {
        Self { before: "", insertion, after: "" }
    }
}

impl<'a> EvalSetText<'a> {
    pub(super) fn parse(text: &'a str) -> Result<Self, EvalSetError> {
        let wrong = |reason| EvalSetError::NotAnEvalSet { reason };
        let found = Found::read(text)?;
        if found.twice {
            return Err(wrong("a field is there twice"));
        }
        let id = found.eval_set_id.ok_or(wrong("it has no eval_set_id"))?;
        let eval_set_id = text_of(id.get()).ok_or(wrong("its eval_set_id is not a string"))?;
        let list = found.list().ok_or(wrong("it has no eval_cases"))?;
        let spans = found.spans(&list);
        let cases = found.cases.into_iter().zip(spans);
        Ok(Self {
            text,
            list,
            eval_set_id,
            name: found.name.and_then(|name| text_of(name.get())),
            description: found.description.and_then(|text| text_of(text.get())),
            cases: cases.map(|(case, span)| CaseText::new(case, text, span)).collect(),
        })
    }

    pub(super) fn eval_ids(&self) -> HashSet<&str> {
        self.cases.iter().map(|case| case.eval_id.as_str()).collect()
    }

    /// The case with an invocation whose id begins like this.
    pub(super) fn case_of(&self, invocation_prefix: &str) -> Option<&CaseText<'a>> {
        self.cases
            .iter()
            .find(|case| case.invocation_ids.iter().any(|id| id.starts_with(invocation_prefix)))
    }

    /// The file with another case in the place of this one.
    pub(super) fn replace(&self, old: &CaseText<'_>, new: &Value) -> NewText<'a> {
        let indent = self.indent_of(old);
        self.splice(old.span.clone(), indented(new, indent))
    }

    /// The file with a case more.
    pub(super) fn append(&self, case: &Value) -> NewText<'a> {
        let Some(last) = self.cases.last() else {
            let list = format!("[\n{CASE_INDENT}{}\n  ]", indented(case, CASE_INDENT));
            return self.splice(self.list.clone(), list);
        };
        let indent = self.indent_of(last);
        let addition = format!(",\n{indent}{}", indented(case, indent));
        self.splice(last.span.end..last.span.end, addition)
    }

    /// The file with a case more, before this one.
    pub(super) fn insert_before(&self, next: &CaseText<'_>, case: &Value) -> NewText<'a> {
        let indent = self.indent_of(next);
        let addition = format!("{},\n{indent}", indented(case, indent));
        self.splice(next.span.start..next.span.start, addition)
    }

    /// The file without a case. It takes along the comma that [`append`](Self::append)
    /// or [`insert_before`](Self::insert_before) would have written for it.
    pub(super) fn remove(&self, index: usize) -> NewText<'a> {
        let span = &self.cases[index].span;
        let place = match (self.cases.get(index + 1), index.checked_sub(1)) {
            (Some(next), _) => span.start..next.span.start,
            (None, Some(previous)) => self.cases[previous].span.end..span.end,
            (None, None) => return self.splice(self.list.clone(), "[]".to_owned()),
        };
        self.splice(place, String::new())
    }

    fn splice(&self, place: Range<usize>, insertion: String) -> NewText<'a> {
        NewText { before: &self.text[..place.start], insertion, after: &self.text[place.end..] }
    }

    /// The white space before a case that stands on a line of its own. A whole file may be one
    /// line, so no line is looked for.
    fn indent_of(&self, case: &CaseText<'_>) -> &'a str {
        let before = &self.text[..case.span.start];
        let line = before.trim_end_matches(|c: char| c != '\n' && c.is_whitespace());
        if line.ends_with('\n') { &before[line.len()..] } else { CASE_INDENT }
    }
}

impl<'a> CaseText<'a> {
    fn new(found: FoundCase, file: &'a str, span: Range<usize>) -> Self {
        let FoundCase { eval_id, invocation_ids, .. } = found;
        Self { eval_id, invocation_ids, text: &file[span.clone()], span }
    }

    /// The fields of the case.
    pub(super) fn read(&self) -> Result<Map<String, Value>, EvalSetError> {
        serde_json::from_str(self.text).map_err(EvalSetError::NotJson)
    }
}

/// The case with two spaces a level, its lines after the first under `indent`.
fn indented(case: &Value, indent: &str) -> String {
    format!("{case:#}").replace('\n', &format!("\n{indent}"))
}

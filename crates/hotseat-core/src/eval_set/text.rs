//! The text of an EvalSet file and where its cases are in it.

use std::collections::HashSet;
use std::fmt;
use std::ops::Range;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::EvalSetError;
use crate::json_text::{span, text_of};

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

impl<'a> EvalSetText<'a> {
    pub(super) fn parse(text: &'a str) -> Result<Self, EvalSetError> {
        let wrong = |reason| EvalSetError::NotAnEvalSet { reason };
        let top: Top<'a> = serde_json::from_str(text).map_err(EvalSetError::NotJson)?;
        let fields = match top {
            Top::Object(fields) => fields,
            Top::List => return Err(EvalSetError::Legacy),
        };
        let field = |snake: &str, camel: &str| {
            let mut found = fields.iter().filter(|(key, _)| key == snake || key == camel);
            match (found.next(), found.next()) {
                (first, None) => Ok(first.map(|(_, value)| *value)),
                _ => Err(wrong("a field is there twice")),
            }
        };
        let id = field("eval_set_id", "evalSetId")?.ok_or(wrong("it has no eval_set_id"))?;
        let eval_set_id = text_of(id.get()).ok_or(wrong("its eval_set_id is not a string"))?;
        let list = field("eval_cases", "evalCases")?.ok_or(wrong("it has no eval_cases"))?;
        let cases: Vec<&RawValue> =
            serde_json::from_str(list.get()).map_err(|_| wrong("its eval_cases are not a list"))?;
        let cases = cases.into_iter().enumerate().map(|(index, case)| {
            CaseText::parse(case.get(), span(text, case.get()))
                .map_err(|source| EvalSetError::Case { index, source })
        });
        Ok(Self {
            text,
            list: span(text, list.get()),
            eval_set_id,
            name: field("name", "name")?.and_then(|name| text_of(name.get())),
            description: field("description", "description")?.and_then(|text| text_of(text.get())),
            cases: cases.collect::<Result<_, _>>()?,
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
    pub(super) fn replace(&self, old: &CaseText<'_>, new: &Value) -> String {
        let indent = self.indent_of(old);
        self.splice(old.span.clone(), &indented(new, indent))
    }

    /// The file with a case more.
    pub(super) fn append(&self, case: &Value) -> String {
        let Some(last) = self.cases.last() else {
            let list = format!("[\n{CASE_INDENT}{}\n  ]", indented(case, CASE_INDENT));
            return self.splice(self.list.clone(), &list);
        };
        let indent = self.indent_of(last);
        let addition = format!(",\n{indent}{}", indented(case, indent));
        self.splice(last.span.end..last.span.end, &addition)
    }

    /// The file with a case more, before this one.
    pub(super) fn insert_before(&self, next: &CaseText<'_>, case: &Value) -> String {
        let indent = self.indent_of(next);
        let addition = format!("{},\n{indent}", indented(case, indent));
        self.splice(next.span.start..next.span.start, &addition)
    }

    /// The file without a case. It takes along the comma that [`append`](Self::append)
    /// or [`insert_before`](Self::insert_before) would have written for it.
    pub(super) fn remove(&self, index: usize) -> String {
        let span = &self.cases[index].span;
        let place = match (self.cases.get(index + 1), index.checked_sub(1)) {
            (Some(next), _) => span.start..next.span.start,
            (None, Some(previous)) => self.cases[previous].span.end..span.end,
            (None, None) => return self.splice(self.list.clone(), "[]"),
        };
        self.splice(place, "")
    }

    fn splice(&self, place: Range<usize>, insertion: &str) -> String {
        let (before, after) = (&self.text[..place.start], &self.text[place.end..]);
        [before, insertion, after].concat()
    }

    /// The white space before a case that stands on a line of its own.
    fn indent_of(&self, case: &CaseText<'_>) -> &'a str {
        let before = &self.text[..case.span.start];
        let line = &before[before.rfind('\n').map_or(0, |newline| newline + 1)..];
        if line.len() < before.len() && line.trim().is_empty() { line } else { CASE_INDENT }
    }
}

impl<'a> CaseText<'a> {
    fn parse(text: &'a str, span: Range<usize>) -> Result<Self, serde_json::Error> {
        #[derive(Deserialize)]
        struct Case {
            #[serde(alias = "evalId")]
            eval_id: String,
            #[serde(default)]
            conversation: Option<Vec<Invocation>>,
        }
        #[derive(Deserialize)]
        struct Invocation {
            #[serde(default, alias = "invocationId")]
            invocation_id: String,
        }
        let case: Case = serde_json::from_str(text)?;
        let invocations = case.conversation.unwrap_or_default().into_iter();
        Ok(Self {
            eval_id: case.eval_id,
            invocation_ids: invocations.map(|invocation| invocation.invocation_id).collect(),
            text,
            span,
        })
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

/// The file one level deep, its values left as text.
enum Top<'a> {
    Object(Vec<(String, &'a RawValue)>),
    List,
}

impl<'de> Deserialize<'de> for Top<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TopVisitor)
    }
}

struct TopVisitor;

impl<'de> Visitor<'de> for TopVisitor {
    type Value = Top<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an EvalSet object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Top<'de>, A::Error> {
        let mut fields = Vec::new();
        while let Some(field) = map.next_entry()? {
            fields.push(field);
        }
        Ok(Top::Object(fields))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Top<'de>, A::Error> {
        while list.next_element::<serde::de::IgnoredAny>()?.is_some() {}
        Ok(Top::List)
    }
}

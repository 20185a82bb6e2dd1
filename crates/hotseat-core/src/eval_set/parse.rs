//! One pass over the text of an EvalSet file.
//!
//! Such a file may have a hundred megabytes, so nothing in it is read twice: one visit checks that
//! all of it is JSON, takes the few values that are asked for, and notes where cases begin. Where
//! they end needs no second look. Between two of them there is a comma and white space, behind the
//! last one the end of the list, and what follows that is known by where it begins.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::error::Category;
use serde_json::value::RawValue;

use super::EvalSetError;
use crate::json_text::{span, text_of};

/// What the pass has found.
pub(super) struct Found<'a> {
    text: &'a str,
    pub(super) eval_set_id: Option<&'a RawValue>,
    pub(super) name: Option<&'a RawValue>,
    pub(super) description: Option<&'a RawValue>,
    pub(super) cases: Vec<FoundCase>,
    /// One of these fields came again, in one spelling or the other.
    pub(super) twice: bool,
    /// Where the list begins, once it has come.
    list: Option<usize>,
    /// Where the field behind the list begins, if there is one.
    behind: Option<usize>,
    place: Place,
}

/// A case, and where it begins.
pub(super) struct FoundCase {
    start: usize,
    pub(super) eval_id: String,
    pub(super) invocation_ids: Vec<String>,
}

/// What is being read, which is what an error is about.
enum Place {
    File,
    Legacy,
    List,
    Case(usize),
}

impl<'a> Found<'a> {
    pub(super) fn read(text: &'a str) -> Result<Self, EvalSetError> {
        let mut found = Self {
            text,
            eval_set_id: None,
            name: None,
            description: None,
            cases: Vec::new(),
            twice: false,
            list: None,
            behind: None,
            place: Place::File,
        };
        let mut json = serde_json::Deserializer::from_str(text);
        let read = File(&mut found).deserialize(&mut json).and_then(|()| json.end());
        match (read, found.place) {
            (Ok(()), Place::Legacy) => Err(EvalSetError::Legacy),
            (Ok(()), place) => Ok(Self { place, ..found }),
            (Err(source), Place::Case(index)) if source.classify() == Category::Data => {
                Err(EvalSetError::Case { index, source })
            }
            (Err(error), Place::List) if error.classify() == Category::Data => {
                Err(EvalSetError::NotAnEvalSet { reason: "its eval_cases are not a list" })
            }
            (Err(error), _) => Err(EvalSetError::NotJson(error)),
        }
    }

    /// Where the list of cases is, brackets and all.
    pub(super) fn list(&self) -> Option<Range<usize>> {
        let last = match self.behind {
            Some(next) => before(&self.text[..next], ','),
            None => before(self.text, '}'),
        };
        Some(self.list?..last)
    }

    /// Where each case is.
    pub(super) fn spans(&self, list: &Range<usize>) -> Vec<Range<usize>> {
        let starts = self.cases.iter().map(|case| case.start);
        let ends = self.cases.iter().skip(1).map(|next| before(&self.text[..next.start], ','));
        let end = before(&self.text[..list.end], ']');
        starts.zip(ends.chain([end])).map(|(start, end)| start..end).collect()
    }

    /// Takes note that a field begins here.
    fn begin(&mut self, key: &'a RawValue) {
        if self.list.is_some() && self.behind.is_none() {
            self.behind = Some(span(self.text, key.get()).start);
        }
    }

    /// Takes note that the list of cases belongs to this key.
    fn begin_list(&mut self, key: &'a RawValue) {
        self.twice |= self.list.is_some();
        self.place = Place::List;
        let after = &self.text[span(self.text, key.get()).end..];
        let value = after.trim_start().trim_start_matches(':').trim_start();
        self.list = Some(span(self.text, value).start);
    }
}

/// Where the text ends without a mark, and without the white space around that.
fn before(text: &str, mark: char) -> usize {
    let text = text.trim_end();
    text.strip_suffix(mark).unwrap_or(text).trim_end().len()
}

/// What a key says. Nobody escapes these, but one may.
fn name_of(key: &RawValue) -> Cow<'_, str> {
    let plain = key.get().trim_matches('"');
    if plain.contains('\\') {
        text_of(key.get()).map_or(Cow::Borrowed(plain), Cow::Owned)
    } else {
        Cow::Borrowed(plain)
    }
}

struct File<'f, 'a>(&'f mut Found<'a>);

impl<'a> DeserializeSeed<'a> for File<'_, 'a> {
    type Value = ();

    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'a> Visitor<'a> for File<'_, 'a> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an EvalSet object")
    }

    fn visit_map<A: MapAccess<'a>>(self, mut map: A) -> Result<(), A::Error> {
        let found = self.0;
        while let Some(key) = map.next_key::<&'a RawValue>()? {
            found.begin(key);
            let field = match &*name_of(key) {
                "eval_cases" | "evalCases" => {
                    found.begin_list(key);
                    map.next_value_seed(Cases(found))?;
                    found.place = Place::File;
                    continue;
                }
                "eval_set_id" | "evalSetId" => &mut found.eval_set_id,
                "name" => &mut found.name,
                "description" => &mut found.description,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            found.twice |= field.replace(map.next_value()?).is_some();
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'a>>(self, mut list: A) -> Result<(), A::Error> {
        self.0.place = Place::Legacy;
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(())
    }
}

struct Cases<'f, 'a>(&'f mut Found<'a>);

impl<'a> DeserializeSeed<'a> for Cases<'_, 'a> {
    type Value = ();

    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'a> Visitor<'a> for Cases<'_, 'a> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of cases")
    }

    fn visit_seq<A: SeqAccess<'a>>(self, mut list: A) -> Result<(), A::Error> {
        let found = self.0;
        loop {
            found.place = Place::Case(found.cases.len());
            let Some(case) = list.next_element_seed(Case(found.text))? else { return Ok(()) };
            found.cases.push(case);
        }
    }
}

struct Case<'a>(&'a str);

impl<'a> DeserializeSeed<'a> for Case<'a> {
    type Value = FoundCase;

    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<FoundCase, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'a> Visitor<'a> for Case<'a> {
    type Value = FoundCase;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a case, an object")
    }

    fn visit_map<A: MapAccess<'a>>(self, mut map: A) -> Result<FoundCase, A::Error> {
        #[derive(Deserialize)]
        struct Invocation {
            #[serde(default, alias = "invocationId")]
            invocation_id: String,
        }
        let (mut first, mut eval_id, mut conversation) = (None, None, None);
        while let Some(key) = map.next_key::<&'a RawValue>()? {
            first.get_or_insert(key);
            match &*name_of(key) {
                "eval_id" | "evalId" if eval_id.is_some() => {
                    return Err(Error::duplicate_field("eval_id"));
                }
                "conversation" if conversation.is_some() => {
                    return Err(Error::duplicate_field("conversation"));
                }
                "eval_id" | "evalId" => eval_id = Some(map.next_value::<String>()?),
                "conversation" => {
                    conversation = Some(map.next_value::<Option<Vec<Invocation>>>()?);
                }
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        let invocations = conversation.flatten().unwrap_or_default().into_iter();
        match (first, eval_id) {
            (Some(first), Some(eval_id)) => Ok(FoundCase {
                start: self.0[..span(self.0, first.get()).start].trim_end().len() - 1,
                eval_id,
                invocation_ids: invocations.map(|invocation| invocation.invocation_id).collect(),
            }),
            _ => Err(Error::missing_field("eval_id")),
        }
    }
}

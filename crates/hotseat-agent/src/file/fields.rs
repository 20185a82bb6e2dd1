//! A mapping of a file, read key by key.
//!
//! [`Fields::of`] refuses keys that nobody would read, so a mistyped key is an
//! error and never a setting without effect. A key whose value is empty counts
//! as missing.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Number;

use super::problem::{Problem, quoted, suggestion};
use super::yaml::{Data, Key, Node, Place};

/// Longest time that a file may ask for.
const MAX_SECONDS: f64 = 86_400.0;

/// The entries of a mapping that are not read yet.
#[derive(Debug)]
pub(crate) struct Fields {
    pub(crate) at: Place,
    entries: Vec<(Key, Node)>,
}

impl Fields {
    /// The entries of a mapping; `what` names it in messages.
    pub(crate) fn of(node: Node, what: &str, known: &[&str]) -> Result<Self, Problem> {
        let fields = Self::open(node, what)?;
        match fields.entries.iter().find(|(key, _)| !known.contains(&key.name.as_str())) {
            Some((key, _)) => Err(Problem::at(key.at, format!("unknown key `{}`", key.name))
                .hint(suggestion(&key.name, known))),
            None => Ok(fields),
        }
    }

    /// The same with any keys.
    pub(crate) fn open(node: Node, what: &str) -> Result<Self, Problem> {
        let (at, kind) = (node.at, node.kind());
        let Data::Map(entries) = node.data else {
            return Err(Problem::at(at, format!("{what} must be a mapping, not {kind}")));
        };
        Ok(Self { at, entries })
    }

    /// Whether a key is there with a value.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.entries.iter().any(|(key, node)| key.name == name && !matches!(node.data, Data::Null))
    }

    /// Where a key stands.
    pub(crate) fn place(&self, name: &str) -> Place {
        let entry = self.entries.iter().find(|(key, _)| key.name == name);
        entry.map_or(self.at, |(key, _)| key.at)
    }

    /// Takes the value of a key.
    pub(crate) fn take(&mut self, name: &str) -> Option<Node> {
        let index = self.entries.iter().position(|(key, _)| key.name == name)?;
        let (_, node) = self.entries.remove(index);
        (!matches!(node.data, Data::Null)).then_some(node)
    }

    /// Takes what is left, in order.
    pub(crate) fn rest(self) -> Vec<(Key, Node)> {
        self.entries
    }

    /// Takes a text.
    pub(crate) fn text(&mut self, name: &str) -> Result<Option<String>, Problem> {
        self.take(name).map(|node| text(node, name)).transpose()
    }

    /// Takes a text that must be there and must say something.
    pub(crate) fn required_text(&mut self, name: &str) -> Result<String, Problem> {
        let place = self.place(name);
        match self.text(name)? {
            Some(text) if !text.trim().is_empty() => Ok(text),
            Some(_) => Err(Problem::at(place, format!("`{name}` is empty"))),
            None => {
                Err(Problem::at(place, format!("`{name}` is missing"))
                    .hint(format!("add `{name}: …`")))
            }
        }
    }

    /// Takes one of several words.
    pub(crate) fn word(&mut self, name: &str, words: &[&str]) -> Result<Option<String>, Problem> {
        let Some(node) = self.take(name) else { return Ok(None) };
        let at = node.at;
        let word = text(node, name)?;
        if words.contains(&word.as_str()) {
            return Ok(Some(word));
        }
        let message = format!("`{name}` cannot be `{word}`");
        Err(Problem::at(at, message).hint(suggestion(&word, words)))
    }

    /// Takes a boolean.
    pub(crate) fn flag(&mut self, name: &str) -> Result<Option<bool>, Problem> {
        let Some(node) = self.take(name) else { return Ok(None) };
        match &node.data {
            Data::Bool(flag) => Ok(Some(*flag)),
            Data::Text(text) if text == "true" => Ok(Some(true)),
            Data::Text(text) if text == "false" => Ok(Some(false)),
            _ => Err(wrong(&node, name, "true or false")),
        }
    }

    /// Takes a number within bounds.
    pub(crate) fn number(
        &mut self,
        name: &str,
        least: f64,
        most: f64,
    ) -> Result<Option<f64>, Problem> {
        let Some(node) = self.take(name) else { return Ok(None) };
        let number = match &node.data {
            Data::Number(number) => number.as_f64(),
            // A variable makes a number a text.
            Data::Text(text) => text.trim().parse().ok(),
            _ => None,
        };
        let wanted = format!("a number from {least} to {most}");
        match number {
            Some(number) if (least..=most).contains(&number) => Ok(Some(number)),
            Some(number) => {
                Err(Problem::at(node.at, format!("`{name}` must be {wanted}, not {number}")))
            }
            None => Err(wrong(&node, name, &wanted)),
        }
    }

    /// Takes a whole number within bounds.
    pub(crate) fn count(
        &mut self,
        name: &str,
        least: u32,
        most: u32,
    ) -> Result<Option<u32>, Problem> {
        let Some(node) = self.take(name) else { return Ok(None) };
        let number = match &node.data {
            Data::Number(number) => Number::as_u64(number).and_then(|n| u32::try_from(n).ok()),
            Data::Text(text) => text.trim().parse().ok(),
            _ => None,
        };
        match number {
            Some(number) if (least..=most).contains(&number) => Ok(Some(number)),
            _ => {
                let wanted = format!("a whole number from {least} to {most}");
                Err(wrong(&node, name, &wanted))
            }
        }
    }

    /// Takes a time: seconds, or a text such as `500ms`, `30s`, `5m`.
    pub(crate) fn duration(&mut self, name: &str) -> Result<Option<Duration>, Problem> {
        let Some(node) = self.take(name) else { return Ok(None) };
        let seconds = match &node.data {
            Data::Number(number) => number.as_f64(),
            Data::Text(text) => seconds(text.trim()),
            _ => None,
        };
        match seconds {
            Some(seconds) if seconds > 0.0 && seconds <= MAX_SECONDS => {
                Ok(Some(Duration::from_secs_f64(seconds)))
            }
            _ => {
                Err(wrong(&node, name, "a time such as 30, `500ms`, `30s` or `5m`, at most a day"))
            }
        }
    }

    /// Takes a list of texts.
    pub(crate) fn texts(&mut self, name: &str) -> Result<Option<Vec<String>>, Problem> {
        let Some(node) = self.take(name) else { return Ok(None) };
        let kind = node.kind();
        let Data::List(items) = node.data else {
            let message = format!("`{name}` must be a list of texts, not {kind}");
            return Err(Problem::at(node.at, message));
        };
        items.into_iter().map(|item| text(item, name)).collect::<Result<_, _>>().map(Some)
    }

    /// Takes a mapping from names to texts.
    pub(crate) fn text_map(&mut self, name: &str) -> Result<BTreeMap<String, String>, Problem> {
        let Some(node) = self.take(name) else { return Ok(BTreeMap::new()) };
        let entries = Fields::open(node, &format!("`{name}`"))?.rest();
        entries
            .into_iter()
            .map(|(key, node)| {
                let value = text(node, &key.name)?;
                Ok((key.name, value))
            })
            .collect()
    }

    /// Refuses a mapping in which not exactly one of some keys has a value.
    pub(crate) fn exactly_one(&self, names: &[&str]) -> Result<(), Problem> {
        let given = names.iter().filter(|name| self.has(name)).count();
        if given == 1 {
            return Ok(());
        }
        let message = format!("exactly one of {} must be given, not {given}", quoted(names));
        Err(Problem::at(self.at, message))
    }
}

/// The text in a node. Numbers and booleans are texts too, as people forget
/// the quotes of `api_version: 2024`.
pub(crate) fn text(node: Node, name: &str) -> Result<String, Problem> {
    match node.data {
        Data::Text(text) => Ok(text),
        Data::Number(number) => Ok(number.to_string()),
        Data::Bool(flag) => Ok(flag.to_string()),
        Data::Null | Data::List(_) | Data::Map(_) => Err(wrong(&node, name, "a text")),
    }
}

/// The message for a value of the wrong kind.
pub(crate) fn wrong(node: &Node, name: &str, wanted: &str) -> Problem {
    let found = match &node.data {
        Data::Text(text) => format!("`{}`", text.chars().take(40).collect::<String>()),
        Data::Number(number) => number.to_string(),
        _ => node.kind().to_owned(),
    };
    Problem::at(node.at, format!("`{name}` must be {wanted}, not {found}"))
}

fn seconds(text: &str) -> Option<f64> {
    for (unit, factor) in [("ms", 0.001), ("s", 1.0), ("m", 60.0), ("h", 3600.0)] {
        if let Some(number) = text.strip_suffix(unit) {
            return number.trim().parse::<f64>().ok().map(|number| number * factor);
        }
    }
    text.parse().ok()
}

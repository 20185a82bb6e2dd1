//! Numbered and bulleted lists: what numbering says about a level, and the counting.
//!
//! Word stores no numbers, only which list and level a paragraph belongs to, so they are counted here as Word does:
//! an item restarts every level below it.

use std::collections::HashMap;

use crate::error::ExtractError;
use crate::job::Job;
use crate::xml::{Node, Xml};

/// Word's own number of list levels.
pub(crate) const MAX_LEVELS: usize = 9;

/// The lists of a document.
#[derive(Default)]
pub(crate) struct Numbering {
    levels: HashMap<(String, usize), Level>,
    lists: HashMap<String, String>,
}

#[derive(Clone, Copy)]
struct Level {
    numbered: bool,
    start: u32,
}

impl Numbering {
    pub(crate) fn read(job: &Job, text: &str) -> Result<Self, ExtractError> {
        let mut numbering = Self::default();
        let (mut template, mut list, mut level) = (String::new(), String::new(), 0);
        let mut current = Level { numbered: false, start: 1 };
        let mut xml = Xml::new(job, text);
        loop {
            match xml.next()? {
                Node::Open(tag) => match tag.name() {
                    "abstractNum" => template = tag.attribute("abstractNumId").unwrap_or_default(),
                    "num" => list = tag.attribute("numId").unwrap_or_default(),
                    "abstractNumId" => {
                        numbering
                            .lists
                            .insert(list.clone(), tag.attribute("val").unwrap_or_default());
                    }
                    // What a list changes about its template; its numbers are counted per list anyway.
                    "lvlOverride" => xml.skip()?,
                    "lvl" => {
                        level =
                            tag.attribute("ilvl").and_then(|level| level.parse().ok()).unwrap_or(0);
                        current = Level { numbered: true, start: 1 };
                    }
                    "numFmt" => {
                        current.numbered =
                            !matches!(tag.attribute("val").as_deref(), Some("bullet" | "none"));
                    }
                    "start" => {
                        current.start =
                            tag.attribute("val").and_then(|start| start.parse().ok()).unwrap_or(1);
                    }
                    _ => {}
                },
                Node::Close(tag) if tag.name() == "lvl" => {
                    numbering.levels.insert((template.clone(), level), current);
                }
                Node::Close(_) | Node::Text(_) => {}
                Node::End => return Ok(numbering),
            }
        }
    }

    fn level(&self, list: &str, level: usize) -> Option<Level> {
        let template = self.lists.get(list)?;
        self.levels.get(&(template.clone(), level)).copied()
    }
}

/// Counts items and remembers how far their levels are indented.
#[derive(Default)]
pub(crate) struct Counter {
    numbers: HashMap<(String, usize), u32>,
    widths: Vec<usize>,
}

impl Counter {
    /// Marker and indentation of the next item of `list` at `level`, from 0.
    pub(crate) fn marker(
        &mut self,
        numbering: &Numbering,
        list: &str,
        level: usize,
        numbered_by_name: bool,
    ) -> String {
        let level = level.min(MAX_LEVELS - 1);
        let kind = numbering.level(list, level).or_else(|| numbering.level(list, 0));
        let kind = kind.unwrap_or(Level { numbered: numbered_by_name, start: 1 });
        for below in level + 1..MAX_LEVELS {
            self.numbers.remove(&(list.to_owned(), below));
        }
        let marker = if kind.numbered {
            let number = self.numbers.entry((list.to_owned(), level)).or_insert(kind.start);
            let marker = format!("{number}. ");
            *number = number.saturating_add(1);
            marker
        } else {
            "- ".to_owned()
        };
        self.widths.resize(level, "- ".len());
        let indent: usize = self.widths.iter().sum();
        self.widths.push(marker.len());
        format!("{:indent$}{marker}", "")
    }

    /// Something other than a list item came between: indentation starts over, numbers go on.
    pub(crate) fn interrupt(&mut self) {
        self.widths.clear();
    }
}

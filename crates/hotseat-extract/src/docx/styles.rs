//! What a paragraph style means: a heading of some level, or a list.
//!
//! Built-in styles keep their English name in every language of Word, so names decide; a style of the user's own is
//! followed to the one it is based on.

use std::collections::HashMap;

use crate::error::ExtractError;
use crate::job::Job;
use crate::xml::{Node, Xml};

/// Styles are based on each other at most this deep; a loop ends here too.
const MAX_BASED_ON: usize = 16;
/// Markdown has this many levels of headings.
const MAX_HEADING: usize = 6;

/// The paragraph styles of a document, by id.
#[derive(Default)]
pub(crate) struct Styles(HashMap<String, Style>);

#[derive(Default, Clone)]
struct Style {
    name: String,
    based_on: Option<String>,
    outline: Option<usize>,
    list: Option<String>,
    list_level: Option<usize>,
}

/// A list a paragraph belongs to through its style.
pub(crate) struct StyleList {
    pub(crate) numbering: Option<String>,
    pub(crate) level: usize,
    /// What the name says, for documents whose numbering is missing.
    pub(crate) numbered: bool,
}

impl Styles {
    pub(crate) fn read(job: &Job, text: &str) -> Result<Self, ExtractError> {
        let mut styles = HashMap::new();
        let mut id = String::new();
        let mut style = Style::default();
        let mut xml = Xml::new(job, text);
        loop {
            match xml.next()? {
                Node::Open(tag) => match tag.name() {
                    "style" => {
                        id = tag.attribute("styleId").unwrap_or_default();
                        style = Style::default();
                    }
                    "name" => {
                        style.name = tag.attribute("val").unwrap_or_default().to_ascii_lowercase();
                    }
                    "basedOn" => style.based_on = tag.attribute("val"),
                    "outlineLvl" => {
                        style.outline = tag.attribute("val").and_then(|level| level.parse().ok());
                    }
                    "numId" => style.list = tag.attribute("val"),
                    "ilvl" => {
                        style.list_level =
                            tag.attribute("val").and_then(|level| level.parse().ok());
                    }
                    _ => {}
                },
                Node::Close(tag) if tag.name() == "style" => {
                    styles.insert(std::mem::take(&mut id), std::mem::take(&mut style));
                }
                Node::Close(_) | Node::Text(_) => {}
                Node::End => return Ok(Self(styles)),
            }
        }
    }

    /// The heading level of a style, from 1.
    pub(crate) fn heading(&self, id: &str) -> Option<usize> {
        self.chain(id)
            .find_map(|style| match style.name.strip_prefix("heading ") {
                Some(level) => level.parse().ok(),
                None if style.name == "title" => Some(1),
                // Level 9 is what the standard calls body text.
                None => style.outline.filter(|level| *level < 9).map(|level| level + 1),
            })
            .map(|level: usize| level.clamp(1, MAX_HEADING))
    }

    /// The list of a style.
    pub(crate) fn list(&self, id: &str) -> Option<StyleList> {
        let numbering = self.chain(id).find_map(|style| style.list.clone());
        let level = self.chain(id).find_map(|style| style.list_level);
        let named = self.chain(id).find_map(|style| {
            let bullets = style.name.strip_prefix("list bullet");
            let rest = bullets.or_else(|| style.name.strip_prefix("list number"))?;
            // "List Bullet 3" is the third level, though its numbering says the first.
            let level = rest.trim().parse().unwrap_or(1_usize).saturating_sub(1);
            Some((level, bullets.is_none()))
        });
        match (numbering, named) {
            (None, None) => None,
            (numbering, named) => Some(StyleList {
                numbering,
                level: named.map_or_else(
                    || level.unwrap_or(0),
                    |(named_level, _)| named_level.max(level.unwrap_or(0)),
                ),
                numbered: named.is_some_and(|(_, numbered)| numbered),
            }),
        }
    }

    fn chain(&self, id: &str) -> impl Iterator<Item = &Style> {
        let first = self.0.get(id);
        std::iter::successors(first, |style| {
            style.based_on.as_ref().and_then(|base| self.0.get(base))
        })
        .take(MAX_BASED_ON)
    }
}

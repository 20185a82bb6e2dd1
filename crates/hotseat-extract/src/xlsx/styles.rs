//! Which number format a cell's style has.

use std::collections::HashMap;

use crate::error::ExtractError;
use crate::job::Job;
use crate::xlsx::number::NumberFormat;
use crate::xml::{Node, Xml};

/// The number format of every cell style, by index.
#[derive(Default)]
pub(crate) struct Styles(Vec<NumberFormat>);

impl Styles {
    pub(crate) fn read(job: &Job, text: &str) -> Result<Self, ExtractError> {
        let mut own: HashMap<u32, NumberFormat> = HashMap::new();
        let mut formats = Vec::new();
        let mut in_cells = false;
        let mut xml = Xml::new(job, text);
        loop {
            match xml.next()? {
                Node::Open(tag) => match tag.name() {
                    // Conditional formats come with number formats of their own.
                    "dxfs" => xml.skip()?,
                    "numFmt" => {
                        let id =
                            tag.attribute("numFmtId").and_then(|id| id.parse().ok()).unwrap_or(0);
                        own.insert(
                            id,
                            NumberFormat::parse(&tag.attribute("formatCode").unwrap_or_default()),
                        );
                    }
                    "cellXfs" => in_cells = true,
                    "xf" if in_cells => {
                        let id =
                            tag.attribute("numFmtId").and_then(|id| id.parse().ok()).unwrap_or(0);
                        formats.push(
                            own.get(&id).cloned().unwrap_or_else(|| NumberFormat::built_in(id)),
                        );
                    }
                    _ => {}
                },
                Node::Close(tag) if tag.name() == "cellXfs" => in_cells = false,
                Node::Close(_) | Node::Text(_) => {}
                Node::End => return Ok(Self(formats)),
            }
        }
    }

    pub(crate) fn format(&self, style: usize) -> &NumberFormat {
        self.0.get(style).unwrap_or(&NumberFormat::General)
    }
}

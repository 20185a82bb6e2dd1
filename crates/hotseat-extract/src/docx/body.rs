//! The walk over a Word document's body, and over its notes.
//!
//! Paragraphs can hold text boxes with paragraphs of their own and cells can hold tables, so both are kept on stacks
//! instead of the program's own: how deep a document nests costs memory, never the stack.

use crate::docx::lists::{Counter, Numbering};
use crate::docx::styles::Styles;
use crate::error::ExtractError;
use crate::inline::{Inline, Look};
use crate::job::Job;
use crate::package::Relationships;
use crate::xml::{Node, Tag, Xml};

/// Wider tables are cut; a span may claim any number of columns.
const MAX_COLUMNS: usize = 1024;

/// A piece of the document, in order.
pub(crate) enum Block {
    /// A paragraph or heading.
    Text(String),
    /// A list item with its marker.
    Item(String),
    /// Rows of cells; the first is the header.
    Table(Vec<Vec<String>>),
}

/// Turns the XML of a body into blocks.
pub(crate) struct Walker<'a> {
    /// The document, in order.
    pub(crate) blocks: Vec<Block>,
    /// Text of footnotes and endnotes by their mark, when the part holds them.
    pub(crate) notes: Vec<(String, String)>,
    /// Marks of the notes referred to, in order.
    pub(crate) marks: Vec<String>,
    styles: &'a Styles,
    numbering: &'a Numbering,
    links: &'a Relationships,
    counter: Counter,
    paragraphs: Vec<Paragraph>,
    tables: Vec<Table>,
    look: Look,
    in_run: bool,
    in_text: bool,
    note: String,
}

#[derive(Default)]
struct Paragraph {
    style: String,
    list: Option<String>,
    level: Option<usize>,
    text: Inline,
}

#[derive(Default)]
struct Table {
    rows: Vec<Vec<String>>,
    row: Vec<String>,
    cell: Vec<String>,
    span: usize,
}

impl<'a> Walker<'a> {
    pub(crate) fn new(
        styles: &'a Styles,
        numbering: &'a Numbering,
        links: &'a Relationships,
    ) -> Self {
        Self {
            blocks: Vec::new(),
            notes: Vec::new(),
            marks: Vec::new(),
            styles,
            numbering,
            links,
            counter: Counter::default(),
            paragraphs: Vec::new(),
            tables: Vec::new(),
            look: Look::default(),
            in_run: false,
            in_text: false,
            note: String::new(),
        }
    }

    pub(crate) fn walk(&mut self, job: &Job, text: &str) -> Result<(), ExtractError> {
        let mut xml = Xml::new(job, text);
        loop {
            match xml.next()? {
                Node::Open(tag) => match tag.name() {
                    // Deleted or moved text, earlier properties, and the second copy of a drawing.
                    "del" | "moveFrom" | "pPrChange" | "rPrChange" | "Fallback" => xml.skip()?,
                    name => self.open(name, &tag),
                },
                Node::Close(tag) => self.close(tag.name()),
                Node::Text(text) if self.in_text => self.push(&text),
                Node::Text(_) => {}
                Node::End => return Ok(()),
            }
        }
    }

    fn open(&mut self, name: &str, tag: &Tag<'_>) {
        match name {
            "p" => self.paragraphs.push(Paragraph::default()),
            "r" => {
                self.in_run = true;
                self.look = Look { link: self.look.link.take(), ..Look::default() };
            }
            "t" => self.in_text = true,
            "b" if self.in_run => self.look.bold = tag.is_on(),
            "i" if self.in_run => self.look.italic = tag.is_on(),
            "tab" if self.in_run => self.push(" "),
            "br" | "cr" if self.in_run => self.push("\n"),
            "noBreakHyphen" => self.push("-"),
            "hyperlink" => {
                self.look.link =
                    tag.relationship().and_then(|id| self.links.target(&id)).map(str::to_owned);
            }
            "docPr" => {
                if let Some(description) =
                    tag.attribute("descr").filter(|description| !description.trim().is_empty())
                {
                    self.push(&format!("[image: {}]", description.trim()));
                }
            }
            "footnoteReference" => self.mark("", tag),
            "endnoteReference" => self.mark("e", tag),
            "footnote" => self.note = tag.attribute("id").unwrap_or_default(),
            "endnote" => self.note = format!("e{}", tag.attribute("id").unwrap_or_default()),
            "tbl" => self.tables.push(Table::default()),
            _ => self.property(name, tag),
        }
    }

    /// Properties of the innermost paragraph or cell.
    fn property(&mut self, name: &str, tag: &Tag<'_>) {
        if let Some(paragraph) = self.paragraphs.last_mut() {
            match name {
                "pStyle" => paragraph.style = tag.attribute("val").unwrap_or_default(),
                "numId" => paragraph.list = tag.attribute("val"),
                "ilvl" => {
                    paragraph.level = tag.attribute("val").and_then(|level| level.parse().ok());
                }
                _ => {}
            }
        }
        if let Some(table) = self.tables.last_mut() {
            match name {
                "tc" => table.span = 1,
                "gridSpan" => {
                    let span =
                        tag.attribute("val").and_then(|span| span.parse().ok()).unwrap_or(1_usize);
                    table.span = span.clamp(1, MAX_COLUMNS);
                }
                _ => {}
            }
        }
    }

    fn close(&mut self, name: &str) {
        match name {
            "p" => self.end_paragraph(),
            "r" => self.in_run = false,
            "t" => self.in_text = false,
            "hyperlink" => self.look.link = None,
            "tc" | "tr" | "tbl" => self.end_of_table(name),
            "footnote" | "endnote" => {
                let texts = self.blocks.drain(..).map(|block| match block {
                    Block::Text(text) | Block::Item(text) => text,
                    Block::Table(rows) => flat(rows),
                });
                let text = texts.collect::<Vec<_>>().join(" ");
                self.notes.push((std::mem::take(&mut self.note), text.trim().to_owned()));
            }
            _ => {}
        }
    }

    fn push(&mut self, text: &str) {
        if let Some(paragraph) = self.paragraphs.last_mut() {
            paragraph.text.push(&self.look, text);
        }
    }

    fn mark(&mut self, prefix: &str, tag: &Tag<'_>) {
        let mark = format!("{prefix}{}", tag.attribute("id").unwrap_or_default());
        self.push(&format!("[^{mark}]"));
        self.marks.push(mark);
    }

    fn end_paragraph(&mut self) {
        let Some(paragraph) = self.paragraphs.pop() else { return };
        if let Some(table) = self.tables.last_mut() {
            let text = paragraph.text.markdown();
            if !text.is_empty() {
                table.cell.push(text);
            }
            return;
        }
        if paragraph.text.plain().is_empty() {
            return;
        }
        if let Some(level) = self.styles.heading(&paragraph.style) {
            self.counter.interrupt();
            self.blocks.push(Block::Text(format!(
                "{} {}",
                "#".repeat(level),
                paragraph.text.plain()
            )));
            return;
        }
        let by_style = self.styles.list(&paragraph.style);
        let list =
            paragraph.list.or_else(|| by_style.as_ref().and_then(|list| list.numbering.clone()));
        let style_level = by_style.as_ref().map_or(0, |list| list.level);
        // List 0 is how a paragraph leaves the list of its style.
        if list.as_deref() == Some("0") || (list.is_none() && by_style.is_none()) {
            self.counter.interrupt();
            self.blocks.push(Block::Text(paragraph.text.markdown()));
            return;
        }
        let numbered = by_style.is_some_and(|list| list.numbered);
        let level = paragraph.level.unwrap_or(style_level);
        let marker =
            self.counter.marker(self.numbering, &list.unwrap_or_default(), level, numbered);
        let hanging = format!("\n{:width$}", "", width = marker.len());
        self.blocks.push(Block::Item(format!(
            "{marker}{}",
            paragraph.text.markdown().replace('\n', &hanging)
        )));
    }

    fn end_of_table(&mut self, name: &str) {
        let Some(table) = self.tables.last_mut() else { return };
        match name {
            "tc" => {
                let text = std::mem::take(&mut table.cell).join("\n");
                let free = MAX_COLUMNS.saturating_sub(table.row.len());
                table.row.extend(
                    std::iter::once(text)
                        .chain(std::iter::repeat_n(String::new(), table.span.max(1) - 1))
                        .take(free),
                );
            }
            "tr" => {
                let row = std::mem::take(&mut table.row);
                table.rows.push(row);
            }
            _ => {
                let Some(table) = self.tables.pop() else { return };
                if let Some(outer) = self.tables.last_mut() {
                    outer.cell.push(flat(table.rows));
                } else {
                    self.counter.interrupt();
                    self.blocks.push(Block::Table(table.rows));
                }
            }
        }
    }
}

/// A table where no table can be: rows on lines, cells after commas.
fn flat(rows: Vec<Vec<String>>) -> String {
    rows.into_iter().map(|row| row.join(", ")).collect::<Vec<_>>().join("\n")
}

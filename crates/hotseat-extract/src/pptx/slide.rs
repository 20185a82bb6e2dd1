//! One slide, or the notes of one.
//!
//! A shape's placeholder decides what its paragraphs are: the title names the slide, a body is a list, dates,
//! footers and slide numbers are dropped, and everything else is text unless a paragraph has a bullet of its own.

use crate::error::ExtractError;
use crate::inline::{Inline, Look};
use crate::job::Job;
use crate::package::Relationships;
use crate::xml::{Node, Tag, Xml};

/// PowerPoint's own number of list levels.
const MAX_LEVELS: usize = 9;

/// A piece of a slide, in order.
pub(crate) enum Block {
    /// A paragraph.
    Text(String),
    /// A list item.
    Item {
        /// Spaces before the marker.
        indent: usize,
        /// `- ` or a number.
        marker: String,
        /// Without the marker.
        text: String,
    },
    /// Rows of cells; the first is the header.
    Table(Vec<Vec<String>>),
}

/// What a slide says.
#[derive(Default)]
pub(crate) struct Slide {
    /// On one line; empty if it has none.
    pub(crate) title: String,
    pub(crate) blocks: Vec<Block>,
}

#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum Role {
    Title,
    Body,
    Dropped,
    #[default]
    Free,
}

#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum Bullet {
    #[default]
    Inherited,
    None,
    Dash,
    Number,
}

#[derive(Default)]
struct Paragraph {
    level: usize,
    bullet: Bullet,
    text: Inline,
}

struct Walker<'a> {
    slide: Slide,
    links: &'a Relationships,
    role: Role,
    in_picture: bool,
    in_text: bool,
    paragraph: Option<Paragraph>,
    look: Look,
    numbers: [u32; MAX_LEVELS],
    /// How far the items of each level indent those below.
    widths: [usize; MAX_LEVELS],
    table: Option<Vec<Vec<String>>>,
    cell: Option<Vec<String>>,
}

impl Slide {
    pub(crate) fn read(job: &Job, text: &str, links: &Relationships) -> Result<Self, ExtractError> {
        let mut walker = Walker {
            slide: Self::default(),
            links,
            role: Role::Free,
            in_picture: false,
            in_text: false,
            paragraph: None,
            look: Look::default(),
            numbers: [0; MAX_LEVELS],
            widths: ["- ".len(); MAX_LEVELS],
            table: None,
            cell: None,
        };
        let mut xml = Xml::new(job, text);
        loop {
            match xml.next()? {
                Node::Open(tag) if tag.name() == "Fallback" => xml.skip()?,
                Node::Open(tag) => walker.open(&tag),
                Node::Close(tag) => walker.close(tag.name()),
                Node::Text(text) if walker.in_text => walker.push(&text),
                Node::Text(_) => {}
                Node::End => return Ok(walker.slide),
            }
        }
    }
}

impl Walker<'_> {
    fn open(&mut self, tag: &Tag<'_>) {
        match tag.name() {
            "sp" => {
                self.role = Role::Free;
                self.numbers = [0; MAX_LEVELS];
                self.widths = ["- ".len(); MAX_LEVELS];
            }
            "pic" => self.in_picture = true,
            "cNvPr" if self.in_picture => {
                if let Some(description) =
                    tag.attribute("descr").filter(|description| !description.trim().is_empty())
                {
                    self.slide.blocks.push(Block::Text(format!("[image: {}]", description.trim())));
                }
            }
            "ph" => self.role = role(tag.attribute("type").as_deref()),
            "tbl" => self.table = Some(Vec::new()),
            "tr" => {
                if let Some(rows) = &mut self.table {
                    rows.push(Vec::new());
                }
            }
            "tc" => self.cell = Some(Vec::new()),
            "p" => self.paragraph = Some(Paragraph::default()),
            "r" | "fld" => self.look = Look::default(),
            "rPr" => {
                self.look.bold = tag.attribute("b").is_some_and(|on| on == "1" || on == "true");
                self.look.italic = tag.attribute("i").is_some_and(|on| on == "1" || on == "true");
            }
            "hlinkClick" => {
                self.look.link =
                    tag.relationship().and_then(|id| self.links.target(&id)).map(str::to_owned);
            }
            "t" => self.in_text = true,
            "br" => self.push("\n"),
            _ => self.property(tag),
        }
    }

    fn property(&mut self, tag: &Tag<'_>) {
        let Some(paragraph) = &mut self.paragraph else { return };
        match tag.name() {
            "pPr" => {
                let level =
                    tag.attribute("lvl").and_then(|level| level.parse().ok()).unwrap_or(0_usize);
                paragraph.level = level.min(MAX_LEVELS - 1);
            }
            "buNone" => paragraph.bullet = Bullet::None,
            "buChar" | "buBlip" => paragraph.bullet = Bullet::Dash,
            "buAutoNum" => paragraph.bullet = Bullet::Number,
            _ => {}
        }
    }

    fn close(&mut self, name: &str) {
        match name {
            "sp" => self.role = Role::Free,
            "pic" => self.in_picture = false,
            "t" => self.in_text = false,
            "p" => self.end_paragraph(),
            "tc" => {
                let cell = self.cell.take().unwrap_or_default();
                // Cells that are covered by a merged one are there, and empty, so columns stay in line.
                if let Some(row) = self.table.as_mut().and_then(|rows| rows.last_mut()) {
                    row.push(cell.join("\n"));
                }
            }
            "tbl" => {
                if let Some(rows) = self.table.take() {
                    self.slide.blocks.push(Block::Table(rows));
                }
            }
            _ => {}
        }
    }

    fn push(&mut self, text: &str) {
        if let Some(paragraph) = &mut self.paragraph {
            paragraph.text.push(&self.look, text);
        }
    }

    fn end_paragraph(&mut self) {
        let Some(paragraph) = self.paragraph.take() else { return };
        let plain = paragraph.text.plain();
        if plain.is_empty() {
            return;
        }
        if let Some(cell) = &mut self.cell {
            cell.push(paragraph.text.markdown());
            return;
        }
        match self.role {
            Role::Title => {
                if !self.slide.title.is_empty() {
                    self.slide.title.push(' ');
                }
                self.slide.title.push_str(&plain);
            }
            Role::Dropped => {}
            Role::Body | Role::Free => {
                let block = self.block(&paragraph);
                self.slide.blocks.push(block);
            }
        }
    }

    fn block(&mut self, paragraph: &Paragraph) -> Block {
        let level = paragraph.level;
        let text = paragraph.text.markdown();
        let bullet = match (paragraph.bullet, self.role) {
            (Bullet::Inherited, Role::Body) => Bullet::Dash,
            (Bullet::Inherited, _) => Bullet::None,
            (bullet, _) => bullet,
        };
        self.numbers[level + 1..].fill(0);
        let marker = match bullet {
            Bullet::Inherited | Bullet::None => return Block::Text(text),
            Bullet::Dash => "- ".to_owned(),
            Bullet::Number => {
                self.numbers[level] = self.numbers[level].saturating_add(1);
                format!("{}. ", self.numbers[level])
            }
        };
        self.widths[level] = marker.len();
        Block::Item { indent: self.widths[..level].iter().sum(), marker, text }
    }
}

fn role(placeholder: Option<&str>) -> Role {
    match placeholder {
        Some("title" | "ctrTitle") => Role::Title,
        None | Some("body" | "obj") => Role::Body,
        Some("dt" | "ftr" | "hdr" | "sldNum" | "sldImg") => Role::Dropped,
        Some(_) => Role::Free,
    }
}

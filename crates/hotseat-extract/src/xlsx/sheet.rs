//! The cells of one sheet.
//!
//! A cell keeps a reference to its shared text rather than a copy: a small file can refer to one long text from
//! millions of cells, and only what fits into the output is ever copied.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::error::ExtractError;
use crate::job::Job;
use crate::output::Output;
use crate::xlsx::Book;
use crate::xlsx::cells::{CellRange, address};
use crate::xml::{Node, Tag, Xml};

/// The rows that hold something, each with its cells by column.
#[derive(Default)]
pub(crate) struct Sheet {
    rows: Vec<Vec<(u32, Value)>>,
    columns: BTreeSet<u32>,
}

enum Value {
    Shared(usize),
    Text(String),
    Number { value: f64, style: usize },
}

/// The cell being read.
#[derive(Default)]
struct Cell {
    row: u32,
    column: u32,
    kind: String,
    style: usize,
    value: String,
    formula: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Inside {
    Nothing,
    Value,
    Formula,
}

impl Sheet {
    pub(crate) fn read(job: &Job, text: &str, range: CellRange) -> Result<Self, ExtractError> {
        let mut sheet = Self::default();
        let mut row = Vec::new();
        let mut next = (0_u32, 0_u32);
        let mut cell = Cell::default();
        let mut inside = Inside::Nothing;
        let mut xml = Xml::new(job, text);
        loop {
            match xml.next()? {
                Node::Open(tag) => match tag.name() {
                    "row" => {
                        let number = tag.attribute("r").and_then(|number| number.parse().ok());
                        next = (number.map_or(next.0, |number: u32| number.saturating_sub(1)), 0);
                    }
                    "c" => {
                        cell = Cell::open(&tag, next);
                        next.1 = cell.column.saturating_add(1);
                    }
                    "v" | "t" => inside = Inside::Value,
                    "f" => inside = Inside::Formula,
                    "rPh" => xml.skip()?,
                    _ => {}
                },
                Node::Close(tag) => match tag.name() {
                    "c" if range.contains(cell.row, cell.column) => {
                        let column = cell.column;
                        if let Some(value) = std::mem::take(&mut cell).value() {
                            sheet.columns.insert(column);
                            row.push((column, value));
                        }
                    }
                    "v" | "t" | "f" => inside = Inside::Nothing,
                    "row" => {
                        if !row.is_empty() {
                            // They come in order from every program known, but nothing says they must.
                            row.sort_by_key(|(column, _)| *column);
                            sheet.rows.push(std::mem::take(&mut row));
                        }
                        next = (next.0.saturating_add(1), 0);
                    }
                    "sheetData" => return Ok(sheet),
                    _ => {}
                },
                Node::Text(text) => match inside {
                    Inside::Value => cell.value.push_str(&text),
                    Inside::Formula => cell.formula.push_str(&text),
                    Inside::Nothing => {}
                },
                Node::End => return Ok(sheet),
            }
        }
    }

    pub(crate) fn write(
        &self,
        job: &Job,
        book: &Book,
        out: &mut Output,
    ) -> Result<(), ExtractError> {
        let rows = self.rows.iter().map(|row| {
            let mut cells = row.iter().peekable();
            self.columns.iter().map(move |column| {
                while cells.next_if(|(at, _)| at < column).is_some() {}
                cells
                    .next_if(|(at, _)| at == column)
                    .map_or(Cow::Borrowed(""), |(_, value)| value.show(book))
            })
        });
        out.table(job, self.columns.len(), rows)
    }
}

impl Cell {
    fn open(tag: &Tag<'_>, next: (u32, u32)) -> Self {
        let (row, column) = tag.attribute("r").and_then(|place| address(&place)).unwrap_or(next);
        Self {
            row,
            column,
            kind: tag.attribute("t").unwrap_or_default(),
            style: tag.attribute("s").and_then(|style| style.parse().ok()).unwrap_or(0),
            ..Self::default()
        }
    }

    fn value(self) -> Option<Value> {
        if self.value.is_empty() {
            // A formula that no program has computed yet.
            return (!self.formula.is_empty()).then(|| Value::Text(format!("={}", self.formula)));
        }
        Some(match self.kind.as_str() {
            "s" => Value::Shared(self.value.trim().parse().ok()?),
            "b" => Value::Text(if self.value.trim() == "1" { "TRUE" } else { "FALSE" }.to_owned()),
            "" | "n" => match self.value.trim().parse() {
                Ok(value) => Value::Number { value, style: self.style },
                Err(_) => Value::Text(self.value),
            },
            _ => Value::Text(self.value),
        })
    }
}

impl Value {
    fn show<'a>(&'a self, book: &'a Book) -> Cow<'a, str> {
        match self {
            Self::Shared(index) => {
                Cow::Borrowed(book.strings.get(*index).map_or("", String::as_str))
            }
            Self::Text(text) => Cow::Borrowed(text),
            Self::Number { value, style } => {
                Cow::Owned(book.styles.format(*style).show(*value, book.epoch_1904))
            }
        }
    }
}

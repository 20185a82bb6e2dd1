//! Excel workbooks.
//!
//! Every sheet becomes `## name` and one Markdown table of the cells that hold something; rows and columns that are
//! empty throughout are dropped, so a lone cell far away costs nothing. Values look as a person reads them in the
//! sheet: dates, percentages, currencies and decimals by the cell's number format, formulas by their last result.

mod cells;
mod dates;
mod number;
mod sheet;
mod styles;

use crate::error::ExtractError;
use crate::job::Job;
use crate::output::Output;
use crate::package::Package;
use crate::xlsx::cells::CellRange;
use crate::xlsx::sheet::Sheet;
use crate::xlsx::styles::Styles;
use crate::xml::{Node, Xml};

/// What sheets refer to.
pub(crate) struct Book {
    pub(crate) strings: Vec<String>,
    pub(crate) styles: Styles,
    pub(crate) epoch_1904: bool,
}

/// Sheet names and relationship ids in order, and whether dates count from 1904.
struct Contents {
    sheets: Vec<(String, String)>,
    epoch_1904: bool,
}

pub(crate) fn read(job: &mut Job, bytes: &[u8], out: &mut Output) -> Result<(), ExtractError> {
    let range = match &job.options.cells {
        None => CellRange::ALL,
        Some(cells) => CellRange::parse(cells).ok_or_else(|| ExtractError::CellsInvalid {
            name: job.name.clone(),
            cells: cells.clone(),
        })?,
    };
    let mut package = Package::open(job, bytes)?;
    let main = package.main_part(job)?;
    let links = package.relationships(job, &main)?;
    let text = package.part(job, &main)?;
    let contents = contents(job, &text)?;
    let sheets = selected(job, contents.sheets)?;
    let strings = match links.first("sharedStrings") {
        Some(name) => match package.optional_part(job, name)? {
            Some(text) => shared_strings(job, &text)?,
            None => Vec::new(),
        },
        None => Vec::new(),
    };
    let styles = match links.first("styles") {
        Some(name) => match package.optional_part(job, name)? {
            Some(text) => Styles::read(job, &text)?,
            None => Styles::default(),
        },
        None => Styles::default(),
    };
    let book = Book { strings, styles, epoch_1904: contents.epoch_1904 };
    for (name, id) in sheets {
        if out.is_full() {
            break;
        }
        let part = links
            .target(&id)
            .ok_or_else(|| job.corrupt(format!("it names no part for sheet {name}")))?;
        // Sheets that hold only a chart have no cells.
        if part.contains("/chartsheets/") {
            continue;
        }
        let text = package.part(job, part)?;
        let sheet = Sheet::read(job, &text, range)?;
        out.block(&format!("## {name}"));
        sheet.write(job, &book, out)?;
    }
    Ok(())
}

/// The sheets asked for, all of them by default; one that does not exist is an error.
fn selected(
    job: &Job,
    sheets: Vec<(String, String)>,
) -> Result<Vec<(String, String)>, ExtractError> {
    let Some(asked) = &job.options.sheets else { return Ok(sheets) };
    if let Some(unknown) = asked.iter().find(|asked| !sheets.iter().any(|(name, _)| name == *asked))
    {
        return Err(ExtractError::SheetUnknown {
            name: job.name.clone(),
            sheet: unknown.clone(),
            known: sheets.into_iter().map(|(name, _)| name).collect(),
        });
    }
    Ok(sheets.into_iter().filter(|(name, _)| asked.contains(name)).collect())
}

fn contents(job: &Job, text: &str) -> Result<Contents, ExtractError> {
    let mut contents = Contents { sheets: Vec::new(), epoch_1904: false };
    let mut xml = Xml::new(job, text);
    loop {
        match xml.next()? {
            Node::Open(tag) => match tag.name() {
                "sheet" => {
                    contents.sheets.push((
                        tag.attribute("name").unwrap_or_default(),
                        tag.relationship().unwrap_or_default(),
                    ));
                }
                "workbookPr" => {
                    let flag = tag.attribute("date1904");
                    contents.epoch_1904 = flag.is_some_and(|flag| flag == "1" || flag == "true");
                }
                _ => {}
            },
            Node::Close(_) | Node::Text(_) => {}
            Node::End => return Ok(contents),
        }
    }
}

fn shared_strings(job: &Job, text: &str) -> Result<Vec<String>, ExtractError> {
    let mut strings = Vec::new();
    let mut current = String::new();
    let mut in_text = false;
    let mut xml = Xml::new(job, text);
    loop {
        match xml.next()? {
            Node::Open(tag) => match tag.name() {
                // How to pronounce the text, not the text.
                "rPh" => xml.skip()?,
                "t" => in_text = true,
                _ => {}
            },
            Node::Close(tag) => match tag.name() {
                "t" => in_text = false,
                "si" => strings.push(std::mem::take(&mut current)),
                _ => {}
            },
            Node::Text(text) if in_text => current.push_str(&text),
            Node::Text(_) => {}
            Node::End => return Ok(strings),
        }
    }
}

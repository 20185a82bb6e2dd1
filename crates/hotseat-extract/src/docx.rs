//! Word documents.
//!
//! The body is walked once, in order, by [`body::Walker`]; styles say what is a heading and numbering says what is a
//! list. Headers, footers, comments and deleted text are left out: they are not what the document says.

mod body;
mod lists;
mod styles;

use std::collections::HashMap;

use crate::docx::body::{Block, Walker};
use crate::docx::lists::Numbering;
use crate::docx::styles::Styles;
use crate::error::ExtractError;
use crate::job::Job;
use crate::output::Output;
use crate::package::{Package, Relationships};

pub(crate) fn read(job: &mut Job, bytes: &[u8], out: &mut Output) -> Result<(), ExtractError> {
    let mut package = Package::open(job, bytes)?;
    let main = package.main_part(job)?;
    let links = package.relationships(job, &main)?;
    let styles = match part(&mut package, job, &links, "styles")? {
        Some((_, text)) => Styles::read(job, &text)?,
        None => Styles::default(),
    };
    let numbering = match part(&mut package, job, &links, "numbering")? {
        Some((_, text)) => Numbering::read(job, &text)?,
        None => Numbering::default(),
    };
    let mut notes = HashMap::new();
    for kind in ["footnotes", "endnotes"] {
        if let Some((name, text)) = part(&mut package, job, &links, kind)? {
            let note_links = package.relationships(job, &name)?;
            let mut walker = Walker::new(&styles, &numbering, &note_links);
            walker.walk(job, &text)?;
            notes.extend(walker.notes);
        }
    }
    let text = package.part(job, &main)?;
    let mut walker = Walker::new(&styles, &numbering, &links);
    walker.walk(job, &text)?;
    for block in walker.blocks {
        if out.is_full() {
            return Ok(());
        }
        write(job, block, out)?;
    }
    for mark in walker.marks {
        if let Some(note) = notes.get(&mark) {
            out.block(&format!("[^{mark}]: {note}"));
        }
    }
    Ok(())
}

fn write(job: &Job, block: Block, out: &mut Output) -> Result<(), ExtractError> {
    match block {
        Block::Text(text) => out.block(&text),
        Block::Item(text) => out.item(&text),
        Block::Table(rows) => {
            let width = rows.iter().map(Vec::len).max().unwrap_or(0);
            out.table(job, width, &rows)?;
        }
    }
    Ok(())
}

fn part(
    package: &mut Package<'_>,
    job: &mut Job,
    links: &Relationships,
    kind: &str,
) -> Result<Option<(String, String)>, ExtractError> {
    let Some(name) = links.first(kind) else { return Ok(None) };
    Ok(package.optional_part(job, name)?.map(|text| (name.to_owned(), text)))
}

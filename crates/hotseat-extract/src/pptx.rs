//! PowerPoint presentations.
//!
//! Slides come in the order of the show, each under `## Slide N: title`, with its speaker notes after it. Shapes keep
//! the order of the file, except that the title goes first.

mod slide;

use crate::error::ExtractError;
use crate::job::Job;
use crate::output::Output;
use crate::package::Package;
use crate::pptx::slide::{Block, Slide};
use crate::xml::{Node, Xml};

/// Writes the slides and answers with their number.
pub(crate) fn read(job: &mut Job, bytes: &[u8], out: &mut Output) -> Result<usize, ExtractError> {
    let mut package = Package::open(job, bytes)?;
    let main = package.main_part(job)?;
    let links = package.relationships(job, &main)?;
    let text = package.part(job, &main)?;
    let ids = slide_ids(job, &text)?;
    for number in job.pages_to_read(ids.len())? {
        if out.is_full() {
            break;
        }
        let id = &ids[number - 1];
        let name = links
            .target(id)
            .ok_or_else(|| job.corrupt(format!("it names no part for slide {number}")))?;
        read_slide(job, &mut package, number, name, out)?;
    }
    Ok(ids.len())
}

fn read_slide(
    job: &mut Job,
    package: &mut Package<'_>,
    number: usize,
    name: &str,
    out: &mut Output,
) -> Result<(), ExtractError> {
    let links = package.relationships(job, name)?;
    let text = package.part(job, name)?;
    let slide = Slide::read(job, &text, &links)?;
    match slide.title.as_str() {
        "" => out.block(&format!("## Slide {number}")),
        title => out.block(&format!("## Slide {number}: {title}")),
    }
    for block in &slide.blocks {
        write(job, block, out)?;
    }
    let Some(notes) = links.first("notesSlide") else { return Ok(()) };
    let notes_links = package.relationships(job, notes)?;
    let Some(text) = package.optional_part(job, notes)? else { return Ok(()) };
    let notes = Slide::read(job, &text, &notes_links)?;
    if !notes.blocks.is_empty() {
        out.block("### Notes");
    }
    for block in &notes.blocks {
        match block {
            // Notes are prose, though they sit in a placeholder for lists.
            Block::Item { text, .. } => out.block(text),
            Block::Text(_) | Block::Table(_) => write(job, block, out)?,
        }
    }
    Ok(())
}

fn write(job: &Job, block: &Block, out: &mut Output) -> Result<(), ExtractError> {
    match block {
        Block::Text(text) => out.block(text),
        Block::Item { indent, marker, text } => {
            let hanging = format!("\n{:width$}", "", width = indent + marker.len());
            out.item(&format!("{:indent$}{marker}{}", "", text.replace('\n', &hanging)));
        }
        Block::Table(rows) => {
            let width = rows.iter().map(Vec::len).max().unwrap_or(0);
            out.table(job, width, rows)?;
        }
    }
    Ok(())
}

fn slide_ids(job: &Job, text: &str) -> Result<Vec<String>, ExtractError> {
    let mut ids = Vec::new();
    let mut xml = Xml::new(job, text);
    loop {
        match xml.next()? {
            Node::Open(tag) if tag.name() == "sldId" => ids.extend(tag.relationship()),
            Node::Open(_) | Node::Close(_) | Node::Text(_) => {}
            Node::End => return Ok(ids),
        }
    }
}

//! PDFs: the text layer by pdf-inspector, pages without one by OCR.
//!
//! The library bounds what it expands and how deep it follows, and cannot be interrupted; the time limit around it is
//! the one of [`crate::extract()`]. OCR stops early enough to hand over what has been read so far.

use std::sync::Arc;
use std::time::Duration;

use pdf_inspector::{PageMarkdown, PdfError};

use crate::error::ExtractError;
use crate::job::Job;
use crate::ocr::{self, MissingProgram, Reading};
use crate::output::Output;

/// The part of the time, one in so many, that OCR leaves for handing over.
const TIME_KEPT: u32 = 10;

/// What OCR did to the pages that needed it, in ascending order.
#[derive(Default)]
struct Outcome {
    read: Vec<usize>,
    over_limit: Vec<usize>,
    late: Vec<usize>,
    unread: Vec<usize>,
    failed: Vec<usize>,
    missing: Option<MissingProgram>,
}

/// Writes the pages and answers with their number.
pub(crate) fn read(
    job: &mut Job,
    bytes: &Arc<[u8]>,
    out: &mut Output,
) -> Result<usize, ExtractError> {
    let found = pdf_inspector::detect_pdf_mem(bytes).map_err(|error| refused(job, &error))?;
    let count = usize::try_from(found.page_count).unwrap_or(usize::MAX);
    if count == 0 {
        return Err(job.corrupt("it has no pages"));
    }
    let wanted = job.pages_to_read(count)?;
    job.check_time()?;
    let wanted: Vec<u32> =
        wanted.into_iter().filter_map(|page| u32::try_from(page - 1).ok()).collect();
    let pages = pdf_inspector::extract_pages_markdown_mem(bytes, Some(&wanted))
        .map_err(|error| refused(job, &error))?
        .pages;
    let (texts, outcome) = read_scans(job, bytes, pages);
    if let Some(missing) = &outcome.missing
        && texts.iter().all(String::is_empty)
    {
        let MissingProgram { program, package } = missing.clone();
        return Err(ExtractError::OcrMissing { name: job.name.clone(), program, package });
    }
    note(job, &outcome);
    for text in &texts {
        out.block(text);
    }
    Ok(count)
}

/// The text of every page: its own, or what OCR saw if that is better.
fn read_scans(job: &Job, bytes: &Arc<[u8]>, pages: Vec<PageMarkdown>) -> (Vec<String>, Outcome) {
    let mut outcome = Outcome::default();
    let mut tried = 0;
    let kept = job.options.limits.time / TIME_KEPT;
    let mut texts = Vec::with_capacity(pages.len());
    for page in pages {
        let number = page.page as usize + 1;
        let own = bullets(page.markdown.trim());
        if !page.needs_ocr {
            texts.push(own);
            continue;
        }
        let time = job.time_left().saturating_sub(kept);
        if outcome.missing.is_some() {
            outcome.unread.push(number);
        } else if tried == job.options.limits.ocr_pages {
            outcome.over_limit.push(number);
        } else if time.is_zero() || !outcome.late.is_empty() {
            outcome.late.push(number);
        } else {
            tried += 1;
            if let Some(text) = read_scan(job, bytes, number, time, &mut outcome) {
                texts.push(text);
                continue;
            }
        }
        texts.push(own);
    }
    (texts, outcome)
}

fn read_scan(
    job: &Job,
    bytes: &Arc<[u8]>,
    number: usize,
    time: Duration,
    outcome: &mut Outcome,
) -> Option<String> {
    match ocr::page(job, bytes, number, time) {
        // A blank page needs neither text nor a note.
        Reading::Text(text) if text.is_empty() => return None,
        Reading::Text(text) => {
            outcome.read.push(number);
            return Some(text);
        }
        Reading::Missing(missing) => {
            outcome.unread.push(number);
            outcome.missing = Some(missing);
        }
        Reading::Failed(_) => outcome.failed.push(number),
        Reading::TimedOut => outcome.late.push(number),
    }
    None
}

fn note(job: &mut Job, outcome: &Outcome) {
    job.note_pages(&outcome.read, "read by OCR");
    let limit = job.options.limits.ocr_pages;
    job.note_pages(
        &outcome.over_limit,
        &format!("not read by OCR, which reads {limit} pages at most"),
    );
    job.note_pages(&outcome.late, "not read by OCR because the time was up");
    job.note_pages(&outcome.failed, "not read by OCR, which could not draw or read them");
    if let Some(missing) = &outcome.missing {
        job.note_pages(&outcome.unread, &format!("not read: {}", missing.hint()));
    }
}

/// A line that begins with a bullet sign as list items; the library joins short items of a list into one line.
fn bullets(markdown: &str) -> String {
    const SIGN: char = '•';
    if !markdown.contains(SIGN) {
        return markdown.to_owned();
    }
    let mut lines = Vec::new();
    for line in markdown.lines() {
        if line.starts_with(SIGN) {
            let items = line.split(SIGN).map(str::trim).filter(|item| !item.is_empty());
            lines.extend(items.map(|item| format!("- {item}")));
        } else {
            lines.push(line.to_owned());
        }
    }
    lines.join("\n")
}

fn refused(job: &Job, error: &PdfError) -> ExtractError {
    match error {
        PdfError::Encrypted => job.encrypted(),
        PdfError::Io(_)
        | PdfError::Parse(_)
        | PdfError::InvalidStructure
        | PdfError::NotAPdf(_) => job.corrupt(error.to_string()),
    }
}

//! The way in: one document, on a thread of its own, within its time.
//!
//! Readers look at the clock as they go and stop by themselves. The one for PDFs is a library that cannot be
//! interrupted, so the caller also stops waiting at the limit: the thread then runs on until the library is done
//! with the document, holding its memory and a core, and its result is dropped. No more than [`MAX_THREADS`] can
//! exist at a time, run away or not; further documents are refused with [`ExtractError::Busy`] until one ends.
//!
//! A panic in a reader or in a library it uses ends that thread's work only and is answered as
//! [`ExtractError::Corrupt`].

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Instant;

use crate::error::ExtractError;
use crate::format::Format;
use crate::job::Job;
use crate::options::Options;
use crate::output::Output;
use crate::{csv_table, docx, image, pdf, pptx, text, xlsx};

/// Documents being read at a time in this process.
pub const MAX_THREADS: usize = 64;
/// Room for what libraries recurse; only what is used is ever taken.
const STACK_BYTES: usize = 32 * 1024 * 1024;

static THREADS: AtomicUsize = AtomicUsize::new(0);

/// A document as it came in.
#[derive(Debug, Clone, Copy)]
pub struct Document<'a> {
    /// Its file name, used in messages, and for its type when `mime` says nothing.
    pub name: &'a str,
    /// Its declared MIME type; empty if there is none.
    pub mime: &'a str,
    /// Its content.
    pub bytes: &'a [u8],
}

/// What a document says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extracted {
    /// Headings, lists, tables and text in the document's order.
    pub markdown: String,
    /// What the document is.
    pub format: Format,
    /// How many pages or slides it has, if it has any, whether or not all were asked for.
    pub pages: Option<usize>,
    /// Whether the Markdown was cut at the limit.
    pub truncated: bool,
    /// What a person should know: what was read by OCR, and what was not read.
    pub notes: Vec<String>,
}

/// Reads a document. Blocks for up to [`Limits::time`](crate::Limits::time), and never panics.
pub fn extract(document: &Document<'_>, options: &Options) -> Result<Extracted, ExtractError> {
    let started = Instant::now();
    let name = document.name.to_owned();
    let busy = || ExtractError::Busy { name: document.name.to_owned() };
    let seat = Seat::take().ok_or_else(busy)?;
    let mime = document.mime.to_owned();
    let bytes: Arc<[u8]> = document.bytes.into();
    let options_there = options.clone();
    let (sender, receiver) = mpsc::sync_channel(1);
    thread::Builder::new()
        .name("hotseat-extract".to_owned())
        .stack_size(STACK_BYTES)
        .spawn(move || {
            let _seat = seat;
            let mut format = None;
            let work = AssertUnwindSafe(|| {
                let found = *format.insert(Format::sniff(&bytes, Some(&mime), Some(&name))?);
                read(&name, found, &bytes, options_there, started)
            });
            let result = catch_unwind(work)
                .unwrap_or_else(|panic| Err(panicked(&name, format, panic.as_ref())));
            // The receiver is gone after a time-out, when nobody wants the result.
            drop(sender.send(result));
        })
        .map_err(|_| busy())?;
    match receiver.recv_timeout(options.limits.time.saturating_sub(started.elapsed())) {
        Ok(result) => result,
        Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
            Err(ExtractError::TimedOut {
                name: document.name.to_owned(),
                limit: options.limits.time,
            })
        }
    }
}

fn read(
    name: &str,
    format: Format,
    bytes: &Arc<[u8]>,
    options: Options,
    started: Instant,
) -> Result<Extracted, ExtractError> {
    let mut out = Output::new(options.limits.output_chars);
    let mut job = Job::new(name.to_owned(), format, options, started);
    job.check_time()?;
    note_unused(&mut job);
    let pages = match format {
        Format::Pdf => Some(pdf::read(&mut job, bytes, &mut out)?),
        Format::Pptx => Some(pptx::read(&mut job, bytes, &mut out)?),
        Format::Docx => docx::read(&mut job, bytes, &mut out).map(|()| None)?,
        Format::Xlsx => xlsx::read(&mut job, bytes, &mut out).map(|()| None)?,
        Format::Csv => csv_table::read(&job, bytes, &mut out).map(|()| None)?,
        Format::Text | Format::Markdown => text::read(&job, bytes, &mut out).map(|()| None)?,
        Format::Png | Format::Jpeg | Format::Gif | Format::Webp => {
            image::read(&mut job, Arc::clone(bytes), &mut out).map(|()| None)?
        }
    };
    let (markdown, truncated) = out.finish();
    if truncated {
        job.notes.push(format!("text was cut at {} characters", job.options.limits.output_chars));
    }
    Ok(Extracted { markdown, format, pages, truncated, notes: job.notes })
}

/// A choice that a format does not have is noted rather than refused: the whole document contains what was meant.
fn note_unused(job: &mut Job) {
    let paged = matches!(job.format, Format::Pdf | Format::Pptx);
    if job.options.pages.is_some() && !paged {
        job.notes.push(format!(
            "pages cannot be chosen in a {} file, so all of it was read",
            job.format
        ));
    }
    if (job.options.sheets.is_some() || job.options.cells.is_some()) && job.format != Format::Xlsx {
        job.notes.push(format!(
            "sheets and cells cannot be chosen in a {} file, so all of it was read",
            job.format
        ));
    }
}

fn panicked(name: &str, format: Option<Format>, panic: &(dyn Any + Send)) -> ExtractError {
    let message = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    let detail = format!("the reader gave up on it ({})", message.unwrap_or("no reason given"));
    let name = name.to_owned();
    match format {
        Some(format) => ExtractError::Corrupt { name, format, detail },
        None => {
            ExtractError::Unsupported { name, found: "a file that cannot be recognised".to_owned() }
        }
    }
}

/// The right to run one more thread, given back when dropped.
struct Seat;

impl Seat {
    fn take() -> Option<Self> {
        let more = |taken: usize| (taken < MAX_THREADS).then_some(taken + 1);
        THREADS.fetch_update(Ordering::AcqRel, Ordering::Acquire, more).ok().map(|_| Self)
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        THREADS.fetch_sub(1, Ordering::AcqRel);
    }
}

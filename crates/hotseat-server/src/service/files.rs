//! Files that come with a message: checked, read, and turned into what a model can see.
//!
//! The text of a document becomes a part of the message, under its name; an image is
//! passed on as it is beside the text in it. So what was read is in the request that
//! a model or a person sees, and in the log. How much of it fits is in `files/room.rs`.

mod room;

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use hotseat_extract::{
    Document, ExtractError, Extracted, Format, Limits, Options, RangesError, extract,
};
use serde_json::Value;
use tokio::sync::Semaphore;

use self::room::{Image, Reading, fit};
use super::{App, ServiceError};

/// The most files with one message.
pub(crate) const MAX_FILES: usize = 10;

/// The largest file.
pub(crate) const MAX_FILE_BYTES: usize = 50 * 1024 * 1024;

/// The most bytes of files with one message.
pub(crate) const MAX_FILES_BYTES: usize = 100 * 1024 * 1024;

/// Characters of text taken from one file.
const MAX_TEXT_CHARS: usize = 1_000_000;

/// How long one file may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// Files that are read at the same time; others wait.
static READING: Semaphore = Semaphore::const_new(2);

/// A file as it came.
#[derive(Debug)]
pub(crate) struct Upload {
    pub(crate) name: String,
    pub(crate) mime: String,
    pub(crate) bytes: Vec<u8>,
    /// Pages or slides, such as `1-3,7`.
    pub(crate) pages: Option<String>,
    /// Names of sheets.
    pub(crate) sheets: Option<Vec<String>>,
}

impl App {
    /// The parts that files add to a message.
    pub(crate) async fn read_files(&self, files: Vec<Upload>) -> Result<Vec<Value>, ServiceError> {
        let mut readings = Vec::with_capacity(files.len());
        for file in files {
            readings.push(read_aside(file).await?);
        }
        Ok(fit(readings, self.config.ledger.max_event_bytes).into_iter().flatten().collect())
    }

    /// Reads the files inside the parts of a message, as [`App::read_files`] does with
    /// those beside it. What no reader takes is passed on as it is.
    pub(crate) async fn read_message(&self, message: &mut Value) -> Result<(), ServiceError> {
        if let Some(Value::Array(parts)) = message.get_mut("parts") {
            *parts = self.read_parts(std::mem::take(parts)).await?;
        }
        Ok(())
    }

    async fn read_parts(&self, parts: Vec<Value>) -> Result<Vec<Value>, ServiceError> {
        let files = parts.iter().filter(|part| inline(part).is_some()).count();
        if files > MAX_FILES {
            let problem = format!("at most {MAX_FILES} files come with one message");
            return Err(ServiceError::invalid(problem));
        }
        let (mut readings, mut total) = (Vec::with_capacity(files), 0);
        let mut kept = Vec::with_capacity(parts.len());
        for part in parts {
            let Some(Inline { mime, data, name }) = inline(&part) else {
                kept.push(Some(part));
                continue;
            };
            let number = readings.len() + 1;
            let name = name.map_or_else(|| format!("file {number}"), str::to_owned);
            let refused =
                |problem: String, kind| ServiceError::File { name: name.clone(), problem, kind };
            let size = decoded_len(data);
            total += size;
            if size > MAX_FILE_BYTES || total > MAX_FILES_BYTES {
                return Err(refused("there is too much of it".to_owned(), FileProblem::Size));
            }
            let bytes = base64(data).map_err(|error| {
                refused(format!("it is not valid base64: {error}"), FileProblem::Unreadable)
            })?;
            let mime = mime.to_owned();
            readings
                .push(read_aside(Upload { name, mime, bytes, pages: None, sheets: None }).await?);
            kept.push(None);
        }
        let mut files = fit(readings, self.config.ledger.max_event_bytes).into_iter();
        let parts = kept.into_iter().flat_map(|part| match part {
            Some(part) => vec![part],
            None => files.next().unwrap_or_default(),
        });
        Ok(parts.collect())
    }
}

/// Reads a file on a thread of its own, when it is its turn.
async fn read_aside(file: Upload) -> Result<Reading, ServiceError> {
    // The semaphore is never closed.
    let _turn = READING.acquire().await;
    let name = file.name.clone();
    let read = tokio::task::spawn_blocking(move || read(file)).await;
    read.map_err(|_| ServiceError::File {
        name,
        problem: "it could not be read".to_owned(),
        kind: FileProblem::Unreadable,
    })?
}

/// A part that is a file we read.
struct Inline<'a> {
    mime: &'a str,
    /// Base64.
    data: &'a str,
    name: Option<&'a str>,
}

/// The file in a part, in either spelling of ADK's.
fn inline(part: &Value) -> Option<Inline<'_>> {
    let file = part.get("inline_data").or_else(|| part.get("inlineData"))?;
    let text = |snake, camel| file.get(snake).or_else(|| file.get(camel))?.as_str();
    Some(Inline {
        mime: text("mime_type", "mimeType").filter(|mime| is_taken(mime))?,
        data: text("data", "data")?,
        name: text("display_name", "displayName"),
    })
}

/// Base64 in either alphabet: ADK's own clients write the one for URLs.
fn base64(text: &str) -> Result<Vec<u8>, base64::DecodeError> {
    let text = text.trim();
    if text.contains(['-', '_']) { URL_SAFE.decode(text) } else { STANDARD.decode(text) }
}

/// Bytes behind base64. Four letters hold three bytes, so the size is known before
/// anything is decoded.
pub(crate) fn decoded_len(text: &str) -> usize {
    let text = text.trim();
    let filled = text.bytes().rev().take(2).take_while(|byte| *byte == b'=').count();
    (text.len().div_ceil(4) * 3).saturating_sub(filled)
}

/// What is wrong with a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileProblem {
    /// Its type is not taken, or not what it says.
    Type,
    /// There is too much of it.
    Size,
    /// It cannot be read.
    Unreadable,
}

fn read(file: Upload) -> Result<Reading, ServiceError> {
    let document = Document { name: &file.name, mime: &file.mime, bytes: &file.bytes };
    let mut options = Options {
        limits: Limits { time: PATIENCE, output_chars: MAX_TEXT_CHARS, ..Limits::default() },
        sheets: file.sheets.clone(),
        ..Options::default()
    };
    if let Some(pages) = &file.pages {
        options.pages = Some(pages.parse().map_err(|error: RangesError| ServiceError::File {
            name: file.name.clone(),
            problem: error.to_string(),
            kind: FileProblem::Unreadable,
        })?);
    }
    let extracted = extract(&document, &options).map_err(|error| refused(&file, &error))?;
    let text = told(&extracted);
    let format = extracted.format;
    let image = format.is_image().then_some(Image { mime: format.mime(), bytes: file.bytes });
    Ok(Reading { name: file.name, text, image })
}

/// What a file says, with what a reader should know of it.
fn told(extracted: &Extracted) -> String {
    let mut text = String::new();
    for note in &extracted.notes {
        text.push_str("\n> ");
        text.push_str(note);
        text.push('\n');
    }
    if !extracted.markdown.is_empty() {
        text.push('\n');
        text.push_str(&extracted.markdown);
    } else if extracted.format.is_image() && extracted.notes.is_empty() {
        text.push_str("\n> The image holds no text.\n");
    }
    text
}

fn refused(file: &Upload, error: &ExtractError) -> ServiceError {
    let kind = match error {
        ExtractError::Unsupported { .. } | ExtractError::Mislabelled { .. } => FileProblem::Type,
        ExtractError::TooLarge { .. } | ExtractError::TooManyPages { .. } => FileProblem::Size,
        _ => FileProblem::Unreadable,
    };
    ServiceError::File { name: file.name.clone(), problem: error.to_string(), kind }
}

/// Whether a type is one that is taken at all, before anything of the file is.
pub(crate) fn is_taken(mime: &str) -> bool {
    Format::from_mime(mime).is_some()
}

/// The same where a program chose the type: one that says nothing leaves it to the
/// name and the content.
pub(crate) fn may_be_taken(mime: &str, name: &str) -> bool {
    Format::may_be(mime, name)
}

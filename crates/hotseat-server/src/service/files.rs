//! Files that come with a message: checked, read, and turned into what a model can see.
//!
//! The text of a document becomes a part of the message, under its name; an image is
//! passed on as it is beside the text in it. So what was read is in the request that
//! a model or a person sees, and in the log.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use hotseat_extract::{
    Document, ExtractError, Extracted, Format, Limits, Options, RangesError, extract,
};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use super::{App, ServiceError};

/// The most files with one message.
pub(crate) const MAX_FILES: usize = 10;

/// The largest file.
pub(crate) const MAX_FILE_BYTES: usize = 50 * 1024 * 1024;

/// The most bytes of files with one message.
pub(crate) const MAX_FILES_BYTES: usize = 100 * 1024 * 1024;

/// Characters of text taken from one file.
const MAX_TEXT_CHARS: usize = 1_000_000;

/// The largest image that is passed on. A larger one is only read.
const MAX_IMAGE_BYTES: usize = 5 * 1024 * 1024;

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
        let mut parts = Vec::new();
        for file in files {
            // The semaphore is never closed.
            let _turn = READING.acquire().await;
            let name = file.name.clone();
            let read = tokio::task::spawn_blocking(move || read(&file)).await;
            parts.extend(read.map_err(|_| ServiceError::File {
                name,
                problem: "it could not be read".to_owned(),
                kind: FileProblem::Unreadable,
            })??);
        }
        Ok(parts)
    }
}

impl App {
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
        let (mut read, mut total, mut number) = (Vec::with_capacity(parts.len()), 0, 0);
        for part in parts {
            let Some(Inline { mime, data, name }) = inline(&part) else {
                read.push(part);
                continue;
            };
            number += 1;
            let name = name.map_or_else(|| format!("file {number}"), str::to_owned);
            let refused =
                |problem: String, kind| ServiceError::File { name: name.clone(), problem, kind };
            // Four letters hold three bytes, so the size is known before anything is decoded.
            let size = data.len() / 4 * 3;
            total += size;
            if size > MAX_FILE_BYTES || total > MAX_FILES_BYTES {
                return Err(refused("there is too much of it".to_owned(), FileProblem::Size));
            }
            let bytes = base64(data).map_err(|error| {
                refused(format!("it is not valid base64: {error}"), FileProblem::Unreadable)
            })?;
            let mime = mime.to_owned();
            let file = Upload { name, mime, bytes, pages: None, sheets: None };
            read.extend(self.read_files(vec![file]).await?);
        }
        Ok(read)
    }
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

fn read(file: &Upload) -> Result<Vec<Value>, ServiceError> {
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
    let extracted = extract(&document, &options).map_err(|error| refused(file, &error))?;
    let mut parts = vec![json!({"text": told(file, &extracted)})];
    if extracted.format.is_image() && file.bytes.len() <= MAX_IMAGE_BYTES {
        let data = STANDARD.encode(&file.bytes);
        let mime = extracted.format.mime();
        parts.push(
            json!({"inline_data": {"mime_type": mime, "data": data, "display_name": file.name}}),
        );
    }
    Ok(parts)
}

/// A file's text under its name, with what a reader should know of it.
fn told(file: &Upload, extracted: &Extracted) -> String {
    let mut text = format!("## File: {}\n", file.name);
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

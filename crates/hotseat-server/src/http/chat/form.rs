//! A message as a form with files, read piece by piece.
//!
//! Limits hold while reading: a file that is too large is refused at the byte that
//! makes it so, and nothing behind that byte is taken.

use axum::RequestExt;
use axum::extract::multipart::{Field, Multipart, MultipartError};
use axum::extract::{FromRequest, Request};
use axum::http::StatusCode;

use super::Problem;
use super::said::{Said, not_taken, too_many_files};
use crate::http::extract::stalled;
use crate::service::{
    MAX_FILE_BYTES, MAX_FILES, MAX_FILES_BYTES, MAX_MESSAGE_CHARS, Upload, may_be_taken,
};

/// Bytes of a field that is no file. A character has four at most.
const MAX_FIELD_BYTES: usize = MAX_MESSAGE_CHARS * 4;

/// Fields of one form: all files, with some sheets of each.
const MAX_FIELDS: usize = 128;

/// The fields of a form.
#[derive(utoipa::ToSchema)]
#[expect(dead_code, reason = "this is only described, not read into")]
pub(in crate::http) struct ChatForm {
    /// 1 to 10,000 characters, not blank.
    message: String,
    /// ULID of the session to go on with.
    session_id: Option<String>,
    /// Up to 10 files.
    #[schema(value_type = Vec<String>, format = Binary)]
    files: Vec<Vec<u8>>,
    /// Pages of a PDF or slides, such as `1-3,7`: of the file before this field, or of every
    /// file if it comes before them all.
    pages: Option<String>,
    /// A sheet of a workbook, in the same way; once for each sheet.
    sheets: Option<Vec<String>>,
}

/// What is to be read of a file.
#[derive(Debug, Default)]
struct Choice {
    pages: Option<String>,
    sheets: Vec<String>,
}

impl Choice {
    /// What a file of its own choice has, and where it has none, what was chosen for all.
    fn put_on(self, file: &mut Upload, all: &Self) {
        file.pages = self.pages.or_else(|| all.pages.clone());
        let sheets = if self.sheets.is_empty() { all.sheets.clone() } else { self.sheets };
        file.sheets = Some(sheets).filter(|sheets| !sheets.is_empty());
    }
}

pub(super) async fn read(request: Request) -> Result<(Said, Vec<Upload>), Problem> {
    let request = request.with_limited_body();
    let mut form = Multipart::from_request(request, &())
        .await
        .map_err(|rejection| Problem::bad_request(rejection.body_text()))?;
    let mut said = Said::default();
    let mut message = None;
    let mut files: Vec<(Upload, Choice)> = Vec::new();
    let mut all = Choice::default();
    let mut total = 0;
    for _ in 0..MAX_FIELDS {
        let Some(field) = form.next_field().await.map_err(|error| broken(&error))? else {
            said.message =
                message.ok_or_else(|| Problem::invalid("the field `message` is missing"))?;
            let files = files.into_iter().map(|(mut file, choice)| {
                choice.put_on(&mut file, &all);
                file
            });
            return Ok((said, files.collect()));
        };
        match field.name().unwrap_or_default() {
            "message" => message = Some(text("message", field).await?),
            "session_id" => {
                said.session_id =
                    Some(text("session_id", field).await?).filter(|id| !id.is_empty());
            }
            "files" | "file" | "files[]" => {
                if files.len() == MAX_FILES {
                    return Err(too_many_files());
                }
                let file = file(field, files.len() + 1, &mut total).await?;
                files.push((file, Choice::default()));
            }
            "pages" => {
                let pages = text("pages", field).await?;
                let choice = files.last_mut().map_or(&mut all, |(_, choice)| choice);
                choice.pages = Some(pages).filter(|pages| !pages.is_empty());
            }
            "sheets" | "sheets[]" => {
                let sheet = text("sheets", field).await?;
                let choice = files.last_mut().map_or(&mut all, |(_, choice)| choice);
                choice.sheets.extend(Some(sheet).filter(|sheet| !sheet.is_empty()));
            }
            other => {
                let shown: String = other.chars().take(50).collect();
                return Err(Problem::invalid(format!(
                    "the form has a field `{shown}`: use message, session_id, files, pages and sheets"
                )));
            }
        }
    }
    Err(Problem::invalid(format!("the form has more than {MAX_FIELDS} fields")))
}

async fn text(name: &str, mut field: Field<'_>) -> Result<String, Problem> {
    let mut bytes = Vec::new();
    while let Some(chunk) = field.chunk().await.map_err(|error| broken(&error))? {
        if bytes.len() + chunk.len() > MAX_FIELD_BYTES {
            return Err(Problem::invalid(format!(
                "`{name}` is too long: at most {MAX_MESSAGE_CHARS} characters are taken"
            )));
        }
        bytes.extend_from_slice(&chunk);
    }
    String::from_utf8(bytes).map_err(|_| Problem::invalid(format!("`{name}` is not UTF-8")))
}

async fn file(mut field: Field<'_>, number: usize, total: &mut usize) -> Result<Upload, Problem> {
    let name = field.file_name().map_or_else(|| format!("file {number}"), str::to_owned);
    let mime = field.content_type().unwrap_or("application/octet-stream").to_owned();
    // Most programs label by the name alone and know few of them, so `application/octet-stream`
    // says nothing: then the name and the content decide.
    if !may_be_taken(&mime, &name) {
        return Err(not_taken(&name, &mime));
    }
    let too_large = |limit: usize, what: String| {
        Problem::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            "too_large",
            format!("{what} larger than {} MiB", limit / 1024 / 1024),
        )
    };
    let mut bytes = Vec::new();
    while let Some(chunk) = field.chunk().await.map_err(|error| broken(&error))? {
        if bytes.len() + chunk.len() > MAX_FILE_BYTES {
            return Err(too_large(MAX_FILE_BYTES, format!("file `{name}` is")));
        }
        *total += chunk.len();
        if *total > MAX_FILES_BYTES {
            return Err(too_large(MAX_FILES_BYTES, "the files together are".to_owned()));
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(Upload { name, mime, bytes, pages: None, sheets: None })
}

fn broken(error: &MultipartError) -> Problem {
    if let Some(problem) = stalled(error) {
        return problem;
    }
    if error.status() == StatusCode::PAYLOAD_TOO_LARGE {
        return Problem::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            "too_large",
            "the form is larger than what its files may be",
        );
    }
    Problem::bad_request(format!("the form cannot be read: {}", error.body_text()))
}

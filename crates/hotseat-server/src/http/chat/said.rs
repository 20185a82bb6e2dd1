//! A message as JSON.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;

use super::Problem;
use crate::service::{MAX_FILE_BYTES, MAX_FILES, MAX_FILES_BYTES, Upload, decoded_len, is_taken};
use axum::http::StatusCode;

/// What somebody says.
#[derive(Debug, Default, Deserialize, utoipa::ToSchema)]
pub(in crate::http) struct Said {
    /// 1 to 10,000 characters, not blank.
    pub(super) message: String,
    /// ULID of the session to go on with. A new one is made if it is left out.
    #[serde(default, alias = "sessionId")]
    pub(super) session_id: Option<String>,
    /// Up to 10 files.
    #[serde(default)]
    files: Option<Vec<FileContent>>,
}

/// A file inside JSON.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
pub(in crate::http) struct FileContent {
    /// Base64.
    content: String,
    /// One of the supported types.
    #[serde(alias = "mimeType")]
    mime_type: String,
    filename: Option<String>,
    /// Pages of a PDF or slides, such as `1-3,7`.
    #[serde(default)]
    pages: Option<String>,
    /// Sheets of a workbook.
    #[serde(default)]
    sheets: Option<Vec<String>>,
}

impl Said {
    /// The message and its files, checked.
    pub(super) fn into_parts(mut self) -> Result<(Self, Vec<Upload>), Problem> {
        let files = self.files.take().unwrap_or_default();
        if files.len() > MAX_FILES {
            return Err(too_many_files());
        }
        let mut total = 0;
        let mut uploads = Vec::with_capacity(files.len());
        for (number, file) in files.into_iter().enumerate() {
            let name = file.filename.unwrap_or_else(|| format!("file {}", number + 1));
            if !is_taken(&file.mime_type) {
                return Err(not_taken(&name, &file.mime_type));
            }
            check_size(&name, decoded_len(&file.content), &mut total)?;
            let bytes = STANDARD.decode(file.content.trim()).map_err(|error| {
                Problem::invalid(format!("file `{name}` is not valid base64: {error}"))
            })?;
            let (pages, sheets) = (file.pages, file.sheets);
            uploads.push(Upload { name, mime: file.mime_type, bytes, pages, sheets });
        }
        Ok((self, uploads))
    }
}

pub(super) fn too_many_files() -> Problem {
    Problem::invalid(format!("at most {MAX_FILES} files come with one message"))
}

pub(super) fn not_taken(name: &str, mime: &str) -> Problem {
    let shown: String = mime.chars().take(100).collect();
    Problem::new(
        StatusCode::UNSUPPORTED_MEDIA_TYPE,
        "unsupported_file",
        format!(
            "file `{name}` is of type `{shown}`: send PDF, docx, xlsx, pptx, text, CSV, Markdown, PNG, JPEG, GIF or WebP"
        ),
    )
}

/// Counts the bytes of a file and refuses what is too much, before it is kept.
pub(super) fn check_size(name: &str, bytes: usize, total: &mut usize) -> Result<(), Problem> {
    *total += bytes;
    let mib = 1024 * 1024;
    let too_large = |detail| Err(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", detail));
    if bytes > MAX_FILE_BYTES {
        return too_large(format!("file `{name}` is larger than {} MiB", MAX_FILE_BYTES / mib));
    }
    if *total > MAX_FILES_BYTES {
        return too_large(format!(
            "the files are larger than {} MiB together",
            MAX_FILES_BYTES / mib
        ));
    }
    Ok(())
}

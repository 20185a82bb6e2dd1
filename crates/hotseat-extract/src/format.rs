//! The formats that can be read, and how a document is recognised.
//!
//! Content decides: magic bytes for binary formats, the parts of the container for office files. A MIME type, or
//! else the file name's extension, only chooses between kinds of text, and must not contradict the content.

use std::fmt;

use crate::error::ExtractError;
use crate::package;
use crate::text;

/// A PDF may begin with other bytes; readers look this far for its header.
const PDF_HEADER_WITHIN: usize = 1024;

/// Everything that is supported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Format {
    Pdf,
    Docx,
    Xlsx,
    Pptx,
    Text,
    Csv,
    Markdown,
    Png,
    Jpeg,
    Gif,
    Webp,
}

impl Format {
    /// The format a MIME type stands for; parameters and letter case do not matter.
    pub fn from_mime(mime: &str) -> Option<Self> {
        let essence = mime.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        Some(match essence.as_str() {
            "application/pdf" | "application/x-pdf" => Self::Pdf,
            "application/vnd.openxmlformats-officedocument.wordprocessingml.document" => Self::Docx,
            "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet" => Self::Xlsx,
            "application/vnd.openxmlformats-officedocument.presentationml.presentation" => {
                Self::Pptx
            }
            "text/plain" => Self::Text,
            "text/csv" | "application/csv" => Self::Csv,
            "text/markdown" | "text/x-markdown" => Self::Markdown,
            "image/png" => Self::Png,
            "image/jpeg" | "image/jpg" => Self::Jpeg,
            "image/gif" => Self::Gif,
            "image/webp" => Self::Webp,
            _ => return None,
        })
    }

    /// The registered MIME type.
    pub fn mime(self) -> &'static str {
        match self {
            Self::Pdf => "application/pdf",
            Self::Docx => "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
            Self::Xlsx => "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
            Self::Pptx => {
                "application/vnd.openxmlformats-officedocument.presentationml.presentation"
            }
            Self::Text => "text/plain",
            Self::Csv => "text/csv",
            Self::Markdown => "text/markdown",
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
            Self::Gif => "image/gif",
            Self::Webp => "image/webp",
        }
    }

    /// Whether it is a picture, which is read by OCR only.
    pub fn is_image(self) -> bool {
        match self {
            Self::Png | Self::Jpeg | Self::Gif | Self::Webp => true,
            Self::Pdf
            | Self::Docx
            | Self::Xlsx
            | Self::Pptx
            | Self::Text
            | Self::Csv
            | Self::Markdown => false,
        }
    }

    /// What `bytes` are. The MIME type is what the document is declared as; without one, or with one that says
    /// nothing, the extension of the file name is.
    pub fn sniff(
        bytes: &[u8],
        mime_hint: Option<&str>,
        filename: Option<&str>,
    ) -> Result<Self, ExtractError> {
        let name = filename.unwrap_or("document").to_owned();
        if bytes.is_empty() {
            return Err(ExtractError::Empty { name });
        }
        let by_name = filename.and_then(Self::from_filename);
        let declared = match Self::declared(mime_hint, by_name) {
            Ok(declared) => declared,
            Err(found) => return Err(ExtractError::Unsupported { name, found }),
        };
        let found = match content(bytes) {
            Content::Is(format) => format,
            Content::Encrypted => return Err(ExtractError::Encrypted { name }),
            // A damaged container: the reader will say what is wrong with it.
            Content::Container => match declared {
                Some(office @ (Self::Docx | Self::Xlsx | Self::Pptx)) => return Ok(office),
                declared => return Err(mismatch(name, declared, "a zip archive")),
            },
            Content::Other(found) => return Err(mismatch(name, declared, found)),
            Content::Text => return as_text(name, declared, by_name),
        };
        match declared {
            Some(declared) if declared != found => {
                Err(mismatch(name, Some(declared), &format!("a {found} file")))
            }
            _ => Ok(found),
        }
    }

    /// Whether a document with this label may be supported at all. A label that says nothing leaves it to the content.
    pub fn may_be(mime: &str, filename: &str) -> bool {
        Self::declared(Some(mime), Self::from_filename(filename)).is_ok()
    }

    /// What a document is declared as, if as anything; else the type that is not supported.
    fn declared(mime: Option<&str>, by_name: Option<Self>) -> Result<Option<Self>, String> {
        match Declared::by(mime) {
            Declared::As(format) => Ok(Some(format)),
            Declared::Nothing => Ok(by_name),
            // What browsers on Windows call a CSV file when Excel is installed.
            Declared::Unknown(mime)
                if mime == "application/vnd.ms-excel" && by_name == Some(Self::Csv) =>
            {
                Ok(by_name)
            }
            Declared::Unknown(mime) => Err(mime),
        }
    }

    fn from_filename(name: &str) -> Option<Self> {
        let (_, extension) = name.rsplit_once('.')?;
        Some(match extension.to_ascii_lowercase().as_str() {
            "pdf" => Self::Pdf,
            "docx" => Self::Docx,
            "xlsx" => Self::Xlsx,
            "pptx" => Self::Pptx,
            "txt" | "text" | "log" => Self::Text,
            "csv" => Self::Csv,
            "md" | "markdown" => Self::Markdown,
            "png" => Self::Png,
            "jpg" | "jpeg" => Self::Jpeg,
            "gif" => Self::Gif,
            "webp" => Self::Webp,
            _ => return None,
        })
    }

    fn is_text(self) -> bool {
        match self {
            Self::Text | Self::Csv | Self::Markdown => true,
            Self::Pdf
            | Self::Docx
            | Self::Xlsx
            | Self::Pptx
            | Self::Png
            | Self::Jpeg
            | Self::Gif
            | Self::Webp => false,
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pdf => "pdf",
            Self::Docx => "docx",
            Self::Xlsx => "xlsx",
            Self::Pptx => "pptx",
            Self::Text => "text",
            Self::Csv => "csv",
            Self::Markdown => "markdown",
            Self::Png => "png",
            Self::Jpeg => "jpeg",
            Self::Gif => "gif",
            Self::Webp => "webp",
        })
    }
}

enum Declared {
    Nothing,
    As(Format),
    Unknown(String),
}

impl Declared {
    fn by(mime: Option<&str>) -> Self {
        let essence = mime
            .unwrap_or_default()
            .split(';')
            .next()
            .unwrap_or_default()
            .trim()
            .to_ascii_lowercase();
        match essence.as_str() {
            "" | "application/octet-stream" | "binary/octet-stream" | "application/zip" => {
                Self::Nothing
            }
            known => {
                Format::from_mime(known).map_or_else(|| Self::Unknown(essence.clone()), Self::As)
            }
        }
    }
}

enum Content {
    Is(Format),
    Text,
    /// A zip whose parts cannot be listed.
    Container,
    Encrypted,
    Other(&'static str),
}

fn content(bytes: &[u8]) -> Content {
    const OLE: &[u8] = b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1";
    if bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
        Content::Is(Format::Png)
    } else if bytes.starts_with(b"\xFF\xD8\xFF") {
        Content::Is(Format::Jpeg)
    } else if bytes.starts_with(b"GIF87a") || bytes.starts_with(b"GIF89a") {
        Content::Is(Format::Gif)
    } else if bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") {
        Content::Is(Format::Webp)
    } else if bytes.starts_with(b"PK\x03\x04") {
        match package::office_format(bytes) {
            Ok(Some(format)) => Content::Is(format),
            Ok(None) => Content::Other("a zip archive"),
            Err(()) => Content::Container,
        }
    } else if bytes.starts_with(OLE) {
        // Office wraps an encrypted document into the container of its old formats.
        if package::is_encrypted_ole(bytes) {
            Content::Encrypted
        } else {
            Content::Other("a file of an old Office format")
        }
    } else if contains(&bytes[..bytes.len().min(PDF_HEADER_WITHIN)], b"%PDF-") {
        Content::Is(Format::Pdf)
    } else if text::decode(bytes).is_some() {
        Content::Text
    } else {
        Content::Other("bytes that are not text in UTF-8 or UTF-16")
    }
}

fn as_text(
    name: String,
    declared: Option<Format>,
    by_name: Option<Format>,
) -> Result<Format, ExtractError> {
    match declared {
        None => Ok(Format::Text),
        // Many senders call every kind of text `text/plain`, so the extension may say it more precisely.
        Some(Format::Text) => Ok(by_name.filter(|format| format.is_text()).unwrap_or(Format::Text)),
        Some(kind) if kind.is_text() => Ok(kind),
        binary => Err(mismatch(name, binary, "text")),
    }
}

fn mismatch(name: String, declared: Option<Format>, found: &str) -> ExtractError {
    match declared {
        Some(format) => ExtractError::Mislabelled {
            name,
            declared: format.to_string(),
            found: found.to_owned(),
        },
        None => ExtractError::Unsupported { name, found: found.to_owned() },
    }
}

/// Whether `needle` occurs in `bytes`.
pub(crate) fn contains(bytes: &[u8], needle: &[u8]) -> bool {
    bytes.windows(needle.len()).any(|window| window == needle)
}

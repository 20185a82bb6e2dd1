//! Why a document could not be read.
//!
//! Every variant names the file, because a person who uploads five of them has to know which one to look at, and says
//! what to do about it where that is not obvious.

use std::time::Duration;

use crate::format::Format;

/// Why [`extract()`](crate::extract()) or [`Format::sniff`] gave no Markdown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExtractError {
    /// Nothing here reads this kind of file.
    #[error(
        "`{name}` is {found}, which cannot be read; use pdf, docx, xlsx, pptx, txt, csv, md, png, jpeg, gif or webp"
    )]
    Unsupported {
        /// The file.
        name: String,
        /// What it seems to be.
        found: String,
    },

    /// The declared type and the content contradict each other.
    #[error(
        "`{name}` is declared as {declared} but holds {found}; give it the type of its content"
    )]
    Mislabelled {
        /// The file.
        name: String,
        /// The MIME type, or the type its file name stands for.
        declared: String,
        /// What the content is.
        found: String,
    },

    /// There are no bytes.
    #[error("`{name}` is empty")]
    Empty {
        /// The file.
        name: String,
    },

    /// The content breaks its format's rules.
    #[error(
        "`{name}` is not a readable {format} file: {detail}; open it in its program and save it again"
    )]
    Corrupt {
        /// The file.
        name: String,
        /// What it was read as.
        format: Format,
        /// What is wrong with it.
        detail: String,
    },

    /// A password is needed.
    #[error("`{name}` is encrypted; remove its password and try again")]
    Encrypted {
        /// The file.
        name: String,
    },

    /// It expands past [`Limits::expanded_bytes`](crate::Limits::expanded_bytes), or its picture is too big.
    #[error("`{name}` expands to more than {limit} {unit}; split it")]
    TooLarge {
        /// The file.
        name: String,
        /// The limit it went past.
        limit: u64,
        /// What the limit counts.
        unit: &'static str,
    },

    /// It has more pages or slides than [`Limits::pages`](crate::Limits::pages).
    #[error("`{name}` has {pages} pages and at most {limit} are read; split it")]
    TooManyPages {
        /// The file.
        name: String,
        /// How many it has.
        pages: usize,
        /// How many are allowed.
        limit: usize,
    },

    /// It took longer than [`Limits::time`](crate::Limits::time).
    #[error("`{name}` could not be read within {} s; split it or ask for fewer pages", limit.as_secs_f32())]
    TimedOut {
        /// The file.
        name: String,
        /// The time it was given.
        limit: Duration,
    },

    /// A page or slide was asked for that the document does not have.
    #[error("`{name}` has no page {page}; it has pages 1 to {pages}")]
    PageOutside {
        /// The file.
        name: String,
        /// The first page asked for that does not exist.
        page: usize,
        /// How many pages there are.
        pages: usize,
    },

    /// A sheet was asked for that the workbook does not have.
    #[error("`{name}` has no sheet `{sheet}`; it has {}", known.join(", "))]
    SheetUnknown {
        /// The file.
        name: String,
        /// The sheet asked for.
        sheet: String,
        /// The sheets there are.
        known: Vec<String>,
    },

    /// The cell range is not one.
    #[error("`{cells}` is not a cell range for `{name}`; write it like A1:C10")]
    CellsInvalid {
        /// The file.
        name: String,
        /// What was asked for.
        cells: String,
    },

    /// Nothing in the document can be read without a program that is not installed.
    #[error(
        "`{name}` holds only pictures of text and `{program}` is not installed; hint: apt install {package}"
    )]
    OcrMissing {
        /// The file.
        name: String,
        /// The program as it was looked for.
        program: String,
        /// The Debian package that has it.
        package: &'static str,
    },

    /// [`MAX_THREADS`](crate::MAX_THREADS) documents are being read already.
    #[error("`{name}` was not read because too many documents are being read; try again later")]
    Busy {
        /// The file.
        name: String,
    },
}

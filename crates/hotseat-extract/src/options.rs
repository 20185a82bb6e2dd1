//! What to read of a document, and how much it may cost.
//!
//! The defaults suit an upload from a person. Every limit is named here, so that an operator can find and change it.

use std::path::PathBuf;
use std::time::Duration;

use crate::ranges::Ranges;

/// Which parts to read, within which limits, with which programs. The default is everything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// Pages of a PDF or slides of a presentation.
    pub pages: Option<Ranges>,
    /// Names of the sheets of a workbook, in any order; they are written in the workbook's order.
    pub sheets: Option<Vec<String>>,
    /// Cells of each sheet, like `A1:C10`.
    pub cells: Option<String>,
    /// What the extraction may cost.
    pub limits: Limits,
    /// The programs that read pictures.
    pub ocr: Ocr,
}

/// What one extraction may cost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Wall-clock time, all of it: reading, and every program started.
    pub time: Duration,
    /// Bytes of everything taken out of the document's zip container, so that a zip bomb ends early.
    pub expanded_bytes: u64,
    /// Pages or slides of the document, whether asked for or not.
    pub pages: usize,
    /// Characters of Markdown; what is over is cut and noted.
    pub output_chars: usize,
    /// Scanned pages of one PDF that are read by OCR; further ones are noted.
    pub ocr_pages: usize,
}

impl Limits {
    /// A person waits this long for an upload before trying again.
    pub const TIME: Duration = Duration::from_secs(30);
    /// The XML of the largest ordinary workbooks is a quarter of this.
    pub const EXPANDED_BYTES: u64 = 200 * 1024 * 1024;
    /// Longer documents are books, and no model reads them in one request.
    pub const PAGES: usize = 2000;
    /// Half a million tokens, about.
    pub const OUTPUT_CHARS: usize = 2_000_000;
    /// A page takes up to a second, so more would not fit into [`Limits::TIME`].
    pub const OCR_PAGES: usize = 50;
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            time: Self::TIME,
            expanded_bytes: Self::EXPANDED_BYTES,
            pages: Self::PAGES,
            output_chars: Self::OUTPUT_CHARS,
            ocr_pages: Self::OCR_PAGES,
        }
    }
}

/// The programs that read pictures: a name to look up in `PATH`, or a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ocr {
    /// Reads text off pictures; Debian package `tesseract-ocr`.
    pub tesseract: PathBuf,
    /// Draws PDF pages; Debian package `poppler-utils`.
    pub pdftoppm: PathBuf,
}

impl Default for Ocr {
    fn default() -> Self {
        Self { tesseract: PathBuf::from("tesseract"), pdftoppm: PathBuf::from("pdftoppm") }
    }
}

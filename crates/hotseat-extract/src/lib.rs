//! Document bytes in, Markdown out.
//!
//! [`extract()`] reads PDF, Word, Excel and PowerPoint files, plain text, CSV, Markdown and images, and answers with
//! Markdown that keeps headings, lists and tables in the document's order. Pictures and scanned pages are read by the
//! programs `tesseract` and `pdftoppm`, when they are installed.
//!
//! Kept here, and relied on by callers:
//!
//! * a document is hostile until read: nothing in it makes [`extract()`] panic, run past [`Limits::time`] or expand
//!   past [`Limits::expanded_bytes`];
//! * the content decides what a document is, and a label that contradicts it is an error;
//! * whatever was left out of the Markdown is said in [`Extracted::notes`].
//!
//! Everything is synchronous; an async caller puts [`extract()`] on a blocking thread.

mod csv_table;
mod docx;
mod error;
mod extract;
mod format;
mod image;
mod inline;
mod job;
mod ocr;
mod options;
mod output;
mod package;
mod pdf;
mod pptx;
mod program;
mod ranges;
mod text;
mod xlsx;
mod xml;

pub use error::ExtractError;
pub use extract::{Document, Extracted, MAX_THREADS, extract};
pub use format::Format;
pub use options::{Limits, Ocr, Options};
pub use ranges::{Ranges, RangesError};

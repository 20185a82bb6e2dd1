//! Text off pictures, by the program `tesseract`, and pictures of PDF pages, by the program `pdftoppm`.
//!
//! Both are optional, so their absence is an answer and not an error: what it means depends on what else the document
//! holds. Linking an OCR engine was rejected, because its models are larger than the whole product.

use std::sync::Arc;
use std::time::Duration;

use crate::job::Job;
use crate::program::{Ran, run};

/// The longer side of a drawn page; an A4 page has 200 dots per inch then, and no page takes more memory than this.
const PAGE_PIXELS: &str = "2400";
/// A drawn page in grey is at most 6 MB.
const MAX_PICTURE_BYTES: u64 = 16 * 1024 * 1024;
/// Far more text than fits onto a picture.
const MAX_TEXT_BYTES: u64 = 4 * 1024 * 1024;

/// What became of a picture.
pub(crate) enum Reading {
    /// Its text, possibly none.
    Text(String),
    /// A program is not installed.
    Missing(MissingProgram),
    /// A program could not use the picture.
    Failed(String),
    /// The time was up.
    TimedOut,
}

/// A program that is needed and not there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MissingProgram {
    pub(crate) program: String,
    pub(crate) package: &'static str,
}

impl MissingProgram {
    /// What to tell the person.
    pub(crate) fn hint(&self) -> String {
        format!("`{}` is not installed; hint: apt install {}", self.program, self.package)
    }
}

/// The text on a picture of any supported format.
pub(crate) fn picture(job: &Job, picture: Arc<[u8]>, time: Duration) -> Reading {
    let tesseract = &job.options.ocr.tesseract;
    match run(tesseract, &["stdin", "stdout"], picture, time, MAX_TEXT_BYTES) {
        Ran::Done(text) => Reading::Text(tidy(&String::from_utf8_lossy(&text))),
        Ran::Failed(complaint) => Reading::Failed(complaint),
        Ran::Missing => Reading::Missing(MissingProgram {
            program: tesseract.display().to_string(),
            package: "tesseract-ocr",
        }),
        Ran::TimedOut => Reading::TimedOut,
    }
}

/// The text on a page of a PDF, from 1.
pub(crate) fn page(job: &Job, pdf: &Arc<[u8]>, page: usize, time: Duration) -> Reading {
    let pdftoppm = &job.options.ocr.pdftoppm;
    let number = page.to_string();
    let arguments = ["-gray", "-scale-to", PAGE_PIXELS, "-f", &number, "-l", &number, "-"];
    let left = job.time_left();
    match run(pdftoppm, &arguments, Arc::clone(pdf), time, MAX_PICTURE_BYTES) {
        Ran::Done(drawn) => {
            let used = left.saturating_sub(job.time_left());
            picture(job, drawn.into(), time.saturating_sub(used))
        }
        Ran::Failed(complaint) => Reading::Failed(complaint),
        Ran::Missing => Reading::Missing(MissingProgram {
            program: pdftoppm.display().to_string(),
            package: "poppler-utils",
        }),
        Ran::TimedOut => Reading::TimedOut,
    }
}

/// Paragraphs with one blank line between, without the form feed that ends each page.
fn tidy(text: &str) -> String {
    let mut tidy = String::new();
    let mut blank = false;
    for line in text.lines().map(|line| line.trim_matches(['\u{c}', ' ', '\t'])) {
        if line.is_empty() {
            blank = true;
            continue;
        }
        if !tidy.is_empty() {
            tidy.push_str(if blank { "\n\n" } else { "\n" });
        }
        tidy.push_str(line);
        blank = false;
    }
    tidy
}

//! PDFs with and without a text layer.

use hotseat_extract::{ExtractError, Options};

use crate::{extracted, fixture, with, without_programs};

fn pages(ranges: &str) -> Options {
    Options { pages: Some(ranges.parse().unwrap()), ..Options::default() }
}

#[test]
fn text_comes_in_reading_order_with_headings_lists_and_tables() {
    let chapters = extracted("chapters.pdf");

    let outline: Vec<&str> =
        chapters.markdown.lines().filter(|line| line.starts_with(['#', '-', '|'])).collect();
    assert_eq!(
        outline,
        [
            "# Chapter one",
            "## A section",
            "- apples",
            "- pears",
            "# Chapter two",
            "|City|People|",
            "|---|---|",
            "|Bern|134000|",
            "|Basel|173000|",
            "|Zug|31000|",
            "# Chapter three"
        ]
    );
    assert_eq!(
        chapters.markdown.matches("The seat is taken by a person who answers every turn").count(),
        16
    );
    assert_eq!(chapters.pages, Some(3));
    assert!(chapters.notes.is_empty(), "{:?}", chapters.notes);
}

#[test]
fn page_one_can_be_chosen_alone() {
    let first = with("chapters.pdf", &pages("1")).unwrap();

    assert!(
        first.markdown.contains("# Chapter one") && !first.markdown.contains("Chapter two"),
        "{}",
        first.markdown
    );
    assert_eq!(first.pages, Some(3));
}

#[test]
fn pages_can_be_chosen_by_ranges() {
    let chosen = with("chapters.pdf", &pages("1,3")).unwrap();

    assert!(
        chosen.markdown.contains("# Chapter one") && chosen.markdown.contains("# Chapter three")
    );
    assert!(!chosen.markdown.contains("Chapter two"), "{}", chosen.markdown);
}

#[test]
fn a_page_outside_the_document_is_an_error() {
    let error = with("chapters.pdf", &pages("2,4")).unwrap_err();

    assert_eq!(error, ExtractError::PageOutside { name: "chapters.pdf".into(), page: 4, pages: 3 });
}

#[test]
fn text_that_is_no_page_range_is_refused() {
    for ranges in ["", "0", "3-1", "1-", "a", "1,,2", "-1", "99999999999999999999999"] {
        assert!(ranges.parse::<hotseat_extract::Ranges>().is_err(), "{ranges}");
    }
}

#[test]
fn an_encrypted_pdf_says_so() {
    let error = with("encrypted.pdf", &Options::default()).unwrap_err();

    assert_eq!(error, ExtractError::Encrypted { name: "encrypted.pdf".into() });
}

#[test]
fn a_pdf_cut_in_half_is_corrupt_or_read_in_part_but_never_whole() {
    let whole = fixture("chapters.pdf");
    let error = crate::bytes("half.pdf", &whole[..whole.len() / 2]);

    assert!(
        error.as_ref().map_or(true, |read| !read.markdown.contains("Chapter three")),
        "{error:?}"
    );
    assert!(matches!(
        crate::bytes("start.pdf", &whole[..40]).unwrap_err(),
        ExtractError::Corrupt { .. }
    ));
}

#[test]
fn a_scanned_page_is_read_by_ocr_and_noted() {
    let scan = extracted("scan.pdf");

    let (own, seen) = scan.markdown.split_once("\n\n").unwrap();
    assert!(own.starts_with("This first page has a text layer"), "{own}");
    assert_eq!(seen.trim(), "Scanned contract 2026");
    assert_eq!(scan.notes, ["page 2 was read by OCR"]);
}

#[test]
fn pages_past_the_ocr_limit_are_noted() {
    let mut options = Options::default();
    options.limits.ocr_pages = 0;

    let scan = with("scan.pdf", &options).unwrap();

    assert!(!scan.markdown.contains("Scanned"), "{}", scan.markdown);
    assert_eq!(scan.notes, ["page 2 was not read by OCR, which reads 0 pages at most"]);
}

#[test]
fn without_the_programs_pages_with_text_are_read_and_the_rest_is_noted() {
    let scan = with("scan.pdf", &without_programs()).unwrap();

    assert!(scan.markdown.starts_with("This first page"), "{}", scan.markdown);
    assert_eq!(
        scan.notes,
        [
            "page 2 was not read: `/nonexistent/program` is not installed; hint: apt install poppler-utils"
        ]
    );
}

#[test]
fn without_the_programs_a_pdf_of_scans_only_is_an_error_with_a_hint() {
    let error = with("only-scan.pdf", &without_programs()).unwrap_err();

    assert!(error.to_string().ends_with("hint: apt install poppler-utils"), "{error}");
}

#[test]
fn without_tesseract_alone_the_hint_is_about_tesseract() {
    let mut options = without_programs();
    options.ocr.pdftoppm = "pdftoppm".into();

    let error = with("only-scan.pdf", &options).unwrap_err();

    assert!(error.to_string().ends_with("hint: apt install tesseract-ocr"), "{error}");
}

//! Pictures, with tesseract and without.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use hotseat_extract::{ExtractError, Format, Options};

use crate::{bytes, extracted, fixture, limited_to, with, without_programs};

const PICTURES: [(&str, Format); 5] = [
    ("invoice.png", Format::Png),
    ("invoice.jpg", Format::Jpeg),
    ("invoice.gif", Format::Gif),
    ("invoice.webp", Format::Webp),
    ("invoice-lossy.webp", Format::Webp),
];

/// A program that never reads its input and never ends.
fn endless_program() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/endless")
}

#[test]
fn every_picture_format_is_read_by_ocr() {
    for (name, format) in PICTURES {
        let picture = extracted(name);
        assert_eq!(picture.markdown, "Invoice number 4711\n", "{name}");
        assert_eq!((picture.format, picture.pages), (format, None), "{name}");
        assert_eq!(picture.notes, ["the picture was read by OCR"], "{name}");
    }
}

#[test]
fn a_picture_without_tesseract_is_no_error_and_has_a_hint() {
    for (name, format) in PICTURES {
        let picture = with(name, &without_programs()).unwrap();
        assert_eq!((picture.markdown.as_str(), picture.format), ("", format));
        assert_eq!(
            picture.notes,
            [
                "text in the picture was not read: `/nonexistent/program` is not installed; hint: apt install tesseract-ocr"
            ]
        );
    }
}

#[test]
fn a_picture_that_takes_too_long_times_out_and_its_program_is_killed() {
    let mut options = limited_to(Duration::from_millis(300));
    options.ocr.tesseract = endless_program();
    let started = Instant::now();

    let error = with("invoice.png", &options).unwrap_err();

    assert_eq!(
        error,
        ExtractError::TimedOut { name: "invoice.png".into(), limit: options.limits.time }
    );
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
}

#[test]
fn a_scan_that_takes_too_long_leaves_the_other_pages() {
    let mut options = limited_to(Duration::from_secs(5));
    options.ocr.tesseract = endless_program();

    let scan = with("scan.pdf", &options).unwrap();

    assert!(scan.markdown.starts_with("This first page"), "{}", scan.markdown);
    assert_eq!(scan.notes, ["page 2 was not read by OCR because the time was up"]);
}

#[test]
fn a_broken_picture_is_corrupt() {
    let whole = fixture("invoice.png");
    let mut garbled = whole.clone();
    garbled[60..2000].fill(0x55);

    assert!(matches!(bytes("garbled.png", &garbled).unwrap_err(), ExtractError::Corrupt { .. }));
    assert!(matches!(bytes("start.png", &whole[..12]).unwrap_err(), ExtractError::Corrupt { .. }));
}

#[test]
fn a_picture_that_claims_to_be_huge_is_refused_before_any_program_sees_it() {
    let mut huge = fixture("invoice.png");
    huge[16..24].copy_from_slice(&[0, 1, 0, 0, 0, 1, 0, 0]);

    let error = crate::extract(
        &hotseat_extract::Document { name: "huge.png", mime: "image/png", bytes: &huge },
        &Options::default(),
    )
    .unwrap_err();

    assert_eq!(
        error,
        ExtractError::TooLarge { name: "huge.png".into(), limit: 100_000_000, unit: "pixels" }
    );
}

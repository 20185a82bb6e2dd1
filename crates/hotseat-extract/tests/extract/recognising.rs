//! What a document is, and labels that lie.

use hotseat_extract::{Document, ExtractError, Format, Options, extract};

use crate::{bytes, fixture, zipped};

const ALL: [Format; 11] = [
    Format::Pdf,
    Format::Docx,
    Format::Xlsx,
    Format::Pptx,
    Format::Text,
    Format::Csv,
    Format::Markdown,
    Format::Png,
    Format::Jpeg,
    Format::Gif,
    Format::Webp,
];

fn sniff(name: &str, mime: &str) -> Result<Format, ExtractError> {
    Format::sniff(&fixture(name), Some(mime), Some(name))
}

#[test]
fn every_format_is_found_by_its_mime_type() {
    for format in ALL {
        assert_eq!(Format::from_mime(format.mime()), Some(format));
    }
    assert_eq!(Format::from_mime("Text/CSV; charset=utf-8"), Some(Format::Csv));
    assert_eq!(Format::from_mime("application/msword"), None);
}

#[test]
fn content_is_recognised_without_any_label() {
    let found = |name: &str| Format::sniff(&fixture(name), None, None).unwrap();

    assert_eq!(found("chapters.pdf"), Format::Pdf);
    assert_eq!(found("report.docx"), Format::Docx);
    assert_eq!(found("book.xlsx"), Format::Xlsx);
    assert_eq!(found("deck.pptx"), Format::Pptx);
    assert_eq!(found("invoice.webp"), Format::Webp);
    assert_eq!(Format::sniff(b"a,b", None, None).unwrap(), Format::Text);
}

#[test]
fn a_word_file_declared_as_a_workbook_is_mislabelled() {
    let error = sniff("report.docx", Format::Xlsx.mime()).unwrap_err();

    assert_eq!(
        error.to_string(),
        "`report.docx` is declared as xlsx but holds a docx file; give it the type of its content"
    );
}

#[test]
fn a_picture_named_pdf_is_mislabelled() {
    let error = bytes("invoice.pdf", &fixture("invoice.png")).unwrap_err();

    let expected = ExtractError::Mislabelled {
        name: "invoice.pdf".into(),
        declared: "pdf".into(),
        found: "a png file".into(),
    };
    assert_eq!(error, expected);
}

#[test]
fn a_mime_type_that_fits_counts_for_more_than_the_name() {
    assert_eq!(
        Format::sniff(&fixture("invoice.png"), Some("image/png"), Some("x.pdf")).unwrap(),
        Format::Png
    );
}

#[test]
fn kinds_of_text_are_told_apart_by_their_label() {
    let kind = |mime, name| Format::sniff(b"a,b\n", mime, name).unwrap();

    assert_eq!(kind(Some("text/csv"), None), Format::Csv);
    assert_eq!(kind(None, Some("a.CSV")), Format::Csv);
    assert_eq!(kind(Some("text/plain"), Some("a.md")), Format::Markdown);
    assert_eq!(kind(Some("application/vnd.ms-excel"), Some("a.csv")), Format::Csv);
    assert_eq!(kind(Some("text/plain"), Some("a.rs")), Format::Text);
}

#[test]
fn bytes_that_are_no_text_are_refused_under_a_label_of_text() {
    for content in [&b"a\0b"[..], b"\xC3\x28", b"\xFF\xFE\x00", b"\xFF\xFE\x00\xD8"] {
        let error = bytes("a.txt", content).unwrap_err();
        assert!(
            matches!(&error, ExtractError::Mislabelled { declared, .. } if declared == "text"),
            "{error}"
        );
    }
}

#[test]
fn an_empty_file_says_so() {
    assert_eq!(bytes("a.pdf", b"").unwrap_err(), ExtractError::Empty { name: "a.pdf".into() });
}

#[test]
fn types_that_cannot_be_read_are_refused_by_name() {
    let declared = Document { name: "a.html", mime: "text/html", bytes: b"<p>" };
    let archive = zipped(&[("a.txt", b"a")]);

    let error = extract(&declared, &Options::default()).unwrap_err();
    assert!(
        error.to_string().starts_with("`a.html` is text/html, which cannot be read"),
        "{error}"
    );
    let error = bytes("a.zip", &archive).unwrap_err();
    assert!(
        error.to_string().starts_with("`a.zip` is a zip archive, which cannot be read"),
        "{error}"
    );
}

#[test]
fn an_encrypted_word_file_says_so() {
    for mime in ["", Format::Docx.mime()] {
        let error = sniff("encrypted.docx", mime).unwrap_err();
        assert_eq!(error, ExtractError::Encrypted { name: "encrypted.docx".into() });
    }
}

#[test]
fn a_main_part_of_another_name_is_found_and_a_binary_workbook_is_not_taken_for_xml() {
    let word = zipped(&[("[Content_Types].xml", b"<Types/>"), ("word/document2.xml", b"<d/>")]);
    let binary = zipped(&[("[Content_Types].xml", b"<Types/>"), ("xl/workbook.bin", b"x")]);

    assert_eq!(Format::sniff(&word, None, None).unwrap(), Format::Docx);
    assert!(matches!(Format::sniff(&binary, None, None), Err(ExtractError::Unsupported { .. })));
}

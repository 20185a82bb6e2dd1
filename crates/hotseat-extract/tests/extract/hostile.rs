//! Documents that are broken or meant to do harm.

use std::time::{Duration, Instant};

use hotseat_extract::{Document, ExtractError, Extracted, Format, Options, extract};
use proptest::prelude::*;

use crate::{bytes, fixture, limited_to, without_programs, word, zipped};

/// What a busy machine may add to the time limit before the caller has its answer.
const SLACK: Duration = Duration::from_secs(5);

/// Extracts within a short time, without OCR programs, and checks that the time was kept.
fn in_time(name: &str, mime: &str, bytes: &[u8]) -> Result<Extracted, ExtractError> {
    let options =
        Options { limits: limited_to(Duration::from_secs(10)).limits, ..without_programs() };
    let started = Instant::now();
    let result = extract(&Document { name, mime, bytes }, &options);
    assert!(started.elapsed() < options.limits.time + SLACK, "{:?}", started.elapsed());
    result
}

#[test]
fn a_truncated_container_is_corrupt() {
    for name in ["report.docx", "book.xlsx", "deck.pptx"] {
        let whole = fixture(name);
        let error = bytes(name, &whole[..whole.len() / 2]).unwrap_err();
        assert!(matches!(error, ExtractError::Corrupt { .. }), "{error}");
    }
}

#[test]
fn a_zip_bomb_is_refused_at_the_limit() {
    let bomb = word(&" ".repeat(8 * 1024 * 1024), &[]);
    assert!(bomb.len() < 64 * 1024, "{}", bomb.len());
    let mut options = Options::default();
    options.limits.expanded_bytes = 4 * 1024 * 1024;

    let error =
        extract(&Document { name: "bomb.docx", mime: "", bytes: &bomb }, &options).unwrap_err();

    let expected =
        ExtractError::TooLarge { name: "bomb.docx".into(), limit: 4 * 1024 * 1024, unit: "bytes" };
    assert_eq!(error, expected);
    assert_eq!(error.to_string(), "`bomb.docx` expands to more than 4194304 bytes; split it");
}

#[test]
fn parts_are_counted_together() {
    let mut options = Options::default();
    options.limits.expanded_bytes = 6_000;

    let error = crate::with("deck.pptx", &options).unwrap_err();

    assert!(matches!(error, ExtractError::TooLarge { limit: 6_000, .. }), "{error}");
}

#[test]
fn entities_do_not_expand() {
    let entities = r#"<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>"#;
    let body = "<w:p><w:r><w:t>x&b;y</w:t></w:r></w:p>";
    let document = word(body, &[("styles", entities)]);

    assert_eq!(bytes("entities.docx", &document).unwrap().markdown, "xy\n");
}

#[test]
fn one_long_text_in_many_cells_is_cut_and_not_copied() {
    const TYPE: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    let root = format!(
        r#"<R><Relationship Id="a" Type="{TYPE}/officeDocument" Target="xl/workbook.xml"/></R>"#
    );
    let links = format!(
        r#"<R><Relationship Id="s" Type="{TYPE}/worksheet" Target="s.xml"/><Relationship Id="t" Type="{TYPE}/sharedStrings" Target="t.xml"/></R>"#
    );
    let strings = format!("<sst><si><t>{}</t></si></sst>", "x".repeat(1_000_000));
    let cells = r#"<row><c t="s"><v>0</v></c></row>"#.repeat(20_000);
    let book = zipped(&[
        ("[Content_Types].xml", b"<Types/>"),
        ("_rels/.rels", root.as_bytes()),
        ("xl/workbook.xml", br#"<workbook><sheets><sheet name="S" r:id="s"/></sheets></workbook>"#),
        ("xl/_rels/workbook.xml.rels", links.as_bytes()),
        ("xl/t.xml", strings.as_bytes()),
        ("xl/s.xml", format!("<worksheet><sheetData>{cells}</sheetData></worksheet>").as_bytes()),
    ]);

    let read = in_time("strings.xlsx", "", &book).unwrap();

    assert!(read.truncated);
    assert_eq!(read.markdown.chars().count(), 2_000_000);
}

#[test]
fn deep_nesting_does_not_end_the_process() {
    let tables = "<w:tbl><w:tr><w:tc>".repeat(50_000);
    let arrays =
        format!("%PDF-1.4\n1 0 obj\n{}\nendobj\ntrailer<</Root 1 0 R>>\n", "[".repeat(200_000));

    assert!(matches!(
        in_time("deep.docx", "", &word(&tables, &[])),
        Err(ExtractError::Corrupt { .. })
    ));
    assert!(matches!(
        in_time("deep.pdf", "", arrays.as_bytes()),
        Err(ExtractError::Corrupt { .. })
    ));
}

#[test]
fn no_time_is_a_time_out() {
    let error = crate::with("chapters.pdf", &limited_to(Duration::ZERO)).unwrap_err();

    assert_eq!(
        error,
        ExtractError::TimedOut { name: "chapters.pdf".into(), limit: Duration::ZERO }
    );
}

#[test]
fn a_document_that_takes_too_long_times_out() {
    let rows = "<w:p><w:r><w:t>x</w:t></w:r></w:p>".repeat(200_000);
    let document = word(&rows, &[]);
    let limit = Duration::from_millis(50);
    let started = Instant::now();

    let error =
        extract(&Document { name: "slow.docx", mime: "", bytes: &document }, &limited_to(limit))
            .unwrap_err();

    assert_eq!(error, ExtractError::TimedOut { name: "slow.docx".into(), limit });
    assert!(started.elapsed() < limit + SLACK, "{:?}", started.elapsed());
}

const FIXTURES: [&str; 9] = [
    "report.docx",
    "book.xlsx",
    "deck.pptx",
    "chapters.pdf",
    "encrypted.pdf",
    "scan.pdf",
    "encrypted.docx",
    "invoice.jpg",
    "invoice.webp",
];

proptest! {
    // Documents take longer than other things that are read.
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases / 4, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_bytes_never_panic(content in prop::collection::vec(any::<u8>(), 0..2000), start in 0..11_usize) {
        let starts: [(&[u8], Format); 11] = [
            (b"%PDF-1.7\n", Format::Pdf),
            (b"PK\x03\x04", Format::Docx),
            (b"PK\x03\x04", Format::Xlsx),
            (b"PK\x03\x04", Format::Pptx),
            (b"\x89PNG\r\n\x1a\n", Format::Png),
            (b"GIF89a", Format::Gif),
            (b"\xEF\xBB\xBF", Format::Text),
            (b"\xFF\xFE", Format::Markdown),
            (b"\xFF\xD8\xFF", Format::Jpeg),
            (b"RIFF\0\0\0\0WEBPVP8X", Format::Webp),
            (b"", Format::Csv),
        ];
        let (magic, format) = starts[start];
        let bytes = [magic, &content].concat();
        let result = in_time("any", format.mime(), &bytes);
        prop_assert!(!gave_up(&result), "{:?}", result);
    }

    #[test]
    fn mutated_documents_never_panic(
        which in 0..FIXTURES.len(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20),
        cut in prop::option::weighted(0.2, any::<prop::sample::Index>()),
    ) {
        let mut bytes = fixture(FIXTURES[which]);
        for (at, value) in changes {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        drop(in_time(FIXTURES[which], "", &bytes));
    }

    #[test]
    fn mutated_parts_never_panic(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20),
        which in 0..3_usize,
    ) {
        let name = ["report.docx", "book.xlsx", "deck.pptx"][which];
        let result = in_time(name, "", &with_changed_parts(name, &changes));
        prop_assert!(!gave_up(&result), "{:?}", result);
    }
}

/// Whether a reader panicked, which is caught but must not happen in our own readers.
fn gave_up(result: &Result<Extracted, ExtractError>) -> bool {
    matches!(result, Err(ExtractError::Corrupt { detail, .. }) if detail.contains("the reader gave up"))
}

/// The document with bytes changed inside its parts, so that the changes get past the container's checksums.
fn with_changed_parts(name: &str, changes: &[(prop::sample::Index, u8)]) -> Vec<u8> {
    use std::io::Read;
    let mut zip = zip::ZipArchive::new(std::io::Cursor::new(fixture(name))).unwrap();
    let mut parts = Vec::new();
    for index in 0..zip.len() {
        let mut file = zip.by_index(index).unwrap();
        let mut content = Vec::new();
        file.read_to_end(&mut content).unwrap();
        parts.push((file.name().unwrap().to_string(), content));
    }
    for (at, value) in changes {
        let part = at.index(parts.len());
        let content = &mut parts[part].1;
        if !content.is_empty() {
            let at = at.index(content.len());
            content[at] = *value;
        }
    }
    let parts: Vec<(&str, &[u8])> =
        parts.iter().map(|(name, content)| (name.as_str(), content.as_slice())).collect();
    zipped(&parts)
}

//! Word and PowerPoint.

use hotseat_extract::{ExtractError, Format, Options};

use crate::{bytes, extracted, with, word};

#[test]
fn word_keeps_headings_lists_and_tables_in_order() {
    let report = extracted("report.docx");

    assert_eq!(report.format, Format::Docx);
    assert_eq!(
        report.markdown,
        "# Quarterly report\n\n# Überblick\n\nPlain, **bold** and *italic* text. 日本語 ✓\n\n\
         See [the source](https://example.com/report)\n\n- first\n  - nested\n- second\n\n## Steps\n\n\
         1. open\n2. close\n\n| Region | Q1 | Q2 |\n| --- | --- | --- |\n| North | 1\\|2 | 3 |\n\
         | South | merged |  |\n\nAfter the table.\n"
    );
    assert_eq!((report.pages, report.truncated, report.notes), (None, false, vec![]));
}

#[test]
fn word_numbering_counts_per_level_and_starts_over_below_an_item() {
    let numbering = r#"<w:numbering xmlns:w="w"><w:abstractNum w:abstractNumId="7">
        <w:lvl w:ilvl="0"><w:start w:val="3"/><w:numFmt w:val="decimal"/></w:lvl>
        <w:lvl w:ilvl="1"><w:numFmt w:val="lowerLetter"/></w:lvl>
        <w:lvl w:ilvl="2"><w:numFmt w:val="bullet"/></w:lvl></w:abstractNum>
        <w:num w:numId="2"><w:abstractNumId w:val="7"/></w:num></w:numbering>"#;
    let item = |level: usize, text: &str| {
        format!(
            r#"<w:p><w:pPr><w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="2"/></w:numPr></w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"#
        )
    };
    let body = [item(0, "a"), item(1, "b"), item(2, "c"), item(1, "d"), item(0, "e"), item(1, "f")]
        .concat();

    let read = bytes("list.docx", &word(&body, &[("numbering", numbering)])).unwrap();

    assert_eq!(read.markdown, "3. a\n   1. b\n      - c\n   2. d\n4. e\n   1. f\n");
}

#[test]
fn word_footnotes_follow_the_text_and_deleted_text_is_gone() {
    let footnotes = r#"<w:footnotes xmlns:w="w"><w:footnote w:id="2"><w:p><w:r><w:t>the note &amp; more</w:t></w:r></w:p>
        </w:footnote></w:footnotes>"#;
    let body = r#"<w:p><w:r><w:t>kept</w:t></w:r><w:del><w:r><w:delText>no</w:delText></w:r></w:del>
        <w:r><w:footnoteReference w:id="2"/></w:r></w:p><w:p><w:r><w:t>last</w:t></w:r></w:p>"#;

    let read = bytes("notes.docx", &word(body, &[("footnotes", footnotes)])).unwrap();

    assert_eq!(read.markdown, "kept[^2]\n\nlast\n\n[^2]: the note & more\n");
}

#[test]
fn word_tables_inside_cells_and_text_boxes_inside_paragraphs_are_read() {
    let paragraph = |text: &str| format!("<w:p><w:r><w:t>{text}</w:t></w:r></w:p>");
    let inner = format!(
        "<w:tbl><w:tr><w:tc>{}</w:tc><w:tc>{}</w:tc></w:tr></w:tbl>",
        paragraph("x"),
        paragraph("y")
    );
    let table = format!("<w:tbl><w:tr><w:tc>{}{inner}</w:tc></w:tr></w:tbl>", paragraph("outer"));
    let boxed = format!(
        "<w:p><w:r><w:t>around</w:t><mc:AlternateContent><mc:Choice><w:txbxContent>{0}</w:txbxContent></mc:Choice>\
         <mc:Fallback><w:txbxContent>{0}</w:txbxContent></mc:Fallback></mc:AlternateContent></w:r></w:p>",
        paragraph("boxed")
    );

    let read = bytes("nested.docx", &word(&format!("{table}{boxed}"), &[])).unwrap();

    assert_eq!(read.markdown, "| outer<br>x, y |\n| --- |\n\nboxed\n\naround\n");
}

#[test]
fn slides_have_titles_levels_tables_and_notes() {
    let deck = extracted("deck.pptx");

    assert_eq!(deck.pages, Some(3));
    assert_eq!(
        deck.markdown,
        "## Slide 1: Hotseat\n\nA person in the model's seat\n\n## Slide 2: Why\n\n- tools are tried\n  - by hand\n    \
         - one by one\n- traces are kept\n\n### Notes\n\nMention the eval set.\n\nThen pause.\n\n\
         ## Slide 3: Numbers\n\n| Name | Value | Ünit |\n| --- | --- | --- |\n| speed | wide |  |\n\n\
         A free text box\n"
    );
}

#[test]
fn slides_can_be_chosen() {
    let options = Options { pages: Some("1,3".parse().unwrap()), ..Options::default() };
    let deck = with("deck.pptx", &options).unwrap();

    assert_eq!(deck.pages, Some(3));
    assert!(deck.markdown.starts_with("## Slide 1: Hotseat"), "{}", deck.markdown);
    assert!(
        deck.markdown.contains("## Slide 3") && !deck.markdown.contains("## Slide 2"),
        "{}",
        deck.markdown
    );
}

#[test]
fn a_slide_outside_the_deck_is_an_error_that_says_how_many_there_are() {
    let options = Options { pages: Some("2-5".parse().unwrap()), ..Options::default() };

    let error = with("deck.pptx", &options).unwrap_err();

    assert_eq!(error, ExtractError::PageOutside { name: "deck.pptx".into(), page: 4, pages: 3 });
    assert_eq!(error.to_string(), "`deck.pptx` has no page 4; it has pages 1 to 3");
}

#[test]
fn more_slides_than_allowed_are_refused() {
    let mut options = Options::default();
    options.limits.pages = 2;

    let error = with("deck.pptx", &options).unwrap_err();

    assert_eq!(error, ExtractError::TooManyPages { name: "deck.pptx".into(), pages: 3, limit: 2 });
}

#[test]
fn a_choice_of_pages_in_a_word_document_is_noted() {
    let options = Options { pages: Some("1".parse().unwrap()), ..Options::default() };

    let report = with("report.docx", &options).unwrap();

    assert_eq!(report.notes, ["pages cannot be chosen in a docx file, so all of it was read"]);
    assert!(report.markdown.contains("After the table."));
}

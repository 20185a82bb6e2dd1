//! Plain text, Markdown and CSV.

use hotseat_extract::{Format, Limits};

use crate::bytes;

#[test]
fn markdown_and_text_stay_as_they_are() {
    let markdown = bytes("a.md", "# Title\r\n\r\n* one\r\n".as_bytes()).unwrap();
    let text = bytes("a.txt", "\u{feff}Grüße\n".as_bytes()).unwrap();

    assert_eq!(
        (markdown.markdown.as_str(), markdown.format),
        ("# Title\n\n* one\n", Format::Markdown)
    );
    assert_eq!((text.markdown.as_str(), text.format), ("Grüße\n", Format::Text));
}

#[test]
fn utf_16_is_read_in_both_byte_orders() {
    let units: Vec<u16> = "\u{feff}Grüße 日本 😀".encode_utf16().collect();
    let little: Vec<u8> = units.iter().flat_map(|unit| unit.to_le_bytes()).collect();
    let big: Vec<u8> = units.iter().flat_map(|unit| unit.to_be_bytes()).collect();

    assert_eq!(bytes("little.txt", &little).unwrap().markdown, "Grüße 日本 😀\n");
    assert_eq!(bytes("big.txt", &big).unwrap().markdown, "Grüße 日本 😀\n");
}

#[test]
fn long_text_is_cut_at_the_limit_and_noted() {
    let text = "ä".repeat(5 * 1024 * 1024);

    let read = bytes("long.txt", text.as_bytes()).unwrap();

    assert!(read.truncated);
    assert_eq!(read.markdown.chars().count(), Limits::OUTPUT_CHARS);
    assert_eq!(read.notes, ["text was cut at 2000000 characters"]);
}

#[test]
fn text_of_exactly_the_limit_is_not_cut() {
    let read = bytes("fits.txt", "x".repeat(Limits::OUTPUT_CHARS).as_bytes()).unwrap();

    assert!(!read.truncated && read.notes.is_empty(), "{:?}", read.notes);
}

#[test]
fn csv_becomes_a_table_with_quotes_line_breaks_and_pipes_in_place() {
    let csv = "name,note\n\"Doe, Jane\",\"said \"\"hi\"\"\nand left\"\nplain,a|b\nshort\n1,2,3\n";

    let table = bytes("a.csv", csv.as_bytes()).unwrap();

    assert_eq!(
        table.markdown,
        "| name | note |  |\n| --- | --- | --- |\n| Doe, Jane | said \"hi\"<br>and left |  |\n\
         | plain | a\\|b |  |\n| short |  |  |\n| 1 | 2 | 3 |\n"
    );
}

#[test]
fn csv_with_semicolons_or_tabs_is_recognised() {
    let expected = "| a | b |\n| --- | --- |\n| 1,5 | 2 |\n";

    assert_eq!(bytes("semicolons.csv", b"a;b\n1,5;2\n").unwrap().markdown, expected);
    assert_eq!(bytes("tabs.csv", b"a\tb\n1,5\t2\n").unwrap().markdown, expected);
}

#[test]
fn a_long_csv_is_cut_at_the_limit() {
    let read = bytes("long.csv", "some,cells,here\n".repeat(150_000).as_bytes()).unwrap();

    assert!(read.truncated);
    assert_eq!(read.markdown.chars().count(), Limits::OUTPUT_CHARS);
}

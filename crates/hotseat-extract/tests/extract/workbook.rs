//! Excel.

use hotseat_extract::{ExtractError, Options};

use crate::{bytes, extracted, with, zipped};

/// A workbook of one sheet `S` with these rows, whose cells may use one style per format code, from 1.
fn workbook(properties: &str, formats: &[&str], rows: &str) -> Vec<u8> {
    const TYPE: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    let root = format!(
        r#"<R><Relationship Id="a" Type="{TYPE}/officeDocument" Target="/xl/workbook.xml"/></R>"#
    );
    let links = format!(
        r#"<R><Relationship Id="s" Type="{TYPE}/worksheet" Target="s.xml"/>
        <Relationship Id="t" Type="{TYPE}/styles" Target="t.xml"/></R>"#
    );
    let (mut codes, mut styles) = (String::new(), "<xf/>".to_owned());
    for (at, code) in formats.iter().enumerate() {
        let code = code.replace('"', "&quot;");
        codes += &format!(r#"<numFmt numFmtId="{0}" formatCode="{code}"/>"#, 200 + at);
        styles += &format!(r#"<xf numFmtId="{}"/>"#, 200 + at);
    }
    let book =
        format!(r#"<workbook>{properties}<sheets><sheet name="S" r:id="s"/></sheets></workbook>"#);
    zipped(&[
        ("[Content_Types].xml", b"<Types/>"),
        ("_rels/.rels", root.as_bytes()),
        ("xl/workbook.xml", book.as_bytes()),
        ("xl/_rels/workbook.xml.rels", links.as_bytes()),
        (
            "xl/t.xml",
            format!("<s><numFmts>{codes}</numFmts><cellXfs>{styles}</cellXfs></s>").as_bytes(),
        ),
        ("xl/s.xml", format!("<worksheet><sheetData>{rows}</sheetData></worksheet>").as_bytes()),
    ])
}

/// What a number looks like in a format.
fn shown(properties: &str, format: &str, number: &str) -> String {
    let row = format!(r#"<row><c s="1"><v>{number}</v></c></row>"#);
    let markdown = bytes("one.xlsx", &workbook(properties, &[format], &row)).unwrap().markdown;
    let cell = markdown.lines().nth(2).unwrap();
    cell.trim_matches(['|', ' ']).to_owned()
}

fn choose(sheets: &[&str], cells: Option<&str>) -> Options {
    Options {
        sheets: (!sheets.is_empty()).then(|| sheets.iter().map(ToString::to_string).collect()),
        cells: cells.map(str::to_owned),
        ..Options::default()
    }
}

#[test]
fn every_sheet_is_a_table_with_values_as_a_person_reads_them() {
    let book = extracted("book.xlsx");

    assert_eq!(
        book.markdown,
        "## Sales\n\n| Region | Day | Amount | Share | Total | Open |\n| --- | --- | --- | --- | --- | --- |\n\
         | North | 2026-01-31 | 1,234.50 | 25.6% | 0.3 | TRUE |\n\
         | Süd | 2026-02-01 14:05:00 | -€ 7.00 | 100.0% | 12 | FALSE |\n\
         | =SUM(C2:C3) |  |  |  |  |  |\n\n\
         ## Notes & more\n\n| merged title |  |  |  |\n| --- | --- | --- | --- |\n\
         | a\\|b | two<br>lines | last |  |\n|  |  |  | far away |\n\n## Empty\n"
    );
}

#[test]
fn sheets_and_cells_can_be_chosen() {
    let book = with("book.xlsx", &choose(&["Sales"], Some("A1:C2"))).unwrap();

    assert_eq!(
        book.markdown,
        "## Sales\n\n| Region | Day | Amount |\n| --- | --- | --- |\n| North | 2026-01-31 | 1,234.50 |\n"
    );
}

#[test]
fn a_range_may_be_one_cell_and_be_written_backwards() {
    let one = with("book.xlsx", &choose(&["Sales"], Some("$B$2"))).unwrap();
    let backwards = with("book.xlsx", &choose(&["Sales"], Some("b3:A2"))).unwrap();

    assert_eq!(one.markdown, "## Sales\n\n| 2026-01-31 |\n| --- |\n");
    assert_eq!(
        backwards.markdown,
        "## Sales\n\n| North | 2026-01-31 |\n| --- | --- |\n| Süd | 2026-02-01 14:05:00 |\n"
    );
}

#[test]
fn an_unknown_sheet_is_an_error_that_lists_the_known_ones() {
    let error = with("book.xlsx", &choose(&["Sales", "Costs"], None)).unwrap_err();

    assert_eq!(
        error.to_string(),
        "`book.xlsx` has no sheet `Costs`; it has Sales, Notes & more, Empty"
    );
}

#[test]
fn cells_that_are_no_range_are_refused() {
    for cells in ["", "A0", "AAAA1", "1:2", "A1:", "XFE1", "A1048577", "Ä1"] {
        let error = with("book.xlsx", &choose(&[], Some(cells))).unwrap_err();
        assert_eq!(
            error,
            ExtractError::CellsInvalid { name: "book.xlsx".into(), cells: cells.into() }
        );
    }
}

#[test]
fn numbers_look_as_in_the_sheet() {
    let cases = [
        ("General", "0.30000000000000004", "0.3"),
        ("General", "1E+21", "1000000000000000000000"),
        ("0", "2.6", "3"),
        ("0.00", "-0.001", "0.00"),
        ("#,##0", "1234567", "1,234,567"),
        ("#,##0.0;[Red](#,##0.0)", "-1234.56", "-1,234.6"),
        ("_-* #,##0.00_-", "5", "5.00"),
        ("\"$\"#,##0.00", "9.5", "$9.50"),
        ("0.0 \"kg\"", "70", "70.0 kg"),
        ("0.00%", "0.12345", "12.35%"),
        ("0.00E+00", "1500", "1500"),
        ("# ?/?", "0.5", "0.5"),
        ("@", "7", "7"),
    ];
    for (format, number, expected) in cases {
        assert_eq!(shown("", format, number), expected, "{format} of {number}");
    }
}

#[test]
fn dates_and_times_look_as_in_the_sheet() {
    let cases = [
        ("yyyy-mm-dd", "1", "1900-01-01"),
        ("yyyy-mm-dd", "59", "1900-02-28"),
        ("yyyy-mm-dd", "61", "1900-03-01"),
        ("[$-407]d. mmmm yyyy", "46053", "2026-01-31"),
        ("dd/mm/yyyy hh:mm", "46053.75", "2026-01-31 18:00:00"),
        ("h:mm AM/PM", "0.5", "12:00:00"),
        ("[h]:mm", "1.5", "36:00:00"),
        ("yyyy", "-5", "-5"),
        ("yyyy", "99999999", "99999999"),
    ];
    for (format, number, expected) in cases {
        assert_eq!(shown("", format, number), expected, "{format} of {number}");
    }
    assert_eq!(shown(r#"<workbookPr date1904="1"/>"#, "yyyy-mm-dd", "1"), "1904-01-02");
}

#[test]
fn cells_out_of_order_and_without_an_address_find_their_columns() {
    let rows = r#"<row r="1"><c r="C1"><v>3</v></c><c r="A1"><v>1</v></c></row>
        <row><c><v>4</v></c><c t="b"><v>1</v></c><c t="e"><v>#N/A</v></c></row>"#;

    let read = bytes("order.xlsx", &workbook("", &[], rows)).unwrap();

    assert_eq!(read.markdown, "## S\n\n| 1 |  | 3 |\n| --- | --- | --- |\n| 4 | TRUE | #N/A |\n");
}

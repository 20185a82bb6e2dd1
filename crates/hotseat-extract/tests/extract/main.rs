//! Real documents through the public API, and hostile bytes that must not get through it.

#![expect(
    clippy::unwrap_used,
    clippy::format_collect,
    clippy::format_push_string,
    reason = "a helper that fails has to end the test, and tests favour short over fast"
)]

mod hostile;
mod office;
mod pdf;
mod pictures;
mod recognising;
mod text;
mod workbook;

use std::io::{Cursor, Write};
use std::path::PathBuf;
use std::time::Duration;

use hotseat_extract::{Document, ExtractError, Extracted, Ocr, Options, extract};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

fn fixture(name: &str) -> Vec<u8> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Extracts a fixture by its name alone.
fn extracted(name: &str) -> Extracted {
    with(name, &Options::default()).unwrap()
}

fn with(name: &str, options: &Options) -> Result<Extracted, ExtractError> {
    extract(&Document { name, mime: "", bytes: &fixture(name) }, options)
}

fn bytes(name: &str, bytes: &[u8]) -> Result<Extracted, ExtractError> {
    extract(&Document { name, mime: "", bytes }, &Options::default())
}

/// Options under which no OCR program is found.
fn without_programs() -> Options {
    let nowhere = PathBuf::from("/nonexistent/program");
    Options { ocr: Ocr { tesseract: nowhere.clone(), pdftoppm: nowhere }, ..Options::default() }
}

fn limited_to(time: Duration) -> Options {
    let mut options = Options::default();
    options.limits.time = time;
    options
}

/// A zip of the given parts; long ones are compressed, which takes its time in a debug build.
fn zipped(parts: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in parts {
        let method = if content.len() > 1024 * 1024 {
            CompressionMethod::Deflated
        } else {
            CompressionMethod::Stored
        };
        zip.start_file(*name, SimpleFileOptions::default().compression_method(method)).unwrap();
        zip.write_all(content).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// A Word document with this body and these further parts, related to it by kind.
fn word(body: &str, related: &[(&str, &str)]) -> Vec<u8> {
    const TYPE: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    let relationships = |entries: &str| format!("<Relationships>{entries}</Relationships>");
    let root = relationships(&format!(
        r#"<Relationship Id="r1" Type="{TYPE}/officeDocument" Target="word/document.xml"/>"#
    ));
    let links: String = related
        .iter()
        .map(|(kind, _)| {
            format!(r#"<Relationship Id="{kind}" Type="{TYPE}/{kind}" Target="{kind}.xml"/>"#)
        })
        .collect();
    let links = relationships(&links);
    let document = format!(r#"<w:document xmlns:w="w"><w:body>{body}</w:body></w:document>"#);
    let names: Vec<String> = related.iter().map(|(kind, _)| format!("word/{kind}.xml")).collect();
    let mut parts: Vec<(&str, &[u8])> = vec![
        ("[Content_Types].xml", b"<Types/>"),
        ("_rels/.rels", root.as_bytes()),
        ("word/document.xml", document.as_bytes()),
        ("word/_rels/document.xml.rels", links.as_bytes()),
    ];
    parts.extend(
        names.iter().zip(related).map(|(name, (_, content))| (name.as_str(), content.as_bytes())),
    );
    zipped(&parts)
}

//! The zip container of office documents: parts by name and the relationships between them.
//!
//! Every byte that comes out is counted against the job's limit while it is being expanded, so sizes that a container
//! declares about itself are never believed. Nothing is written to disk.

use std::collections::HashMap;
use std::io::{Cursor, Read};

use zip::ZipArchive;
use zip::result::ZipError;

use crate::error::ExtractError;
use crate::format::{Format, contains};
use crate::job::Job;
use crate::text;
use crate::xml::{Node, Xml};

/// More parts than any real document has; the directory of a container is read before anything else can be checked.
const MAX_PARTS: usize = 100_000;
/// Bytes expanded between two looks at the clock.
const CHUNK: u64 = 1024 * 1024;

/// An open container.
pub(crate) struct Package<'a> {
    zip: ZipArchive<Cursor<&'a [u8]>>,
}

/// What a part points to, by relationship id.
#[derive(Default)]
pub(crate) struct Relationships(HashMap<String, Relationship>);

struct Relationship {
    /// The last segment of its type's address, which is the same in both flavours of the standard.
    kind: String,
    target: String,
}

impl<'a> Package<'a> {
    pub(crate) fn open(job: &Job, bytes: &'a [u8]) -> Result<Self, ExtractError> {
        let zip = ZipArchive::new(Cursor::new(bytes))
            .map_err(|error| job.corrupt(format!("its zip: {error}")))?;
        if zip.len() > MAX_PARTS {
            return Err(job.corrupt(format!("it has {} parts", zip.len())));
        }
        Ok(Self { zip })
    }

    /// The document's main part, as the container names it.
    pub(crate) fn main_part(&mut self, job: &mut Job) -> Result<String, ExtractError> {
        let roots = self.relationships(job, "")?;
        roots
            .first("officeDocument")
            .map(str::to_owned)
            .ok_or_else(|| job.corrupt("it names no main part"))
    }

    /// The text of a part that has to be there.
    pub(crate) fn part(&mut self, job: &mut Job, name: &str) -> Result<String, ExtractError> {
        self.optional_part(job, name)?
            .ok_or_else(|| job.corrupt(format!("its part {name} is missing")))
    }

    /// The text of a part, if it is there.
    pub(crate) fn optional_part(
        &mut self,
        job: &mut Job,
        name: &str,
    ) -> Result<Option<String>, ExtractError> {
        let mut file = match self.zip.by_name(name) {
            Ok(file) => file,
            Err(ZipError::FileNotFound) => return Ok(None),
            Err(ZipError::UnsupportedArchive(ZipError::PASSWORD_REQUIRED)) => {
                return Err(job.encrypted());
            }
            Err(error) => return Err(job.corrupt(format!("its part {name}: {error}"))),
        };
        let mut bytes = Vec::new();
        loop {
            job.check_time()?;
            // One byte over what is left tells "at the limit" from "past it".
            let step = CHUNK.min(job.expanded_left().saturating_add(1));
            let read = file
                .by_ref()
                .take(step)
                .read_to_end(&mut bytes)
                .map_err(|error| job.corrupt(format!("its part {name}: {error}")))?;
            job.expand(read as u64)?;
            if (read as u64) < step {
                break;
            }
        }
        let text = match text::decode(&bytes)
            .ok_or_else(|| job.corrupt(format!("its part {name} is not text")))?
        {
            std::borrow::Cow::Owned(text) => text,
            std::borrow::Cow::Borrowed(text) => text.to_owned(),
        };
        Ok(Some(text))
    }

    /// What `part` points to; nothing if it has no relationships. The empty name stands for the container itself.
    pub(crate) fn relationships(
        &mut self,
        job: &mut Job,
        part: &str,
    ) -> Result<Relationships, ExtractError> {
        let (folder, file) = part.rsplit_once('/').unwrap_or(("", part));
        let name = if folder.is_empty() {
            format!("_rels/{file}.rels")
        } else {
            format!("{folder}/_rels/{file}.rels")
        };
        let Some(text) = self.optional_part(job, &name)? else {
            return Ok(Relationships::default());
        };
        let mut relationships = HashMap::new();
        let mut xml = Xml::new(job, &text);
        loop {
            match xml.next()? {
                Node::Open(tag) if tag.name() == "Relationship" => {
                    let external =
                        tag.attribute("TargetMode").is_some_and(|mode| mode == "External");
                    let target = tag.attribute("Target").unwrap_or_default();
                    let target = if external { target } else { resolve(folder, &target) };
                    let kind = tag.attribute("Type").unwrap_or_default();
                    let kind = kind.rsplit('/').next().unwrap_or_default().to_owned();
                    relationships.insert(
                        tag.attribute("Id").unwrap_or_default(),
                        Relationship { kind, target },
                    );
                }
                Node::Open(_) | Node::Close(_) | Node::Text(_) => {}
                Node::End => break,
            }
        }
        Ok(Relationships(relationships))
    }
}

impl Relationships {
    /// The target of a relationship id.
    pub(crate) fn target(&self, id: &str) -> Option<&str> {
        self.0.get(id).map(|relationship| relationship.target.as_str())
    }

    /// The target of the relationship of a kind that a part has at most one of.
    pub(crate) fn first(&self, kind: &str) -> Option<&str> {
        self.0
            .values()
            .find(|relationship| relationship.kind == kind)
            .map(|relationship| relationship.target.as_str())
    }
}

/// Which office format a zip holds; nothing for another archive, an error if its directory cannot be read.
pub(crate) fn office_format(bytes: &[u8]) -> Result<Option<Format>, ()> {
    // The main part usually is `word/document.xml`, but the name is free: Office on the web writes `document2.xml`.
    const MAIN: [(&[u8], Format); 3] = [
        (b"word/document", Format::Docx),
        (b"xl/workbook", Format::Xlsx),
        (b"ppt/presentation", Format::Pptx),
    ];
    let zip = ZipArchive::new(Cursor::new(bytes)).map_err(|_| ())?;
    let has = |name: &str| zip.index_for_name(name).is_some();
    if !has("[Content_Types].xml") {
        return Ok(None);
    }
    let is_main = |name: &[u8], start: &[u8]| name.starts_with(start) && name.ends_with(b".xml");
    Ok(zip.file_names_raw().find_map(|name| {
        MAIN.iter().find(|(start, _)| is_main(name, start)).map(|(_, format)| *format)
    }))
}

/// Whether a container of the old formats holds an encrypted document of the new ones.
pub(crate) fn is_encrypted_ole(bytes: &[u8]) -> bool {
    let name: Vec<u8> = "EncryptedPackage".encode_utf16().flat_map(u16::to_le_bytes).collect();
    contains(bytes, &name)
}

/// A relative target as a part name: `../media/x` seen from `ppt/slides` is `ppt/media/x`.
fn resolve(folder: &str, target: &str) -> String {
    if let Some(absolute) = target.strip_prefix('/') {
        return absolute.to_owned();
    }
    let mut path: Vec<&str> = folder.split('/').filter(|segment| !segment.is_empty()).collect();
    for segment in target.split('/') {
        match segment {
            "" | "." => {}
            ".." => {
                path.pop();
            }
            segment => path.push(segment),
        }
    }
    path.join("/")
}

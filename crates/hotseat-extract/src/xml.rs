//! A pull reader over the XML of a part, reduced to what the office formats need.
//!
//! Names are local names: which prefix a producer chose does not matter. Entities beyond XML's own five are
//! dropped, so nothing in a part can expand, and the clock is looked at as events go by.

use std::borrow::Cow;

use quick_xml::XmlVersion;
use quick_xml::events::{BytesEnd, BytesStart, Event};
use quick_xml::reader::Reader;

use crate::error::ExtractError;
use crate::job::Job;

/// Events between two looks at the clock.
const EVENTS_PER_CHECK: u32 = 1024;

/// What comes next in a part.
pub(crate) enum Node<'a> {
    /// An element begins; an empty one is followed by its [`Node::Close`].
    Open(Tag<'a>),
    /// An element ends.
    Close(EndTag<'a>),
    /// Characters, possibly in several pieces.
    Text(Cow<'a, str>),
    /// The part is over.
    End,
}

/// The start of an element.
pub(crate) struct Tag<'a>(BytesStart<'a>);

/// The end of an element.
pub(crate) struct EndTag<'a>(BytesEnd<'a>);

/// Events of one part.
pub(crate) struct Xml<'a, 'job> {
    reader: Reader<&'a [u8]>,
    job: &'job Job,
    events: u32,
}

impl<'a, 'job> Xml<'a, 'job> {
    pub(crate) fn new(job: &'job Job, text: &'a str) -> Self {
        let mut reader = Reader::from_str(text);
        reader.config_mut().expand_empty_elements = true;
        Self { reader, job, events: 0 }
    }

    pub(crate) fn next(&mut self) -> Result<Node<'a>, ExtractError> {
        loop {
            self.events = self.events.wrapping_add(1);
            if self.events.is_multiple_of(EVENTS_PER_CHECK) {
                self.job.check_time()?;
            }
            let event = self
                .reader
                .read_event()
                .map_err(|error| self.job.corrupt(format!("its XML: {error}")))?;
            return Ok(match event {
                Event::Start(tag) | Event::Empty(tag) => Node::Open(Tag(tag)),
                Event::End(tag) => Node::Close(EndTag(tag)),
                Event::Text(text) => Node::Text(text.xml10_content()),
                Event::CData(text) => Node::Text(text.xml10_content()),
                Event::GeneralRef(reference) => match entity(&reference) {
                    Some(character) => Node::Text(Cow::Owned(character.to_string())),
                    None => continue,
                },
                Event::Eof => Node::End,
                Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => continue,
            });
        }
    }

    /// Reads on past the end of the element that has just begun.
    pub(crate) fn skip(&mut self) -> Result<(), ExtractError> {
        let mut depth = 1_u64;
        while depth > 0 {
            match self.next()? {
                Node::Open(_) => depth += 1,
                Node::Close(_) => depth -= 1,
                Node::Text(_) => {}
                Node::End => break,
            }
        }
        Ok(())
    }
}

impl EndTag<'_> {
    pub(crate) fn name(&self) -> &str {
        self.0.local_name().into_inner()
    }
}

impl Tag<'_> {
    pub(crate) fn name(&self) -> &str {
        self.0.local_name().into_inner()
    }

    /// The value of the first attribute with this local name.
    pub(crate) fn attribute(&self, name: &str) -> Option<String> {
        self.find(|_, local| local == name)
    }

    /// The relationship id: `r:id` or `r:embed`, which may stand beside an `id` of another meaning.
    pub(crate) fn relationship(&self) -> Option<String> {
        self.find(|prefixed, local| prefixed && (local == "id" || local == "embed"))
    }

    /// An on/off property such as `<w:b/>`: on unless its value says off.
    pub(crate) fn is_on(&self) -> bool {
        !matches!(self.attribute("val").as_deref(), Some("0" | "false" | "off" | "none"))
    }

    fn find(&self, wanted: impl Fn(bool, &str) -> bool) -> Option<String> {
        self.0.attributes().with_checks(false).flatten().find_map(|attribute| {
            let (local, prefix) = attribute.key.decompose();
            if !wanted(prefix.is_some(), local.into_inner()) {
                return None;
            }
            let value = attribute.normalized_value(XmlVersion::Implicit1_0);
            Some(value.map_or_else(|_| attribute.value.to_string(), Cow::into_owned))
        })
    }
}

fn entity(name: &str) -> Option<char> {
    Some(match name {
        "lt" => '<',
        "gt" => '>',
        "amp" => '&',
        "quot" => '"',
        "apos" => '\'',
        number => {
            let number = number.strip_prefix('#')?;
            let code = match number.strip_prefix('x') {
                Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                None => number.parse().ok()?,
            };
            char::from_u32(code)?
        }
    })
}

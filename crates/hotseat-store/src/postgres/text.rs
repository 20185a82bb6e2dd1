//! Text as PostgreSQL can keep it.
//!
//! Its text holds every character but U+0000, which JSON can carry into a title or a name. Here
//! it is written as two characters, the first of which is a noncharacter of Unicode that nobody
//! uses; where somebody does, it is written as two as well. What is read is what was written.

use std::borrow::Cow;
use std::error::Error;

use tokio_postgres::types::{FromSql, Type};
use uuid::Uuid;

const ESCAPE: char = '\u{10FFFE}';

/// `text` as it is kept.
pub(super) fn kept(text: &str) -> Cow<'_, str> {
    if !text.contains(['\0', ESCAPE]) {
        return Cow::Borrowed(text);
    }
    let mut kept = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        match character {
            '\0' => kept.extend([ESCAPE, '0']),
            ESCAPE => kept.extend([ESCAPE, '1']),
            other => kept.push(other),
        }
    }
    Cow::Owned(kept)
}

/// `text` as it is kept, where there is one.
pub(super) fn kept_if(text: Option<&String>) -> Option<Cow<'_, str>> {
    text.map(|text| kept(text))
}

/// The key of a name that has no limit.
pub(super) fn key(name: &str) -> Uuid {
    Uuid::new_v5(&Uuid::NAMESPACE_OID, name.as_bytes())
}

/// Text as it was before it was kept.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Text(pub(super) String);

impl<'a> FromSql<'a> for Text {
    fn from_sql(kind: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        let kept = <&str>::from_sql(kind, raw)?;
        if !kept.contains(ESCAPE) {
            return Ok(Self(kept.to_owned()));
        }
        let mut text = String::with_capacity(kept.len());
        let mut characters = kept.chars();
        while let Some(character) = characters.next() {
            match (character, character == ESCAPE) {
                (_, true) => match characters.next() {
                    Some('0') => text.push('\0'),
                    Some('1') => text.push(ESCAPE),
                    _ => return Err("text that was never written here".into()),
                },
                (other, false) => text.push(other),
            }
        }
        Ok(Self(text))
    }

    fn accepts(kind: &Type) -> bool {
        <&str as FromSql>::accepts(kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_is_what_was_written() {
        for text in ["", "plain", "a\0b\0", "\u{10FFFE}", "\u{10FFFE}0\0\u{10FFFE}1", "ü\0"] {
            let kept = kept(text);
            assert!(!kept.contains('\0'));
            let read = Text::from_sql(&Type::TEXT, kept.as_bytes()).unwrap();
            assert_eq!(read, Text(text.to_owned()));
        }
        assert!(matches!(kept("plain"), Cow::Borrowed(_)));
    }
}

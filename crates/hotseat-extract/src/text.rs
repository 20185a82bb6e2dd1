//! Plain text and Markdown, and the decoding that every text part shares.
//!
//! Text is UTF-8, or UTF-16 with a byte order mark; a NUL character means it is not text at all. Guessing older
//! encodings was rejected: a wrong guess is silent, and the person can save the file as UTF-8.

use std::borrow::Cow;

use crate::error::ExtractError;
use crate::job::Job;
use crate::output::Output;

/// `bytes` as text without a byte order mark, or nothing if they are not text.
pub(crate) fn decode(bytes: &[u8]) -> Option<Cow<'_, str>> {
    let text = match bytes {
        [0xFF, 0xFE, rest @ ..] => Cow::Owned(utf16(rest, u16::from_le_bytes)?),
        [0xFE, 0xFF, rest @ ..] => Cow::Owned(utf16(rest, u16::from_be_bytes)?),
        [0xEF, 0xBB, 0xBF, rest @ ..] => Cow::Borrowed(std::str::from_utf8(rest).ok()?),
        bytes => Cow::Borrowed(std::str::from_utf8(bytes).ok()?),
    };
    (!text.contains('\0')).then_some(text)
}

/// The text as it is, with line feeds as line ends.
pub(crate) fn read(job: &Job, bytes: &[u8], out: &mut Output) -> Result<(), ExtractError> {
    let text = decode(bytes).ok_or_else(|| job.corrupt("it is not text in UTF-8 or UTF-16"))?;
    if text.contains('\r') {
        out.push(&text.replace("\r\n", "\n").replace('\r', "\n"));
    } else {
        out.push(&text);
    }
    Ok(())
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Option<String> {
    let (pairs, rest) = bytes.as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    char::decode_utf16(pairs.iter().map(|pair| unit(*pair))).collect::<Result<String, _>>().ok()
}

//! A message as JSON, read piece by piece.
//!
//! Limits hold while reading here, too: the letters of a file are counted as they come,
//! and one that has more than a file may have is refused there, before the rest of the
//! body is taken and before anything is decoded.

use axum::Json;
use axum::extract::Request;
use axum::http::{StatusCode, header};
use futures_util::TryStreamExt as _;

use super::said::Said;
use super::{MAX_CHAT_BYTES, Problem};
use crate::http::extract::stalled;
use crate::service::MAX_FILE_BYTES;

/// The longest text in a body: the largest file as base64, with some white space around it.
const MAX_TEXT_BYTES: usize = MAX_FILE_BYTES.div_ceil(3) * 4 + 1024;

/// Reads a message.
pub(super) async fn read(request: Request) -> Result<Said, Problem> {
    if !is_json(&request) {
        return Err(Problem::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "unsupported_media_type",
            "send JSON with `Content-Type: application/json`, or a form",
        ));
    }
    let too_large = |detail| Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", detail);
    let mib = 1024 * 1024;
    let mut body = request.into_body().into_data_stream();
    let (mut bytes, mut measure) = (Vec::new(), Measure::default());
    while let Some(chunk) = body.try_next().await.map_err(|error| broken(&error))? {
        if bytes.len() + chunk.len() > MAX_CHAT_BYTES {
            let most = MAX_CHAT_BYTES / mib;
            return Err(too_large(format!("the body is larger than the limit of {most} MiB")));
        }
        if !measure.fits(&chunk) {
            let (what, most) = (measure.what(), MAX_FILE_BYTES / mib);
            return Err(too_large(format!("{what} is larger than {most} MiB")));
        }
        bytes.extend_from_slice(&chunk);
    }
    let Json(said) = Json::<Said>::from_bytes(&bytes)?;
    Ok(said)
}

fn is_json(request: &Request) -> bool {
    let kind = request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let kind = kind.unwrap_or_default().split(';').next().unwrap_or_default().trim();
    let kind = kind.to_ascii_lowercase();
    kind == "application/json" || (kind.starts_with("application/") && kind.ends_with("+json"))
}

fn broken(error: &axum::Error) -> Problem {
    stalled(error)
        .unwrap_or_else(|| Problem::bad_request(format!("the body cannot be read: {error}")))
}

/// How long the text is that is being read, as far as the body was.
#[derive(Debug, Default)]
struct Measure {
    in_text: bool,
    /// The next letter of the text means something else.
    escaped: bool,
    length: usize,
    /// Objects that were begun: the message itself, and one for each file.
    objects: usize,
}

impl Measure {
    /// Looks at the next bytes; false if a text in them is too long.
    fn fits(&mut self, mut bytes: &[u8]) -> bool {
        while let Some((&first, rest)) = bytes.split_first() {
            if !self.in_text {
                self.objects += usize::from(first == b'{');
                if first == b'"' {
                    (self.in_text, self.length) = (true, 0);
                }
                bytes = rest;
                continue;
            }
            if self.escaped {
                self.escaped = false;
                self.length += 1;
                bytes = rest;
                continue;
            }
            // All at once up to the next letter that means something.
            let end = bytes.iter().position(|byte| matches!(byte, b'"' | b'\\'));
            self.length += end.unwrap_or(bytes.len());
            if self.length > MAX_TEXT_BYTES {
                return false;
            }
            let Some(end) = end else { return true };
            self.in_text = bytes[end] == b'\\';
            self.escaped = self.in_text;
            bytes = &bytes[end + 1..];
        }
        true
    }

    /// What is being read.
    fn what(&self) -> String {
        match self.objects {
            0 | 1 => "a text in the body".to_owned(),
            objects => format!("file {} in the body", objects - 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_measured_whatever_pieces_they_come_in() {
        let body = br#"{"message": "a \" { b", "files": [{"content": "eA==\\"}, {"content": "abc"#;
        for size in 1..body.len() {
            let mut measure = Measure::default();
            assert!(body.chunks(size).all(|chunk| measure.fits(chunk)));
            assert_eq!((measure.objects, measure.length, measure.in_text), (3, 3, true), "{size}");
            assert_eq!(measure.what(), "file 2 in the body");
        }
    }
}

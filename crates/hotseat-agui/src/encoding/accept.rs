//! Which encoding a client wants.

use super::Encoding;

/// The content type of Server-Sent Events.
pub const EVENT_STREAM: &str = "text/event-stream";
/// The content type of protobuf frames.
pub const PROTOBUF: &str = "application/vnd.ag-ui.event+proto";

/// The client takes neither encoding.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`Accept: {accept}` allows neither {EVENT_STREAM} nor {PROTOBUF}; ask for one of them")]
pub struct NotAcceptable {
    /// What the client sent.
    pub accept: String,
}

impl Encoding {
    /// The encoding for an `Accept` header.
    ///
    /// Protobuf has to be asked for by name and at least as much as SSE: clients
    /// that say `*/*` are those that never thought of it, and read SSE.
    pub fn choose(accept: Option<&str>) -> Result<Self, NotAcceptable> {
        let Some(accept) = accept.filter(|accept| !accept.trim().is_empty()) else {
            return Ok(Self::Sse);
        };
        let sse = quality(accept, &[EVENT_STREAM, "text/*", "*/*"]);
        let protobuf = quality(accept, &[PROTOBUF]);
        let sse_by_name = quality(accept, &[EVENT_STREAM]);
        match (sse, protobuf) {
            (_, Some(protobuf)) if protobuf > 0 && protobuf >= sse_by_name.unwrap_or(0) => {
                Ok(Self::Protobuf)
            }
            (Some(sse), _) if sse > 0 => Ok(Self::Sse),
            _ => match quality(accept, &[PROTOBUF, "application/*"]) {
                Some(any) if any > 0 => Ok(Self::Protobuf),
                _ => Err(NotAcceptable { accept: accept.to_owned() }),
            },
        }
    }
}

/// How much the client wants the first of `types` that it names, in
/// thousandths; none if it names none.
fn quality(accept: &str, types: &[&str]) -> Option<u32> {
    types.iter().find_map(|wanted| {
        accept.split(',').find_map(|range| {
            let mut pieces = range.split(';').map(str::trim);
            let named = pieces.next()?.eq_ignore_ascii_case(wanted);
            let quality = pieces.find_map(|piece| {
                let (name, value) = piece.split_once('=')?;
                name.trim().eq_ignore_ascii_case("q").then(|| thousandths(value.trim()))
            });
            named.then(|| quality.unwrap_or(1000))
        })
    })
}

/// `0.5` as 500. What is no quality counts as full, as if it were absent.
fn thousandths(text: &str) -> u32 {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits: String = fraction.chars().chain("000".chars()).take(3).collect();
    match (whole.parse::<u32>(), digits.parse::<u32>()) {
        (Ok(whole), Ok(fraction)) => whole.saturating_mul(1000).saturating_add(fraction).min(1000),
        _ => 1000,
    }
}

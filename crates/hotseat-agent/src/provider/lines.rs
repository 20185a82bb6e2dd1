//! Bytes of a stream in, whole messages out.
//!
//! Chunks end anywhere, also inside a character, so bytes are kept until their
//! line is complete. Server-sent events and lines of JSON differ only in what
//! makes lines a message.

/// Most bytes of one line or one event. Images come inside of lines.
const MAX_MESSAGE_BYTES: usize = 32 << 20;

/// How a provider separates messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Framing {
    /// Server-sent events; the message is their `data`.
    Events,
    /// One JSON value per line.
    Lines,
}

/// A stream that is no text, or has a message without end.
#[derive(Debug, thiserror::Error)]
pub(super) enum BadStream {
    #[error("a line that is no UTF-8: {0}")]
    NotUtf8(String),
    #[error("a message of more than {MAX_MESSAGE_BYTES} bytes")]
    TooLong,
}

/// Takes chunks and gives messages.
#[derive(Debug)]
pub(super) struct Messages {
    framing: Framing,
    line: Vec<u8>,
    data: Option<String>,
}

impl Messages {
    pub(super) fn new(framing: Framing) -> Self {
        Self { framing, line: Vec::new(), data: None }
    }

    /// The messages that this chunk completes.
    pub(super) fn push(&mut self, chunk: &[u8]) -> Result<Vec<String>, BadStream> {
        let mut messages = Vec::new();
        let mut rest = chunk;
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            self.keep(&rest[..end])?;
            rest = &rest[end + 1..];
            messages.extend(self.end_line()?);
        }
        self.keep(rest)?;
        Ok(messages)
    }

    /// The message that only the end of the stream completes.
    pub(super) fn end(&mut self) -> Result<Option<String>, BadStream> {
        let last = self.end_line()?;
        Ok(last.or_else(|| self.data.take()))
    }

    fn keep(&mut self, bytes: &[u8]) -> Result<(), BadStream> {
        let held = self.line.len() + self.data.as_ref().map_or(0, String::len);
        if held + bytes.len() > MAX_MESSAGE_BYTES {
            return Err(BadStream::TooLong);
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn end_line(&mut self) -> Result<Option<String>, BadStream> {
        let bytes = std::mem::take(&mut self.line);
        let line = String::from_utf8(bytes).map_err(|error| {
            BadStream::NotUtf8(super::refusal::cut(&String::from_utf8_lossy(error.as_bytes())))
        })?;
        let line = line.strip_suffix('\r').unwrap_or(&line);
        match self.framing {
            Framing::Lines => Ok(Some(line.to_owned()).filter(|line| !line.trim().is_empty())),
            Framing::Events if line.is_empty() => Ok(self.data.take()),
            Framing::Events => {
                // Comments, names and ids of events say nothing that the data does not.
                if let Some(value) = line.strip_prefix("data:") {
                    let value = value.strip_prefix(' ').unwrap_or(value);
                    match &mut self.data {
                        Some(data) => {
                            data.push('\n');
                            data.push_str(value);
                        }
                        None => self.data = Some(value.to_owned()),
                    }
                }
                Ok(None)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_pieces_of(size: usize, framing: Framing, text: &str) -> Vec<String> {
        let mut messages = Messages::new(framing);
        let mut read = Vec::new();
        for chunk in text.as_bytes().chunks(size) {
            read.extend(messages.push(chunk).unwrap());
        }
        read.extend(messages.end().unwrap());
        read
    }

    #[test]
    fn events_are_the_same_however_they_are_cut() {
        let text = ": hello\r\nevent: x\r\ndata: {\"a\":\r\ndata:\"ü🙂\"}\r\n\r\ndata: [DONE]\n\ndata: last";
        for size in 1..=text.len() {
            assert_eq!(
                in_pieces_of(size, Framing::Events, text),
                ["{\"a\":\n\"ü🙂\"}", "[DONE]", "last"],
                "in pieces of {size}"
            );
        }
    }

    #[test]
    fn lines_are_messages_and_blank_ones_are_not() {
        for size in 1..9 {
            assert_eq!(
                in_pieces_of(size, Framing::Lines, "{1}\n\n{ü}\r\n{3}"),
                ["{1}", "{ü}", "{3}"]
            );
        }
    }

    #[test]
    fn a_line_without_end_is_refused() {
        let mut messages = Messages::new(Framing::Lines);
        let chunk = vec![b'x'; 1 << 20];
        let refused = (0..=32).find_map(|_| messages.push(&chunk).err());
        assert!(matches!(refused, Some(BadStream::TooLong)), "{refused:?}");
    }

    #[test]
    fn a_line_that_is_no_text_is_refused() {
        let refused = Messages::new(Framing::Lines).push(b"ab\xff\n").unwrap_err();
        assert!(refused.to_string().contains("ab"), "{refused}");
    }
}

//! What a provider is told to say.

use serde_json::Value;

/// How many bytes a chunk has, if the script does not say. A prime, so that chunks
/// end everywhere in lines and characters.
const CHUNK_BYTES: usize = 7;

/// One reply per request, in this order.
#[derive(Debug)]
pub struct Script {
    replies: Vec<Reply>,
    repeat: bool,
    next: usize,
    pub(super) chunk_bytes: usize,
}

/// One reply.
#[derive(Debug, Clone)]
pub struct Reply {
    pub(super) says: Vec<Say>,
    pub(super) ending: Ending,
    pub(super) tokens: Tokens,
}

/// What a reply claims to have cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tokens {
    /// Tokens of the request, cached ones included.
    pub prompt: u64,
    /// How many of them came out of a cache.
    pub cached: u64,
    /// Tokens of the answer, thoughts left out.
    pub answer: u64,
    /// Tokens of thoughts. Anthropic and Ollama count them into the answer.
    pub thoughts: u64,
}

#[derive(Debug, Clone)]
pub(super) enum Say {
    Text(String),
    Thought {
        text: String,
        signature: Option<String>,
    },
    /// Thoughts that the provider keeps to itself; Anthropic only.
    Hidden(String),
    Refusal(String),
    Call {
        id: Option<String>,
        name: String,
        args: Value,
        signature: Option<String>,
    },
}

#[derive(Debug, Clone)]
pub(super) enum Ending {
    Whole,
    /// The answer is longer than it may be.
    CutShort,
    /// The connection breaks off.
    Cut,
    /// Silence, until the test releases it.
    Held,
    /// Something that is no JSON.
    Malformed,
    /// The provider fails in the middle of its answer.
    Failed {
        status: u16,
        message: String,
    },
    /// A page in place of an answer, as a proxy sends it.
    Page(String),
    /// No answer at all.
    Refused {
        status: u16,
        message: String,
        retry_after: Option<String>,
    },
}

impl Script {
    /// These replies and then no more.
    pub fn of(replies: impl IntoIterator<Item = Reply>) -> Self {
        let replies = replies.into_iter().collect();
        Self { replies, repeat: false, next: 0, chunk_bytes: CHUNK_BYTES }
    }

    /// This reply to every request.
    pub fn always(reply: Reply) -> Self {
        Self { repeat: true, ..Self::of([reply]) }
    }

    /// Sends chunks of so many bytes.
    #[must_use]
    pub fn in_chunks_of(mut self, bytes: usize) -> Self {
        self.chunk_bytes = bytes.max(1);
        self
    }

    /// The next reply and its number.
    pub(super) fn next(&mut self) -> (usize, Option<Reply>) {
        let number = self.next;
        self.next += 1;
        let index = if self.repeat { 0 } else { number };
        (number, self.replies.get(index).cloned())
    }
}

impl Reply {
    /// An answer that says nothing yet.
    pub fn empty() -> Self {
        let tokens = Tokens { prompt: 11, cached: 0, answer: 7, thoughts: 0 };
        Self { says: Vec::new(), ending: Ending::Whole, tokens }
    }

    /// Says this.
    pub fn text(text: &str) -> Self {
        Self::empty().and_text(text)
    }

    /// Calls this tool.
    pub fn call(name: &str, args: Value) -> Self {
        Self::empty().and_call(name, args)
    }

    /// Refuses with this status.
    pub fn refuse(status: u16, message: &str) -> Self {
        let message = message.to_owned();
        Self { ending: Ending::Refused { status, message, retry_after: None }, ..Self::empty() }
    }

    /// A web page in place of an answer, as from a proxy that wants a login.
    pub fn page(html: &str) -> Self {
        Self { ending: Ending::Page(html.to_owned()), ..Self::empty() }
    }

    /// Says this too.
    #[must_use]
    pub fn and_text(self, text: &str) -> Self {
        self.and(Say::Text(text.to_owned()))
    }

    /// Thinks this first, signed where the provider signs thoughts.
    #[must_use]
    pub fn and_thought(self, text: &str, signature: Option<&str>) -> Self {
        let signature = signature.map(str::to_owned);
        self.and(Say::Thought { text: text.to_owned(), signature })
    }

    /// Thinks something that only the provider can read; Anthropic only.
    #[must_use]
    pub fn and_hidden_thought(self, data: &str) -> Self {
        self.and(Say::Hidden(data.to_owned()))
    }

    /// Declines to answer, as OpenAI's models do.
    #[must_use]
    pub fn and_refusal(self, text: &str) -> Self {
        self.and(Say::Refusal(text.to_owned()))
    }

    /// Calls this tool too. The id is one of the provider's kind, if it has any.
    #[must_use]
    pub fn and_call(self, name: &str, args: Value) -> Self {
        self.and(Say::Call { id: None, name: name.to_owned(), args, signature: None })
    }

    /// Calls this tool too, with a signature where the provider signs calls.
    #[must_use]
    pub fn and_signed_call(self, id: &str, name: &str, args: Value, signature: &str) -> Self {
        let (id, signature) = (Some(id.to_owned()), Some(signature.to_owned()));
        self.and(Say::Call { id, name: name.to_owned(), args, signature })
    }

    /// Claims to have cost this.
    #[must_use]
    pub fn costing(mut self, tokens: Tokens) -> Self {
        self.tokens = tokens;
        self
    }

    /// Ends because it is too long, inside of its last arguments where they come as text.
    #[must_use]
    pub fn cut_short(self) -> Self {
        self.ending(Ending::CutShort)
    }

    /// Breaks the connection after what it says.
    #[must_use]
    pub fn then_cut(self) -> Self {
        self.ending(Ending::Cut)
    }

    /// Is silent after what it says, until the test releases it.
    #[must_use]
    pub fn then_held(self) -> Self {
        self.ending(Ending::Held)
    }

    /// Sends something that is no JSON after what it says.
    #[must_use]
    pub fn then_malformed(self) -> Self {
        self.ending(Ending::Malformed)
    }

    /// Fails after what it says, inside of the stream.
    #[must_use]
    pub fn then_fails(self, status: u16, message: &str) -> Self {
        self.ending(Ending::Failed { status, message: message.to_owned() })
    }

    /// Wants to be asked again then: seconds, or a date.
    #[must_use]
    pub fn retry_after(mut self, when: &str) -> Self {
        if let Ending::Refused { retry_after, .. } = &mut self.ending {
            *retry_after = Some(when.to_owned());
        }
        self
    }

    /// Whether it calls tools.
    pub(super) fn has_calls(&self) -> bool {
        self.says.iter().any(|say| matches!(say, Say::Call { .. }))
    }

    /// The arguments of a call as JSON text, without their end if the reply is too long.
    pub(super) fn args_text(&self, args: &Value) -> String {
        let mut text = args.to_string();
        if matches!(self.ending, Ending::CutShort) {
            text.pop();
        }
        text
    }

    fn and(mut self, say: Say) -> Self {
        self.says.push(say);
        self
    }

    fn ending(mut self, ending: Ending) -> Self {
        self.ending = ending;
        self
    }
}

/// The text in pieces of a few characters, as models say it.
pub(super) fn pieces(text: &str) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    characters.chunks(4).map(|piece| piece.iter().collect()).collect()
}

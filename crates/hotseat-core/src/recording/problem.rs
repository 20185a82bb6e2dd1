//! What can be wrong with a recording, or with a request to it.

/// How many names or texts a message lists.
const MAX_SHOWN: usize = 5;
/// How many characters of each.
const MAX_SHOWN_CHARS: usize = 60;

/// Why a file is no recording, or has no such part.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    /// It is larger than what is read.
    #[error("the recording has {bytes} bytes; at most {limit} are read")]
    TooLarge {
        /// Its size.
        bytes: usize,
        /// What is read.
        limit: usize,
    },
    /// It is not JSON.
    #[error("the recording is not JSON")]
    NotJson(#[source] serde_json::Error),
    /// A line of JSON Lines is not JSON.
    #[error("line {line} of the recording is not JSON")]
    Line {
        /// Which line, from 1.
        line: usize,
        /// What is wrong with it.
        #[source]
        source: serde_json::Error,
    },
    /// It is some other JSON.
    #[error(
        "the recording is {found}; give an EvalSet, an ADK session or a list of ADK events instead"
    )]
    Unknown {
        /// What it is.
        found: &'static str,
    },
    /// Nobody says anything in it.
    #[error("the recording holds no user message, so there is nothing to replay")]
    Empty,
    /// It has no conversation of that name.
    #[error("the recording has no case {case:?}; it has {known}")]
    UnknownCase {
        /// What was asked for.
        case: String,
        /// What there is.
        known: String,
    },
}

/// Why a recording cannot answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReplayProblem {
    /// The request holds nothing that a user said.
    #[error("the request has no user message that a recorded one could be compared with")]
    NoUserMessage,
    /// The user says something that is not in the recording.
    #[error("the recording does not hold the user message {asked}; it holds {holds}")]
    UnknownMessage {
        /// What the user says.
        asked: String,
        /// What the recording holds.
        holds: String,
    },
    /// The agent asks more often than when it was recorded.
    #[error(
        "the recording holds {answers} answers to the user message {asked}, but the agent asks for number {wanted}; record it again if the agent has changed"
    )]
    NothingMore {
        /// What the user says.
        asked: String,
        /// How many answers there are.
        answers: usize,
        /// Which one is asked for, from 1.
        wanted: usize,
    },
}

/// The first few of them, each cut short, in quotes.
pub(super) fn shown<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    let mut texts = texts.into_iter();
    let mut list: Vec<String> = texts.by_ref().take(MAX_SHOWN).map(quoted).collect();
    let more = texts.count();
    if more > 0 {
        list.push(format!("and {more} more"));
    }
    list.join(", ")
}

fn quoted(text: &str) -> String {
    match text.char_indices().nth(MAX_SHOWN_CHARS) {
        Some((end, _)) => format!("{:?}", format!("{}…", &text[..end])),
        None => format!("{text:?}"),
    }
}

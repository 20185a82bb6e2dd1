//! AG-UI 1.0: its types, encodings, rules, and the translation of the log into it.
//!
//! This crate does no I/O and reads no clock. The server feeds a [`Translator`]
//! with what happens in a run, checks every event with a [`Verifier`], and sends
//! what [`Encoding::frames`] makes of it; [`incoming`] reads what comes the other
//! way. Nothing here depends on the packages of the protocol's makers, but the
//! bytes are theirs: `examples/frames.rs` writes every event for a comparison.

mod adk;
mod capabilities;
mod encoding;
mod event;
mod fields;
mod history;
mod incoming;
mod input;
mod message;
mod outcome;
pub mod patch;
mod proto;
mod snapshot;
mod translator;
mod verifier;

pub use capabilities::{
    Capabilities, HumanInTheLoop, Identity, MultiAgent, Multimodal, MultimodalInput,
    MultimodalOutput, Output, Reasoning, State, SubagentInfo, Tools, Transport,
};
pub use encoding::{
    EVENT_STREAM, Encoding, MAX_FRAME_BYTES, NotAcceptable, PROTOBUF, TooLarge, encode_proto,
    encode_sse,
};
pub use event::{Body, EncryptedSubtype, Event, ReasoningRole, TextRole, ToolRole};
pub use history::History;
pub use incoming::{Incoming, ToolResult, incoming, user_content};
pub use input::{Context, InputError, Resume, ResumeStatus, RunAgentInput, Tool};
pub use message::{
    Content, ContentPart, FunctionCall, Media, Message, MessageBody, Source, ToolCall,
};
pub use outcome::{Interrupt, Outcome, SubagentOutcome, Usage};
pub use snapshot::messages_snapshot;
pub use translator::{PROTOCOL_VERSION, Start, Translator};
pub use verifier::{Verifier, Violation};

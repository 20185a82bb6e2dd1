//! The field numbers of `@ag-ui/proto` 1.0.0, by the names in JSON.

/// A field of a message.
#[derive(Clone, Copy)]
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) number: u32,
    pub(super) kind: Kind,
}

/// How a field is written.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    Text,
    Integer,
    Flag,
    /// Any JSON, as `google.protobuf.Value`.
    Json,
    /// A JSON object, as `google.protobuf.Struct`.
    JsonObject,
    Texts,
    One(Shape),
    Many(Shape),
    /// A text in the field itself, parts and objects in others.
    Content {
        parts: u32,
        object: u32,
    },
    /// The type in the field itself, what comes with it in others.
    Outcome {
        interrupts: u32,
        ids: u32,
        ids_name: &'static str,
    },
}

/// How a nested message is written.
#[derive(Clone, Copy)]
pub(super) enum Shape {
    Fields(&'static [Field]),
    PatchOp,
    Part,
    Source,
}

/// An event: its name, its field in the envelope, its number as a type.
pub(super) struct Entry {
    pub(super) name: &'static str,
    pub(super) field: u32,
    pub(super) code: u32,
    pub(super) fields: &'static [Field],
}

const fn f(name: &'static str, number: u32, kind: Kind) -> Field {
    Field { name, number, kind }
}

const fn e(name: &'static str, field: u32, code: u32, fields: &'static [Field]) -> Entry {
    Entry { name, field, code, fields }
}

/// The common fields of events; the type is 1.
pub(super) const BASE: &[Field] = &[
    f("timestamp", 2, Kind::Integer),
    f("rawEvent", 3, Kind::Json),
    f("metadata", 4, Kind::JsonObject),
];

/// A JSON Patch operation; the operation itself is 1.
pub(super) const PATCH_OP: &[Field] =
    &[f("path", 2, Kind::Text), f("from", 3, Kind::Text), f("value", 4, Kind::Json)];

const TEXT_PART: &[Field] =
    &[f("text", 1, Kind::Text), f("id", 2, Kind::Text), f("metadata", 3, Kind::Json)];

const MEDIA_PART: &[Field] = &[
    f("source", 1, Kind::One(Shape::Source)),
    f("metadata", 2, Kind::Json),
    f("id", 3, Kind::Text),
];

const DATA_SOURCE: &[Field] = &[f("value", 1, Kind::Text), f("mimeType", 2, Kind::Text)];

const FILE_SOURCE: &[Field] =
    &[f("value", 1, Kind::Text), f("provider", 2, Kind::Text), f("mimeType", 3, Kind::Text)];

const FUNCTION: &[Field] = &[f("name", 1, Kind::Text), f("arguments", 2, Kind::Text)];

const TOOL_CALL: &[Field] = &[
    f("id", 1, Kind::Text),
    f("type", 2, Kind::Text),
    f("function", 3, Kind::One(Shape::Fields(FUNCTION))),
    f("metadata", 4, Kind::JsonObject),
    f("encryptedValue", 5, Kind::Text),
];

/// All roles in one.
const MESSAGE: &[Field] = &[
    f("id", 1, Kind::Text),
    f("role", 2, Kind::Text),
    f("content", 3, Kind::Content { parts: 8, object: 13 }),
    f("name", 4, Kind::Text),
    f("toolCalls", 5, Kind::Many(Shape::Fields(TOOL_CALL))),
    f("toolCallId", 6, Kind::Text),
    f("error", 7, Kind::Text),
    f("metadata", 9, Kind::JsonObject),
    f("subagentRunId", 10, Kind::Text),
    f("encryptedValue", 11, Kind::Text),
    f("activityType", 12, Kind::Text),
];

const TOOL: &[Field] = &[
    f("name", 1, Kind::Text),
    f("description", 2, Kind::Text),
    f("parameters", 3, Kind::Json),
    f("metadata", 4, Kind::JsonObject),
];

const CONTEXT: &[Field] = &[f("description", 1, Kind::Text), f("value", 2, Kind::Text)];

const RESUME: &[Field] = &[
    f("interruptId", 1, Kind::Text),
    f("status", 2, Kind::Text),
    f("payload", 3, Kind::Json),
    f("metadata", 4, Kind::JsonObject),
];

const INPUT: &[Field] = &[
    f("threadId", 1, Kind::Text),
    f("runId", 2, Kind::Text),
    f("parentRunId", 3, Kind::Text),
    f("state", 4, Kind::Json),
    f("messages", 5, Kind::Many(Shape::Fields(MESSAGE))),
    f("tools", 6, Kind::Many(Shape::Fields(TOOL))),
    f("context", 7, Kind::Many(Shape::Fields(CONTEXT))),
    f("forwardedProps", 8, Kind::Json),
    f("resume", 9, Kind::Many(Shape::Fields(RESUME))),
    f("protocolVersion", 10, Kind::Text),
];

pub(super) const INTERRUPT: &[Field] = &[
    f("id", 1, Kind::Text),
    f("reason", 2, Kind::Text),
    f("message", 3, Kind::Text),
    f("toolCallId", 4, Kind::Text),
    f("responseSchema", 5, Kind::Json),
    f("expiresAt", 6, Kind::Text),
    f("metadata", 7, Kind::Json),
    f("subagentRunId", 8, Kind::Text),
];

const USAGE: &[Field] = &[
    f("provider", 1, Kind::Text),
    f("model", 2, Kind::Text),
    f("inputTokens", 3, Kind::Integer),
    f("outputTokens", 4, Kind::Integer),
    f("totalTokens", 5, Kind::Integer),
    f("reasoningTokens", 6, Kind::Integer),
    f("cachedInputTokens", 7, Kind::Integer),
    f("cacheWriteInputTokens", 8, Kind::Integer),
];

/// The operations of JSON Patch, numbered from 0.
pub(super) const PATCH_OPS: [&str; 6] = ["add", "remove", "replace", "move", "copy", "test"];

/// The arms of a part, numbered from 1.
pub(super) const PARTS: &[(&str, &[Field])] = &[
    ("text", TEXT_PART),
    ("image", MEDIA_PART),
    ("audio", MEDIA_PART),
    ("video", MEDIA_PART),
    ("document", MEDIA_PART),
];

/// The arms of a source, numbered from 1.
pub(super) const SOURCES: &[(&str, &[Field])] =
    &[("data", DATA_SOURCE), ("url", DATA_SOURCE), ("file", FILE_SOURCE)];

/// Every event.
pub(super) const EVENTS: &[Entry] = &[
    e(
        "TEXT_MESSAGE_START",
        1,
        0,
        &[
            f("messageId", 2, Kind::Text),
            f("role", 3, Kind::Text),
            f("name", 4, Kind::Text),
            f("subagentRunId", 5, Kind::Text),
        ],
    ),
    e(
        "TEXT_MESSAGE_CONTENT",
        2,
        1,
        &[
            f("messageId", 2, Kind::Text),
            f("delta", 3, Kind::Text),
            f("subagentRunId", 4, Kind::Text),
        ],
    ),
    e(
        "TEXT_MESSAGE_END",
        3,
        2,
        &[f("messageId", 2, Kind::Text), f("subagentRunId", 3, Kind::Text)],
    ),
    e(
        "TOOL_CALL_START",
        4,
        3,
        &[
            f("toolCallId", 2, Kind::Text),
            f("toolCallName", 3, Kind::Text),
            f("parentMessageId", 4, Kind::Text),
            f("subagentRunId", 5, Kind::Text),
        ],
    ),
    e(
        "TOOL_CALL_ARGS",
        5,
        4,
        &[
            f("toolCallId", 2, Kind::Text),
            f("delta", 3, Kind::Text),
            f("subagentRunId", 4, Kind::Text),
        ],
    ),
    e("TOOL_CALL_END", 6, 5, &[f("toolCallId", 2, Kind::Text), f("subagentRunId", 3, Kind::Text)]),
    e("STATE_SNAPSHOT", 7, 6, &[f("snapshot", 2, Kind::Json), f("subagentRunId", 3, Kind::Text)]),
    e(
        "STATE_DELTA",
        8,
        7,
        &[f("delta", 2, Kind::Many(Shape::PatchOp)), f("subagentRunId", 3, Kind::Text)],
    ),
    e("MESSAGES_SNAPSHOT", 9, 8, &[f("messages", 2, Kind::Many(Shape::Fields(MESSAGE)))]),
    e(
        "RAW",
        10,
        9,
        &[f("event", 2, Kind::Json), f("source", 3, Kind::Text), f("subagentRunId", 4, Kind::Text)],
    ),
    e(
        "CUSTOM",
        11,
        10,
        &[f("name", 2, Kind::Text), f("value", 3, Kind::Json), f("subagentRunId", 4, Kind::Text)],
    ),
    e(
        "RUN_STARTED",
        12,
        11,
        &[
            f("threadId", 2, Kind::Text),
            f("runId", 3, Kind::Text),
            f("parentRunId", 4, Kind::Text),
            f("input", 5, Kind::One(Shape::Fields(INPUT))),
            f("protocolVersion", 6, Kind::Text),
        ],
    ),
    e(
        "RUN_FINISHED",
        13,
        12,
        &[
            f("threadId", 2, Kind::Text),
            f("runId", 3, Kind::Text),
            f("result", 4, Kind::Json),
            f(
                "outcome",
                5,
                Kind::Outcome { interrupts: 6, ids: 8, ids_name: "pendingToolCallIds" },
            ),
            f("usage", 7, Kind::Many(Shape::Fields(USAGE))),
        ],
    ),
    e(
        "RUN_ERROR",
        14,
        13,
        &[
            f("code", 2, Kind::Text),
            f("message", 3, Kind::Text),
            f("usage", 4, Kind::Many(Shape::Fields(USAGE))),
        ],
    ),
    e("STEP_STARTED", 15, 14, &[f("stepName", 2, Kind::Text), f("subagentRunId", 3, Kind::Text)]),
    e("STEP_FINISHED", 16, 15, &[f("stepName", 2, Kind::Text), f("subagentRunId", 3, Kind::Text)]),
    e(
        "TEXT_MESSAGE_CHUNK",
        17,
        19,
        &[
            f("messageId", 2, Kind::Text),
            f("role", 3, Kind::Text),
            f("delta", 4, Kind::Text),
            f("name", 5, Kind::Text),
            f("subagentRunId", 6, Kind::Text),
        ],
    ),
    e(
        "TOOL_CALL_CHUNK",
        18,
        20,
        &[
            f("toolCallId", 2, Kind::Text),
            f("toolCallName", 3, Kind::Text),
            f("parentMessageId", 4, Kind::Text),
            f("delta", 5, Kind::Text),
            f("subagentRunId", 6, Kind::Text),
        ],
    ),
    e(
        "SUBAGENT_STARTED",
        19,
        16,
        &[
            f("subagentRunId", 2, Kind::Text),
            f("name", 3, Kind::Text),
            f("description", 4, Kind::Text),
            f("parentSubagentRunId", 5, Kind::Text),
            f("parentToolCallId", 6, Kind::Text),
            f("parentMessageId", 7, Kind::Text),
        ],
    ),
    e(
        "SUBAGENT_FINISHED",
        20,
        17,
        &[
            f("subagentRunId", 2, Kind::Text),
            f("result", 3, Kind::Json),
            f("outcome", 4, Kind::Outcome { interrupts: 0, ids: 5, ids_name: "interruptIds" }),
        ],
    ),
    e(
        "SUBAGENT_ERROR",
        21,
        18,
        &[f("subagentRunId", 2, Kind::Text), f("message", 3, Kind::Text), f("code", 4, Kind::Text)],
    ),
    e(
        "TOOL_CALL_RESULT",
        22,
        21,
        &[
            f("subagentRunId", 2, Kind::Text),
            f("messageId", 3, Kind::Text),
            f("toolCallId", 4, Kind::Text),
            f("content", 5, Kind::Content { parts: 7, object: 0 }),
            f("role", 6, Kind::Text),
        ],
    ),
    e(
        "ACTIVITY_SNAPSHOT",
        23,
        22,
        &[
            f("subagentRunId", 2, Kind::Text),
            f("messageId", 3, Kind::Text),
            f("activityType", 4, Kind::Text),
            f("content", 5, Kind::JsonObject),
            f("replace", 6, Kind::Flag),
        ],
    ),
    e(
        "ACTIVITY_DELTA",
        24,
        23,
        &[
            f("subagentRunId", 2, Kind::Text),
            f("messageId", 3, Kind::Text),
            f("activityType", 4, Kind::Text),
            f("patch", 5, Kind::Many(Shape::PatchOp)),
        ],
    ),
    e(
        "REASONING_START",
        25,
        24,
        &[f("subagentRunId", 2, Kind::Text), f("messageId", 3, Kind::Text)],
    ),
    e(
        "REASONING_MESSAGE_START",
        26,
        25,
        &[
            f("subagentRunId", 2, Kind::Text),
            f("messageId", 3, Kind::Text),
            f("role", 4, Kind::Text),
        ],
    ),
    e(
        "REASONING_MESSAGE_CONTENT",
        27,
        26,
        &[
            f("subagentRunId", 2, Kind::Text),
            f("messageId", 3, Kind::Text),
            f("delta", 4, Kind::Text),
        ],
    ),
    e(
        "REASONING_MESSAGE_END",
        28,
        27,
        &[f("subagentRunId", 2, Kind::Text), f("messageId", 3, Kind::Text)],
    ),
    e(
        "REASONING_MESSAGE_CHUNK",
        29,
        28,
        &[
            f("subagentRunId", 2, Kind::Text),
            f("messageId", 3, Kind::Text),
            f("delta", 4, Kind::Text),
        ],
    ),
    e("REASONING_END", 30, 29, &[f("subagentRunId", 2, Kind::Text), f("messageId", 3, Kind::Text)]),
    e(
        "REASONING_ENCRYPTED_VALUE",
        31,
        30,
        &[
            f("subagentRunId", 2, Kind::Text),
            f("subtype", 3, Kind::Text),
            f("entityId", 4, Kind::Text),
            f("encryptedValue", 5, Kind::Text),
        ],
    ),
];

//! What ADK asks the user instead of the model.
//!
//! ADK asks with function calls of reserved names that no tool answers: it
//! stops the invocation and waits for a user message with the function
//! response. All of them are in `longRunningToolIds`.
//!
//! | name | arguments |
//! |---|---|
//! | `adk_request_confirmation` | `originalFunctionCall`, `toolConfirmation` |
//! | `adk_request_credential` | `functionCallId`, `authConfig` |
//! | `adk_request_input` | of a workflow: `interruptId`, `message`, `payload`, `response_schema`; of a model that has ADK's tool of this name: `message`, `response_schema` |

use serde_json::Value;

use crate::alias;
use crate::word::words;

words!(
    /// What ADK asks the user for.
    InputKind, "kind of input", {
        /// Whether a tool may run.
        Confirmation = "confirmation",
        /// A credential that a tool needs.
        Credential = "credential",
        /// Anything else.
        Input = "input",
    }
);

impl InputKind {
    /// What a call of this name asks for; nothing if it is a tool.
    pub(crate) fn of_call(name: &str) -> Option<Self> {
        match name {
            "adk_request_confirmation" => Some(Self::Confirmation),
            "adk_request_credential" => Some(Self::Credential),
            "adk_request_input" => Some(Self::Input),
            _ => None,
        }
    }

    /// The tool call that waits for the answer, as the arguments name it.
    pub(crate) fn waiting_call(self, arguments: &Value) -> Option<&str> {
        let arguments = arguments.as_object()?;
        match self {
            Self::Confirmation => {
                alias::get(arguments, "original_function_call")?.as_object()?.get("id")?.as_str()
            }
            Self::Credential => alias::get(arguments, "function_call_id")?.as_str(),
            Self::Input => None,
        }
    }

    /// Whether a model made the call, and not ADK on its own. Only what a
    /// workflow asks for has an interrupt.
    pub(crate) fn is_from_model(self, arguments: &Value) -> bool {
        let interrupt =
            arguments.as_object().and_then(|arguments| alias::get(arguments, "interrupt_id"));
        match self {
            Self::Confirmation | Self::Credential => false,
            Self::Input => interrupt.is_none(),
        }
    }
}

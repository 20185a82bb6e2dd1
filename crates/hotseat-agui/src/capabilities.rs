//! What an agent says it can do.
//!
//! Everything is optional in the protocol, and absent means unknown. The groups
//! hold what Hotseat has something to say about; the rest of them stays absent.

use serde::Serialize;
use serde_json::{Map, Value};

/// The capabilities of an agent.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Capabilities {
    /// Who it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub identity: Option<Identity>,
    /// How it can be reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transport: Option<Transport>,
    /// Which tools it calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<Tools>,
    /// In what form it answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<Output>,
    /// What it keeps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<State>,
    /// Which other agents work for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub multi_agent: Option<MultiAgent>,
    /// Whether its thoughts are shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<Reasoning>,
    /// Which files it takes and makes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub multimodal: Option<Multimodal>,
    /// How people take part.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub human_in_the_loop: Option<HumanInTheLoop>,
    /// What the protocol has no place for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub custom: Option<Map<String, Value>>,
}

macro_rules! group {
    ($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $type:ty,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Default, Serialize)]
        #[serde(rename_all = "camelCase")]
        pub struct $name {
            $($(#[$field_doc])* #[serde(skip_serializing_if = "Option::is_none")] pub $field: Option<$type>,)*
        }
    };
}

group!(
    /// Who an agent is.
    Identity {
        /// Its name.
        name: String,
        /// What it is built with.
        r#type: String,
        /// What it does.
        description: String,
        /// Its version.
        version: String,
    }
);
group!(
    /// How an agent can be reached.
    Transport {
        /// Events come as they happen.
        streaming: bool,
        /// Protobuf is spoken.
        http_binary: bool,
        /// A client can come back to a run.
        resumable: bool,
    }
);
group!(
    /// Which tools an agent calls.
    Tools {
        /// It calls tools.
        supported: bool,
        /// Several at once.
        parallel_calls: bool,
        /// Also those of the client.
        client_provided: bool,
    }
);
group!(
    /// In what form an agent answers.
    Output {
        /// It answers by a schema.
        structured_output: bool,
    }
);
group!(
    /// What an agent keeps.
    State {
        /// It sends its state whole.
        snapshots: bool,
        /// It sends changes.
        deltas: bool,
        /// It remembers across threads.
        memory: bool,
        /// Its state outlives a run.
        persistent_state: bool,
    }
);
group!(
    /// Which agents work for an agent.
    MultiAgent {
        /// Some do.
        supported: bool,
        /// It runs them as tools.
        delegation: bool,
        /// It hands the conversation over to them.
        handoffs: bool,
        /// Which ones.
        subagents: Vec<SubagentInfo>,
    }
);
group!(
    /// Whether thoughts are shown.
    Reasoning {
        /// They are.
        supported: bool,
        /// As they come.
        streaming: bool,
        /// Also those that only the provider can read.
        encrypted: bool,
    }
);
group!(
    /// Which files an agent takes and makes.
    Multimodal {
        /// What it takes.
        input: MultimodalInput,
        /// What it makes.
        output: MultimodalOutput,
    }
);
group!(
    /// Files that an agent takes.
    MultimodalInput {
        /// Pictures.
        image: bool,
        /// Sounds.
        audio: bool,
        /// Films.
        video: bool,
        /// PDF documents.
        pdf: bool,
        /// Any other.
        file: bool,
    }
);
group!(
    /// Files that an agent makes.
    MultimodalOutput {
        /// Pictures.
        image: bool,
        /// Sounds.
        audio: bool,
    }
);
group!(
    /// How people take part.
    HumanInTheLoop {
        /// They do.
        supported: bool,
        /// They confirm calls.
        approvals: bool,
        /// They take over.
        interventions: bool,
        /// They rate answers.
        feedback: bool,
        /// A run can end with questions to them.
        interrupts: bool,
        /// They can change what they confirm.
        approve_with_edits: bool,
    }
);

/// An agent that works for another.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct SubagentInfo {
    /// Its name.
    pub name: String,
    /// What it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

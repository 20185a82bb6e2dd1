//! Files that an agent's tools have saved, read through the worker that has them.

use hotseat_core::SessionId;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{App, ServiceError, What};

/// A file that a tool has saved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub(crate) struct Artifact {
    /// Its name.
    name: String,
    /// Its versions, oldest first.
    #[serde(default)]
    versions: Vec<u64>,
    /// The media type of the newest version.
    #[serde(default)]
    mime_type: Option<String>,
    /// The size of the newest version, in bytes.
    #[serde(default)]
    size: Option<u64>,
}

/// The bytes of one version of a file.
#[derive(Debug)]
pub(crate) struct ArtifactBytes {
    pub(crate) bytes: Vec<u8>,
    pub(crate) mime_type: Option<String>,
}

impl App {
    pub(crate) async fn artifacts(&self, id: SessionId) -> Result<Vec<Artifact>, ServiceError> {
        #[derive(Deserialize)]
        struct List {
            items: Vec<Artifact>,
        }
        let (agent, question) = self.place_of_artifacts(id).await?;
        let list: List = self.ask_json(Some(&agent), What::Artifacts, question).await?;
        Ok(list.items)
    }

    /// One version of a file, the newest if none is named.
    pub(crate) async fn artifact(
        &self,
        id: SessionId,
        name: &str,
        version: Option<u64>,
    ) -> Result<ArtifactBytes, ServiceError> {
        let (agent, mut question) = self.place_of_artifacts(id).await?;
        question["name"] = json!(name);
        if let Some(version) = version {
            question["version"] = json!(version);
        }
        let answer = self.ask(Some(&agent), What::Artifact, question).await?;
        let facts: Value = serde_json::from_str(&answer.json).unwrap_or_default();
        let mime_type = facts["mime_type"].as_str().map(str::to_owned);
        Ok(ArtifactBytes { bytes: answer.data, mime_type })
    }

    async fn place_of_artifacts(&self, id: SessionId) -> Result<(String, Value), ServiceError> {
        let session = self.session(id).await?;
        let agent = session.agent.ok_or(ServiceError::NoAgent(id))?;
        let question = json!({"agent": agent, "session_id": id, "user_id": session.user_id});
        Ok((agent, question))
    }
}

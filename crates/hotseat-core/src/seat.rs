//! Who answers for the model.

use crate::word::words;

words!(
    /// Who answers the turns of a run.
    Seat, "seat", {
        /// A person.
        Human = "human",
        /// The agent's own model.
        Model = "model",
        /// A recording.
        Replay = "replay",
    }
);

//! AG-UI 1.0: its types, encodings, rules, and the translation of the log into it.

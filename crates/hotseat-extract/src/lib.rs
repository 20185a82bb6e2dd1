//! Document bytes in, Markdown out.

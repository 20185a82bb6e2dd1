//! Data on stdout, for people and for the next program in a pipe.

use std::io::{self, Write};

use anyhow::Result;

/// Prints one line. A reader that has seen enough and closed the pipe is an error
/// here, and a quiet end in `main`.
pub(crate) fn line(text: &str) -> Result<()> {
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "{text}")?;
    stdout.flush()?;
    Ok(())
}

/// Whether an error only says that nobody reads on.
pub(crate) fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

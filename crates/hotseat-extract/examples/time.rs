//! Prints how long each given file takes, in milliseconds, as one line of JSON per file.
//!
//! Used by `bench/documents.py`. The best of several runs is given, because that is the one the machine disturbed
//! least.

use std::io::Write;
use std::time::{Duration, Instant};

use hotseat_extract::{Document, Options, extract};

const RUNS: usize = 5;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for path in std::env::args().skip(1) {
        let bytes = std::fs::read(&path)?;
        let document = Document { name: &path, mime: "", bytes: &bytes };
        let mut best = Duration::MAX;
        let mut chars = 0;
        for _ in 0..RUNS {
            let started = Instant::now();
            let extracted = extract(&document, &Options::default())?;
            best = best.min(started.elapsed());
            chars = extracted.markdown.chars().count();
        }
        let milliseconds = best.as_secs_f64() * 1000.0;
        writeln!(
            std::io::stdout(),
            "{{\"file\": {path:?}, \"milliseconds\": {milliseconds:.3}, \"chars\": {chars}}}"
        )?;
    }
    Ok(())
}

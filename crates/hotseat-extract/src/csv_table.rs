//! CSV as one Markdown table.
//!
//! The first record is the header. The delimiter is the comma, semicolon or tab that the first line has most of,
//! because spreadsheets in half of Europe write semicolons.

use csv::{ReaderBuilder, StringRecord};

use crate::error::ExtractError;
use crate::job::Job;
use crate::output::Output;
use crate::text;

/// Records between two looks at the clock.
const RECORDS_PER_CHECK: usize = 1024;

pub(crate) fn read(job: &Job, bytes: &[u8], out: &mut Output) -> Result<(), ExtractError> {
    let text =
        text::decode(bytes).ok_or_else(|| job.corrupt("it is not text in UTF-8 or UTF-16"))?;
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(delimiter(&text))
        .from_reader(text.as_bytes());
    let mut records: Vec<StringRecord> = Vec::new();
    let mut kept = 0;
    for record in reader.records() {
        let record = record.map_err(|error| job.corrupt(error.to_string()))?;
        if records.len().is_multiple_of(RECORDS_PER_CHECK) {
            job.check_time()?;
        }
        // More records than characters of output are cut anyway.
        kept += record.as_slice().len() + 1;
        records.push(record);
        if kept > job.options.limits.output_chars.saturating_mul(4) {
            break;
        }
    }
    let width = records.iter().map(StringRecord::len).max().unwrap_or(0);
    out.table(job, width, &records)
}

fn delimiter(text: &str) -> u8 {
    let mut counts = [(b',', 0), (b';', 0), (b'\t', 0)];
    let mut quoted = false;
    for byte in text.bytes() {
        match byte {
            b'"' => quoted = !quoted,
            b'\n' if !quoted => break,
            _ if quoted => {}
            _ => counts
                .iter_mut()
                .filter(|(candidate, _)| *candidate == byte)
                .for_each(|(_, count)| *count += 1),
        }
    }
    // The first of equals wins, which is the comma.
    counts.iter().rev().max_by_key(|(_, count)| *count).map_or(b',', |(delimiter, _)| *delimiter)
}

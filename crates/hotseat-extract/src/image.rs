//! Pictures: a look at their size, then OCR.
//!
//! A picture of a few bytes can claim to be gigabytes of pixels, and `tesseract` would try to hold them, so the size
//! in the header is checked first. Without `tesseract` a picture is still a success: it has no Markdown, and whoever
//! asked can show the picture itself to a model.

use std::sync::Arc;

use crate::error::ExtractError;
use crate::format::Format;
use crate::job::Job;
use crate::ocr::{self, Reading};
use crate::output::Output;

/// A page scanned at 1200 dots per inch; unpacked, 400 MB.
const MAX_PIXELS: u64 = 100_000_000;
/// Segments of a JPEG before its size; real ones have a few dozen.
const MAX_JPEG_SEGMENTS: usize = 4096;

pub(crate) fn read(job: &mut Job, bytes: Arc<[u8]>, out: &mut Output) -> Result<(), ExtractError> {
    let (width, height) =
        size(job.format, &bytes).ok_or_else(|| job.corrupt("it does not say how large it is"))?;
    if width == 0 || height == 0 {
        return Err(job.corrupt("it has no pixels"));
    }
    if u64::from(width) * u64::from(height) > MAX_PIXELS {
        return Err(ExtractError::TooLarge {
            name: job.name.clone(),
            limit: MAX_PIXELS,
            unit: "pixels",
        });
    }
    match ocr::picture(job, bytes, job.time_left()) {
        Reading::Text(text) if text.is_empty() => {
            job.notes.push("no text was found in the picture".to_owned());
        }
        Reading::Text(text) => {
            out.block(&text);
            job.notes.push("the picture was read by OCR".to_owned());
        }
        Reading::Missing(missing) => {
            job.notes.push(format!("text in the picture was not read: {}", missing.hint()));
        }
        // The program's own set-up is at fault, not the picture.
        Reading::Failed(complaint)
            if complaint.contains("traineddata") || complaint.contains("language") =>
        {
            job.notes.push(format!("text in the picture was not read: {complaint}"));
        }
        Reading::Failed(complaint) => return Err(job.corrupt(complaint)),
        Reading::TimedOut => return Err(job.timed_out()),
    }
    Ok(())
}

/// Width and height as the header has them.
fn size(format: Format, bytes: &[u8]) -> Option<(u32, u32)> {
    match format {
        Format::Png => Some((be32(bytes, 16)?, be32(bytes, 20)?)),
        Format::Gif => Some((le16(bytes, 6)?, le16(bytes, 8)?)),
        Format::Webp => webp_size(bytes),
        Format::Jpeg => jpeg_size(bytes),
        Format::Pdf
        | Format::Docx
        | Format::Xlsx
        | Format::Pptx
        | Format::Text
        | Format::Csv
        | Format::Markdown => None,
    }
}

fn webp_size(bytes: &[u8]) -> Option<(u32, u32)> {
    match bytes.get(12..16)? {
        b"VP8 " => Some((le16(bytes, 26)? & 0x3FFF, le16(bytes, 28)? & 0x3FFF)),
        b"VP8L" => {
            let bits = le16(bytes, 21)? | le16(bytes, 23)? << 16;
            Some(((bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1))
        }
        b"VP8X" => {
            let three = |at: usize| Some(le16(bytes, at)? | u32::from(*bytes.get(at + 2)?) << 16);
            Some((three(24)? + 1, three(27)? + 1))
        }
        _ => None,
    }
}

fn jpeg_size(bytes: &[u8]) -> Option<(u32, u32)> {
    let mut at = 2;
    for _ in 0..MAX_JPEG_SEGMENTS {
        while *bytes.get(at)? == 0xFF && *bytes.get(at + 1)? == 0xFF {
            at += 1;
        }
        match (*bytes.get(at)?, *bytes.get(at + 1)?) {
            // The frame headers are C0 to CF, without three markers that mean something else.
            (0xFF, 0xC0..=0xC3 | 0xC5..=0xC7 | 0xC9..=0xCB | 0xCD..=0xCF) => {
                return Some((be16(bytes, at + 7)?, be16(bytes, at + 5)?));
            }
            (0xFF, 0x01 | 0xD0..=0xD8) => at += 2,
            (0xFF, _) => at += 2 + usize::try_from(be16(bytes, at + 2)?).ok()?,
            _ => return None,
        }
    }
    None
}

fn le16(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from(u16::from_le_bytes(*bytes.get(at..)?.first_chunk()?)))
}

fn be16(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from(u16::from_be_bytes(*bytes.get(at..)?.first_chunk()?)))
}

fn be32(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(*bytes.get(at..)?.first_chunk()?))
}

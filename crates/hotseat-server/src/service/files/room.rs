//! How much of the files of one message goes into it.
//!
//! A message is one event of the log, and an event has a limit. So that files which were
//! accepted are never refused for it afterwards, their texts share a part of the event
//! and their images another; what has no room is left out, and says so in its place.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

/// The largest image that is passed on. A larger one is only read.
const MAX_IMAGE_BYTES: usize = 5 * 1024 * 1024;

/// Letters of a file's name that are shown.
const MAX_NAME_CHARS: usize = 200;

/// What was read of a file.
#[derive(Debug)]
pub(super) struct Reading {
    pub(super) name: String,
    /// What it says, with what a reader should know of it.
    pub(super) text: String,
    pub(super) image: Option<Image>,
}

/// A file that is an image.
#[derive(Debug)]
pub(super) struct Image {
    pub(super) mime: &'static str,
    pub(super) bytes: Vec<u8>,
}

/// The parts of a message that stand for each of its files, where an event may have
/// `event_bytes`. What they leave of it, a tenth, is for the message itself.
pub(super) fn fit(readings: Vec<Reading>, event_bytes: usize) -> Vec<Vec<Value>> {
    let mut room_for_images = event_bytes / 10 * 7;
    let sizes: Vec<usize> = readings.iter().map(|reading| written(&reading.text)).collect();
    let shares = shares(&sizes, event_bytes / 10 * 2);
    let fitted = readings.into_iter().zip(shares).map(|(reading, share)| {
        let name = shown(&reading.name);
        let mut text = format!("## File: {name}\n{}", cut(reading.text, share, &name));
        let image = reading.image.and_then(|image| match inline(&image, &mut room_for_images) {
            Ok(mut data) => {
                data["display_name"] = name.as_str().into();
                Some(json!({"inline_data": data}))
            }
            Err(why) => {
                text = format!("{text}\n> The image `{name}` itself was left out: {why}.\n");
                None
            }
        });
        std::iter::once(json!({"text": text})).chain(image).collect()
    });
    fitted.collect()
}

/// An image as it goes into a message, or why it does not.
fn inline(image: &Image, room: &mut usize) -> Result<Value, String> {
    let mib = |bytes: usize| bytes.div_ceil(1024 * 1024);
    if image.bytes.len() > MAX_IMAGE_BYTES {
        let (bytes, most) = (mib(image.bytes.len()), mib(MAX_IMAGE_BYTES));
        return Err(format!("it has {bytes} MiB, and at most {most} are passed on"));
    }
    let data = STANDARD.encode(&image.bytes);
    let left = room.checked_sub(data.len());
    *room = left.ok_or("the images before it fill this message; send it in one of its own")?;
    Ok(json!({"mime_type": image.mime, "data": data}))
}

/// How much each of some texts may have of `room`: all it wants, unless that would leave
/// another less than its equal share.
fn shares(wanted: &[usize], room: usize) -> Vec<usize> {
    let mut by_size: Vec<usize> = (0..wanted.len()).collect();
    by_size.sort_by_key(|at| wanted[*at]);
    let mut shares = vec![0; wanted.len()];
    let mut left = room;
    for (done, at) in by_size.into_iter().enumerate() {
        shares[at] = wanted[at].min(left / (wanted.len() - done));
        left -= shares[at];
    }
    shares
}

/// A text, cut where it would take more than `share` bytes, and told so there.
fn cut(mut text: String, share: usize, name: &str) -> String {
    let mut taken = 0;
    let end = text.char_indices().find_map(|(at, letter)| {
        taken += width(letter);
        (taken > share).then_some(at)
    });
    if let Some(end) = end {
        let left_out = text[end..].chars().count();
        text.truncate(end);
        return format!(
            "{text}\n\n> `{name}` is cut here: {left_out} characters of it are left out, because the \
             files of one message hold more than fits. Choose pages or sheets, or send it alone.\n"
        );
    }
    text
}

/// Bytes that a text takes inside JSON.
fn written(text: &str) -> usize {
    text.chars().map(width).sum()
}

fn width(letter: char) -> usize {
    match letter {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        '\0'..='\u{1f}' => 6,
        letter => letter.len_utf8(),
    }
}

fn shown(name: &str) -> String {
    name.chars().take(MAX_NAME_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_text_is_whole_and_long_ones_share_the_rest() {
        assert_eq!(shares(&[10, 500, 20, 600], 330), [10, 150, 20, 150]);
        assert_eq!(shares(&[10, 20], 100), [10, 20]);
        assert_eq!(shares(&[], 100), [0; 0]);
    }

    #[test]
    fn a_text_is_as_wide_as_json_writes_it() {
        let text = "a\"\\\n\r\t\u{8}\u{c}\u{1}\u{1f}\u{7f}ü€😀";
        assert_eq!(written(text), serde_json::to_string(text).unwrap().len() - 2);
    }
}

//! Text files that belong to an agent, with a limit on their size.

use std::io::Read;
use std::path::Path;

use super::yaml::MAX_FILE_BYTES;

/// The file's text.
pub(super) fn read(path: &Path) -> Result<String, String> {
    let file = std::fs::File::open(path).map_err(|error| format!("cannot be read: {error}"))?;
    let mut bytes = Vec::new();
    let read = file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes);
    read.map_err(|error| format!("cannot be read: {error}"))?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(format!("is larger than {MAX_FILE_BYTES} bytes"));
    }
    let text = String::from_utf8(bytes).map_err(|_| "is not UTF-8 text".to_owned())?;
    // Some editors mark UTF-8 with a first character that is not part of the text.
    Ok(text.strip_prefix('\u{feff}').map_or(text.clone(), str::to_owned))
}

/// The text without the YAML front matter that a prompt file may begin with.
pub(super) fn without_front_matter(text: &str) -> &str {
    let Some(rest) = text.strip_prefix("---\n").or_else(|| text.strip_prefix("---\r\n")) else {
        return text;
    };
    let mut start = 0;
    for line in rest.split_inclusive('\n') {
        start += line.len();
        if line.trim_end() == "---" {
            return rest[start..].trim_start_matches(['\r', '\n']);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn front_matter_is_left_out_and_rules_are_not() {
        let text = "---\nauthor: desk\ntags: [a]\n---\n\nBe kind.\n---\nAlways.\n";
        assert_eq!(without_front_matter(text), "Be kind.\n---\nAlways.\n");
        assert_eq!(without_front_matter("---\nno end\n"), "---\nno end\n");
        assert_eq!(without_front_matter("Be kind.\n---\n"), "Be kind.\n---\n");
    }
}

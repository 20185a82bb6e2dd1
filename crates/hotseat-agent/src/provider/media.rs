//! Images and documents inside of requests.
//!
//! ADK writes bytes in the base64 alphabet for URLs; most providers read only the
//! usual one.

use base64::Engine;
use base64::alphabet;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, STANDARD};

use super::conversation::Blob;

const READ: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_padding_mode(DecodePaddingMode::Indifferent)
    .with_decode_allow_trailing_bits(true);
const READ_STANDARD: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, READ);
const READ_URL_SAFE: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, READ);

/// What can be made of bytes that a user sent.
#[derive(Debug, PartialEq)]
pub(super) enum Media {
    /// Base64 in the usual alphabet.
    Image(String),
    /// Base64 in the usual alphabet.
    Pdf(String),
    Text(String),
    Unknown,
}

impl Blob {
    /// The bytes by what they are.
    pub(super) fn media(&self) -> Media {
        let mime_type = self.mime_type.as_str();
        let text = mime_type.starts_with("text/")
            || matches!(mime_type, "application/json" | "application/xml" | "application/yaml");
        let Some(bytes) = decode(&self.data) else { return Media::Unknown };
        if mime_type.starts_with("image/") {
            return Media::Image(STANDARD.encode(bytes));
        }
        if mime_type == "application/pdf" {
            return Media::Pdf(STANDARD.encode(bytes));
        }
        match String::from_utf8(bytes) {
            Ok(content) if text => Media::Text(content),
            _ => Media::Unknown,
        }
    }
}

/// The text behind a base64 signature; none if it is another provider's.
pub(super) fn decode_signature(signature: &str) -> Option<String> {
    String::from_utf8(decode(signature)?).ok()
}

/// A provider's signature as ADK keeps it, in base64.
pub(super) fn encode_signature(signature: &str) -> String {
    STANDARD.encode(signature)
}

fn decode(data: &str) -> Option<Vec<u8>> {
    READ_STANDARD.decode(data).or_else(|_| READ_URL_SAFE.decode(data)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_alphabets_are_read_and_the_usual_one_is_written() {
        for data in ["+/8=", "-_8=", "-_8"] {
            let blob = Blob { mime_type: "image/png".to_owned(), data: data.to_owned() };
            assert_eq!(blob.media(), Media::Image("+/8=".to_owned()), "{data}");
        }
    }

    #[test]
    fn text_is_text_and_what_claims_to_be_is_not() {
        let media = |mime_type: &str, data: &str| {
            Blob { mime_type: mime_type.to_owned(), data: data.to_owned() }.media()
        };
        assert_eq!(media("text/csv", "YSxi"), Media::Text("a,b".to_owned()));
        assert_eq!(media("text/csv", "+/8="), Media::Unknown);
        assert_eq!(media("video/mp4", "YSxi"), Media::Unknown);
        assert_eq!(media("image/png", "no base64!"), Media::Unknown);
    }
}

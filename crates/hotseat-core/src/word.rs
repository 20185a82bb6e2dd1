//! Closed sets of words that JSON, SQL and proto share.

/// Text that is not one of the words it should be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a {what}: use {}", known.join(", "))]
pub struct UnknownWord {
    pub(crate) what: &'static str,
    pub(crate) text: String,
    pub(crate) known: &'static [&'static str],
}

/// Declares an enum whose values are words: the same text in `as_str`,
/// `Display`, `FromStr` and serde.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident, $what:literal, { $($(#[$word_doc:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
        pub enum $name {
            $($(#[$word_doc])* #[serde(rename = $word)] $variant,)+
        }

        impl $name {
            /// All of them, in the order of their story.
            pub const ALL: &'static [$name] = &[$($name::$variant),+];

            /// The word used in JSON, SQL and proto.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $($name::$variant => $word,)+
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::UnknownWord;

            fn from_str(text: &str) -> Result<Self, $crate::UnknownWord> {
                match text {
                    $($word => Ok($name::$variant),)+
                    _ => Err($crate::UnknownWord {
                        what: $what,
                        text: text.chars().take(64).collect(),
                        known: &[$($word),+],
                    }),
                }
            }
        }
    };
}

pub(crate) use words;

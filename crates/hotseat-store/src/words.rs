//! The words of a search.

/// Characters of a snippet.
pub(crate) const SNIPPET: usize = 160;

/// Words of one search.
const MAX_WORDS: usize = 16;

/// The words of a search, without what an index's own language would read into them.
pub(crate) fn words(text: &str) -> Vec<String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .take(MAX_WORDS)
        .map(str::to_owned)
        .collect()
}

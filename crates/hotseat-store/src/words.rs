//! The words of a search, and the pattern for words that are meant as they stand.

/// Characters of a snippet.
pub(crate) const SNIPPET: usize = 160;

/// Words of one search.
const MAX_WORDS: usize = 16;

/// `text` as a LIKE pattern that means only itself.
pub(crate) fn like_pattern(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len());
    for character in text.chars() {
        if matches!(character, '%' | '_' | '\\') {
            pattern.push('\\');
        }
        pattern.push(character);
    }
    pattern
}

/// The words of a search, without what an index's own language would read into them.
pub(crate) fn words(text: &str) -> Vec<String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .take(MAX_WORDS)
        .map(str::to_owned)
        .collect()
}

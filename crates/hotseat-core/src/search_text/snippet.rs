//! The place of a match in a text, for a list of results.
//!
//! Words are cut and compared as SQLite's full-text index does by default: runs
//! of letters and digits, whatever their case, and a word that is looked for
//! matches every word that begins with it.

use std::ops::Range;

/// Before a match.
const OPEN: char = '\u{2}';
/// After a match.
const CLOSE: char = '\u{3}';

/// About `chars` characters of `text` around its first match, on one line; from
/// the start if nothing matches. Every match in it is between U+0002 and U+0003,
/// and an ellipsis stands where the text goes on.
pub fn snippet(text: &str, words: &[String], chars: usize) -> String {
    let text = one_line(text);
    let matches = matches(&text, words);
    let window = window(&text, matches.first(), chars);
    let mut cut = String::with_capacity(window.len() + 16);
    if window.start > 0 {
        cut.push('…');
    }
    let mut done = window.start;
    for found in matches {
        let (start, end) = (found.start.max(done), found.end.min(window.end));
        if start >= end {
            continue;
        }
        cut.push_str(&text[done..start]);
        cut.push(OPEN);
        cut.push_str(&text[start..end]);
        cut.push(CLOSE);
        done = end;
    }
    cut.push_str(&text[done..window.end]);
    if window.end < text.len() {
        cut.push('…');
    }
    cut
}

/// White space collapsed, and nothing in it that could be taken for a mark.
fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for word in text.split(|c: char| c.is_whitespace() || c == OPEN || c == CLOSE) {
        if word.is_empty() {
            continue;
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    line
}

/// Where the words of `text` are that begin with one of `words`.
fn matches(text: &str, words: &[String]) -> Vec<Range<usize>> {
    let wanted: Vec<String> = words
        .iter()
        .flat_map(|word| tokens(word).into_iter().map(|range| word[range].to_lowercase()))
        .collect();
    let is_wanted = |token: &Range<usize>| {
        wanted.iter().any(|word| {
            let mut token = text[token.clone()].chars().flat_map(char::to_lowercase);
            word.chars().all(|c| token.next() == Some(c))
        })
    };
    tokens(text).into_iter().filter(is_wanted).collect()
}

/// The runs of letters and digits.
fn tokens(text: &str) -> Vec<Range<usize>> {
    let mut tokens = Vec::new();
    let mut start = None;
    for (at, c) in text.char_indices() {
        match (c.is_alphanumeric(), start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                tokens.push(from..at);
                start = None;
            }
            _ => {}
        }
    }
    tokens.extend(start.map(|from| from..text.len()));
    tokens
}

/// The piece to show: a third of it before the match, cut between words where
/// there is a gap that does not cost the match itself.
fn window(text: &str, found: Option<&Range<usize>>, chars: usize) -> Range<usize> {
    let found = found.cloned().unwrap_or(0..0);
    let mut start = back(text, found.start, chars / 3);
    let mut end = forward(text, start, chars);
    if end == text.len() {
        start = back(text, end, chars).min(found.start);
    }
    if start > 0
        && let Some(gap) = text[start..found.start].find(' ')
    {
        start += gap + 1;
    }
    if end < text.len()
        && end > found.end
        && !text[end..].starts_with(' ')
        && let Some(gap) = text[found.end..end].rfind(' ')
    {
        end = found.end + gap;
    }
    start..end.max(start)
}

/// `count` characters before `at`.
fn back(text: &str, at: usize, count: usize) -> usize {
    if count == 0 {
        return at;
    }
    text[..at].char_indices().rev().nth(count - 1).map_or(0, |(at, _)| at)
}

/// `count` characters after `at`.
fn forward(text: &str, at: usize, count: usize) -> usize {
    text[at..].char_indices().nth(count).map_or(text.len(), |(more, _)| at + more)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shown(text: &str, words: &[&str], chars: usize) -> String {
        let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
        snippet(text, &words, chars).replace(OPEN, "[").replace(CLOSE, "]")
    }

    #[test]
    fn matches_are_marked_as_the_index_finds_them() {
        assert_eq!(shown("The weather in Zürich", &["weat"], 80), "The [weather] in Zürich");
        assert_eq!(shown("ÄRGER, ärger!", &["Ärg"], 80), "[ÄRGER], [ärger]!");
        assert_eq!(
            shown("call get_weather\n\n now", &["weather", "now"], 80),
            "call get_[weather] [now]"
        );
        assert_eq!(shown("a get_weather call", &["get_weather"], 80), "a [get]_[weather] call");
        assert_eq!(shown("forget it", &["get", "", "-"], 80), "forget it");
        assert_eq!(shown("", &["x"], 80), "");
    }

    #[test]
    fn the_first_match_is_in_the_window() {
        let text = format!("{}needle {}", "hay ".repeat(100), "straw ".repeat(100));
        assert_eq!(shown(&text, &["needle"], 30), "…hay hay [needle] straw straw…");
        assert_eq!(shown(&text, &["absent"], 10), "hay hay…");
        assert_eq!(shown("one two needle", &["needle"], 11), "…two [needle]");
        assert_eq!(shown("abcdefghij", &["abc"], 4), "[abcd]…");
        assert_eq!(shown("abc", &["abc"], 0), "…");
    }

    proptest! {
        #[test]
        fn a_snippet_is_a_piece_of_the_text(
            text in "(?s).{0,200}",
            words in prop::collection::vec(".{0,4}", 0..4),
            chars in 0..60_usize,
        ) {
            let cut = snippet(&text, &words, chars);
            let plain: String = cut.chars().filter(|c| ![OPEN, CLOSE].contains(c)).collect();
            let line = one_line(&text);
            let piece = if line.contains(&plain) { plain.as_str() } else { plain.trim_matches('…') };
            prop_assert!(line.contains(piece), "{cut:?}");
            prop_assert!(plain.chars().count() <= chars + 2);
            let mark = |c| cut.matches(c).count();
            prop_assert_eq!(mark(OPEN), mark(CLOSE));
        }

        #[test]
        fn a_match_that_fits_is_shown(before in "[a-zé ]{0,80}", after in "[a-zé ]{0,80}", chars in 18..60_usize) {
            let cut = snippet(&format!("{before} NEEDLE {after}"), &["needle".to_owned()], chars);
            prop_assert!(cut.contains("\u{2}NEEDLE\u{3}"), "{cut:?}");
        }
    }
}

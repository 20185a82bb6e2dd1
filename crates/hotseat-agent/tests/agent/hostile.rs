//! Whatever stands in agent.yaml, it is an agent or refused in words, soon and without
//! eating the memory. Files that once were of interest are kept in `hostile/`.

use std::time::{Duration, Instant};

use hotseat_agent::AgentFile;
use proptest::prelude::*;

use super::file::folder;

const KEPT: [&str; 5] = [
    include_str!("hostile/laughs.yaml"),
    include_str!("hostile/every-field.yaml"),
    include_str!("hostile/wrong-types.yaml"),
    include_str!("hostile/tags-and-merges.yaml"),
    include_str!("hostile/two-documents.yaml"),
];

/// Far more than any file needs, on a machine that has other things to do.
const SOON: Duration = Duration::from_secs(2);

/// How long a refusal may be: it is for a person.
const MAX_WORDS: usize = 10_000;

fn read(text: &str) -> Result<(), TestCaseError> {
    let folder = folder(&[("agent.yaml", text)]);
    let began = Instant::now();
    if let Err(problem) = AgentFile::read(folder.path(), &|_| None) {
        let words = problem.to_string();
        prop_assert!(words.contains("agent.yaml"), "{}", words);
        prop_assert!(words.len() < MAX_WORDS, "{} bytes", words.len());
    }
    prop_assert!(began.elapsed() < SOON, "{:?}", began.elapsed());
    Ok(())
}

#[test]
fn kept_files_are_read_or_refused() {
    for text in KEPT {
        read(text).unwrap();
    }
}

/// As deep as is read at all, and far deeper: neither may be more than the stack can hold.
#[test]
fn a_file_that_is_nested_without_end_is_refused() {
    for depth in [30, 5000] {
        for (open, close) in [("[", "]"), ("{a: ", "}"), ("- ", "")] {
            let nested = format!("{}{}", open.repeat(depth), close.repeat(depth));
            read(&format!("name: desk\ntools: {nested}")).unwrap();
            read(&format!("{}x", open.repeat(depth))).unwrap();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_an_agent_or_refused(text in "(\\PC|[\n:\\-{}\\[\\]&*!|>'\"#% ]){0,80}") {
        read(&text)?;
        read(&format!("name: desk\ninstructions: hi\nmodel: {text}"))?;
    }

    #[test]
    fn a_kept_file_with_a_change_is_an_agent_or_refused(
        text in prop::sample::select(KEPT[1..].to_vec()),
        at in any::<prop::sample::Index>(),
        new in "(\\PC|[\n:\\-{}\\[\\]&*!]){0,3}",
    ) {
        let mut letters: Vec<char> = text.chars().collect();
        let at = at.index(letters.len());
        letters.splice(at..=at, new.chars());
        read(&letters.into_iter().collect::<String>())?;
    }
}

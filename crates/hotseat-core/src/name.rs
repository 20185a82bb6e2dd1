//! Names for files and ids, made from the names people give their agents.

/// The name in snake_case as people read it: `Math Agent` is `math_agent`,
/// `HTTPAgent` is `http_agent`.
///
/// The result has only `a-z`, `0-9` and single underscores between them, and is
/// never empty, so it can stand in an `eval_set_id`, where ADK accepts nothing
/// else. Other characters, letters outside ASCII among them, separate words.
pub fn snake_case(name: &str) -> String {
    let chars: Vec<char> = name.chars().collect();
    let mut snake = String::with_capacity(name.len() + 4);
    for (i, &c) in chars.iter().enumerate() {
        if !c.is_ascii_alphanumeric() {
            separate(&mut snake);
            continue;
        }
        let before = i.checked_sub(1).map(|i| chars[i]);
        let after = chars.get(i + 1).copied();
        if c.is_ascii_uppercase() && starts_word(before, after) {
            separate(&mut snake);
        }
        snake.push(c.to_ascii_lowercase());
    }
    if snake.ends_with('_') {
        snake.pop();
    }
    if snake.is_empty() { "agent".to_owned() } else { snake }
}

/// Whether a capital between these two begins a word: `mathAgent` does at `A`,
/// `HTTPAgent` too, `HTTP` only at its start.
fn starts_word(before: Option<char>, after: Option<char>) -> bool {
    match before {
        Some(before) if before.is_ascii_lowercase() => true,
        Some(before) if before.is_ascii_alphanumeric() => {
            after.is_some_and(|after| after.is_ascii_lowercase())
        }
        _ => false,
    }
}

fn separate(snake: &mut String) {
    if !snake.is_empty() && !snake.ends_with('_') {
        snake.push('_');
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_read_as_people_read_them() {
        for (name, snake) in [
            ("Math Agent", "math_agent"),
            ("MathAgent", "math_agent"),
            ("mathAgent", "math_agent"),
            ("math_agent", "math_agent"),
            ("HTTPAgent", "http_agent"),
            ("MyHTTPServer2 v1.0", "my_http_server2_v1_0"),
            ("Server2Agent", "server2_agent"),
            ("2DModel", "2d_model"),
            ("  -- Spaced -- out  ", "spaced_out"),
            ("", "agent"),
            ("日本", "agent"),
            ("../../etc/passwd", "etc_passwd"),
        ] {
            assert_eq!(snake_case(name), snake, "{name}");
        }
    }

    proptest! {
        #[test]
        fn any_name_becomes_a_usable_one(name in ".*") {
            let snake = snake_case(&name);
            prop_assert!(!snake.is_empty());
            prop_assert!(snake.chars().all(|c| matches!(c, 'a'..='z' | '0'..='9' | '_')));
            prop_assert!(!snake.starts_with('_') && !snake.ends_with('_') && !snake.contains("__"));
            prop_assert_eq!(snake_case(&snake), snake);
        }
    }
}

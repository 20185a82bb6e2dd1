//! Tokens are read back as they were made, and in no other spelling.

use proptest::prelude::*;

use super::*;

const KEY: InstallationKey = InstallationKey::new([3; 32]);
const NOW: i64 = 1_800_000_000;

fn session() -> SessionId {
    "7d0f6a52-32f1-4b3e-9e0d-1f4f9f6b2a11".parse().unwrap()
}

fn user(ttl: i64) -> UserToken {
    UserToken { user_id: "alice@example.com".into(), issued: NOW, expires: NOW + ttl }
}

#[test]
fn a_user_token_is_read_until_it_expires() {
    let token = user(100);
    let text = token.text(&KEY);
    assert_eq!(UserToken::read(&KEY, &text, NOW + 99), Ok(token));
    assert_eq!(UserToken::read(&KEY, &text, NOW + 100), Err(Refusal::Expired));
    let other = InstallationKey::new([4; 32]);
    assert_eq!(UserToken::read(&other, &text, NOW), Err(Refusal::Invalid));
}

#[test]
fn a_user_token_is_renewed_for_as_long_once_half_of_it_is_over() {
    let token = user(100);
    assert_eq!(token.renewed(NOW + 50), None);
    let renewed = token.renewed(NOW + 51).unwrap();
    assert_eq!((renewed.issued, renewed.expires), (NOW + 51, NOW + 151));
}

#[test]
fn a_binding_lasts_a_day_and_is_renewed_after_an_hour() {
    let token = BindingToken::new(session(), "alice", NOW);
    let text = token.text(&KEY);
    let day = 24 * 60 * 60;
    assert_eq!(BindingToken::read(&KEY, &text, NOW + day - 1), Ok(token.clone()));
    assert_eq!(BindingToken::read(&KEY, &text, NOW + day), Err(Refusal::Expired));
    assert_eq!(token.renewed(NOW + 3600), None);
    assert_eq!(token.renewed(NOW + 3601).unwrap().expires_at(), NOW + 3601 + day);
}

#[test]
fn a_csrf_token_is_for_one_caller_and_one_hour() {
    let alice = Caller::User("alice".into());
    let text = CsrfToken::new(NOW).text(&KEY, &alice);
    assert!(CsrfToken::is_valid(&KEY, &alice, &text, NOW + 3599));
    assert!(!CsrfToken::is_valid(&KEY, &alice, &text, NOW + 3600));
    for other in [
        Caller::Owner,
        Caller::User("bob".into()),
        Caller::Session { session: session(), user: "alice".into() },
    ] {
        assert!(!CsrfToken::is_valid(&KEY, &other, &text, NOW), "{other:?}");
    }
}

#[test]
fn a_token_of_one_kind_is_not_one_of_another() {
    let user = user(100).text(&KEY);
    assert_eq!(BindingToken::read(&KEY, &user, NOW), Err(Refusal::Invalid));
    let binding = BindingToken::new(session(), "alice", NOW).text(&KEY);
    assert_eq!(UserToken::read(&KEY, &binding, NOW), Err(Refusal::Invalid));
    let renamed = binding.replacen(BindingToken::PREFIX, UserToken::PREFIX, 1);
    assert_eq!(UserToken::read(&KEY, &renamed, NOW), Err(Refusal::Invalid));
}

proptest! {
    #[test]
    fn any_user_is_named_by_their_token(user_id in ".*", ttl in 1..1_000_000_i64) {
        let token = UserToken { user_id: user_id.as_str().into(), issued: NOW, expires: NOW + ttl };
        let text = token.text(&KEY);
        if text.len() <= MAX_BYTES {
            prop_assert_eq!(UserToken::read(&KEY, &text, NOW), Ok(token));
        }
        // It has to fit into a header and a cookie.
        let fits = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        prop_assert!(text.chars().all(fits));
    }

    #[test]
    fn any_change_of_a_token_is_refused(at in any::<prop::sample::Index>(), other in any::<char>()) {
        for text in [user(100).text(&KEY), BindingToken::new(session(), "alice", NOW).text(&KEY)] {
            let letters: Vec<_> = text.chars().collect();
            let at = at.index(letters.len());
            let put = |middle: &[char]| -> String {
                letters[..at].iter().chain(middle).chain(&letters[at + 1..]).collect()
            };
            let mut changed = vec![put(&[]), put(&[other, letters[at]])];
            if other != letters[at] {
                changed.push(put(&[other]));
            }
            for changed in changed {
                prop_assert!(UserToken::read(&KEY, &changed, NOW).is_err(), "{}", changed);
                prop_assert!(BindingToken::read(&KEY, &changed, NOW).is_err(), "{}", changed);
            }
        }
    }

    #[test]
    fn no_text_is_too_strange_to_be_refused(text in ".*", prefix in "(hsu_|hsb_|hsc_)?", rest in "[-0-9A-Za-z_.]{0,120}") {
        for text in [text, format!("{prefix}{rest}")] {
            prop_assert!(UserToken::read(&KEY, &text, NOW).is_err());
            prop_assert!(BindingToken::read(&KEY, &text, NOW).is_err());
            prop_assert!(!CsrfToken::is_valid(&KEY, &Caller::Owner, &text, NOW));
        }
    }
}

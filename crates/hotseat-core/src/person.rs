//! Who somebody is: a name, and what it allows.
//!
//! A name becomes the `user_id` of sessions, stands in the audit and is compared
//! letter by letter, so there is one spelling of it.

use std::fmt;
use std::str::FromStr;

use crate::word::words;

/// Letters of a user's name.
pub const MAX_USER_NAME_CHARS: usize = 64;

/// Names that already mean something: the holder of the installation's own token, and the
/// user of sessions that nobody in particular began.
const RESERVED: [&str; 3] = [UserName::OWNER, "local", "me"];

words!(
    /// What a user may do. Each role may do what the ones before it may.
    Role, "role", {
        /// Reads.
        Viewer = "viewer",
        /// Also runs agents, answers turns and exports.
        Developer = "developer",
        /// Also deletes what is others', manages users and reads the audit.
        Admin = "admin",
    }
);

impl Role {
    /// Whether this role may do what `needed` may.
    pub const fn includes(self, needed: Self) -> bool {
        self.rank() >= needed.rank()
    }

    const fn rank(self) -> u8 {
        match self {
            Self::Viewer => 0,
            Self::Developer => 1,
            Self::Admin => 2,
        }
    }
}

/// The name of a user: lower-case letters, digits and `. _ - + @`, so that an address of
/// e-mail is one.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct UserName(String);

/// Text that is no user's name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidUserName {
    /// It has letters that no name has, or too many, or none.
    #[error(
        "`{0}` is no user name: use up to 64 of a-z, 0-9 and . _ - + @, beginning with a letter or digit"
    )]
    Letters(String),
    /// It means something else.
    #[error("`{0}` is a name that Hotseat uses itself: choose another")]
    Reserved(String),
}

impl UserName {
    /// Whoever has the installation's own token, in the audit and on claims.
    pub const OWNER: &str = "owner";

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for UserName {
    type Err = InvalidUserName;

    fn from_str(text: &str) -> Result<Self, InvalidUserName> {
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
        let fits = text.len() <= MAX_USER_NAME_CHARS
            && text.starts_with(plain)
            && text.chars().all(|c| plain(c) || "._-+@".contains(c));
        if !fits {
            return Err(InvalidUserName::Letters(text.chars().take(MAX_USER_NAME_CHARS).collect()));
        }
        if RESERVED.contains(&text) {
            return Err(InvalidUserName::Reserved(text.to_owned()));
        }
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Display for UserName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_one_spelling_and_no_other_meaning() {
        for name in ["ada", "ada.lovelace@example.org", "4ever", "a-b_c+d"] {
            assert_eq!(name.parse::<UserName>().unwrap().as_str(), name);
        }
        let long = "a".repeat(MAX_USER_NAME_CHARS + 1);
        for no_name in ["", "Ada", "-ada", " ada", "ada ", "a/b", "é", "a\n", &long] {
            let refused = no_name.parse::<UserName>();
            assert!(matches!(refused, Err(InvalidUserName::Letters(_))), "{no_name:?}");
        }
        for taken in RESERVED {
            assert!(matches!(taken.parse::<UserName>(), Err(InvalidUserName::Reserved(_))));
        }
    }

    #[test]
    fn each_role_may_do_what_those_before_it_may() {
        for (place, role) in Role::ALL.iter().enumerate() {
            for (other_place, other) in Role::ALL.iter().enumerate() {
                assert_eq!(role.includes(*other), place >= other_place, "{role} {other}");
            }
        }
    }
}

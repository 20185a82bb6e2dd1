//! Where a store is: `sqlite://FILE` or `postgres://USER@HOST/DATABASE`.
//!
//! It may hold a password, so it is written without it.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use crate::OpenError;

/// The address of a store.
#[derive(Clone, PartialEq, Eq)]
pub enum Address {
    /// A file of SQLite.
    Sqlite(PathBuf),
    /// A database of PostgreSQL, by its URL.
    Postgres(String),
}

impl FromStr for Address {
    type Err = OpenError;

    fn from_str(url: &str) -> Result<Self, OpenError> {
        let unknown = |source| OpenError::Address { url: without_password(url).to_owned(), source };
        match url.split_once("://") {
            Some(("sqlite", path)) if !path.is_empty() => Ok(Self::Sqlite(PathBuf::from(path))),
            Some(("postgres" | "postgresql", _)) => {
                crate::postgres::check_url(url).map_err(|error| unknown(Some(error)))?;
                Ok(Self::Postgres(url.to_owned()))
            }
            Some(_) | None => Err(unknown(None)),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sqlite(path) => write!(f, "sqlite://{}", path.display()),
            Self::Postgres(url) => f.write_str(without_password(url)),
        }
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// What may be shown of an address: nothing before an `@`, and no parameters, as a password can
/// stand in both.
pub(crate) fn without_password(url: &str) -> &str {
    let url = url.split('?').next().unwrap_or_default();
    url.rsplit_once('@').map_or(url, |(_, place)| place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_shown_without_its_password() {
        let address: Address =
            "postgres://me:secret@db.example:5432/hotseat?password=secret".parse().unwrap();
        assert_eq!(address.to_string(), "db.example:5432/hotseat");
        assert_eq!(format!("{address:?}"), "db.example:5432/hotseat");
        let refused = "mysql://me:secret@db/x".parse::<Address>().unwrap_err().to_string();
        assert!(refused.contains("`db/x`") && !refused.contains("secret"), "{refused}");
    }

    #[test]
    fn files_and_databases_are_told_apart() {
        assert_eq!(
            "sqlite://a/b.db".parse::<Address>().unwrap(),
            Address::Sqlite(PathBuf::from("a/b.db"))
        );
        assert!("sqlite://".parse::<Address>().is_err());
        assert!("postgres://h:port/x".parse::<Address>().is_err());
        assert!("postgres://h/x?sslmode=verify-full".parse::<Address>().is_ok());
    }
}

//! The URL of a database.
//!
//! It is read as PostgreSQL's own programs read it. What they call verification are words that
//! the library does not know, so they are taken out before it sees the URL.

use std::path::PathBuf;

use percent_encoding::percent_decode_str;
use tokio_postgres::Config;

use crate::error::Cause;

/// Whether the server has to prove who it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Verification {
    /// It does not: `sslmode=require` hides what is said and no more, as for `psql`.
    None,
    /// Its certificate must be signed by somebody this machine trusts, for its name.
    Machine,
    /// Its certificate must be signed by one of those in this file, for its name.
    File(PathBuf),
}

/// What a URL says.
#[derive(Debug)]
pub(super) struct ReadUrl {
    pub(super) config: Config,
    pub(super) verification: Verification,
}

/// What is wrong with a URL that names certificates.
#[derive(Debug, thiserror::Error)]
enum Misfit {
    #[error("`sslrootcert` is only looked at with `sslmode=verify-full`: say so, or leave it out")]
    Unused,
    #[error("`sslrootcert` names no file")]
    Empty,
}

/// Whether a URL can be read.
pub(crate) fn check_url(url: &str) -> Result<(), Cause> {
    read_url(url).map(drop)
}

/// Reads the URL of a database.
pub(super) fn read_url(url: &str) -> Result<ReadUrl, Cause> {
    let (place, parameters) = url.split_once('?').unwrap_or((url, ""));
    let (mut verified, mut root, mut others) = (false, None, Vec::new());
    for parameter in parameters.split('&').filter(|parameter| !parameter.is_empty()) {
        match parameter.split_once('=') {
            // Whoever asks for less than the name gets more: the name is checked, too.
            Some(("sslmode", "verify-full" | "verify-ca")) => {
                verified = true;
                others.push("sslmode=require");
            }
            Some(("sslrootcert", file)) => {
                root = Some(percent_decode_str(file).decode_utf8()?.into_owned());
            }
            Some(_) | None => others.push(parameter),
        }
    }
    let verification = match root.as_deref() {
        Some(_) if !verified => return Err(Misfit::Unused.into()),
        Some("") => return Err(Misfit::Empty.into()),
        // The word of PostgreSQL's own programs for what is meant without it here.
        Some("system") => Verification::Machine,
        Some(file) => Verification::File(file.into()),
        None if verified => Verification::Machine,
        None => Verification::None,
    };
    let config = format!("{place}?{}", others.join("&")).parse()?;
    Ok(ReadUrl { config, verification })
}

#[cfg(test)]
mod tests {
    use tokio_postgres::config::SslMode;

    use super::*;

    #[test]
    fn verification_is_read_from_parameters_only() {
        let read = read_url("postgres://me:sslmode=verify-full@db/x").unwrap();
        assert_eq!(read.verification, Verification::None);
        assert_eq!(read.config.get_password(), Some(b"sslmode=verify-full".as_slice()));
        for word in ["verify-full", "verify-ca"] {
            let url = format!("postgres://db/x?connect_timeout=3&sslmode={word}");
            let read = read_url(&url).unwrap();
            assert_eq!(read.verification, Verification::Machine);
            assert_eq!(read.config.get_ssl_mode(), SslMode::Require);
            assert!(read.config.get_connect_timeout().is_some());
        }
        let read = read_url("postgres://db/x?sslmode=require").unwrap();
        assert_eq!(read.verification, Verification::None);
        assert_eq!(read.config.get_ssl_mode(), SslMode::Require);
    }

    #[test]
    fn a_root_certificate_is_a_file_or_those_of_the_machine() {
        let of = |root: &str| {
            read_url(&format!("postgres://db/x?sslrootcert={root}&sslmode=verify-full"))
        };
        let file = Verification::File("/etc/my certificates/ca.pem".into());
        assert_eq!(of("/etc/my%20certificates/ca.pem").unwrap().verification, file);
        assert_eq!(of("system").unwrap().verification, Verification::Machine);
        assert!(of("").is_err());
        let unused = read_url("postgres://db/x?sslmode=require&sslrootcert=/ca.pem");
        assert!(unused.unwrap_err().to_string().contains("sslmode=verify-full"));
    }
}

//! `hotseat token`: a token for one user, to be given to somebody else.
//!
//! It is signed with the key of the installation, so no running server is needed, and
//! the servers of this data folder know it at once.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Result, bail};
use hotseat_server::user_token;

use crate::{data, output};

#[derive(Debug, clap::Args)]
pub(crate) struct Token {
    /// The user: nobody else's sessions are seen with the token.
    #[arg(long)]
    user: String,
    /// How long it is valid. In use, it is renewed.
    #[arg(long, default_value_t = 24, value_name = "HOURS")]
    hours: u64,
    /// Folder of the store [default: .hotseat].
    #[arg(long, env = "HOTSEAT_DATA", value_name = "FOLDER")]
    data: Option<PathBuf>,
}

pub(crate) fn run(token: Token) -> Result<ExitCode> {
    let folder = token.data.unwrap_or_else(|| PathBuf::from(".hotseat"));
    if !folder.is_dir() {
        bail!("there is no data folder {}\nhint: name it with --data", folder.display());
    }
    if token.user.trim().is_empty() || token.hours == 0 {
        bail!("a token needs a user and at least one hour");
    }
    let key = data::installation_key(&folder)?;
    let ttl = Duration::from_secs(token.hours.saturating_mul(3600));
    output::line(&user_token(&key, &token.user, ttl))?;
    Ok(ExitCode::SUCCESS)
}

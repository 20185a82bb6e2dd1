//! The data folder: who uses it, and the token in it.
//!
//! Plugins and workers on the same machine find the token here, and the place of
//! this folder in a small record in the user's state folder, whatever folder
//! they are started in. Both are readable by the user alone.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use fs4::FileExt;

/// Random bytes in a token.
const TOKEN_BYTES: usize = 24;

/// The data folder, held by this process alone.
#[derive(Debug)]
pub(crate) struct DataFolder {
    path: PathBuf,
    _lock: File,
}

impl DataFolder {
    pub(crate) fn open(path: &Path) -> Result<Self> {
        fs::create_dir_all(path)
            .with_context(|| format!("could not create the data folder {}", path.display()))?;
        let lock = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(path.join("lock"))
            .with_context(|| format!("could not write in the data folder {}", path.display()))?;
        if FileExt::try_lock(&lock).is_err() {
            bail!(
                "the data folder {} is in use by another hotseat\nhint: stop it, or choose another folder with --data",
                path.display()
            );
        }
        ignore_in_git(path);
        Ok(Self { path: path.to_owned(), _lock: lock })
    }

    pub(crate) fn token_file(&self) -> PathBuf {
        self.path.join("token")
    }

    /// The token that is kept here; made now if there is none.
    pub(crate) fn token(&self) -> Result<String> {
        let file = self.token_file();
        match fs::read_to_string(&file) {
            Ok(token) if !token.trim().is_empty() => Ok(token.trim().to_owned()),
            Ok(_) | Err(_) => {
                let token = new_token()?;
                self.keep_token(&token)?;
                Ok(token)
            }
        }
    }

    /// Keeps `token` for those who look for it here.
    pub(crate) fn keep_token(&self, token: &str) -> Result<()> {
        let file = self.token_file();
        write_private(&file, token.as_bytes())
            .with_context(|| format!("could not write the token to {}", file.display()))
    }
}

/// A record of a running server, gone when it is dropped.
#[derive(Debug)]
pub(crate) struct ServerRecord(PathBuf);

impl ServerRecord {
    /// Tells programs of the same user where the token of this server is. That they
    /// cannot be told is no reason not to start.
    pub(crate) fn write(
        address: std::net::SocketAddr,
        url: &str,
        token_file: &Path,
    ) -> Option<Self> {
        let folder = state_folder()?.join("hotseat/servers");
        fs::create_dir_all(&folder).ok()?;
        let path = folder.join(format!("{}_{}.json", address.ip(), address.port()));
        let record = serde_json::json!({"url": url, "token_file": token_file});
        write_private(&path, record.to_string().as_bytes()).ok()?;
        Some(Self(path))
    }
}

impl Drop for ServerRecord {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

fn state_folder() -> Option<PathBuf> {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    set("XDG_STATE_HOME").or_else(|| set("HOME").map(|home| home.join(".local/state")))
}

fn new_token() -> Result<String> {
    let mut bytes = [0_u8; TOKEN_BYTES];
    getrandom::fill(&mut bytes).context("the system has no randomness")?;
    let mut token = String::with_capacity(2 * TOKEN_BYTES);
    for byte in bytes {
        write!(token, "{byte:02x}")?;
    }
    Ok(token)
}

/// Temporary files are private from their first byte on, and a rename replaces whole.
fn write_private(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(())
}

/// The folder often lies in a project; its token must not be committed.
fn ignore_in_git(path: &Path) {
    let file = path.join(".gitignore");
    if !file.exists() {
        let _ = fs::write(file, "*\n");
    }
}

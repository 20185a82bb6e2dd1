//! The data folder: who uses it, and the token and the key in it.
//!
//! Plugins and workers on the same machine find the token here, and the place of
//! this folder in a small record in the user's state folder, whatever folder
//! they are started in. Both are readable by the user alone.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use fs4::FileExt;
use hotseat_server::InstallationKey;

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

/// The key of the installation whose data folder is at `path`; made now if there is
/// none. A server may be using the folder.
pub(crate) fn installation_key(path: &Path) -> Result<InstallationKey> {
    let file = path.join("key");
    if let Some(key) = kept_key(&file)? {
        return Ok(key);
    }
    let (_, bytes) = InstallationKey::random().context("the system has no randomness")?;
    let made = private_file(path, &bytes).and_then(|made| {
        // Whoever was faster made the key: two keys would not know each other's tokens.
        made.persist_noclobber(&file).map(drop).map_err(|error| error.error)
    });
    match (kept_key(&file)?, made) {
        (Some(key), _) => Ok(key),
        (None, made) => {
            made.with_context(|| format!("could not write the key to {}", file.display()))?;
            bail!("the key in {} is gone again", file.display())
        }
    }
}

fn kept_key(file: &Path) -> Result<Option<InstallationKey>> {
    let bytes = match fs::read(file) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => {
            return Err(error)
                .with_context(|| format!("could not read the key {}", file.display()));
        }
    };
    // Making another would silently end every token that is out there.
    match bytes.try_into() {
        Ok(bytes) => Ok(Some(InstallationKey::new(bytes))),
        Err(_) => bail!(
            "the key {} is damaged\nhint: remove it to get a new one; tokens of users then have to be made anew",
            file.display()
        ),
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
    private_file(path.parent().unwrap_or(Path::new(".")), bytes)?.persist(path)?;
    Ok(())
}

fn private_file(folder: &Path, bytes: &[u8]) -> std::io::Result<tempfile::NamedTempFile> {
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    Ok(file)
}

/// The folder often lies in a project; its token must not be committed.
fn ignore_in_git(path: &Path) {
    let file = path.join(".gitignore");
    if !file.exists() {
        let _ = fs::write(file, "*\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_is_made_once_and_is_the_users_alone() {
        let folder = tempfile::tempdir().unwrap();
        installation_key(folder.path()).unwrap();
        let file = folder.path().join("key");
        let made = fs::read(&file).unwrap();
        assert_eq!(made.len(), InstallationKey::BYTES);
        installation_key(folder.path()).unwrap();
        assert_eq!(fs::read(&file).unwrap(), made);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        }
    }

    #[test]
    fn a_damaged_key_is_told_and_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("key"), "short").unwrap();
        let error = installation_key(folder.path()).unwrap_err();
        assert!(error.to_string().contains("is damaged"), "{error}");
        assert_eq!(fs::read(folder.path().join("key")).unwrap(), b"short");
    }
}

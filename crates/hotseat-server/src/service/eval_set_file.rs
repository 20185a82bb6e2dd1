//! EvalSet files on disk.
//!
//! A file is replaced, never changed in place: read under a lock, merged by
//! `hotseat-core`, written to a temporary file beside it, synced, renamed. A
//! crash leaves the old file or the new one; two writers take turns. The lock is
//! a file of its own, since the EvalSet itself is replaced by the rename.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use fs4::FileExt;
use hotseat_core::{EvalSetError, NewText};

use super::{App, ServiceError};

impl App {
    /// Edits a file off the async threads, with errors that name it.
    pub(super) async fn edit_eval_set<T: Send + 'static>(
        &self,
        path: PathBuf,
        edit: impl FnOnce(Option<&str>) -> Result<Edited<'_, T>, EvalSetError> + Send + 'static,
    ) -> Result<T, ServiceError> {
        let shown = path.display().to_string();
        match blocking(move || self::edit(&path, edit)).await? {
            Ok(result) => Ok(result),
            Err(EditError::EvalSet(source)) => Err(ServiceError::EvalSet { path: shown, source }),
            Err(EditError::Io(source)) => Err(ServiceError::EvalSetFile { path: shown, source }),
        }
    }
}

/// Files are read and written off the async threads.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ServiceError> {
    tokio::task::spawn_blocking(work).await.map_err(|_| ServiceError::Closing)
}

/// Why a file was not changed.
#[derive(Debug, thiserror::Error)]
enum EditError {
    #[error(transparent)]
    EvalSet(#[from] EvalSetError),
    #[error("the file system refused")]
    Io(#[from] io::Error),
}

/// Replaces the text of the EvalSet file at `path` by what `edit` makes of it, under
/// the file's lock. `edit` is given nothing where there is no file; it may decide
/// that there is nothing to write.
fn edit<T>(
    path: &Path,
    edit: impl FnOnce(Option<&str>) -> Result<Edited<'_, T>, EvalSetError>,
) -> Result<T, EditError> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let _lock = lock(path)?;
    let existing = match fs::read_to_string(path) {
        Ok(text) => Some(text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error.into()),
    };
    let Edited { text, result } = edit(existing.as_deref())?;
    if let Some(text) = text {
        replace(path, folder, &text)?;
    }
    Ok(result)
}

/// What became of a file's text.
pub(crate) struct Edited<'a, T> {
    /// The new text, if it changed.
    pub(crate) text: Option<NewText<'a>>,
    /// What the editor wants to tell.
    pub(crate) result: T,
}

/// Holds the lock until it is dropped. The lock file stays: removing it would let
/// two writers hold locks on two files of the same name.
fn lock(path: &Path) -> io::Result<File> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".lock");
    let hidden = format!(".{}", name.to_string_lossy());
    let file = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(path.with_file_name(hidden))?;
    FileExt::lock(&file)?;
    Ok(file)
}

fn replace(path: &Path, folder: &Path, text: &NewText<'_>) -> io::Result<()> {
    let mut file = tempfile::Builder::new().prefix(".evalset-").tempfile_in(folder)?;
    for piece in text.pieces() {
        file.write_all(piece.as_bytes())?;
    }
    if let Ok(existing) = fs::metadata(path) {
        file.as_file().set_permissions(existing.permissions())?;
    } else {
        readable_by_all(file.as_file())?;
    }
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    File::open(folder)?.sync_all()
}

/// Temporary files are private; an EvalSet is an ordinary file of the project.
#[cfg(unix)]
fn readable_by_all(file: &File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn readable_by_all(_file: &File) -> io::Result<()> {
    Ok(())
}

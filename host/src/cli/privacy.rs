//! Whether others on the machine can read the memory.

use std::io;
use std::path::{Path, PathBuf};

/// A file or directory that others can read or write.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Loose {
    pub(super) path: PathBuf,
    /// Its mode, as `ls` and `chmod` number it.
    pub(super) mode: u32,
    /// What it should be.
    pub(super) wanted: u32,
}

/// What others can read or write of a data directory: itself, and what is in it. Behind a directory that is closed to
/// them nothing else counts.
#[cfg(unix)]
pub(super) fn loose(directory: &Path) -> io::Result<Vec<Loose>> {
    use std::os::unix::fs::PermissionsExt;

    const OTHERS: u32 = 0o077;
    let check = |path: PathBuf, wanted: u32| -> io::Result<Option<Loose>> {
        let mode = std::fs::symlink_metadata(&path)?.permissions().mode() & 0o777;
        Ok((mode & OTHERS != 0).then_some(Loose { path, mode, wanted }))
    };
    let Some(itself) = check(directory.to_owned(), 0o700)? else {
        return Ok(Vec::new());
    };
    let mut loose = vec![itself];
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            loose.extend(check(entry.path(), 0o600)?);
        }
    }
    Ok(loose)
}

/// Elsewhere a person's directory is closed to others by the system.
#[cfg(not(unix))]
pub(super) fn loose(_: &Path) -> io::Result<Vec<Loose>> {
    Ok(Vec::new())
}

/// Closes what is loose.
#[cfg(unix)]
pub(super) fn close(loose: &Loose) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;

    std::fs::set_permissions(&loose.path, std::fs::Permissions::from_mode(loose.wanted))
}

/// Nothing is ever loose.
#[cfg(not(unix))]
pub(super) fn close(_: &Loose) -> io::Result<()> {
    Ok(())
}

/// Says at the start of a server when others can read a memory, or write where it is. That they can see the names of the
/// files is for the doctor: a directory that a person made before is often so.
pub(super) fn warn(directory: &Path) {
    const WRITE: u32 = 0o022;
    // What can't be looked at now is told by the first call.
    let loose = loose(directory).unwrap_or_default();
    let matters = |loose: &&Loose| loose.path != directory || loose.mode & WRITE != 0;
    if let Some(loose) = loose.iter().find(matters) {
        tracing::warn!(
            "others on this machine have access to {} (mode {:o}); `personal-memory doctor --fix` closes it",
            loose.path.display(),
            loose.mode
        );
    }
}

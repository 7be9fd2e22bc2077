//! A file of settings that is not ours: read as it is, replaced as a whole, with a copy of what it was.

use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail};
use tempfile::NamedTempFile;

/// The longest file that is read, in bytes: thousands of times what settings have.
const MAX_BYTES: u64 = 64 << 20;

/// Some editors begin a file with it. It is no part of the document.
const BYTE_ORDER_MARK: &str = "\u{feff}";

/// A file of settings.
pub(super) struct SettingsFile {
    /// Where it really is: not a link.
    path: PathBuf,
    /// As it was read; `None` if there is none.
    content: Option<String>,
}

impl SettingsFile {
    /// Reads it, wherever a link leads. That there is none is no error.
    pub(super) fn read(path: &Path) -> Result<SettingsFile> {
        let named = || format!("{} can't be read", path.display());
        let path = match fs::canonicalize(path) {
            Ok(path) => path,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if path.is_symlink() {
                    bail!("{} is a link that leads nowhere", path.display());
                }
                let path = path.to_owned();
                return Ok(SettingsFile {
                    path,
                    content: None,
                });
            }
            Err(error) => return Err(error).with_context(named),
        };
        if fs::metadata(&path).with_context(named)?.len() > MAX_BYTES {
            bail!(
                "{} is longer than {MAX_BYTES} bytes: no settings",
                path.display()
            );
        }
        let bytes = fs::read(&path).with_context(named)?;
        let Ok(content) = String::from_utf8(bytes) else {
            bail!("{} is not UTF-8; it was left as it is", path.display());
        };
        Ok(SettingsFile {
            path,
            content: Some(content),
        })
    }

    /// The file itself.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The document in it; empty if there is no file.
    pub(super) fn text(&self) -> &str {
        let content = self.content.as_deref().unwrap_or_default();
        content.strip_prefix(BYTE_ORDER_MARK).unwrap_or(content)
    }

    /// Replaces the document, all of it or nothing; returns where a copy of the old one is. A new file is for its owner
    /// only, unless it is `for_others`.
    ///
    /// # Errors
    ///
    /// It can't be written, or another program changed it since it was read: then it is left as it is.
    pub(super) fn replace(&self, text: &str, for_others: bool) -> Result<Option<PathBuf>> {
        let named = || format!("{} can't be written", self.path.display());
        let folder = self.path.parent().with_context(named)?;
        fs::create_dir_all(folder).with_context(named)?;
        let mut file = self.temporary(folder, for_others).with_context(named)?;
        if self
            .content
            .as_deref()
            .is_some_and(|old| old.starts_with(BYTE_ORDER_MARK))
        {
            file.write_all(BYTE_ORDER_MARK.as_bytes())
                .with_context(named)?;
        }
        file.write_all(text.as_bytes()).with_context(named)?;
        file.as_file().sync_all().with_context(named)?;
        let backup = self.back_up()?;
        if !self.is_unchanged().with_context(named)? {
            bail!(
                "{} was changed by another program meanwhile; nothing was written, try again",
                self.path.display()
            );
        }
        file.persist(&self.path).with_context(named)?;
        sync(folder).with_context(named)?;
        Ok(backup)
    }

    /// A file beside the old one, with its mode.
    fn temporary(&self, folder: &Path, for_others: bool) -> io::Result<NamedTempFile> {
        let mut builder = tempfile::Builder::new();
        #[cfg(unix)]
        if for_others {
            use std::os::unix::fs::PermissionsExt;
            // Less what the person's umask takes.
            builder.permissions(fs::Permissions::from_mode(0o666));
        }
        #[cfg(not(unix))]
        let _ = for_others;
        let file = builder.tempfile_in(folder)?;
        if self.content.is_some() {
            let permissions = fs::metadata(&self.path)?.permissions();
            fs::set_permissions(file.path(), permissions)?;
        }
        Ok(file)
    }

    fn is_unchanged(&self) -> io::Result<bool> {
        match (fs::read(&self.path), &self.content) {
            (Ok(now), Some(then)) => Ok(now == then.as_bytes()),
            (Ok(_), None) => Ok(false),
            (Err(error), then) if error.kind() == io::ErrorKind::NotFound => Ok(then.is_none()),
            (Err(error), _) => Err(error),
        }
    }

    /// Copies the old file to one beside it that is named after the second.
    fn back_up(&self) -> Result<Option<PathBuf>> {
        let Some(content) = &self.content else {
            return Ok(None);
        };
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        let mut second = now.as_secs();
        loop {
            let path = self.backup_path(second);
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(mut file) => {
                    let permissions = fs::metadata(&self.path).map(|old| old.permissions());
                    let written = permissions
                        .and_then(|permissions| file.set_permissions(permissions))
                        .and_then(|()| file.write_all(content.as_bytes()))
                        .and_then(|()| file.sync_all());
                    written.with_context(|| format!("{} can't be written", path.display()))?;
                    return Ok(Some(path));
                }
                // Twice within a second.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => second += 1,
                Err(error) => {
                    return Err(error).with_context(|| format!("{} can't be made", path.display()));
                }
            }
        }
    }

    fn backup_path(&self, second: u64) -> PathBuf {
        let mut name = OsString::from(self.path.file_name().unwrap_or_default());
        name.push(format!(".{second}.bak"));
        self.path.with_file_name(name)
    }
}

/// Makes the new name durable, where a directory can be synced.
fn sync(folder: &Path) -> io::Result<()> {
    #[cfg(unix)]
    fs::File::open(folder)?.sync_all()?;
    #[cfg(not(unix))]
    let _ = folder;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_another_program_wrote_meanwhile_is_not_lost() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("settings.json");
        fs::write(&path, "{}").unwrap();
        let file = SettingsFile::read(&path).unwrap();
        fs::write(&path, r#"{"theirs": 1}"#).unwrap();
        let refused = file.replace("ours", false).unwrap_err();
        assert!(refused.to_string().contains("try again"), "{refused}");
        assert_eq!(fs::read_to_string(&path).unwrap(), r#"{"theirs": 1}"#);

        let absent = SettingsFile::read(&folder.path().join("new.json")).unwrap();
        fs::write(folder.path().join("new.json"), "theirs").unwrap();
        assert!(absent.replace("ours", false).is_err());
    }

    #[test]
    fn two_backups_within_a_second_are_two_files() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("settings.json");
        for text in ["a", "b", "c"] {
            fs::write(&path, text).unwrap();
            let backup = SettingsFile::read(&path)
                .unwrap()
                .replace("new", false)
                .unwrap()
                .unwrap();
            assert_eq!(fs::read_to_string(backup).unwrap(), text);
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 4);
    }
}

//! The key under which state is sealed that travels through a client. It lies beside the store, so that a state is still
//! good after a restart, and in another process of the same store.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use tempfile::Builder;

/// Bytes of a key: as many as SHA-256 gives, and more are of no use to HMAC.
pub const KEY_BYTES: usize = 32;

/// The file that it is in, for its owner's eyes only.
const FILE: &str = "seal.key";

/// Files that are about to become [`FILE`].
const UNFINISHED: (&str, &str) = ("seal.", ".tmp");

/// A key, made or read when it is wanted first: most servers never ask anybody anything.
#[derive(Debug)]
pub struct SealKey {
    /// Where it is kept. `None`: it lives as long as the process.
    directory: Option<PathBuf>,
    known: Mutex<Option<[u8; KEY_BYTES]>>,
}

impl SealKey {
    /// The key of the store in this directory; without one, a key of this process alone.
    pub fn beside(store: Option<&Path>) -> SealKey {
        SealKey {
            directory: store.map(Path::to_owned),
            known: Mutex::default(),
        }
    }

    /// The key. One that can't be kept or read is said so once, and replaced by one of this process.
    ///
    /// # Errors
    ///
    /// The system gives no random numbers.
    pub fn bytes(&self) -> io::Result<[u8; KEY_BYTES]> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(key) = *known {
            return Ok(key);
        }
        let kept = self.directory.as_deref().map(keep);
        let key = match kept {
            Some(Ok(key)) => key,
            Some(Err(error)) => {
                tracing::warn!(
                    "{FILE} can't be used, so what is asked of clients is forgotten with this process: {error}"
                );
                random()?
            }
            None => random()?,
        };
        *known = Some(key);
        Ok(key)
    }
}

/// The key in a directory. Whoever comes first makes it, and all others get that one.
fn keep(directory: &Path) -> io::Result<[u8; KEY_BYTES]> {
    let path = directory.join(FILE);
    match read(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        outcome => return outcome,
    }
    let key = random()?;
    // Written under another name: nobody ever sees half a key. It is made with mode 0600.
    let mut file = Builder::new()
        .prefix(UNFINISHED.0)
        .suffix(UNFINISHED.1)
        .tempfile_in(directory)?;
    file.write_all(&key)?;
    file.as_file().sync_all()?;
    match file.persist_noclobber(&path) {
        Ok(_) => Ok(key),
        Err(lost) if lost.error.kind() == io::ErrorKind::AlreadyExists => read(&path),
        Err(lost) => Err(lost.error),
    }
}

fn read(path: &Path) -> io::Result<[u8; KEY_BYTES]> {
    let mut key = Vec::with_capacity(KEY_BYTES);
    let file = open(path)?;
    // One byte more shows that there is more.
    file.take(KEY_BYTES as u64 + 1).read_to_end(&mut key)?;
    key.try_into().map_err(|_| {
        let message = format!("it does not have {KEY_BYTES} bytes; delete it to get a new one");
        io::Error::new(io::ErrorKind::InvalidData, message)
    })
}

/// Links are not followed: a component can make some in its directory, and must not have us read elsewhere.
fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.custom_flags(rustix::fs::OFlags::NOFOLLOW.bits().cast_signed());
    }
    options.open(path)
}

fn random() -> io::Result<[u8; KEY_BYTES]> {
    let mut key = [0; KEY_BYTES];
    getrandom::fill(&mut key)?;
    Ok(key)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::fs;
    use std::sync::Barrier;
    use std::thread;

    use super::*;

    #[test]
    fn a_store_has_one_key_and_processes_without_a_store_have_one_each() {
        let directory = tempfile::tempdir().unwrap();
        let of_store = || SealKey::beside(Some(directory.path())).bytes().unwrap();
        assert_eq!(of_store(), of_store());
        let of_none = SealKey::beside(None);
        assert_eq!(of_none.bytes().unwrap(), of_none.bytes().unwrap());
        assert_ne!(of_none.bytes().unwrap(), of_store());
        assert_ne!(
            of_none.bytes().unwrap(),
            SealKey::beside(None).bytes().unwrap()
        );
    }

    #[test]
    fn all_who_make_a_key_at_once_get_the_same_and_leave_nothing_behind() {
        const PROCESSES: usize = 16;
        for _ in 0..20 {
            let directory = tempfile::tempdir().unwrap();
            let start = Barrier::new(PROCESSES);
            let keys: HashSet<_> = thread::scope(|scope| {
                let makers: Vec<_> = (0..PROCESSES)
                    .map(|_| {
                        scope.spawn(|| {
                            start.wait();
                            SealKey::beside(Some(directory.path())).bytes().unwrap()
                        })
                    })
                    .collect();
                makers
                    .into_iter()
                    .map(|maker| maker.join().unwrap())
                    .collect()
            });
            assert_eq!(keys.len(), 1);
            assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
        }
    }

    #[cfg(unix)]
    #[test]
    fn nobody_else_can_read_a_key() {
        use std::os::unix::fs::PermissionsExt;

        let directory = tempfile::tempdir().unwrap();
        SealKey::beside(Some(directory.path())).bytes().unwrap();
        let metadata = fs::metadata(directory.path().join(FILE)).unwrap();
        assert_eq!(metadata.permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_file_that_is_no_key_is_left_alone_and_not_used() {
        for content in [&b""[..], &[7; KEY_BYTES - 1], &[7; KEY_BYTES + 1]] {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join(FILE);
            fs::write(&path, content).unwrap();
            let key = SealKey::beside(Some(directory.path()));
            assert_eq!(key.bytes().unwrap(), key.bytes().unwrap());
            assert_eq!(fs::read(&path).unwrap(), content);
            let refused = keep(directory.path()).unwrap_err();
            assert!(refused.to_string().contains("delete it"), "{refused}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_link_in_place_of_the_key_is_not_followed() {
        let directory = tempfile::tempdir().unwrap();
        let elsewhere = directory.path().join("elsewhere");
        fs::write(&elsewhere, [7; KEY_BYTES]).unwrap();
        std::os::unix::fs::symlink(&elsewhere, directory.path().join(FILE)).unwrap();
        assert!(keep(directory.path()).is_err());
        let key = SealKey::beside(Some(directory.path())).bytes().unwrap();
        assert_ne!(key, [7; KEY_BYTES]);
    }
}

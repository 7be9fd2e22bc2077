//! The lock between processes that share a store. AI apps start one server each, and one more for every window, all over
//! the same memory.
//!
//! A component can't lock (WASI 0.2 has no file locks), so the host does it, around each call of a component that keeps
//! a store. The operating system releases the lock of a process that dies, however it dies.

use std::fmt;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The file that is locked. Nothing is in it.
const LOCK: &str = "lock";

/// The file that says who holds the lock. A file of its own: on Windows nobody can read a file that another process has
/// locked.
const HOLDER: &str = "lock.pid";

/// The most that is read of the file that says who holds the lock: a number and a newline.
const MAX_PID_BYTES: u64 = 32;

/// How long a call waits for the lock: as long as a call of another process may take by default. Whoever waits longer
/// waits for a process that is stopped.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// The first pause between two attempts; a call takes about half a millisecond.
const MIN_PAUSE: Duration = Duration::from_micros(200);

/// The longest pause between two attempts: what a call may wait in vain after the lock became free.
const MAX_PAUSE: Duration = Duration::from_millis(5);

/// The lock of one store.
#[derive(Debug)]
pub struct StoreLock {
    directory: PathBuf,
    /// Kept open between calls, as long as they are the files in the directory.
    files: Option<Files>,
    /// The files that were open turned out to be none of the directory's any more.
    replaced: bool,
}

#[derive(Debug)]
struct Files {
    lock: File,
    /// Absent where it can't be written: it is only for a message.
    holder: Option<File>,
}

impl Files {
    fn open(directory: &Path) -> io::Result<Files> {
        let path = directory.join(LOCK);
        let named =
            |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
        Ok(Files {
            lock: open(&path).map_err(named)?,
            holder: open(&directory.join(HOLDER)).ok(),
        })
    }
}

/// The lock, held until this is dropped.
#[derive(Debug)]
pub struct Held<'a> {
    lock: &'a File,
    /// The directory is not the one that it was at the last time: whoever has it open has another one open.
    pub replaced: bool,
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        if let Err(error) = self.lock.unlock() {
            tracing::error!("the store can't be unlocked: {error}");
        }
    }
}

/// Why the lock was not acquired.
#[derive(Debug)]
pub enum LockError {
    /// Another process has held it all the time.
    Busy {
        /// Its process id, if it could be read.
        holder: Option<u32>,
        /// How long was waited.
        waited: Duration,
    },
    /// The caller does not want it any more.
    Abandoned,
    /// The files can't be opened or locked.
    Io(io::Error),
}

impl fmt::Display for LockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LockError::Busy { holder, waited } => {
                f.write_str("another process")?;
                if let Some(pid) = holder {
                    write!(f, " (id {pid})")?;
                }
                let seconds = waited.as_secs_f64();
                write!(
                    f,
                    " has been using the store for {seconds:.1} s; nothing was changed, try again later"
                )
            }
            LockError::Abandoned => {
                f.write_str("the call was cancelled while it waited for the store")
            }
            LockError::Io(error) => write!(f, "the store can't be locked: {error}"),
        }
    }
}

impl std::error::Error for LockError {}

impl StoreLock {
    /// The lock of the store in a directory. It is opened now, so that [`Held::replaced`] tells of every replacement from
    /// now on; that it can't be is told when it is acquired.
    pub fn new(directory: &Path) -> StoreLock {
        let files = Files::open(directory).ok();
        StoreLock {
            directory: directory.to_owned(),
            replaced: files.is_none(),
            files,
        }
    }

    /// The store's directory.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Waits for the lock at most `patience` long, and only until `abandoned` says that it is not wanted any more.
    ///
    /// `None` on a read-only file system that has no lock file: nobody can write there.
    ///
    /// # Errors
    ///
    /// See [`LockError`].
    pub fn acquire(
        &mut self,
        patience: Duration,
        abandoned: impl Fn() -> bool,
    ) -> Result<Option<Held<'_>>, LockError> {
        let began = Instant::now();
        let mut pause = MIN_PAUSE;
        loop {
            match self.try_acquire() {
                Ok(true) => break,
                Ok(false) => {}
                Err(error) if error.kind() == io::ErrorKind::ReadOnlyFilesystem => return Ok(None),
                Err(error) => return Err(LockError::Io(error)),
            }
            let waited = began.elapsed();
            if abandoned() {
                return Err(LockError::Abandoned);
            }
            if waited >= patience {
                return Err(LockError::Busy {
                    holder: self.holder(),
                    waited,
                });
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(MAX_PAUSE);
        }
        let replaced = std::mem::take(&mut self.replaced);
        // `try_acquire` leaves the files open when it succeeds.
        let files = self.files.as_ref().ok_or(LockError::Abandoned)?;
        Ok(Some(Held {
            lock: &files.lock,
            replaced,
        }))
    }

    /// One attempt. What was locked may not be the file in the directory any more (the directory was deleted and made
    /// again, or restored from a backup): then two processes would each hold a lock of their own, so it does not count.
    fn try_acquire(&mut self) -> io::Result<bool> {
        let files = match self.files.take() {
            Some(files) => files,
            None => Files::open(&self.directory)?,
        };
        match files.lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                self.files = Some(files);
                return Ok(false);
            }
            Err(TryLockError::Error(error)) => return Err(error),
        }
        if !is_at(&files.lock, &self.directory.join(LOCK))? {
            self.replaced = true;
            return Ok(false);
        }
        if let Some(mut holder) = files.holder.as_ref() {
            let pid = format!("{:<10}\n", std::process::id());
            let _ = holder
                .seek(SeekFrom::Start(0))
                .and_then(|_| holder.write_all(pid.as_bytes()));
        }
        self.files = Some(files);
        Ok(true)
    }

    /// The process that has the lock, or had it last; `None` if that was never noted.
    ///
    /// Only a few bytes of a plain file are read: a component can put anything there, and must not keep us reading.
    pub fn holder(&self) -> Option<u32> {
        let mut text = String::new();
        reading()
            .open(self.directory.join(HOLDER))
            .ok()
            .filter(|file| file.metadata().is_ok_and(|metadata| metadata.is_file()))?
            .take(MAX_PID_BYTES)
            .read_to_string(&mut text)
            .ok()?;
        text.trim().parse().ok()
    }
}

/// Opens a file, for writing and creating it if that is allowed. A file that can only be read can be locked as well, so
/// one who may only read still waits for those who write.
///
/// Links are not followed: a component can make some in its directory, and must not have us write elsewhere.
fn open(path: &Path) -> io::Result<File> {
    let reading = reading();
    let mut writing = reading.clone();
    match writing.write(true).create(true).truncate(false).open(path) {
        Err(error) if is_forbidden(&error) => reading.open(path).map_err(|_| error),
        outcome => outcome,
    }
}

/// For reading. It fails on a link, and does not wait for whoever writes to a pipe.
fn reading() -> OpenOptions {
    let mut reading = OpenOptions::new();
    reading.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
        reading.custom_flags(flags.bits().cast_signed());
    }
    reading
}

fn is_forbidden(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem
    )
}

/// Whether an open file is the one at a path.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;

    let ours = file.metadata()?;
    match fs::metadata(path) {
        Ok(there) => Ok((ours.dev(), ours.ino()) == (there.dev(), there.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Elsewhere an open file can't be replaced.
#[cfg(not(unix))]
fn is_at(_: &File, path: &Path) -> io::Result<bool> {
    fs::exists(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NO_PATIENCE: Duration = Duration::ZERO;

    fn free(lock: &mut StoreLock) -> bool {
        lock.acquire(NO_PATIENCE, || false)
            .is_ok_and(|held| held.is_some())
    }

    #[test]
    fn one_holds_it_at_a_time_and_says_who() {
        let directory = tempfile::tempdir().unwrap();
        let (mut first, mut second) = (
            StoreLock::new(directory.path()),
            StoreLock::new(directory.path()),
        );
        let held = first.acquire(NO_PATIENCE, || false).unwrap();
        match second.acquire(NO_PATIENCE, || false) {
            Err(LockError::Busy { holder, .. }) => assert_eq!(holder, Some(std::process::id())),
            other => panic!("{other:?}"),
        }
        drop(held);
        assert!(free(&mut second));
        assert!(free(&mut first));
    }

    #[test]
    fn a_directory_that_was_made_again_has_a_lock_of_its_own() {
        let parent = tempfile::tempdir().unwrap();
        let directory = parent.path().join("data");
        fs::create_dir(&directory).unwrap();
        let mut old = StoreLock::new(&directory);
        assert!(free(&mut old), "the files are open now");
        fs::remove_dir_all(&directory).unwrap();
        fs::create_dir(&directory).unwrap();
        let mut new = StoreLock::new(&directory);
        let held = new.acquire(NO_PATIENCE, || false).unwrap();
        assert!(
            !free(&mut old),
            "a lock on the deleted file is worth nothing"
        );
        drop(held);
        assert!(
            old.acquire(PATIENCE, || false).unwrap().unwrap().replaced,
            "and whoever held it must know"
        );
        assert!(
            !old.acquire(PATIENCE, || false).unwrap().unwrap().replaced,
            "once"
        );
    }

    #[cfg(unix)]
    #[test]
    fn a_link_in_place_of_a_lock_file_is_not_followed() {
        let directory = tempfile::tempdir().unwrap();
        let victim = directory.path().join("victim");
        fs::write(&victim, "precious").unwrap();
        let data = directory.path().join("data");
        fs::create_dir(&data).unwrap();
        std::os::unix::fs::symlink(&victim, data.join(HOLDER)).unwrap();
        assert!(free(&mut StoreLock::new(&data)));
        assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
        fs::remove_file(data.join(LOCK)).unwrap();
        std::os::unix::fs::symlink(&victim, data.join(LOCK)).unwrap();
        assert!(matches!(
            StoreLock::new(&data).acquire(NO_PATIENCE, || false),
            Err(LockError::Io(_))
        ));
    }

    /// Whoever waits for the lock asks who has it: of a file that a component may have put there.
    #[cfg(unix)]
    #[test]
    fn what_stands_in_place_of_the_holder_keeps_nobody_reading() {
        let directory = tempfile::tempdir().unwrap();
        let (mut first, mut second) = (
            StoreLock::new(directory.path()),
            StoreLock::new(directory.path()),
        );
        let _held = first.acquire(NO_PATIENCE, || false).unwrap();
        let holder = directory.path().join(HOLDER);
        let mut who = || match second.acquire(NO_PATIENCE, || false) {
            Err(LockError::Busy { holder, .. }) => holder,
            other => panic!("{other:?}"),
        };
        assert_eq!(who(), Some(std::process::id()));
        fs::remove_file(&holder).unwrap();
        // Without an end.
        std::os::unix::fs::symlink("/dev/zero", &holder).unwrap();
        assert_eq!(who(), None);
        fs::remove_file(&holder).unwrap();
        fs::write(&holder, "1".repeat(1 << 20)).unwrap();
        assert_eq!(who(), None);
        fs::remove_file(&holder).unwrap();
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &holder,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RWXU,
            0,
        )
        .unwrap();
        assert_eq!(who(), None, "nobody writes into it");
    }

    #[test]
    fn nobody_waits_for_a_call_that_was_cancelled() {
        let directory = tempfile::tempdir().unwrap();
        let (mut first, mut second) = (
            StoreLock::new(directory.path()),
            StoreLock::new(directory.path()),
        );
        let _held = first.acquire(NO_PATIENCE, || false).unwrap();
        assert!(matches!(
            second.acquire(PATIENCE, || true),
            Err(LockError::Abandoned)
        ));
    }

    #[test]
    fn a_directory_that_is_not_there_is_an_error() {
        let directory = tempfile::tempdir().unwrap();
        let mut lock = StoreLock::new(&directory.path().join("missing"));
        assert!(matches!(
            lock.acquire(NO_PATIENCE, || false),
            Err(LockError::Io(_))
        ));
    }

    /// As root everything may be written, so there it shows nothing.
    #[cfg(unix)]
    #[test]
    fn a_lock_that_may_only_be_read_is_waited_for_like_any_other() {
        use std::os::unix::fs::PermissionsExt;

        let directory = tempfile::tempdir().unwrap();
        let (mut first, mut second) = (
            StoreLock::new(directory.path()),
            StoreLock::new(directory.path()),
        );
        assert!(free(&mut first));
        for name in [LOCK, HOLDER] {
            let path = directory.path().join(name);
            fs::set_permissions(path, fs::Permissions::from_mode(0o400)).unwrap();
        }
        let held = first.acquire(NO_PATIENCE, || false).unwrap();
        assert!(!free(&mut second), "it was not skipped");
        drop(held);
        assert!(free(&mut second));
    }
}

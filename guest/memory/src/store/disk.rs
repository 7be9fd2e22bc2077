//! The seam to the file system, as narrow as the store needs it.
//!
//! Tests put a disk behind it that tears, lies and fails. Names are plain file names within one directory.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;

use super::line::MAX_LINE_BYTES;

/// What a file is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Reading; it must be there.
    Read,
    /// Reading and appending; it is created if need be.
    Append,
    /// The same; it must not be there yet.
    CreateNew,
}

/// A directory that holds a store.
pub trait Disk {
    /// Whether the directory is there at all.
    fn is_there(&self) -> bool;
    /// Opens a file.
    fn open(&self, name: &str, access: Access) -> io::Result<Box<dyn DiskFile>>;
    /// Gives a file another name, in one step; a file that has that name is replaced. Durable with [`Disk::sync_dir`].
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;
    /// Removes a file; success if there is none.
    fn remove(&self, name: &str) -> io::Result<()>;
    /// The names of the files, in no particular order.
    fn list(&self) -> io::Result<Vec<String>>;
    /// Makes the directory's entries durable. Success where the runtime does not offer it.
    fn sync_dir(&self) -> io::Result<()>;
}

/// A file of a store. Offsets are bytes from its start.
pub trait DiskFile {
    /// How many bytes it has now.
    fn size(&mut self) -> io::Result<u64>;
    /// Reads up to a buffer full; 0 at the end.
    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> io::Result<usize>;
    /// Appends all bytes, a line with one write, or fails; after a failure a part of them may be there.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;
    /// Makes the contents durable.
    fn sync_data(&mut self) -> io::Result<()>;
    /// Cuts the file.
    fn set_len(&mut self, size: u64) -> io::Result<()>;
}

/// What one write takes. Runtimes cut longer ones: wasmtime at so many bytes. No line is as long.
const MAX_WRITE_BYTES: usize = 64 * 1024;

const _: () = assert!(MAX_LINE_BYTES <= MAX_WRITE_BYTES);

/// A directory of the file system; under WASI a preopened one.
pub struct DirDisk {
    directory: PathBuf,
}

impl DirDisk {
    /// The directory need not be there yet; nothing is opened.
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self {
            directory: directory.into(),
        }
    }
}

impl Disk for DirDisk {
    fn is_there(&self) -> bool {
        fs::metadata(&self.directory).is_ok_and(|metadata| metadata.is_dir())
    }

    fn open(&self, name: &str, access: Access) -> io::Result<Box<dyn DiskFile>> {
        let file = OpenOptions::new()
            .read(true)
            .append(access != Access::Read)
            .create(access == Access::Append)
            .create_new(access == Access::CreateNew)
            .open(self.directory.join(name))?;
        Ok(Box::new(file))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        fs::rename(self.directory.join(from), self.directory.join(to))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        match fs::remove_file(self.directory.join(name)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            outcome => outcome,
        }
    }

    fn list(&self) -> io::Result<Vec<String>> {
        // A name that is no text is none of ours.
        fs::read_dir(&self.directory)?
            .filter_map(|entry| {
                entry
                    .map(|entry| entry.file_name().into_string().ok())
                    .transpose()
            })
            .collect()
    }

    fn sync_dir(&self) -> io::Result<()> {
        match File::open(&self.directory).and_then(|directory| directory.sync_all()) {
            Err(error) if !is_offered(&error) => Ok(()),
            outcome => outcome,
        }
    }
}

impl DiskFile for File {
    fn size(&mut self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }

    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        self.seek(SeekFrom::Start(offset))?;
        loop {
            match self.read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                outcome => return outcome,
            }
        }
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        // Not `write_all`: what a second write adds to a line may come after another process's line.
        for piece in bytes.chunks(MAX_WRITE_BYTES) {
            let written = self.write(piece)?;
            if written != piece.len() {
                return Err(io::Error::new(
                    io::ErrorKind::WriteZero,
                    format!("only {written} of {} bytes were written", piece.len()),
                ));
            }
        }
        Ok(())
    }

    fn sync_data(&mut self) -> io::Result<()> {
        File::sync_data(self)
    }

    fn set_len(&mut self, size: u64) -> io::Result<()> {
        File::set_len(self, size)
    }
}

/// An error in words that tell a person what to do, where there are such. Numbered by WASI, whose errors the standard
/// library does not tell apart, and by Linux.
pub(super) fn explain(error: &io::Error) -> String {
    /// No space, or no more for this user.
    const FULL: [i32; 2] = if cfg!(target_family = "wasm") {
        [51, 19]
    } else {
        [28, 122]
    };
    /// No access, not permitted, read-only file system.
    const READ_ONLY: [i32; 3] = if cfg!(target_family = "wasm") {
        [2, 63, 69]
    } else {
        [13, 1, 30]
    };
    /// Input/output error. Of a write, a runtime of components passes nothing else on: no room is the likeliest.
    const FAILED: &[i32] = if cfg!(target_family = "wasm") {
        &[29]
    } else {
        &[]
    };
    let numbered = |codes: &[i32]| {
        error
            .raw_os_error()
            .is_some_and(|code| codes.contains(&code))
    };
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "the disk is full".to_owned(),
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "the directory can only be read".to_owned()
        }
        _ if numbered(&FULL) => "the disk is full".to_owned(),
        _ if numbered(&READ_ONLY) => "the directory can only be read".to_owned(),
        _ if numbered(FAILED) => "the disk is full, or it fails (input/output error)".to_owned(),
        _ => error.to_string(),
    }
}

/// Whether an error of a directory sync is a failure, rather than a runtime that doesn't offer it: "bad descriptor",
/// "invalid" and "not supported", numbered by WASI and by Linux.
fn is_offered(error: &io::Error) -> bool {
    const NOT_OFFERED: [i32; 3] = if cfg!(target_family = "wasm") {
        [8, 28, 58]
    } else {
        [9, 22, 95]
    };
    let refused = matches!(
        error.kind(),
        io::ErrorKind::Unsupported | io::ErrorKind::InvalidInput
    );
    !refused
        && !error
            .raw_os_error()
            .is_some_and(|code| NOT_OFFERED.contains(&code))
}

#[cfg(test)]
mod tests {
    use super::super::fake::FakeDisk;
    use super::*;

    /// What the store relies on, of the real thing and of the stand-in alike.
    fn behaves(disk: &dyn Disk) {
        assert!(disk.is_there());
        let missing = disk.open("a", Access::Read).err().map(|error| error.kind());
        assert_eq!(missing, Some(io::ErrorKind::NotFound));

        let mut file = disk.open("a", Access::Append).unwrap();
        assert_eq!(file.size().unwrap(), 0);
        file.append(b"hello").unwrap();
        disk.open("a", Access::Append)
            .unwrap()
            .append(b" world")
            .unwrap();
        file.append(b"!").unwrap();
        assert_eq!(
            file.size().unwrap(),
            12,
            "an append goes to the end, whoever moved it"
        );

        let mut buffer = [0; 5];
        assert_eq!(file.read_at(6, &mut buffer).unwrap(), 5);
        assert_eq!(&buffer, b"world");
        assert_eq!(file.read_at(12, &mut buffer).unwrap(), 0);
        assert_eq!(file.read_at(99, &mut buffer).unwrap(), 0);

        file.set_len(5).unwrap();
        file.append(b"?").unwrap();
        file.sync_data().unwrap();
        disk.sync_dir().unwrap();
        let mut reader = disk.open("a", Access::Read).unwrap();
        assert_eq!(reader.size().unwrap(), 6);
        assert!(reader.append(b"x").is_err(), "opened for reading");

        let taken = disk.open("a", Access::CreateNew).err();
        assert_eq!(
            taken.map(|error| error.kind()),
            Some(io::ErrorKind::AlreadyExists)
        );
        disk.open("b", Access::CreateNew)
            .unwrap()
            .append(b"new")
            .unwrap();
        disk.rename("b", "a").unwrap();
        assert_eq!(reader.size().unwrap(), 6, "who has it open keeps it");
        assert_eq!(disk.open("a", Access::Read).unwrap().size().unwrap(), 3);
        assert!(disk.rename("b", "c").is_err(), "there is none");
        assert_eq!(disk.list().unwrap(), ["a"]);
        disk.remove("a").unwrap();
        disk.remove("a").unwrap();
        assert_eq!(disk.list().unwrap(), [""; 0]);
    }

    #[test]
    fn errors_that_a_person_can_do_something_about_are_said_in_words() {
        for (code, words) in [
            (28, "the disk is full"),
            (122, "the disk is full"),
            (30, "the directory can only be read"),
            (13, "the directory can only be read"),
        ] {
            assert_eq!(explain(&io::Error::from_raw_os_error(code)), words);
        }
        let other = io::Error::from_raw_os_error(5);
        assert_eq!(explain(&other), other.to_string());
    }

    #[test]
    fn a_directory_is_a_disk() {
        let directory = tempfile::tempdir().unwrap();
        behaves(&DirDisk::new(directory.path()));
    }

    #[test]
    fn the_fake_behaves_like_a_directory() {
        behaves(&FakeDisk::default());
    }

    #[test]
    fn a_directory_that_is_missing_is_not_there() {
        let directory = tempfile::tempdir().unwrap();
        let disk = DirDisk::new(directory.path().join("missing"));
        assert!(!disk.is_there());
        assert!(disk.open("a", Access::Append).is_err());
    }

    #[test]
    fn a_runtime_without_directory_syncs_is_told_from_a_failing_disk() {
        assert!(!is_offered(&io::ErrorKind::Unsupported.into()));
        assert!(!is_offered(&io::Error::from_raw_os_error(9)));
        assert!(
            is_offered(&io::Error::from_raw_os_error(5)),
            "an input/output error is a failure"
        );
        assert!(
            is_offered(&io::Error::from_raw_os_error(28)),
            "a full disk is a failure"
        );
    }
}

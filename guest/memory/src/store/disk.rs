//! The seam to the file system, as narrow as the store needs it.
//!
//! Tests put a disk behind it that tears, lies and fails. Names are plain file names within one directory.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;

/// What a file is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Reading; it must be there.
    Read,
    /// Reading and appending; it is created if need be.
    Append,
}

/// A directory that holds a store.
pub trait Disk {
    /// Whether the directory is there at all.
    fn is_there(&self) -> bool;
    /// Opens a file.
    fn open(&self, name: &str, access: Access) -> io::Result<Box<dyn DiskFile>>;
    /// Makes the directory's entries durable. Success where the runtime does not offer it.
    fn sync_dir(&self) -> io::Result<()>;
}

/// A file of a store. Offsets are bytes from its start.
pub trait DiskFile {
    /// How many bytes it has now.
    fn size(&mut self) -> io::Result<u64>;
    /// Reads up to a buffer full; 0 at the end.
    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> io::Result<usize>;
    /// Appends all bytes with one write, or fails; after a failure a part of them may be there.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;
    /// Makes the contents durable.
    fn sync_data(&mut self) -> io::Result<()>;
    /// Cuts the file.
    fn set_len(&mut self, size: u64) -> io::Result<()>;
}

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
        let append = access == Access::Append;
        let file = OpenOptions::new()
            .read(true)
            .append(append)
            .create(append)
            .open(self.directory.join(name))?;
        Ok(Box::new(file))
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
        // Not `write_all`: what a second write adds may come after another process's line.
        match self.write(bytes)? {
            written if written == bytes.len() => Ok(()),
            written => Err(io::Error::new(
                io::ErrorKind::WriteZero,
                format!("only {written} of {} bytes were written", bytes.len()),
            )),
        }
    }

    fn sync_data(&mut self) -> io::Result<()> {
        File::sync_data(self)
    }

    fn set_len(&mut self, size: u64) -> io::Result<()> {
        File::set_len(self, size)
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

//! A disk in memory that fails on request.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::io;
use std::rc::Rc;

use jiff::Timestamp;

use super::disk::{Access, Disk, DiskFile};
use super::{Store, StoreError};
use crate::config::Kind;
use crate::request::Moment;

/// What to let fail, from now on until it is reset.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Faults {
    /// An append writes only so many bytes, then fails.
    pub(crate) tear_after: Option<usize>,
    /// `sync_data` fails.
    pub(crate) sync: bool,
    /// `set_len` fails.
    pub(crate) cut: bool,
    /// Nothing can be opened for writing.
    pub(crate) read_only: bool,
    /// The directory is not there.
    pub(crate) missing: bool,
    /// Appends to this file fail.
    pub(crate) refuse: Option<&'static str>,
}

#[derive(Default)]
struct Inner {
    files: RefCell<BTreeMap<String, Rc<RefCell<Vec<u8>>>>>,
    faults: Cell<Faults>,
    syncs: Cell<usize>,
    dir_syncs: Cell<usize>,
    appends: Cell<usize>,
}

/// Clones are the same disk, seen by another process.
#[derive(Clone, Default)]
pub(crate) struct FakeDisk(Rc<Inner>);

impl FakeDisk {
    pub(crate) fn fail(&self, faults: Faults) {
        self.0.faults.set(faults);
    }

    /// Replaces a file, as another process does with a rename: those who have it open keep the old one.
    pub(crate) fn put(&self, name: &str, bytes: &[u8]) {
        self.0
            .files
            .borrow_mut()
            .insert(name.to_owned(), Rc::new(RefCell::new(bytes.to_vec())));
    }

    pub(crate) fn bytes(&self, name: &str) -> Vec<u8> {
        self.0
            .files
            .borrow()
            .get(name)
            .map(|file| file.borrow().clone())
            .unwrap_or_default()
    }

    pub(crate) fn text(&self, name: &str) -> String {
        String::from_utf8(self.bytes(name)).unwrap()
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.0.files.borrow().keys().cloned().collect()
    }

    pub(crate) fn syncs(&self) -> usize {
        self.0.syncs.get()
    }

    pub(crate) fn dir_syncs(&self) -> usize {
        self.0.dir_syncs.get()
    }

    pub(crate) fn appends(&self) -> usize {
        self.0.appends.get()
    }
}

impl Disk for FakeDisk {
    fn is_there(&self) -> bool {
        !self.0.faults.get().missing
    }

    fn open(&self, name: &str, access: Access) -> io::Result<Box<dyn DiskFile>> {
        let faults = self.0.faults.get();
        let mut files = self.0.files.borrow_mut();
        let writes = access == Access::Append;
        if writes && faults.read_only {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        if faults.missing || !writes && !files.contains_key(name) {
            return Err(io::ErrorKind::NotFound.into());
        }
        let bytes = Rc::clone(files.entry(name.to_owned()).or_default());
        Ok(Box::new(FakeFile {
            name: name.to_owned(),
            bytes,
            writes,
            disk: Rc::clone(&self.0),
        }))
    }

    fn sync_dir(&self) -> io::Result<()> {
        self.0.dir_syncs.set(self.0.dir_syncs.get() + 1);
        Ok(())
    }
}

struct FakeFile {
    name: String,
    bytes: Rc<RefCell<Vec<u8>>>,
    writes: bool,
    disk: Rc<Inner>,
}

impl DiskFile for FakeFile {
    fn size(&mut self) -> io::Result<u64> {
        Ok(self.bytes.borrow().len() as u64)
    }

    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.bytes.borrow();
        let rest = bytes.get(offset as usize..).unwrap_or_default();
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        Ok(count)
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let faults = self.disk.faults.get();
        if !self.writes || faults.refuse == Some(self.name.as_str()) {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        self.disk.appends.set(self.disk.appends.get() + 1);
        let written = faults.tear_after.unwrap_or(bytes.len()).min(bytes.len());
        self.bytes.borrow_mut().extend_from_slice(&bytes[..written]);
        if written < bytes.len() {
            Err(io::ErrorKind::StorageFull.into())
        } else {
            Ok(())
        }
    }

    fn sync_data(&mut self) -> io::Result<()> {
        self.disk.syncs.set(self.disk.syncs.get() + 1);
        if self.disk.faults.get().sync {
            Err(io::Error::from_raw_os_error(5))
        } else {
            Ok(())
        }
    }

    fn set_len(&mut self, size: u64) -> io::Result<()> {
        if self.disk.faults.get().cut {
            return Err(io::Error::from_raw_os_error(5));
        }
        self.bytes.borrow_mut().resize(size as usize, 0);
        Ok(())
    }
}

/// A store on a disk, as a fresh instance of the component has it. Ids of stores and generations count upwards.
pub(crate) fn store_on(disk: &FakeDisk) -> Store {
    let mut count = 0;
    Store::new(
        Box::new(disk.clone()),
        Box::new(move || {
            count += 1;
            [count; 16]
        }),
    )
}

/// So many seconds after the tests' beginning of time.
pub(crate) fn at(seconds: i64) -> Moment {
    Moment::new(
        Timestamp::from_second(1_796_000_000 + seconds).unwrap(),
        "session-1",
    )
}

pub(crate) fn save(store: &mut Store, text: &str) -> Result<u64, StoreError> {
    store.follow()?;
    store.save(text, Kind::Episodic, &[], 5.0, &at(0))
}

/// Texts of the living, oldest first, as a fresh instance finds them.
pub(crate) fn served(disk: &FakeDisk) -> Vec<String> {
    let mut store = store_on(disk);
    store.follow().unwrap();
    texts(&store)
}

/// Texts of the living, oldest first, as a store knows them.
pub(crate) fn texts(store: &Store) -> Vec<String> {
    let mut texts: Vec<String> = store
        .newest_first(None)
        .map(|memory| memory.text.clone())
        .collect();
    texts.reverse();
    texts
}

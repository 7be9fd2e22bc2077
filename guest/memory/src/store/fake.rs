//! A disk in memory that fails, and crashes, on request.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::io;
use std::rc::Rc;

use jiff::Timestamp;

use super::disk::{Access, Disk, DiskFile};
use super::{Changes, Followed, Store, StoreError};
use crate::config::Kind;
use crate::request::Moment;

/// What to let fail, from now on until it is reset.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Faults {
    /// An append writes only so many bytes, then fails.
    pub(crate) tear_after: Option<usize>,
    /// `sync_data` fails.
    pub(crate) sync: bool,
    /// `sync_dir` fails.
    pub(crate) dir_sync: bool,
    /// `set_len` fails.
    pub(crate) cut: bool,
    /// `rename` fails.
    pub(crate) rename: bool,
    /// `remove` fails.
    pub(crate) remove: bool,
    /// Nothing can be opened for writing.
    pub(crate) read_only: bool,
    /// The directory is not there.
    pub(crate) missing: bool,
    /// Appends to this file fail.
    pub(crate) refuse: Option<&'static str>,
}

/// What a crash of the machine leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Crash {
    /// Only the process died: all that was written is there.
    Process,
    /// The power failed: what was not synced is gone.
    Power,
}

/// A file: what readers see, and what would be left if the power failed.
#[derive(Clone, Default)]
struct Content {
    now: Vec<u8>,
    durable: Vec<u8>,
}

type Names = BTreeMap<String, Rc<RefCell<Content>>>;

#[derive(Default)]
struct Inner {
    names: RefCell<Names>,
    /// The names as of the last `sync_dir`.
    durable_names: RefCell<Names>,
    faults: Cell<Faults>,
    /// How many more operations that change something succeed before the machine stops.
    left: Cell<Option<usize>>,
    syncs: Cell<usize>,
    dir_syncs: Cell<usize>,
    appends: Cell<usize>,
    /// Reads, and the bytes that they gave.
    reads: Cell<(usize, usize)>,
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
        let content = Content {
            now: bytes.to_vec(),
            durable: bytes.to_vec(),
        };
        let content = Rc::new(RefCell::new(content));
        for names in [&self.0.names, &self.0.durable_names] {
            names
                .borrow_mut()
                .insert(name.to_owned(), Rc::clone(&content));
        }
    }

    /// Changes a byte within a file, as a failing disk does.
    pub(crate) fn flip(&self, name: &str, at: usize) {
        let names = self.0.names.borrow();
        let mut content = names[name].borrow_mut();
        content.now[at] ^= 1;
        content.durable[at] ^= 1;
    }

    pub(crate) fn bytes(&self, name: &str) -> Vec<u8> {
        self.0
            .names
            .borrow()
            .get(name)
            .map(|file| file.borrow().now.clone())
            .unwrap_or_default()
    }

    pub(crate) fn text(&self, name: &str) -> String {
        String::from_utf8(self.bytes(name)).unwrap()
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.0.names.borrow().keys().cloned().collect()
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

    /// How many reads there were since this was last asked, and of how many bytes.
    pub(crate) fn count_reads(&self) -> (usize, usize) {
        self.0.reads.take()
    }

    /// Lets the machine stop after so many operations that change something; the next one is done by half, if it can.
    pub(crate) fn crash_after(&self, operations: usize) {
        self.0.left.set(Some(operations));
    }

    /// Whether the machine has stopped.
    pub(crate) fn is_down(&self) -> bool {
        self.0.left.get() == Some(0)
    }

    /// The disk as it is after the machine has started again.
    pub(crate) fn after(&self, crash: Crash) -> Self {
        let disk = Self::default();
        let names = match crash {
            Crash::Process => self.0.names.borrow(),
            Crash::Power => self.0.durable_names.borrow(),
        };
        for (name, content) in names.iter() {
            let content = content.borrow();
            disk.put(
                name,
                match crash {
                    Crash::Process => &content.now,
                    Crash::Power => &content.durable,
                },
            );
        }
        disk
    }

    /// Lets an operation pass, or not.
    fn may_change(&self) -> io::Result<()> {
        self.0.may_change()
    }
}

impl Inner {
    fn may_change(&self) -> io::Result<()> {
        match self.left.get() {
            None => Ok(()),
            Some(0) => Err(io::Error::other("the machine has stopped")),
            Some(left) => {
                self.left.set(Some(left - 1));
                if left == 1 {
                    return Err(io::Error::other("the machine stops"));
                }
                Ok(())
            }
        }
    }

    fn is_up(&self) -> io::Result<()> {
        match self.left.get() {
            Some(0) => Err(io::Error::other("the machine has stopped")),
            _ => Ok(()),
        }
    }
}

impl Disk for FakeDisk {
    fn is_there(&self) -> bool {
        !self.0.faults.get().missing
    }

    fn open(&self, name: &str, access: Access) -> io::Result<Box<dyn DiskFile>> {
        self.0.is_up()?;
        let faults = self.0.faults.get();
        let writes = access != Access::Read;
        let exists = self.0.names.borrow().contains_key(name);
        if writes && faults.read_only {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        if faults.missing || !writes && !exists {
            return Err(io::ErrorKind::NotFound.into());
        }
        if exists && access == Access::CreateNew {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        if !exists {
            self.may_change()?;
        }
        let mut names = self.0.names.borrow_mut();
        let content = Rc::clone(names.entry(name.to_owned()).or_default());
        Ok(Box::new(FakeFile {
            name: name.to_owned(),
            content,
            writes,
            disk: Rc::clone(&self.0),
        }))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        if self.0.faults.get().rename {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        self.may_change()?;
        let mut names = self.0.names.borrow_mut();
        let content = names.remove(from).ok_or(io::ErrorKind::NotFound)?;
        names.insert(to.to_owned(), content);
        Ok(())
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        if !self.0.names.borrow().contains_key(name) {
            return self.0.is_up();
        }
        if self.0.faults.get().remove {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        self.may_change()?;
        self.0.names.borrow_mut().remove(name);
        Ok(())
    }

    fn list(&self) -> io::Result<Vec<String>> {
        self.0.is_up()?;
        Ok(self.names())
    }

    fn sync_dir(&self) -> io::Result<()> {
        self.0.dir_syncs.set(self.0.dir_syncs.get() + 1);
        if self.0.faults.get().dir_sync {
            return Err(io::Error::from_raw_os_error(5));
        }
        self.may_change()?;
        *self.0.durable_names.borrow_mut() = self.0.names.borrow().clone();
        Ok(())
    }
}

struct FakeFile {
    name: String,
    content: Rc<RefCell<Content>>,
    writes: bool,
    disk: Rc<Inner>,
}

impl DiskFile for FakeFile {
    fn size(&mut self) -> io::Result<u64> {
        self.disk.is_up()?;
        Ok(self.content.borrow().now.len() as u64)
    }

    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        self.disk.is_up()?;
        let content = self.content.borrow();
        let rest = content.now.get(offset as usize..).unwrap_or_default();
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        let (calls, bytes) = self.disk.reads.get();
        self.disk.reads.set((calls + 1, bytes + count));
        Ok(count)
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let faults = self.disk.faults.get();
        if !self.writes || faults.refuse == Some(self.name.as_str()) {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        self.disk.is_up()?;
        self.disk.appends.set(self.disk.appends.get() + 1);
        let stops = self.disk.may_change().is_err();
        let half = stops.then_some(bytes.len() / 2);
        let written = faults
            .tear_after
            .or(half)
            .unwrap_or(bytes.len())
            .min(bytes.len());
        self.content
            .borrow_mut()
            .now
            .extend_from_slice(&bytes[..written]);
        if written < bytes.len() || stops {
            Err(io::ErrorKind::StorageFull.into())
        } else {
            Ok(())
        }
    }

    fn sync_data(&mut self) -> io::Result<()> {
        self.disk.syncs.set(self.disk.syncs.get() + 1);
        if self.disk.faults.get().sync {
            return Err(io::Error::from_raw_os_error(5));
        }
        self.disk.may_change()?;
        let mut content = self.content.borrow_mut();
        content.durable = content.now.clone();
        Ok(())
    }

    fn set_len(&mut self, size: u64) -> io::Result<()> {
        if self.disk.faults.get().cut {
            return Err(io::Error::from_raw_os_error(5));
        }
        self.disk.may_change()?;
        self.content.borrow_mut().now.resize(size as usize, 0);
        Ok(())
    }
}

/// A store on a disk, as a fresh instance of the component has it. Ids of stores and generations are never the same for
/// two instances of a test.
pub(crate) fn store_on(disk: &FakeDisk) -> Store {
    Store::new(Box::new(disk.clone()), random_ids())
}

/// Different for each instance and call, and the same in each run of a test.
pub(crate) fn random_ids() -> super::RandomId {
    thread_local! {
        static INSTANCES: Cell<u64> = const { Cell::new(0) };
    }
    let instance = INSTANCES.with(|instances| {
        instances.set(instances.get() + 1);
        instances.get()
    });
    let mut count: u64 = 0;
    Box::new(move || {
        count += 1;
        (u128::from(instance) << 64 | u128::from(count)).to_be_bytes()
    })
}

impl Store {
    /// Follows the journal to its end, without an index.
    pub(crate) fn follow_all(&mut self) -> Result<Followed, StoreError> {
        self.follow(&mut || false, &mut |_, _, _: Changes| {})
    }

    /// The text of a living memory.
    pub(crate) fn text(&mut self, id: u64) -> Option<String> {
        let mut opened = self.follow_all().unwrap().opened;
        self.entries().get(id)?;
        self.memory(&mut opened, id)
            .unwrap()
            .map(|memory| memory.text)
    }
}

/// So many seconds after the tests' beginning of time.
pub(crate) fn at(seconds: i64) -> Moment {
    Moment::new(
        Timestamp::from_second(1_796_000_000 + seconds).unwrap(),
        "session-1",
    )
}

pub(crate) fn save(store: &mut Store, text: &str) -> Result<u64, StoreError> {
    store.follow_all()?;
    store.save(text, Kind::Episodic, &[], 5.0, &at(0))
}

/// Texts of the living, oldest first, as a fresh instance finds them.
pub(crate) fn served(disk: &FakeDisk) -> Vec<String> {
    texts(&mut store_on(disk))
}

/// Texts of the living, oldest first, as a store finds them.
pub(crate) fn texts(store: &mut Store) -> Vec<String> {
    let mut opened = store.follow_all().unwrap().opened;
    let mut ids: Vec<u64> = store
        .entries()
        .newest_first(None)
        .map(|entry| entry.id)
        .collect();
    ids.reverse();
    ids.into_iter()
        .filter_map(|id| store.memory(&mut opened, id).unwrap())
        .map(|memory| memory.text)
        .collect()
}

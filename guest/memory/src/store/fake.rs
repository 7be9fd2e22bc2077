//! A disk in memory that fails, and crashes, on request.

mod helpers;

pub(crate) use helpers::{at, random_ids, save, served, store_on, texts};

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::rc::Rc;

use super::disk::{Access, Disk, DiskFile};

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
    /// The power failed, and of what was not synced some is there: whatever this seed says.
    Torn(u64),
}

/// A sequence of numbers that a seed determines (Steele et al., *SplitMix*, 2014).
#[derive(Clone, Debug)]
pub(crate) struct Chance(pub(crate) u64);

impl Chance {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }
}

/// What a disk writes in one go: parts of this size are there or not.
const SECTOR_BYTES: usize = 64;

/// A file: what readers see, and what would be left if the power failed.
#[derive(Clone, Default)]
struct Content {
    now: Vec<u8>,
    durable: Vec<u8>,
    /// What a failed sync has lost, and called clean: no later sync makes it durable.
    lost: Range<usize>,
}

impl Content {
    fn sync(&mut self) {
        self.durable = self.now.clone();
        self.durable[self.lost.clone()].fill(0);
    }

    fn cut(&mut self, size: usize) {
        self.now.resize(size, 0);
        self.lost = self.lost.start.min(size)..self.lost.end.min(size);
    }

    /// What is there after a crash that leaves some of what was not synced: a part of what was appended, in which some
    /// sectors were never written; or, where the file was cut, its old end.
    fn torn(&self, chance: &mut Chance) -> Vec<u8> {
        let same = self
            .now
            .iter()
            .zip(&self.durable)
            .take_while(|(now, then)| now == then)
            .count();
        if same < self.durable.len() && chance.below(2) == 0 {
            return self.durable.clone();
        }
        let end = same + chance.below(self.now.len() - same + 1);
        let mut bytes = self.now[..end].to_vec();
        for sector in bytes[same..].chunks_mut(SECTOR_BYTES) {
            if chance.below(3) == 0 {
                sector.fill(0);
            }
        }
        bytes
    }
}

/// A change of the directory.
#[derive(Clone)]
enum Named {
    Made(String, Rc<RefCell<Content>>),
    Moved(String, String, Rc<RefCell<Content>>),
    Gone(String),
}

impl Named {
    fn apply(&self, names: &mut Names) {
        match self {
            Self::Made(name, content) => drop(names.insert(name.clone(), Rc::clone(content))),
            Self::Moved(from, to, content) => {
                names.remove(from);
                names.insert(to.clone(), Rc::clone(content));
            }
            Self::Gone(name) => drop(names.remove(name)),
        }
    }
}

type Names = BTreeMap<String, Rc<RefCell<Content>>>;

#[derive(Default)]
struct Inner {
    names: RefCell<Names>,
    /// The names as of the last `sync_dir`.
    durable_names: RefCell<Names>,
    /// What has changed in the directory since then.
    unsynced_names: RefCell<Vec<Named>>,
    faults: Cell<Faults>,
    /// How many more operations that change something succeed before the machine stops.
    left: Cell<Option<usize>>,
    /// How many more operations, reads included, succeed before one fails, and how: an error number of Linux.
    fails_after: Cell<Option<(usize, i32)>>,
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
            lost: 0..0,
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
        self.flip_bit(name, at, 0);
    }

    /// Changes a bit.
    pub(crate) fn flip_bit(&self, name: &str, at: usize, bit: u8) {
        let names = self.0.names.borrow();
        let mut content = names[name].borrow_mut();
        content.now[at] ^= 1 << bit;
        content.durable[at] ^= 1 << bit;
    }

    /// Lets one operation fail, after so many that succeed. An append that fails has written a part; a sync that fails has
    /// lost what was not durable.
    pub(crate) fn fail_after(&self, operations: usize, error: i32) {
        self.0.fails_after.set(Some((operations, error)));
    }

    /// Whether that is still to come.
    pub(crate) fn is_to_fail(&self) -> bool {
        self.0.fails_after.get().is_some()
    }

    /// How much of a file would be left for sure if the power failed now; nothing of one whose name would not.
    pub(crate) fn durable_bytes(&self, name: &str) -> usize {
        let names = self.0.durable_names.borrow();
        names.get(name).map_or(0, |content| {
            let content = content.borrow();
            match content.lost.is_empty() {
                true => content.durable.len(),
                false => content.lost.start,
            }
        })
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
        let mut chance = Chance(match crash {
            Crash::Torn(seed) => seed,
            Crash::Process | Crash::Power => 0,
        });
        let names = match crash {
            Crash::Process => self.0.names.borrow().clone(),
            Crash::Power => self.0.durable_names.borrow().clone(),
            Crash::Torn(_) => {
                let mut names = self.0.durable_names.borrow().clone();
                let unsynced = self.0.unsynced_names.borrow();
                let some = unsynced.iter().filter(|_| chance.below(2) == 0);
                some.for_each(|named| named.apply(&mut names));
                names
            }
        };
        for (name, content) in &names {
            let content = content.borrow();
            let bytes = match crash {
                Crash::Process => content.now.clone(),
                Crash::Power => content.durable.clone(),
                Crash::Torn(_) => content.torn(&mut chance),
            };
            disk.put(name, &bytes);
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
        self.may_fail()?;
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
        self.may_fail()?;
        match self.left.get() {
            Some(0) => Err(io::Error::other("the machine has stopped")),
            _ => Ok(()),
        }
    }

    fn may_fail(&self) -> io::Result<()> {
        match self.fails_after.get() {
            None => Ok(()),
            Some((0, error)) => {
                self.fails_after.set(None);
                Err(io::Error::from_raw_os_error(error))
            }
            Some((left, error)) => {
                self.fails_after.set(Some((left - 1, error)));
                Ok(())
            }
        }
    }

    fn named(&self, change: Named) {
        change.apply(&mut self.names.borrow_mut());
        self.unsynced_names.borrow_mut().push(change);
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
        if !exists {
            self.0.named(Named::Made(name.to_owned(), Rc::default()));
        }
        let content = Rc::clone(&self.0.names.borrow()[name]);
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
        let content = self.0.names.borrow().get(from).map(Rc::clone);
        let content = content.ok_or(io::ErrorKind::NotFound)?;
        self.0
            .named(Named::Moved(from.to_owned(), to.to_owned(), content));
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
        self.0.named(Named::Gone(name.to_owned()));
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
        self.0.unsynced_names.borrow_mut().clear();
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
        let stops = self.disk.may_change();
        let half = stops.is_err().then_some(bytes.len() / 2);
        let written = faults
            .tear_after
            .or(half)
            .unwrap_or(bytes.len())
            .min(bytes.len());
        self.content
            .borrow_mut()
            .now
            .extend_from_slice(&bytes[..written]);
        match stops {
            Ok(()) if written == bytes.len() => Ok(()),
            Err(error) if error.raw_os_error().is_some() => Err(error),
            _ => Err(io::ErrorKind::StorageFull.into()),
        }
    }

    fn sync_data(&mut self) -> io::Result<()> {
        self.disk.syncs.set(self.disk.syncs.get() + 1);
        if self.disk.faults.get().sync {
            return Err(io::Error::from_raw_os_error(5));
        }
        let outcome = self.disk.may_change();
        let mut content = self.content.borrow_mut();
        match &outcome {
            Ok(()) => content.sync(),
            // Who only dies loses nothing.
            Err(error) if error.raw_os_error().is_some() => {
                content.lost = content.durable.len().min(content.now.len())..content.now.len();
            }
            Err(_) => {}
        }
        outcome
    }

    fn set_len(&mut self, size: u64) -> io::Result<()> {
        if self.disk.faults.get().cut {
            return Err(io::Error::from_raw_os_error(5));
        }
        self.disk.may_change()?;
        self.content.borrow_mut().cut(size as usize);
        Ok(())
    }
}

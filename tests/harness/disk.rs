//! A disk as a list of what was done to it, from which every state can be made that a crash may leave.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::Random;

/// Something that changes a disk, or makes a change durable. Files are numbered as they are made; a name is a plain name
/// within the one directory.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Op {
    Create {
        name: String,
        file: usize,
    },
    Write {
        file: usize,
        offset: usize,
        bytes: Vec<u8>,
    },
    SetSize {
        file: usize,
        size: usize,
    },
    Rename {
        from: String,
        to: String,
    },
    Remove {
        name: String,
    },
    SyncFile {
        file: usize,
    },
    SyncDirectory,
}

impl Op {
    /// Without the bytes.
    pub(crate) fn brief(&self) -> String {
        match self {
            Op::Write {
                file,
                offset,
                bytes,
            } => format!("{} bytes to {offset} of file {file}", bytes.len()),
            other => format!("{other:?}"),
        }
    }
}

/// A disk at one moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Image {
    names: BTreeMap<String, usize>,
    contents: BTreeMap<usize, Vec<u8>>,
}

/// What is left of a disk after a crash.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Crash {
    /// The process died in the middle of the next operation: everything before it is there.
    Process,
    /// The power failed, and nothing is there but what was made durable.
    Nothing,
    /// The power failed, and of what was not durable anything may be there: some of the operations, in any order, the
    /// writes whole, by half, or as zeros.
    Anything,
}

impl Image {
    /// What lies in a directory.
    pub(crate) fn of(directory: &Path) -> Image {
        let mut image = Image::default();
        for (file, entry) in fs::read_dir(directory).unwrap().enumerate() {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            image.names.insert(name, file);
            image.contents.insert(file, fs::read(entry.path()).unwrap());
        }
        image
    }

    /// Files by their names.
    pub(crate) fn files(&self) -> BTreeMap<&str, &[u8]> {
        let contents = |file| self.contents.get(file).map(Vec::as_slice);
        let file = |(name, file)| Some((String::as_str(name), contents(file)?));
        self.names.iter().filter_map(file).collect()
    }

    /// The number of the file of this name.
    pub(crate) fn named(&self, name: &str) -> Option<usize> {
        self.names.get(name).copied()
    }

    /// How long a file is.
    pub(crate) fn size(&self, file: usize) -> usize {
        self.contents.get(&file).map_or(0, Vec::len)
    }

    /// A number that no file has had.
    pub(crate) fn free_number(&self) -> usize {
        self.contents
            .keys()
            .next_back()
            .map_or(0, |newest| newest + 1)
    }

    /// Puts the files into an empty directory.
    pub(crate) fn write_to(&self, directory: &Path) {
        for (name, bytes) in self.files() {
            fs::write(directory.join(name), bytes).unwrap();
        }
    }

    pub(crate) fn apply(&mut self, op: &Op) {
        match op {
            Op::Create { name, file } => {
                self.names.insert(name.clone(), *file);
                self.contents.entry(*file).or_default();
            }
            Op::Write {
                file,
                offset,
                bytes,
            } => {
                let content = self.contents.entry(*file).or_default();
                // What lies between is a hole.
                content.resize(content.len().max(offset + bytes.len()), 0);
                content[*offset..offset + bytes.len()].copy_from_slice(bytes);
            }
            Op::SetSize { file, size } => {
                self.contents.entry(*file).or_default().resize(*size, 0);
            }
            Op::Rename { from, to } => {
                // Lost names can't be renamed.
                if let Some(file) = self.names.remove(from) {
                    self.names.insert(to.clone(), file);
                }
            }
            Op::Remove { name } => {
                self.names.remove(name);
            }
            Op::SyncFile { .. } | Op::SyncDirectory => {}
        }
    }

    /// What a crash in the middle of the last of `ops` leaves of a disk that was this one, and durable.
    pub(crate) fn after(&self, ops: &[Op], crash: Crash, random: &mut Random) -> Image {
        let mut image = self.clone();
        let Some((last, before)) = ops.split_last() else {
            return image;
        };
        if crash == Crash::Process {
            before.iter().for_each(|op| image.apply(op));
            if let Some(torn) = torn(last, random) {
                image.apply(&torn);
            }
            return image;
        }
        let names_synced = synced(before, |op| *op == Op::SyncDirectory);
        // A file system keeps the order of what happens to names, as a rule with a journal of its own.
        let names_kept = match crash {
            Crash::Nothing => names_synced,
            _ => names_synced + random.below(ops.len() - names_synced + 1),
        };
        for (number, op) in ops.iter().enumerate() {
            let is_kept = match op {
                Op::Create { .. } | Op::Rename { .. } | Op::Remove { .. } => number < names_kept,
                Op::Write { file, .. } | Op::SetSize { file, .. } => {
                    let file_synced = synced(
                        before,
                        |op| matches!(op, Op::SyncFile { file: other } if other == file),
                    );
                    if number >= file_synced && crash == Crash::Anything {
                        match random.below(4) {
                            0 => false,
                            1 => {
                                if let Some(torn) = torn(op, random) {
                                    image.apply(&torn);
                                }
                                false
                            }
                            _ => true,
                        }
                    } else {
                        number < file_synced
                    }
                }
                Op::SyncFile { .. } | Op::SyncDirectory => false,
            };
            if is_kept {
                image.apply(op);
            }
        }
        image
    }
}

/// How many of the operations come before the last that makes things durable, in such a way.
fn synced(ops: &[Op], is_sync: impl Fn(&Op) -> bool) -> usize {
    ops.iter().rposition(is_sync).map_or(0, |last| last + 1)
}

/// A part of a write: its beginning, or its beginning with zeros for the rest. Other operations happen or don't.
fn torn(op: &Op, random: &mut Random) -> Option<Op> {
    let Op::Write {
        file,
        offset,
        bytes,
    } = op
    else {
        return None;
    };
    let kept = random.below(bytes.len() + 1);
    let mut bytes = bytes.clone();
    match random.below(2) {
        0 => bytes.truncate(kept),
        _ => bytes[kept..].fill(0),
    }
    Some(Op::Write {
        file: *file,
        offset: *offset,
        bytes,
    })
}

#[test]
fn a_crash_keeps_what_was_durable_and_may_keep_the_rest() {
    let write = |offset, text: &str| Op::Write {
        file: 0,
        offset,
        bytes: text.into(),
    };
    let ops = [
        Op::Create {
            name: "a".to_owned(),
            file: 0,
        },
        write(0, "durable"),
        Op::SyncFile { file: 0 },
        Op::SyncDirectory,
        write(7, "lost"),
        Op::Rename {
            from: "a".to_owned(),
            to: "b".to_owned(),
        },
        Op::SyncFile { file: 9 },
    ];
    let mut random = Random::new(1);
    let mut after = |length: usize, crash| {
        let image = Image::default().after(&ops[..length], crash, &mut random);
        let files = image.files();
        let file =
            |(name, bytes): (&&str, &&[u8])| format!("{name}:{}", String::from_utf8_lossy(bytes));
        files.iter().map(file).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(after(2, Crash::Nothing), "");
    assert_eq!(after(3, Crash::Nothing), "", "its name is not durable");
    assert_eq!(after(5, Crash::Nothing), "a:durable");
    assert_eq!(after(7, Crash::Nothing), "a:durable");
    assert_eq!(after(7, Crash::Process), "b:durablelost");
    let mut seen: Vec<String> = (0..200).map(|_| after(7, Crash::Anything)).collect();
    seen.sort_unstable();
    seen.dedup();
    for expected in [
        "a:durable",
        "b:durable",
        "a:durablelost",
        "b:durablelo",
        "b:durablelo\0\0",
    ] {
        assert!(
            seen.iter().any(|image| image == expected),
            "{expected}: {seen:?}"
        );
    }
    assert!(seen.iter().all(|image| image[1..].starts_with(":durable")));
}

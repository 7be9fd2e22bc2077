//! The memory's owner, who types commands.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use super::command;

/// A memory and its owner.
pub(crate) struct Owner {
    pub(crate) data: TempDir,
}

/// What came of a command.
pub(crate) struct Done {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl From<Output> for Done {
    fn from(output: Output) -> Done {
        Done {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Done {
    #[track_caller]
    pub(crate) fn well(self) -> String {
        assert_eq!(self.code, Some(0), "{}{}", self.out, self.err);
        assert_eq!(self.err, "", "nothing to complain of: {}", self.out);
        self.out
    }

    /// It ended with this code, for a reason that has these parts.
    #[track_caller]
    pub(crate) fn badly(&self, code: i32, parts: &[&str]) {
        assert_eq!(self.code, Some(code), "{}{}", self.out, self.err);
        for part in parts {
            assert!(
                self.err.contains(part),
                "`{part}` is not said: {}",
                self.err
            );
        }
    }
}

impl Owner {
    pub(crate) fn new() -> Owner {
        Owner {
            data: tempfile::tempdir().unwrap(),
        }
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = command();
        command.args(args).arg("--data-dir").arg(self.data.path());
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Done {
        self.command(args)
            .stdin(Stdio::null())
            .output()
            .unwrap()
            .into()
    }

    pub(crate) fn feed(&self, args: &[&str], input: &str) -> Done {
        let mut command = self.command(args);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child
            .stdin
            .take()
            .unwrap()
            .write_all(input.as_bytes())
            .unwrap();
        child.wait_with_output().unwrap().into()
    }

    #[track_caller]
    pub(crate) fn json(&self, args: &[&str]) -> Value {
        let out = self.run(&[args, &["--json"]].concat()).well();
        serde_json::from_str(&out).unwrap()
    }

    pub(crate) fn save(&self, text: &str) {
        self.run(&["save", text]).well();
    }

    pub(crate) fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.data.path().join(name);
        fs::write(&path, text).unwrap();
        path
    }

    /// What is remembered, without what differs from store to store.
    pub(crate) fn contents(&self) -> Vec<Value> {
        let out = self.run(&["export", "--forgotten"]).well();
        out.lines()
            .map(|line| {
                let mut memory: Value = serde_json::from_str(line).unwrap();
                memory.as_object_mut().unwrap().remove("id");
                memory
            })
            .collect()
    }
}

//! A server as a child process.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{PATIENCE, PROGRAM, request, shared_cache};

/// What a server says when memories came or went.
pub(crate) const LIST_CHANGED: &str = "notifications/resources/list_changed";

/// What it says when a resource that is watched changed.
pub(crate) const UPDATED: &str = "notifications/resources/updated";

/// A server that is not started yet.
#[must_use]
pub(crate) struct Builder {
    command: Command,
    /// Lives as long as the server.
    data: Option<TempDir>,
    /// Nobody reads its standard output at first.
    is_unread: bool,
    /// Nobody reads its standard error at first.
    is_unheard: bool,
}

/// A server that runs. Killed when dropped, should it still be there.
pub(crate) struct Server {
    child: Child,
    stdin: Option<ChildStdin>,
    /// Until it is read.
    stdout: Option<ChildStdout>,
    /// Lines with their newline; disconnected when standard output ended, or before it is read.
    lines: Receiver<Vec<u8>>,
    /// Until it is read.
    unheard: Option<ChildStderr>,
    stderr: Option<JoinHandle<Vec<u8>>>,
    next_id: u64,
    /// What it said of changes while a response was waited for.
    heard: VecDeque<Value>,
    /// It was told that we are ready to hear what changes.
    is_initialized: bool,
    _data: Option<TempDir>,
}

/// How a process ended.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) status: ExitStatus,
    /// What was not read before.
    pub(crate) stdout: Vec<u8>,
    /// May be anything where a component prints anything.
    pub(crate) stderr: String,
}

/// The program with nothing of the tester's own around it: neither their memory nor their caches.
pub(crate) fn command() -> Command {
    let mut command = Command::new(&*PROGRAM);
    command
        .env_remove("PERSONAL_MEMORY_DIR")
        .env_remove("PERSONAL_MEMORY_TOKEN")
        .env("HOME", "/nonexistent")
        .env("XDG_CACHE_HOME", shared_cache())
        .env_remove("XDG_DATA_HOME");
    command
}

impl Builder {
    /// The memory over an empty directory of its own.
    pub(crate) fn memory() -> Builder {
        let data = tempfile::tempdir().unwrap();
        let builder = Builder::memory_in(data.path());
        Builder {
            data: Some(data),
            ..builder
        }
    }

    /// The memory over a directory.
    pub(crate) fn memory_in(data: &Path) -> Builder {
        Builder::bare().arg("--data-dir").arg(data)
    }

    /// The memory wherever it is by default.
    pub(crate) fn bare() -> Builder {
        Builder {
            command: command(),
            data: None,
            is_unread: false,
            is_unheard: false,
        }
    }

    /// The program as another one starts it; `arguments` are all that it is to get first.
    pub(crate) fn of(mut starter: Command, arguments: &[&str]) -> Builder {
        for (name, value) in command().get_envs() {
            match value {
                Some(value) => starter.env(name, value),
                None => starter.env_remove(name),
            };
        }
        starter.args(arguments);
        Builder {
            command: starter,
            ..Builder::bare()
        }
    }

    /// Another component, with nothing granted.
    pub(crate) fn component(file: &Path) -> Builder {
        Builder::bare().arg("--component").arg(file)
    }

    /// Its standard output is not read before [`Server::read_on`].
    pub(crate) fn unread(mut self) -> Builder {
        self.is_unread = true;
        self
    }

    /// Its standard error is not read before [`Server::listen`], or its end.
    pub(crate) fn unheard(mut self) -> Builder {
        self.is_unheard = true;
        self
    }

    pub(crate) fn arg(mut self, arg: impl AsRef<std::ffi::OsStr>) -> Builder {
        self.command.arg(arg);
        self
    }

    pub(crate) fn args(mut self, args: &[&str]) -> Builder {
        self.command.args(args);
        self
    }

    pub(crate) fn env(mut self, name: &str, value: impl AsRef<std::ffi::OsStr>) -> Builder {
        self.command.env(name, value);
        self
    }

    pub(crate) fn start(mut self) -> Server {
        self.command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = self.command.spawn().unwrap();
        let mut server = Server {
            stdin: child.stdin.take(),
            stdout: child.stdout.take(),
            lines: channel().1,
            unheard: child.stderr.take(),
            stderr: None,
            child,
            next_id: 0,
            heard: VecDeque::new(),
            is_initialized: false,
            _data: self.data,
        };
        if !self.is_unread {
            server.read_on();
        }
        if !self.is_unheard {
            server.listen();
        }
        server
    }

    /// Starts it, feeds it all of `input` and waits for its end.
    pub(crate) fn pipe(self, input: &[u8]) -> Finished {
        let mut server = self.start();
        server.send_bytes(input);
        server.end()
    }
}

impl Server {
    /// Reads its standard output from now on.
    pub(crate) fn read_on(&mut self) {
        let stdout = self.stdout.take().unwrap();
        let (sender, lines) = channel();
        self.lines = lines;
        thread::spawn(move || {
            let mut stdout = BufReader::new(stdout);
            let mut line = Vec::new();
            while stdout
                .read_until(b'\n', &mut line)
                .is_ok_and(|length| length > 0)
            {
                if sender.send(std::mem::take(&mut line)).is_err() {
                    break;
                }
            }
        });
    }

    /// Reads its standard error from now on.
    pub(crate) fn listen(&mut self) {
        let mut stderr = self.unheard.take().unwrap();
        self.stderr = Some(thread::spawn(move || {
            let mut text = Vec::new();
            // What was said until it broke is what there is to show.
            let _ = stderr.read_to_end(&mut text);
            text
        }));
    }

    /// Reads its standard error up to a line with `what` in it, and the rest as [`Server::listen`] does.
    pub(crate) fn listen_for(&mut self, what: &str) -> String {
        let mut stderr = BufReader::new(self.unheard.take().unwrap());
        let mut text = Vec::new();
        let mut line = String::new();
        while !line.contains(what) {
            text.extend(line.as_bytes());
            line.clear();
            let length = stderr.read_line(&mut line).unwrap();
            assert!(length > 0, "it ended: {}", String::from_utf8_lossy(&text));
        }
        self.stderr = Some(thread::spawn(move || {
            let _ = stderr.read_to_end(&mut text);
            text
        }));
        line
    }

    /// Closes our end of its standard output, which nobody reads yet.
    pub(crate) fn close_stdout(&mut self) {
        drop(self.stdout.take().unwrap());
    }

    /// Its standard input, to be written from elsewhere. It ends when that is dropped.
    pub(crate) fn take_stdin(&mut self) -> ChildStdin {
        self.stdin.take().unwrap()
    }

    /// The child.
    pub(crate) fn child(&self) -> &Child {
        &self.child
    }

    /// Sends bytes as they are. A server that is gone shows in what is read afterwards.
    pub(crate) fn send_bytes(&mut self, bytes: &[u8]) {
        let stdin = self.stdin.as_mut().unwrap();
        let _ = stdin.write_all(bytes).and_then(|()| stdin.flush());
    }

    /// Sends a message on a line.
    pub(crate) fn send(&mut self, message: &Value) {
        self.send_bytes(format!("{message}\n").as_bytes());
    }

    /// The next line, newline included; `None` at the end of standard output.
    pub(crate) fn read_line(&mut self) -> Option<Vec<u8>> {
        match self.lines.recv_timeout(PATIENCE) {
            Ok(line) => Some(line),
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => panic!("the server was silent for {PATIENCE:?}"),
        }
    }

    /// The next message.
    pub(crate) fn read(&mut self) -> Value {
        let Some(line) = self.read_line() else {
            panic!("the server ended: {}", self.said());
        };
        assert_eq!(
            line.last(),
            Some(&b'\n'),
            "{}",
            String::from_utf8_lossy(&line)
        );
        serde_json::from_slice(&line)
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&line)))
    }

    /// Makes a request; the next message must be its response, but for words of changes, which may come at any time.
    /// They are kept for [`Server::hear`].
    pub(crate) fn request(&mut self, method: &str, params: &Value) -> Value {
        self.next_id += 1;
        let id = self.next_id;
        self.send(&request(id, method, params));
        let mut response = self.read();
        while is_of_changes(&response) {
            self.heard.push_back(response);
            response = self.read();
        }
        assert_eq!(response["id"], id, "{response}");
        response
    }

    /// The next word of a change, or whatever else comes where there should be one.
    pub(crate) fn hear(&mut self) -> Value {
        match self.heard.pop_front() {
            Some(message) => message,
            None => self.read(),
        }
    }

    /// Opens a legacy connection.
    pub(crate) fn initialize(&mut self, version: &str) -> Value {
        let client = json!({"name": "tests", "version": "1"});
        let params = json!({"protocolVersion": version, "capabilities": {}, "clientInfo": client});
        let response = self.request("initialize", &params);
        self.initialized();
        response["result"].clone()
    }

    /// Says that we are ready to hear what changes.
    pub(crate) fn initialized(&mut self) {
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        self.is_initialized = true;
    }

    /// Calls a tool; returns its result, which must not be an error of the protocol.
    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let response = self.request("tools/call", &json!({"name": tool, "arguments": arguments}));
        assert!(response.get("error").is_none(), "{response}");
        response["result"].clone()
    }

    /// Calls a tool; returns the text of its result.
    pub(crate) fn call_text(&mut self, tool: &str, arguments: &Value) -> String {
        self.call(tool, arguments)["content"][0]["text"]
            .as_str()
            .unwrap()
            .to_owned()
    }

    /// Calls a tool; returns the error's code and message, which there must be.
    pub(crate) fn call_error(&mut self, tool: &str, arguments: &Value) -> (i64, String) {
        let response = self.request("tools/call", &json!({"name": tool, "arguments": arguments}));
        error_of(&response)
    }

    /// Kills it, as `kill -9` does.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Closes its input and waits for its end.
    pub(crate) fn end(mut self) -> Finished {
        drop(self.stdin.take());
        self.ended()
    }

    /// Waits for its end, to which something else has given cause.
    pub(crate) fn ended(mut self) -> Finished {
        let mut stdout = Vec::new();
        while let Some(line) = self.read_line() {
            stdout.extend(line);
        }
        Finished {
            status: self.wait(),
            stdout,
            stderr: self.said(),
        }
    }

    /// All that it said on standard error up to its end.
    fn said(&mut self) -> String {
        if self.unheard.is_some() {
            self.listen();
        }
        let said = self.stderr.take().unwrap().join().unwrap();
        String::from_utf8_lossy(&said).into_owned()
    }

    /// Closes its input; it must have nothing more to say (but that lists changed, if it may say that at any time) and
    /// exit with 0. Returns what it said on standard error.
    pub(crate) fn end_in_order(self) -> String {
        let may_hear = self.is_initialized;
        let Finished {
            status,
            stdout,
            stderr,
        } = self.end();
        let unasked: String = String::from_utf8_lossy(&stdout)
            .split_inclusive('\n')
            .filter(|line| !(may_hear && line.contains(LIST_CHANGED)))
            .collect();
        assert_eq!(unasked, "", "unasked output; on standard error: {stderr}");
        assert!(status.success(), "{status}: {stderr}");
        stderr
    }

    fn wait(&mut self) -> ExitStatus {
        let patience = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(Instant::now() < patience, "the server does not end");
            thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Gone already, most of the time.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn is_of_changes(message: &Value) -> bool {
    let method = message["method"].as_str().unwrap_or_default();
    method.ends_with("/list_changed") || method == UPDATED
}

/// Code and message of an error response.
pub(crate) fn error_of(response: &Value) -> (i64, String) {
    let error = response
        .get("error")
        .unwrap_or_else(|| panic!("no error: {response}"));
    assert!(response.get("result").is_none(), "{response}");
    (
        error["code"].as_i64().unwrap(),
        error["message"].as_str().unwrap().to_owned(),
    )
}

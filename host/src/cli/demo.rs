//! `personal-memory demo`: a client that a person can watch. It starts the real server as an app would, over standard
//! input and output, and shows that a second server finds what the first one saved.

use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, Result, anyhow, bail, ensure};
use serde_json::{Value, json};

const DEMO_TEXT: &str = "the StarcallOS demo is on June 20";
const PREFERENCE: &str = "I prefer dark mode";

pub(super) fn run() -> Result<()> {
    let directory = tempfile::Builder::new()
        .prefix("personal-memory-demo-")
        .tempdir()?;
    let mut screen = Screen(io::stdout());
    screen.say(&format!(
        "Two servers, one memory. The data is in {} and is deleted at the end.",
        directory.path().display()
    ))?;

    screen.heading("The first app starts a server, looks around and saves")?;
    let mut first = Server::start(directory.path())?;
    let name = first.open(&mut screen)?;
    first.look_around(&mut screen)?;
    let id = first.save(&mut screen, DEMO_TEXT, "episodic")?;
    first.save(&mut screen, PREFERENCE, "semantic")?;
    first.find(&mut screen, "when is the demo?", &[DEMO_TEXT])?;
    first.find(&mut screen, "kangaroo", &[])?;
    first.refused(&mut screen)?;
    first.stop(&mut screen)?;

    screen.heading("A second app starts a server of its own and remembers")?;
    let mut second = Server::start(directory.path())?;
    let same = second.open(&mut screen)?;
    ensure!(
        name == same,
        "the second server is {same}, the first was {name}"
    );
    second.find(&mut screen, "dark mode", &[PREFERENCE])?;
    second.read(&mut screen, &format!("memory://entries/{id}"), DEMO_TEXT)?;
    second.reflect(&mut screen, "demo", DEMO_TEXT)?;
    second.stop(&mut screen)?;

    let program = super::this_program();
    screen.say(&format!(
        "\nEverything was as it should be. Give it to your apps:\n\
         \n  {program} connect claude-desktop    (or claude-code, cursor, vscode)\
         \n  {program} connect print             (shows what to put where, for others)"
    ))
}

/// Where the transcript goes.
struct Screen<W>(W);

impl<W: Write> Screen<W> {
    fn say(&mut self, text: &str) -> Result<()> {
        Ok(writeln!(self.0, "{text}")?)
    }

    fn heading(&mut self, text: &str) -> Result<()> {
        Ok(writeln!(self.0, "\n== {text}")?)
    }

    fn asks(&mut self, text: &str) -> Result<()> {
        Ok(writeln!(self.0, "-> {text}")?)
    }

    fn answers(&mut self, text: &str) -> Result<()> {
        for line in text.lines() {
            writeln!(self.0, "   {line}")?;
        }
        Ok(())
    }
}

/// A server process and the client's end of its pipes.
struct Server {
    process: Child,
    /// `None` once it was closed.
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    last_id: u64,
}

impl Drop for Server {
    fn drop(&mut self) {
        // After a failed step; a server that was stopped in order is gone already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Server {
    fn start(data_dir: &Path) -> Result<Server> {
        let program = std::env::current_exe().context("the path of this program is unknown")?;
        let mut process = Command::new(program)
            .arg("--data-dir")
            .arg(data_dir)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("the server can't be started")?;
        let input = process.stdin.take();
        let output = BufReader::new(
            process
                .stdout
                .take()
                .context("the server has no standard output")?,
        );
        Ok(Server {
            process,
            input,
            output,
            last_id: 0,
        })
    }

    fn request(&mut self, method: &str, params: &Value) -> Result<Value> {
        self.last_id += 1;
        self.send(
            &json!({"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params}),
        )?;
        let mut line = String::new();
        ensure!(
            self.output.read_line(&mut line)? > 0,
            "the server ended without an answer to {method}"
        );
        let mut response: Value =
            serde_json::from_str(&line).with_context(|| format!("{method} was answered {line}"))?;
        ensure!(
            response["id"] == self.last_id,
            "{method} was answered with another id: {line}"
        );
        if let Some(error) = response.get("error") {
            bail!("{method} failed: {error}");
        }
        Ok(response["result"].take())
    }

    fn send(&mut self, message: &Value) -> Result<()> {
        let input = self
            .input
            .as_mut()
            .context("the server's input is closed")?;
        // Not as an error of input and output: a broken pipe here is a dead server, and not a reader who has seen enough.
        writeln!(input, "{message}").map_err(|error| anyhow!("the server is gone: {error}"))
    }

    /// Negotiates; returns the server's name.
    fn open(&mut self, screen: &mut Screen<impl Write>) -> Result<String> {
        screen.asks("initialize")?;
        let client = json!({"name": "personal-memory demo", "version": env!("CARGO_PKG_VERSION")});
        let params =
            json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
        let result = self.request("initialize", &params)?;
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
        let name = text(&result, "/serverInfo/name")?.to_owned();
        let offered = result["capabilities"]
            .as_object()
            .context("the server has no capabilities")?;
        let offered = offered.keys().cloned().collect::<Vec<_>>().join(", ");
        let version = text(&result, "/protocolVersion")?;
        screen.answers(&format!("{name} speaks MCP {version} and offers {offered}"))?;
        Ok(name)
    }

    fn look_around(&mut self, screen: &mut Screen<impl Write>) -> Result<()> {
        for (method, member, key) in [
            ("tools/list", "tools", "name"),
            (
                "resources/templates/list",
                "resourceTemplates",
                "uriTemplate",
            ),
            ("prompts/list", "prompts", "name"),
        ] {
            screen.asks(method)?;
            let result = self.request(method, &json!({}))?;
            let entries = result[member]
                .as_array()
                .with_context(|| format!("{method} has no `{member}`"))?;
            ensure!(!entries.is_empty(), "{method} is empty");
            for entry in entries {
                screen.answers(text(entry, &format!("/{key}"))?)?;
            }
        }
        Ok(())
    }

    /// Saves a memory; returns its id.
    fn save(&mut self, screen: &mut Screen<impl Write>, text: &str, kind: &str) -> Result<String> {
        let arguments = json!({"text": text, "kind": kind});
        let result = self.call_tool(screen, "memory_save", &arguments)?;
        ensure!(result["isError"] != true, "memory_save refused {arguments}");
        Ok(self::text(&result, "/structuredContent/id")?.to_owned())
    }

    /// Searches; exactly the expected texts must come back.
    fn find(
        &mut self,
        screen: &mut Screen<impl Write>,
        query: &str,
        expected: &[&str],
    ) -> Result<()> {
        let result = self.call_tool(screen, "memory_search", &json!({"query": query}))?;
        let found = result["structuredContent"]["memories"]
            .as_array()
            .context("memory_search returned no list")?;
        let found: Vec<&str> = found
            .iter()
            .filter_map(|memory| memory["text"].as_str())
            .collect();
        ensure!(
            found == expected,
            "a search for `{query}` found {found:?}, expected {expected:?}"
        );
        Ok(())
    }

    /// Shows what happens to a bad argument: the tool says no, and the session goes on.
    fn refused(&mut self, screen: &mut Screen<impl Write>) -> Result<()> {
        let result = self.call_tool(
            screen,
            "memory_save",
            &json!({"text": "x", "importance": 11}),
        )?;
        ensure!(
            result["isError"] == true,
            "an importance of 11 was accepted"
        );
        Ok(())
    }

    fn call_tool(
        &mut self,
        screen: &mut Screen<impl Write>,
        name: &str,
        arguments: &Value,
    ) -> Result<Value> {
        screen.asks(&format!("tools/call {name} {arguments}"))?;
        let result = self.request("tools/call", &json!({"name": name, "arguments": arguments}))?;
        screen.answers(text(&result, "/content/0/text")?)?;
        Ok(result)
    }

    fn read(&mut self, screen: &mut Screen<impl Write>, uri: &str, expected: &str) -> Result<()> {
        screen.asks(&format!("resources/read {uri}"))?;
        let result = self.request("resources/read", &json!({"uri": uri}))?;
        let got = text(&result, "/contents/0/text")?;
        screen.answers(got)?;
        ensure!(
            got == expected,
            "{uri} reads `{got}`, expected `{expected}`"
        );
        Ok(())
    }

    fn reflect(
        &mut self,
        screen: &mut Screen<impl Write>,
        topic: &str,
        expected: &str,
    ) -> Result<()> {
        screen.asks(&format!("prompts/get reflect_on {topic}"))?;
        let result = self.request(
            "prompts/get",
            &json!({"name": "reflect_on", "arguments": {"topic": topic}}),
        )?;
        let got = text(&result, "/messages/0/content/text")?;
        screen.answers(got)?;
        ensure!(
            got.contains(expected),
            "the prompt does not recall `{expected}`"
        );
        Ok(())
    }

    /// Closes the server's input, as an app does that quits, and waits for its end.
    fn stop(mut self, screen: &mut Screen<impl Write>) -> Result<()> {
        screen.asks("(end of input)")?;
        self.input = None;
        let mut rest = String::new();
        self.output.read_line(&mut rest)?;
        ensure!(rest.is_empty(), "the server sent something unasked: {rest}");
        let status = self.process.wait()?;
        ensure!(status.success(), "the server ended with {status}");
        screen.answers(&format!("the server ended with {status}"))
    }
}

fn text<'a>(value: &'a Value, pointer: &str) -> Result<&'a str> {
    value
        .pointer(pointer)
        .and_then(Value::as_str)
        .with_context(|| format!("`{pointer}` is not a string in {value}"))
}

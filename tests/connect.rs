//! Apps are connected and disconnected, and their settings stay theirs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::harness::{PROGRAM, command, root};

/// A person's home directory.
struct Home(TempDir);

impl Home {
    fn new() -> Home {
        Home(tempfile::tempdir().unwrap())
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = command();
        command
            .args(args)
            .env("HOME", self.0.path())
            .env("APPDATA", self.0.path().join("AppData"))
            .env_remove("XDG_CONFIG_HOME")
            .env_remove("CLAUDE_CONFIG_DIR")
            .current_dir(self.0.path());
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    #[track_caller]
    fn says(&self, args: &[&str]) -> String {
        let output = self.run(args);
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        assert!(output.status.success(), "{args:?}: {out}{err}");
        assert_eq!(err, "", "{args:?}");
        out
    }

    #[track_caller]
    fn refuses(&self, args: &[&str], parts: &[&str]) {
        let output = self.run(args);
        let err = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{args:?}: {err}");
        for part in parts {
            assert!(err.contains(part), "{args:?} does not say `{part}`: {err}");
        }
    }

    fn cursor(&self) -> PathBuf {
        self.0.path().join(".cursor/mcp.json")
    }

    /// Puts settings of Cursor there.
    fn has(&self, settings: &str) -> PathBuf {
        let path = self.cursor();
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, settings).unwrap();
        path
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn program() -> String {
    fs::canonicalize(&*PROGRAM)
        .unwrap()
        .to_str()
        .unwrap()
        .to_owned()
}

fn parsed(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// Files beside one that are copies of it.
fn backups(path: &Path) -> Vec<PathBuf> {
    let name = path.file_name().unwrap().to_str().unwrap();
    fs::read_dir(path.parent().unwrap())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|other| other != path)
        .inspect(|other| {
            let other = other.file_name().unwrap().to_str().unwrap();
            assert!(
                other.starts_with(&format!("{name}.")) && other.ends_with(".bak"),
                "{other} was left behind"
            );
        })
        .collect()
}

const SETTINGS: &str = "\u{feff}{\r\n\t// mine\r\n\t\"mcpServers\": {\r\n\t\t\"other\": { \"command\": \"x\" }, // theirs\r\n\t},\r\n\t\"b\": [1,2 , 3],\r\n}";

#[test]
fn each_app_gets_an_entry_of_its_own_form() {
    let home = Home::new();
    let typed = json!({"type": "stdio", "command": program()});
    let plain = json!({"command": program()});
    let mut apps = vec![
        ("claude-code", ".claude.json", "mcpServers", &typed),
        ("cursor", ".cursor/mcp.json", "mcpServers", &plain),
    ];
    if cfg!(target_os = "linux") {
        apps.push((
            "claude-desktop",
            ".config/Claude/claude_desktop_config.json",
            "mcpServers",
            &plain,
        ));
        apps.push(("vscode", ".config/Code/User/mcp.json", "servers", &typed));
    }
    for (app, path, list, entry) in apps {
        let said = home.says(&["connect", app]);
        let path = home.0.path().join(path);
        assert!(
            said.contains(path.to_str().unwrap()) && said.contains("Next: "),
            "{said}"
        );
        assert_eq!(parsed(&path), json!({list: {"personal-memory": entry}}));
        assert_eq!(backups(&path).len(), 0, "there was nothing to copy");

        let written = fs::read(&path).unwrap();
        let again = home.says(&["connect", app]);
        assert!(again.contains("already connected"), "{again}");
        assert_eq!(fs::read(&path).unwrap(), written);

        assert!(home.says(&["disconnect", app]).starts_with("Disconnected"));
        assert_eq!(parsed(&path), json!({list: {}}));
        assert!(home.says(&["disconnect", app]).contains("is not connected"));
        assert_eq!(
            backups(&path).len(),
            1,
            "one for the one change of something that was there"
        );
    }
}

#[test]
fn the_rest_of_the_settings_stays_byte_for_byte() {
    let home = Home::new();
    let path = home.has(SETTINGS);
    home.says(&["connect", "cursor"]);
    let connected = fs::read_to_string(&path).unwrap();
    assert!(connected.starts_with("\u{feff}{\r\n\t// mine\r\n\t\"mcpServers\": {\r\n\t\t\"other\": { \"command\": \"x\" }, // theirs\r\n\t\t\"personal-memory\": {\r\n\t\t\t\"command\": "), "{connected:?}");
    assert!(
        connected.ends_with("\r\n\t},\r\n\t\"b\": [1,2 , 3],\r\n}"),
        "{connected:?}"
    );
    let copies = backups(&path);
    assert_eq!(copies.len(), 1);
    assert_eq!(fs::read_to_string(&copies[0]).unwrap(), SETTINGS);
    home.says(&["disconnect", "cursor"]);
    assert_eq!(fs::read_to_string(&path).unwrap(), SETTINGS);
}

#[test]
fn a_dry_run_shows_the_lines_and_writes_nothing() {
    let home = Home::new();
    let said = home.says(&["connect", "cursor", "--dry-run"]);
    assert!(
        said.contains("would change:") && said.contains("+     \"personal-memory\": {"),
        "{said}"
    );
    assert!(!home.cursor().exists() && !home.0.path().join(".cursor").exists());
    let path = home.has(SETTINGS);
    let said = home.says(&["connect", "cursor", "--dry-run"]);
    assert!(
        !said.contains("+ \t// mine") && said.contains("+ \t\t\"personal-memory\": {"),
        "{said}"
    );
    assert_eq!(fs::read_to_string(&path).unwrap(), SETTINGS);
    home.says(&["connect", "cursor"]);
    let connected = fs::read(&path).unwrap();
    let said = home.says(&["disconnect", "cursor", "--dry-run"]);
    assert!(said.contains("- \t\t\"personal-memory\": {"), "{said}");
    assert_eq!(fs::read(&path).unwrap(), connected);
}

#[test]
fn an_entry_of_another_program_is_updated_and_said_so() {
    let home = Home::new();
    let path = home.has(r#"{"mcpServers": {"personal-memory": {"command": "/old/pm", "args": ["--data-dir", "/old/data"], "env": {"A": "b"}}}}"#);
    let said = home.says(&["connect", "cursor"]);
    assert!(said.contains("starts another program: /old/pm"), "{said}");
    let entry =
        json!({"command": program(), "args": ["--data-dir", "/old/data"], "env": {"A": "b"}});
    assert_eq!(
        parsed(&path)["mcpServers"]["personal-memory"],
        entry,
        "the memory stays where it was"
    );
    home.says(&["connect", "cursor", "--data-dir", "new"]);
    let new = fs::canonicalize(home.0.path()).unwrap().join("new");
    assert_eq!(
        parsed(&path)["mcpServers"]["personal-memory"]["args"],
        json!(["--data-dir", new])
    );
    home.refuses(
        &["connect", "cursor", "--data-dir", "~/x"],
        &["~/x", "in full"],
    );
}

#[test]
fn a_malformed_file_is_left_alone() {
    let home = Home::new();
    for (settings, parts) in [
        (
            "{\n  \"mcpServers\": {\n    \"a\" 1\n  }\n}",
            &["mcp.json:3:", "left as it is"][..],
        ),
        ("[]", &["not a JSON object"]),
        (
            "{\"mcpServers\": 7}",
            &["`mcpServers` is not a JSON object"],
        ),
        (
            "{\"mcpServers\": {\"personal-memory\": {\"url\": \"http://x\"}}}",
            &["starts no program"],
        ),
    ] {
        let path = home.has(settings);
        home.refuses(&["connect", "cursor"], parts);
        assert_eq!(fs::read_to_string(&path).unwrap(), settings);
        assert_eq!(backups(&path), Vec::<PathBuf>::new());
    }
    let path = home.cursor();
    fs::write(&path, [b'{', 0xff, b'}']).unwrap();
    home.refuses(&["connect", "cursor"], &["not UTF-8"]);
    assert_eq!(fs::read(&path).unwrap(), [b'{', 0xff, b'}']);
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    home.refuses(&["connect", "cursor"], &["mcp.json can't be read"]);
}

#[test]
fn a_project_s_settings_are_in_the_project() {
    let home = Home::new();
    let place = home.0.path();
    for (app, path, list) in [
        ("claude-code", ".mcp.json", "mcpServers"),
        ("cursor", ".cursor/mcp.json", "mcpServers"),
        ("vscode", ".vscode/mcp.json", "servers"),
    ] {
        home.says(&["connect", app, "--project"]);
        assert_eq!(
            parsed(&place.join(path))[list]["personal-memory"]["command"],
            program()
        );
        home.says(&["disconnect", app, "--project"]);
        assert_eq!(parsed(&place.join(path)), json!({list: {}}));
    }
    home.refuses(
        &["connect", "claude-desktop", "--project"],
        &["no settings for a project"],
    );
}

#[cfg(unix)]
#[test]
fn modes_are_kept_and_links_are_followed() {
    use std::os::unix::fs::{PermissionsExt, symlink};

    let home = Home::new();
    let real = home.0.path().join("dotfiles.json");
    fs::write(&real, "{}").unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
    fs::create_dir(home.0.path().join(".cursor")).unwrap();
    symlink(&real, home.cursor()).unwrap();
    home.says(&["connect", "cursor"]);
    assert!(home.cursor().is_symlink(), "the link is still one");
    assert_eq!(
        parsed(&real)["mcpServers"]["personal-memory"]["command"],
        program()
    );
    assert_eq!(mode(&real), 0o640);

    home.says(&["connect", "claude-code"]);
    assert_eq!(
        mode(&home.0.path().join(".claude.json")),
        0o600,
        "a new file is its owner's"
    );

    fs::remove_file(&real).unwrap();
    home.refuses(&["connect", "cursor"], &["leads nowhere"]);
}

#[test]
fn apps_have_names() {
    let home = Home::new();
    let output = home.run(&["connect", "emacs"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("claude-desktop"));
    assert_eq!(home.run(&["disconnect", "print"]).status.code(), Some(2));
}

/// Blocks of code in the README, without the fences.
fn blocks(readme: &str) -> Vec<&str> {
    let parts: Vec<&str> = readme.split("```").collect();
    let inside = parts.iter().skip(1).step_by(2);
    inside
        .map(|part| part.split_once('\n').unwrap().1.trim_end())
        .collect()
}

#[test]
fn the_readme_shows_what_connect_prints() {
    const PLACEHOLDER: &str = "/absolute/path/to/personal-memory";
    let home = Home::new();
    let printed = home
        .says(&["connect", "print"])
        .replace(&program(), PLACEHOLDER);
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let blocks = blocks(&readme);
    let shown: Vec<&str> = printed.split("\n\n").map(str::trim).collect();
    let snippets: Vec<&&str> = shown
        .iter()
        .filter(|part| part.contains(PLACEHOLDER))
        .collect();
    assert_eq!(snippets.len(), 3, "{printed}");
    for snippet in snippets {
        assert!(
            blocks.contains(snippet),
            "the README does not show:\n{snippet}"
        );
    }
    let with_place = home.says(&["connect", "print", "--data-dir", "/m y"]);
    assert!(
        with_place.contains("--data-dir \"/m y\"") && with_place.contains("\"/m y\"\n"),
        "{with_place}"
    );
}

/// Whoever opens the repository in Claude Code gets both servers.
#[test]
fn the_repository_registers_servers_that_start() {
    let registered = parsed(&root().join(".mcp.json"));
    let servers = registered["mcpServers"].as_object().unwrap();
    assert_eq!(
        servers.keys().collect::<Vec<_>>(),
        ["personal-memory", "retrieval-lab"]
    );
    let data = tempfile::tempdir().unwrap();
    for (name, entry) in servers {
        assert_eq!(entry["command"], "target/release/personal-memory", "{name}");
        let args = entry["args"].as_array().into_iter().flatten();
        let mut builder = crate::harness::Builder::bare().env("PERSONAL_MEMORY_DIR", data.path());
        for arg in args {
            builder = builder.arg(arg.as_str().unwrap());
        }
        let mut server = builder.start();
        server.initialize("2025-11-25");
        let tools = server.request("tools/list", &json!({}));
        assert!(
            !tools["result"]["tools"].as_array().unwrap().is_empty(),
            "{name}"
        );
        server.end_in_order();
    }
}

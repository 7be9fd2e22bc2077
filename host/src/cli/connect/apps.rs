//! The apps: where their settings are, and what an entry looks like there. Pure functions of what surrounds the program.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::ValueEnum;
use serde_json::{Value, json};

/// An app that can be connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum App {
    ClaudeDesktop,
    ClaudeCode,
    Cursor,
    #[value(name = "vscode")]
    VsCode,
}

/// Operating systems, as far as settings lie elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cli) enum Platform {
    Linux,
    MacOs,
    Windows,
}

/// What decides where settings are.
pub(in crate::cli) struct Surroundings {
    platform: Platform,
    home: PathBuf,
    /// Environment variables.
    variable: fn(&str) -> Option<OsString>,
}

impl Surroundings {
    /// Those of this process.
    pub(in crate::cli) fn present() -> Result<Surroundings> {
        let platform = match std::env::consts::OS {
            "macos" => Platform::MacOs,
            "windows" => Platform::Windows,
            _ => Platform::Linux,
        };
        let home = std::env::home_dir().filter(|home| home.is_absolute());
        Ok(Surroundings {
            platform,
            home: home.context("there is no home directory to look for settings in")?,
            variable: |name| std::env::var_os(name),
        })
    }

    /// The directory that a variable names. A relative one means nothing here.
    fn named(&self, variable: &str) -> Option<PathBuf> {
        let path = (self.variable)(variable).map(PathBuf::from);
        path.filter(|path| is_absolute(path, self.platform))
    }

    /// Where programs keep their settings, by the platform's custom.
    fn settings(&self) -> PathBuf {
        match self.platform {
            Platform::Linux => {
                let named = self.named("XDG_CONFIG_HOME");
                named.unwrap_or_else(|| self.home.join(".config"))
            }
            Platform::MacOs => self.home.join("Library").join("Application Support"),
            Platform::Windows => {
                let named = self.named("APPDATA");
                named.unwrap_or_else(|| self.home.join("AppData").join("Roaming"))
            }
        }
    }
}

/// Also of a platform that is not this one, for tests.
fn is_absolute(path: &Path, platform: Platform) -> bool {
    match platform {
        Platform::Windows => path.to_str().is_some_and(|path| path.contains(":\\")),
        Platform::Linux | Platform::MacOs => path.has_root(),
    }
}

impl App {
    /// All of them.
    pub(in crate::cli) const ALL: [App; 4] = [
        App::ClaudeDesktop,
        App::ClaudeCode,
        App::Cursor,
        App::VsCode,
    ];

    /// What people call it.
    pub(in crate::cli) fn title(self) -> &'static str {
        match self {
            App::ClaudeDesktop => "Claude Desktop",
            App::ClaudeCode => "Claude Code",
            App::Cursor => "Cursor",
            App::VsCode => "VS Code",
        }
    }

    /// The settings of the person.
    ///
    /// - <https://modelcontextprotocol.io/docs/develop/connect-local-servers>
    /// - <https://code.claude.com/docs/en/mcp>: the file that `claude mcp add --scope user` writes
    /// - <https://cursor.com/docs/context/mcp>
    /// - <https://code.visualstudio.com/docs/copilot/customization/mcp-servers>
    pub(in crate::cli) fn user_file(self, surroundings: &Surroundings) -> PathBuf {
        match self {
            App::ClaudeDesktop => {
                let settings = surroundings.settings();
                settings.join("Claude").join("claude_desktop_config.json")
            }
            App::ClaudeCode => {
                let named = surroundings.named("CLAUDE_CONFIG_DIR");
                let directory = named.unwrap_or_else(|| surroundings.home.clone());
                directory.join(".claude.json")
            }
            App::Cursor => surroundings.home.join(".cursor").join("mcp.json"),
            App::VsCode => {
                let settings = surroundings.settings();
                settings.join("Code").join("User").join("mcp.json")
            }
        }
    }

    /// The settings of a project, from its top; `None` where the app has none.
    pub(in crate::cli) fn project_file(self) -> Option<PathBuf> {
        match self {
            App::ClaudeDesktop => None,
            App::ClaudeCode => Some(PathBuf::from(".mcp.json")),
            App::Cursor => Some(Path::new(".cursor").join("mcp.json")),
            App::VsCode => Some(Path::new(".vscode").join("mcp.json")),
        }
    }

    /// The member of the settings that lists servers.
    pub(in crate::cli) fn list(self) -> &'static str {
        match self {
            App::VsCode => "servers",
            App::ClaudeDesktop | App::ClaudeCode | App::Cursor => "mcpServers",
        }
    }

    /// The members of an entry.
    pub(super) fn entry(self, command: &str, args: &[String]) -> Value {
        let mut entry = json!({});
        if self.names_transport() {
            entry["type"] = "stdio".into();
        }
        entry["command"] = command.into();
        if !args.is_empty() {
            entry["args"] = args.into();
        }
        entry
    }

    /// Whether an entry says that it is spoken to over standard input and output.
    pub(super) fn names_transport(self) -> bool {
        matches!(self, App::ClaudeCode | App::VsCode)
    }

    /// What the person must do now.
    pub(super) fn next_step(self, project: bool) -> &'static str {
        match (self, project) {
            (App::ClaudeDesktop, _) => "Next: quit Claude Desktop entirely, and start it again.",
            (App::ClaudeCode, false) => {
                "Next: start Claude Code anew; `claude mcp list` shows whether it is connected."
            }
            (App::ClaudeCode, true) => {
                "Next: start Claude Code anew in this directory; it asks once whether the project's servers may run."
            }
            (App::Cursor, _) => {
                "Next: restart Cursor; its settings, under MCP, show whether it is connected."
            }
            (App::VsCode, _) => {
                "Next: run `MCP: List Servers` in VS Code's command palette and start it; VS Code asks once whether you trust it."
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(app: App, platform: Platform, variable: fn(&str) -> Option<OsString>) -> String {
        let home = match platform {
            Platform::Linux => "/home/ada",
            Platform::MacOs => "/Users/ada",
            Platform::Windows => r"C:\Users\ada",
        };
        let surroundings = Surroundings {
            platform,
            home: home.into(),
            variable,
        };
        let path = app.user_file(&surroundings).to_str().unwrap().to_owned();
        // Where the test runs, this is what joins names.
        path.replace(
            std::path::MAIN_SEPARATOR,
            if platform == Platform::Windows {
                r"\"
            } else {
                "/"
            },
        )
    }

    #[test]
    fn settings_are_where_each_platform_has_them() {
        use Platform::{Linux, MacOs, Windows};

        let cases = [
            (
                App::ClaudeDesktop,
                Linux,
                "/home/ada/.config/Claude/claude_desktop_config.json",
            ),
            (
                App::ClaudeDesktop,
                MacOs,
                "/Users/ada/Library/Application Support/Claude/claude_desktop_config.json",
            ),
            (
                App::ClaudeDesktop,
                Windows,
                r"C:\Users\ada\AppData\Roaming\Claude\claude_desktop_config.json",
            ),
            (App::ClaudeCode, Linux, "/home/ada/.claude.json"),
            (App::ClaudeCode, MacOs, "/Users/ada/.claude.json"),
            (App::ClaudeCode, Windows, r"C:\Users\ada\.claude.json"),
            (App::Cursor, Linux, "/home/ada/.cursor/mcp.json"),
            (App::Cursor, MacOs, "/Users/ada/.cursor/mcp.json"),
            (App::Cursor, Windows, r"C:\Users\ada\.cursor\mcp.json"),
            (App::VsCode, Linux, "/home/ada/.config/Code/User/mcp.json"),
            (
                App::VsCode,
                MacOs,
                "/Users/ada/Library/Application Support/Code/User/mcp.json",
            ),
            (
                App::VsCode,
                Windows,
                r"C:\Users\ada\AppData\Roaming\Code\User\mcp.json",
            ),
        ];
        for (app, platform, expected) in cases {
            assert_eq!(file(app, platform, |_| None), expected);
        }
    }

    #[test]
    fn variables_name_other_places_if_they_are_absolute() {
        let elsewhere: fn(&str) -> Option<OsString> = |name| match name {
            "XDG_CONFIG_HOME" | "CLAUDE_CONFIG_DIR" => Some("/etc/ada".into()),
            "APPDATA" => Some(r"D:\ada".into()),
            _ => None,
        };
        let linux = |app| file(app, Platform::Linux, elsewhere);
        assert_eq!(
            linux(App::ClaudeDesktop),
            "/etc/ada/Claude/claude_desktop_config.json"
        );
        assert_eq!(linux(App::ClaudeCode), "/etc/ada/.claude.json");
        assert_eq!(linux(App::VsCode), "/etc/ada/Code/User/mcp.json");
        assert_eq!(linux(App::Cursor), "/home/ada/.cursor/mcp.json");
        assert_eq!(
            file(App::VsCode, Platform::Windows, elsewhere),
            r"D:\ada\Code\User\mcp.json"
        );
        let mac = file(App::VsCode, Platform::MacOs, elsewhere);
        assert!(
            mac.starts_with("/Users/ada/Library"),
            "XDG is Linux's: {mac}"
        );
        let relative = file(App::VsCode, Platform::Linux, |_| Some("settings".into()));
        assert_eq!(relative, "/home/ada/.config/Code/User/mcp.json");
    }

    #[test]
    fn entries_look_as_each_app_wants_them() {
        let args = ["--data-dir".to_owned(), "/m".to_owned()];
        let plain = json!({"command": "/p", "args": ["--data-dir", "/m"]});
        let typed = json!({"type": "stdio", "command": "/p", "args": ["--data-dir", "/m"]});
        for (app, list, expected) in [
            (App::ClaudeDesktop, "mcpServers", &plain),
            (App::ClaudeCode, "mcpServers", &typed),
            (App::Cursor, "mcpServers", &plain),
            (App::VsCode, "servers", &typed),
        ] {
            assert_eq!((app.list(), &app.entry("/p", &args)), (list, expected));
        }
        assert_eq!(App::Cursor.entry("/p", &[]), json!({"command": "/p"}));
    }
}

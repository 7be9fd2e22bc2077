//! What to put where, for apps that are connected by hand.

use anyhow::Result;
use serde_json::{Value, json};

use super::apps::App;
use super::document::{NAME, Registration};
use crate::cli::terminal::{BOLD, Screen, shown};

/// Prints it for all apps.
pub(super) fn print(registration: &Registration, screen: &mut Screen) -> Result<()> {
    let heading = |screen: &Screen, text: &str| screen.styled(BOLD, text);
    screen.line(&heading(screen, "Claude Code"))?;
    screen.line(&format!("\n{}\n", shown(&claude_code(registration))))?;
    screen.line(&heading(
        screen,
        "Claude Desktop (Settings, Developer, Edit Config) and Cursor (~/.cursor/mcp.json)",
    ))?;
    screen.line(&format!(
        "\n{}\n",
        shown(&document(App::Cursor, registration))
    ))?;
    screen.line(&heading(screen, "VS Code (MCP: Open User Configuration)"))?;
    screen.line(&format!(
        "\n{}",
        shown(&document(App::VsCode, registration))
    ))
}

/// The command that Claude Code has for it.
fn claude_code(registration: &Registration) -> String {
    let mut command = format!(
        "claude mcp add --scope user {NAME} -- {}",
        quoted(&registration.command)
    );
    for arg in registration.args(&[]) {
        command += &format!(" {}", quoted(&arg));
    }
    command
}

/// A word of a shell's command line.
fn quoted(word: &str) -> String {
    let plain = |character: char| character.is_alphanumeric() || "-_./\\:=+@%,".contains(character);
    match word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("\"{}\"", word.replace('"', "\\\"")),
    }
}

/// A whole document with our entry alone.
fn document(app: App, registration: &Registration) -> String {
    let entry = app.entry(&registration.command, &registration.args(&[]));
    let mut servers = json!({});
    servers[NAME] = entry;
    let mut document: Value = json!({});
    document[app.list()] = servers;
    format!("{document:#}")
}

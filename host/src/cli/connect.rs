//! `personal-memory connect` and `disconnect`: our entry in an app's settings, and nothing else of them.

pub(super) mod apps;
pub(super) mod document;
mod file;
mod snippets;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use clap::{Args, ValueEnum};

use self::apps::{App, Surroundings};
use self::document::{Change, Registration};
use self::file::SettingsFile;
use super::options::absolute_data_dir;
use super::terminal::{DIM, GREEN, RED, Screen, shown};

#[derive(Debug, Args)]
pub(super) struct ConnectOptions {
    /// Which app; `print` writes nothing and shows what to put where.
    #[arg(value_name = "APP")]
    target: Target,

    /// Where the app shall keep the memory. Default: where it is anyway; an entry that names another place keeps it.
    #[arg(long, value_name = "PATH")]
    data_dir: Option<PathBuf>,

    /// Not for you everywhere, but for whoever works in this directory: .mcp.json, .cursor/mcp.json or .vscode/mcp.json.
    #[arg(long)]
    project: bool,

    /// Write nothing, only show what would change.
    #[arg(long)]
    dry_run: bool,
}

#[derive(Debug, Args)]
pub(super) struct DisconnectOptions {
    /// Which app.
    #[arg(value_name = "APP")]
    app: App,

    /// From the settings of this directory, and not from yours.
    #[arg(long)]
    project: bool,

    /// Write nothing, only show what would change.
    #[arg(long)]
    dry_run: bool,
}

/// What can be connected.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Target {
    ClaudeDesktop,
    ClaudeCode,
    Cursor,
    #[value(name = "vscode")]
    VsCode,
    Print,
}

impl Target {
    fn app(self) -> Option<App> {
        match self {
            Target::ClaudeDesktop => Some(App::ClaudeDesktop),
            Target::ClaudeCode => Some(App::ClaudeCode),
            Target::Cursor => Some(App::Cursor),
            Target::VsCode => Some(App::VsCode),
            Target::Print => None,
        }
    }
}

pub(super) fn connect(options: &ConnectOptions) -> Result<()> {
    let registration = Registration {
        command: program()?,
        data_dir: options.data_dir.as_deref().map(data_dir).transpose()?,
    };
    let mut screen = Screen::new();
    let Some(app) = options.target.app() else {
        snippets::print(&registration, &mut screen)?;
        return screen.finish();
    };
    let path = settings(app, options.project)?;
    let file = SettingsFile::read(&path)?;
    let changed = document::connect(file.text(), app, &registration);
    let change = changed.map_err(|problem| anyhow!("{}{problem}", path.display()))?;
    let place = shown(&path.to_string_lossy());
    match change {
        Change::Nothing => {
            screen.line(&format!("{} is already connected ({place}).", app.title()))?;
        }
        Change::To { text, before } => {
            if let Some(before) = before {
                screen.line(&format!(
                    "The entry there starts another program: {}",
                    shown(&before)
                ))?;
            }
            let done = format!("Connected {}", app.title());
            write(
                &file,
                &text,
                options.dry_run,
                options.project,
                &done,
                &mut screen,
            )?;
            if !options.dry_run {
                screen.line(app.next_step(options.project))?;
            }
        }
    }
    screen.finish()
}

pub(super) fn disconnect(options: &DisconnectOptions) -> Result<()> {
    let app = options.app;
    let path = settings(app, options.project)?;
    let file = SettingsFile::read(&path)?;
    let changed = document::disconnect(file.text(), app);
    let text = changed.map_err(|problem| anyhow!("{}{problem}", path.display()))?;
    let mut screen = Screen::new();
    match text {
        None => {
            let place = shown(&path.to_string_lossy());
            screen.line(&format!("{} is not connected ({place}).", app.title()))?;
        }
        Some(text) => {
            let done = format!("Disconnected {}", app.title());
            write(
                &file,
                &text,
                options.dry_run,
                options.project,
                &done,
                &mut screen,
            )?;
            if !options.dry_run {
                screen.line(
                    "Servers that run already end with the app. The memory stays where it is.",
                )?;
            }
        }
    }
    screen.finish()
}

/// Writes the settings, or says what would be written.
fn write(
    file: &SettingsFile,
    text: &str,
    dry_run: bool,
    for_others: bool,
    done: &str,
    screen: &mut Screen,
) -> Result<()> {
    let place = shown(&file.path().to_string_lossy());
    if dry_run {
        screen.line(&format!("{place} would change:"))?;
        return difference(file.text(), text, screen);
    }
    let backup = file.replace(text, for_others)?;
    screen.line(&format!("{done} in {place}."))?;
    if let Some(backup) = backup {
        screen.line(&format!(
            "As it was before: {}",
            shown(&backup.to_string_lossy())
        ))?;
    }
    Ok(())
}

/// Shows the lines that differ: our edits are all in one place.
fn difference(before: &str, after: &str, screen: &mut Screen) -> Result<()> {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let pairs = old.iter().zip(&new);
    let head = pairs.take_while(|(old, new)| old == new).count();
    let pairs = old[head..].iter().rev().zip(new[head..].iter().rev());
    let tail = pairs.take_while(|(old, new)| old == new).count();
    let context = head.saturating_sub(1)..head;
    for line in &old[context] {
        screen.line(&screen.styled(DIM, &format!("  {}", shown(line))))?;
    }
    for line in &old[head..old.len() - tail] {
        screen.line(&screen.styled(RED, &format!("- {}", shown(line))))?;
    }
    for line in &new[head..new.len() - tail] {
        screen.line(&screen.styled(GREEN, &format!("+ {}", shown(line))))?;
    }
    Ok(())
}

fn settings(app: App, project: bool) -> Result<PathBuf> {
    if project {
        let Some(path) = app.project_file() else {
            bail!("{} has no settings for a project", app.title());
        };
        let directory = std::env::current_dir().context("the present directory is unknown")?;
        return Ok(directory.join(path));
    }
    Ok(app.user_file(&Surroundings::present()?))
}

/// The absolute path of this program.
fn program() -> Result<String> {
    let path = std::env::current_exe().context("the path of this program is unknown")?;
    text(&path)
}

fn data_dir(path: &Path) -> Result<String> {
    text(&absolute_data_dir(path)?)
}

/// A path for a JSON document, which has no other words for it than text.
fn text(path: &Path) -> Result<String> {
    let text = path.to_str();
    let text =
        text.with_context(|| format!("{} is not Unicode, so no app can name it", path.display()))?;
    Ok(text.to_owned())
}

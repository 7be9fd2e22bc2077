//! `personal-memory doctor`: looks for what could be wrong, and says what to do about it.

mod apps;
mod place;
mod program;
mod store;

use anyhow::{Result, bail};
use clap::Args;
use serde_json::{Value, json};

use super::options::Common;
use super::serve::restrict_new_files;
use super::terminal::{GREEN, RED, Screen, YELLOW, one_line};

#[derive(Debug, Args)]
pub(super) struct DoctorOptions {
    /// Close to others what they can read of the memory.
    #[arg(long)]
    fix: bool,

    /// Print the result as JSON.
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    pub(super) common: Common,
}

/// How it stands with something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Fine,
    /// It works, and may be not what the person wants.
    Warning,
    Failed,
}

impl State {
    fn name(self) -> &'static str {
        match self {
            State::Fine => "ok",
            State::Warning => "warn",
            State::Failed => "fail",
        }
    }
}

/// What a look at something gave.
struct Check {
    /// What was looked at.
    what: &'static str,
    state: State,
    found: String,
    /// What to do about it.
    advice: Option<String>,
}

/// Everything that was looked at, in order.
#[derive(Default)]
struct Report(Vec<Check>);

impl Report {
    fn fine(&mut self, what: &'static str, found: impl Into<String>) {
        self.add(what, State::Fine, found.into(), None);
    }

    fn warn(&mut self, what: &'static str, found: impl Into<String>, advice: impl Into<String>) {
        self.add(what, State::Warning, found.into(), Some(advice.into()));
    }

    fn fail(&mut self, what: &'static str, found: impl Into<String>, advice: impl Into<String>) {
        self.add(what, State::Failed, found.into(), Some(advice.into()));
    }

    fn add(&mut self, what: &'static str, state: State, found: String, advice: Option<String>) {
        self.0.push(Check {
            what,
            state,
            found,
            advice,
        });
    }

    fn failed(&self) -> usize {
        self.0
            .iter()
            .filter(|check| check.state == State::Failed)
            .count()
    }
}

pub(super) fn run(options: &DoctorOptions) -> Result<()> {
    // The lock is made where there is none yet.
    restrict_new_files();
    let mut report = Report::default();
    program::look(&mut report);
    let place = options.common.data_dir();
    match &place {
        Ok((directory, chosen)) => {
            if place::look(directory, *chosen, options.fix, &mut report) {
                store::look(&options.common, directory, &mut report);
            }
        }
        Err(error) => report.fail(
            "data directory",
            format!("{error:#}"),
            "name one that can be used",
        ),
    }
    program::look_for_embedder(&options.common, &mut report);
    apps::look(
        place.ok().map(|(directory, _)| directory).as_deref(),
        &mut report,
    );
    let mut screen = Screen::new();
    match options.json {
        true => screen.json(&document(&report))?,
        false => print(&report, &mut screen)?,
    }
    screen.finish()?;
    match report.failed() {
        0 => Ok(()),
        1 => bail!("something is wrong"),
        failed => bail!("{failed} things are wrong"),
    }
}

fn document(report: &Report) -> Value {
    let check = |check: &Check| {
        json!({
            "check": check.what,
            "state": check.state.name(),
            "found": check.found,
            "advice": check.advice,
        })
    };
    json!({
        "fine": report.failed() == 0,
        "checks": report.0.iter().map(check).collect::<Vec<_>>(),
    })
}

fn print(report: &Report, screen: &mut Screen) -> Result<()> {
    for check in &report.0 {
        let style = match check.state {
            State::Fine => GREEN,
            State::Warning => YELLOW,
            State::Failed => RED,
        };
        // Padded before it is coloured: escapes have a width for nobody but `format!`.
        let state = screen.styled(style, &format!("{:<4}", check.state.name()));
        screen.line(&format!(
            "{state}  {:<15} {}",
            check.what,
            one_line(&check.found)
        ))?;
        if let Some(advice) = &check.advice {
            screen.line(&format!("{:<21} -> {}", "", one_line(advice)))?;
        }
    }
    Ok(())
}

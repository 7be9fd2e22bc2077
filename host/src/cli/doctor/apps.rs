//! What apps were told of us.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::Report;
use crate::cli::connect::apps::{App, Surroundings};
use crate::cli::connect::document::{self, NAME};
use crate::cli::options::{DATA_DIR_VARIABLE, platform_dir};

/// Looks at the settings of each app. `ours` is the memory that is looked at.
pub(super) fn look(ours: Option<&Path>, report: &mut Report) {
    match Surroundings::present() {
        Ok(surroundings) => {
            for app in App::ALL {
                look_at(app, &app.user_file(&surroundings), ours, report);
            }
        }
        Err(error) => report.warn("apps", error.to_string(), "set HOME"),
    }
}

fn look_at(app: App, path: &Path, ours: Option<&Path>, report: &mut Report) {
    let (what, place) = (app.title(), path.display());
    let connect = format!("personal-memory connect {}", name(app));
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return report.fine(what, format!("has no settings ({place})"));
        }
        Err(error) => {
            return report.warn(
                what,
                format!("{place} can't be read: {error}"),
                "see to it that you may",
            );
        }
    };
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let entry = match document::entry(text, app) {
        Ok(Some(entry)) => entry,
        Ok(None) => return report.fine(what, format!("not connected; `{connect}` does it")),
        Err(problem) => {
            return report.warn(
                what,
                format!("{place}{problem}"),
                "the app can't read it either",
            );
        }
    };
    let Some((command, args)) = document::command_of(&entry) else {
        return report.fine(
            what,
            format!("its entry `{NAME}` starts no program ({place})"),
        );
    };
    if Path::new(command).is_absolute() && !Path::new(command).is_file() {
        let found = format!("starts {command}, which is not there ({place})");
        return report.fail(what, found, connect);
    }
    let variable = entry["env"][DATA_DIR_VARIABLE].as_str();
    let theirs = match document::data_dir_of(&args).or(variable) {
        Some(path) => Some(PathBuf::from(path)),
        None => platform_dir().ok(),
    };
    match (theirs, ours) {
        (Some(theirs), Some(ours)) if !is_same(&theirs, ours) => report.warn(
            what,
            format!("connected to another memory: {}", theirs.display()),
            format!(
                "if it shall be this one: {connect} --data-dir '{}'",
                ours.display()
            ),
        ),
        _ => report.fine(what, format!("connected, starts {command}")),
    }
}

fn is_same(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    real(one) == real(other)
}

/// As it is named on the command line.
fn name(app: App) -> String {
    use clap::ValueEnum as _;

    let value = app.to_possible_value();
    value
        .map(|value| value.get_name().to_owned())
        .unwrap_or_default()
}

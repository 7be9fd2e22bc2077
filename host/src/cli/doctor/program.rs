//! The program itself, and the embedding provider.

use super::Report;
use crate::cli::options::Common;
use crate::embedder::Purpose;
use crate::sandbox::{MEMORY, Origin, Sandbox, SandboxConfig};
use crate::version::Version;

pub(super) fn look(report: &mut Report) {
    let version = env!("CARGO_PKG_VERSION");
    match Sandbox::new(&MEMORY, SandboxConfig::default()) {
        Ok(sandbox) => {
            let component = &sandbox.profile().description.version;
            let found = format!("version {version}, its component {component}");
            match sandbox.origin() {
                Origin::Precompiled => report.fine("program", found),
                Origin::Compiled => report.warn(
                    "program",
                    format!("{found}, compiled at each start"),
                    "it was built for other processors; build it on this machine and each start takes a second less",
                ),
            }
        }
        Err(error) => report.fail("program", format!("{error:#}"), "build or install it anew"),
    }
    let revisions: Vec<&str> = Version::ALL
        .iter()
        .map(|version| version.as_str())
        .collect();
    report.fine("protocol", revisions.join(", "));
}

pub(super) fn look_for_embedder(common: &Common, report: &mut Report) {
    match common.embedder() {
        Ok(None) => report.fine("embedder", "none configured; the built-in vectors are used"),
        Ok(Some(embedder)) => match embedder.embed(&["hello".to_owned()], Purpose::Query) {
            Ok(vectors) => {
                let dimensions = vectors.first().map_or(0, Vec::len);
                report.fine(
                    "embedder",
                    format!("{} answers, {dimensions} dimensions", embedder.id()),
                );
            }
            Err(error) => report.fail(
                "embedder",
                error.to_string(),
                "start the provider, or leave --embedder out; search works without it meanwhile",
            ),
        },
        Err(error) => report.fail("embedder", format!("{error:#}"), "correct --embedder"),
    }
}

//! Where the memory is: the directory, who can read it, what kind of disk it is on.

use std::fs;
use std::io;
use std::path::Path;

use super::Report;
use crate::cli::options::Chosen;
use crate::cli::privacy;

/// Whether there is a directory that can be looked into.
pub(super) fn look(directory: &Path, chosen: Chosen, fix: bool, report: &mut Report) -> bool {
    const WHAT: &str = "data directory";
    let named = format!("{} ({chosen})", directory.display());
    match fs::metadata(directory) {
        Ok(found) if found.is_dir() => report.fine(WHAT, named),
        Ok(_) => {
            report.fail(
                WHAT,
                format!("{named} is not a directory"),
                "name another place",
            );
            return false;
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            report.fine(
                WHAT,
                format!("{named} is not there yet; it is made when it is first used"),
            );
            return false;
        }
        Err(error) => {
            let advice = "see to it that you may read it";
            report.fail(WHAT, format!("{named} can't be looked at: {error}"), advice);
            return false;
        }
    }
    permissions(directory, fix, report);
    disk(directory, report);
    true
}

fn permissions(directory: &Path, fix: bool, report: &mut Report) {
    const WHAT: &str = "permissions";
    let loose = match privacy::loose(directory) {
        Ok(loose) => loose,
        Err(error) => {
            return report.fail(WHAT, error.to_string(), "see to it that you may read it");
        }
    };
    if loose.is_empty() {
        return report.fine(WHAT, "nobody else can read it");
    }
    for loose in loose {
        let path = loose.path.display();
        let found = format!("{path} can be read by others (mode {:o})", loose.mode);
        let advice = format!("chmod {:o} '{path}', or --fix", loose.wanted);
        match fix.then(|| privacy::close(&loose)) {
            None => report.warn(WHAT, found, advice),
            Some(Ok(())) => report.fine(
                WHAT,
                format!("{path} could be read by others; it can't any more"),
            ),
            Some(Err(error)) => report.fail(
                WHAT,
                format!("{found} and can't be closed: {error}"),
                advice,
            ),
        }
    }
}

fn disk(directory: &Path, report: &mut Report) {
    const WHAT: &str = "disk";
    if let Some(service) = synchronised_by(directory) {
        return report.warn(
            WHAT,
            format!("the directory looks like one that {service} synchronises"),
            "use it on one machine at a time, or keep the memory elsewhere with --data-dir",
        );
    }
    match network_file_system(directory) {
        Some(name) => report.warn(
            WHAT,
            format!("the directory is on {name}"),
            "locks and syncs may not hold there; keep the memory on a disk of this machine with --data-dir",
        ),
        None => report.fine(WHAT, "nothing says that it is not a disk of this machine"),
    }
}

/// Names of directories that services synchronise, by their beginnings.
const SYNCHRONISED: [(&str, &str); 10] = [
    ("Dropbox", "Dropbox"),
    ("OneDrive", "OneDrive"),
    ("Google Drive", "Google Drive"),
    ("GoogleDrive", "Google Drive"),
    ("iCloud", "iCloud"),
    ("Mobile Documents", "iCloud"),
    ("CloudStorage", "a cloud service"),
    ("Nextcloud", "Nextcloud"),
    ("ownCloud", "ownCloud"),
    ("Syncthing", "Syncthing"),
];

/// What Syncthing leaves in a directory that it synchronises.
const SYNCTHING_MARK: &str = ".stfolder";

fn synchronised_by(directory: &Path) -> Option<&'static str> {
    let names = directory.iter().filter_map(|name| name.to_str());
    let service = names
        .flat_map(|name| {
            SYNCHRONISED
                .iter()
                .filter(move |(begin, _)| name.starts_with(begin))
        })
        .map(|(_, service)| *service)
        .next();
    let is_marked = || {
        directory
            .ancestors()
            .any(|ancestor| ancestor.join(SYNCTHING_MARK).exists())
    };
    service.or_else(|| is_marked().then_some("Syncthing"))
}

/// File systems on other machines, by their magic numbers (`statfs(2)` and Linux's `magic.h`).
#[cfg(target_os = "linux")]
fn network_file_system(directory: &Path) -> Option<&'static str> {
    const NETWORK: [(u32, &str); 8] = [
        (0x6969, "NFS"),
        (0x517b, "SMB"),
        (0xfe53_4d42, "SMB"),
        (0xff53_4d42, "SMB (CIFS)"),
        (
            0x6573_5546,
            "FUSE, which is often another machine's (sshfs, rclone)",
        ),
        (0x0102_1997, "9P, another machine's"),
        (0x5346_414f, "AFS"),
        (0x00c3_6400, "Ceph"),
    ];
    let found = rustix::fs::statfs(directory).ok()?;
    let found = found.f_type as u32;
    let known = NETWORK.iter().find(|(magic, _)| *magic == found);
    known.map(|(_, name)| *name)
}

/// Elsewhere it is not told.
#[cfg(not(target_os = "linux"))]
fn network_file_system(_: &Path) -> Option<&'static str> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn synchronised_folders_are_known_by_their_names() {
        for (path, service) in [
            ("/home/ada/Dropbox/memory", Some("Dropbox")),
            ("/Users/ada/Library/CloudStorage/x", Some("a cloud service")),
            ("/Users/ada/OneDrive - Acme/memory", Some("OneDrive")),
            ("/home/ada/.local/share/personal-memory", None),
            ("/home/ada/my-dropbox-notes", None),
        ] {
            assert_eq!(synchronised_by(Path::new(path)), service, "{path}");
        }
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join(SYNCTHING_MARK)).unwrap();
        assert_eq!(
            synchronised_by(&folder.path().join("memory")),
            Some("Syncthing")
        );
    }
}

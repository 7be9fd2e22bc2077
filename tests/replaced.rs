//! Data directories that are deleted, restored from a backup or exchanged under a running server: what lies there is what
//! counts, nothing is mixed, and it is said when there is nothing.

use std::fs;
use std::path::Path;

use serde_json::json;

use crate::harness::{Builder, JOURNAL, Server};

fn start(data: &Path) -> Server {
    Builder::memory_in(data).start()
}

#[test]
fn a_directory_that_is_deleted_under_a_running_server_is_said_and_used_when_it_is_back() {
    let parent = tempfile::tempdir().unwrap();
    let data = parent.path().join("data");
    let mut server = start(&data);
    server.save("before");
    fs::remove_dir_all(&data).unwrap();
    for (tool, arguments) in [
        ("memory_save", json!({"text": "meanwhile"})),
        ("memory_search", json!({"query": "before"})),
    ] {
        let refused = server.refusal(tool, &arguments);
        assert!(
            refused.contains("data") && refused.to_lowercase().contains("no such file"),
            "{tool}: {refused}"
        );
    }
    assert!(!data.exists(), "it is not made again behind anybody's back");
    fs::create_dir(&data).unwrap();
    assert_eq!(server.save("after"), "m0");
    server.end_in_order();
}

/// The journal in `data` is replaced by another one, as a backup program or a cloud folder does.
fn replace_journal(data: &Path, journal: &[u8]) {
    let temporary = data.join("restored");
    fs::write(&temporary, journal).unwrap();
    fs::rename(temporary, data.join(JOURNAL)).unwrap();
}

#[test]
fn an_older_backup_that_is_restored_under_a_running_server_is_what_counts() {
    let data = tempfile::tempdir().unwrap();
    let mut server = start(data.path());
    server.save("in the backup");
    let backup = fs::read(data.path().join(JOURNAL)).unwrap();
    let late = server.save("later than the backup");
    replace_journal(data.path(), &backup);

    assert_eq!(server.read_entry("m0").unwrap(), "in the backup");
    assert_eq!(server.read_entry(&late), None);
    let found = server.call_text("memory_search", &json!({"query": "later"}));
    assert!(!found.contains("later than the backup"), "{found}");
    let id = server.save("after the restore");
    assert_eq!(server.read_entry(&id).unwrap(), "after the restore");
    server.end_in_order();
    let mut server = start(data.path());
    assert_eq!(server.ids(), ["m0".to_owned(), id].into());
    assert_eq!(server.end_in_order(), "", "there is no damage");
}

/// The same bytes, but cut or written over in place, as `cp` does it.
#[test]
fn a_backup_that_is_copied_over_the_journal_in_place_is_what_counts() {
    let data = tempfile::tempdir().unwrap();
    let mut server = start(data.path());
    server.save("in the backup");
    let backup = fs::read(data.path().join(JOURNAL)).unwrap();
    server.save("later than the backup");
    fs::write(data.path().join(JOURNAL), &backup).unwrap();
    assert_eq!(server.ids(), ["m0".to_owned()].into());
    let id = server.save("after the restore");
    server.end_in_order();
    let mut server = start(data.path());
    assert_eq!(server.ids(), ["m0".to_owned(), id].into());
    assert_eq!(server.end_in_order(), "", "there is no damage");
}

#[test]
fn a_foreign_store_that_is_put_under_a_running_server_is_served_and_nothing_is_mixed() {
    let (ours, theirs) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut other = start(theirs.path());
    for text in ["foreign one", "foreign two", "foreign three"] {
        other.save(text);
    }
    other.end_in_order();
    let mut server = start(ours.path());
    server.save("our own");
    let foreign = fs::read(theirs.path().join(JOURNAL)).unwrap();
    replace_journal(ours.path(), &foreign);
    assert_eq!(server.ids().len(), 3);
    assert_eq!(server.read_entry("m0").unwrap(), "foreign one");
    assert_eq!(server.save("our own"), "m3", "it is not there any more");
    server.end_in_order();
    let mut server = start(ours.path());
    assert_eq!(server.ids().len(), 4);
    assert_eq!(server.end_in_order(), "", "there is no damage");
}

/// Two machines with copies of one store go apart, and a cloud folder puts one machine's over the other's.
#[test]
fn copies_that_went_apart_are_never_mixed() {
    let (ours, theirs) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut here = start(ours.path());
    here.save("before they went apart");
    fs::copy(ours.path().join(JOURNAL), theirs.path().join(JOURNAL)).unwrap();
    let mut there = start(theirs.path());
    // As long as each other, so that no size tells them apart.
    here.save("said over here");
    there.save("said over hair");
    there.end_in_order();

    let copy = fs::read(theirs.path().join(JOURNAL)).unwrap();
    replace_journal(ours.path(), &copy);
    assert_eq!(here.read_entry("m1").unwrap(), "said over hair");
    assert_eq!(here.save("afterwards"), "m2");
    here.end_in_order();
    let mut server = start(ours.path());
    assert_eq!(server.ids().len(), 3);
    assert_eq!(server.end_in_order(), "", "there is no damage");
}

//! What the memory asks of the file system, seen at the WASI boundary: the line is written, then made durable, then
//! acknowledged; and what could not be made durable is not acknowledged.

use std::fs;

use serde_json::json;

use crate::harness::{Event, Fault, Observed};

/// The file that `text` was written to, and the events after that.
fn written<'a>(events: &'a [Event], text: &str) -> (u32, &'a [Event]) {
    let at = events
        .iter()
        .position(|event| matches!(event, Event::Write(_, bytes) if bytes.contains(text)));
    let at = at.unwrap_or_else(|| panic!("{text} was not written: {events:?}"));
    let Event::Write(stream, bytes) = &events[at] else {
        unreachable!()
    };
    assert!(
        bytes.starts_with('{') && bytes.ends_with('\n') && bytes.matches('\n').count() == 1,
        "one line in one write: {bytes:?}"
    );
    let file = events[..at].iter().rev().find_map(|event| match event {
        Event::Append(file, appending) if appending == stream => Some(*file),
        _ => None,
    });
    (
        file.unwrap_or_else(|| panic!("{text} was not appended: {events:?}")),
        &events[at + 1..],
    )
}

#[test]
fn a_save_is_written_and_made_durable_before_it_is_acknowledged() {
    let data = tempfile::tempdir().unwrap();
    let mut observed = Observed::start(data.path());
    assert_eq!(observed.events(), [], "nothing is touched at start");

    assert_eq!(observed.save("the first"), ("Saved m0.".to_owned(), false));
    let events = observed.events();
    // The file is new: its header is durable first, and so is its name in the directory.
    let (header, after) = written(&events, r#""journal":{"#);
    assert_eq!(after[0], Event::Sync(header), "{events:?}");
    let directory = after[1].clone();
    assert!(
        matches!(directory, Event::Sync(other) if other != header),
        "the directory: {events:?}"
    );
    let (file, after) = written(&events, "the first");
    assert_eq!(
        after,
        [Event::Sync(file)],
        "the last thing before the answer"
    );

    for number in 1..4 {
        let text = format!("number {number}");
        assert_eq!(observed.save(&text), (format!("Saved m{number}."), false));
        let events = observed.events();
        let (file, after) = written(&events, &text);
        assert_eq!(after, [Event::Sync(file)]);
    }
}

/// A runtime takes so much with one write (64 kB); a batch may be longer, and is durable all at once.
#[test]
fn a_batch_of_more_than_one_write_takes_is_stored_whole() {
    let data = tempfile::tempdir().unwrap();
    let mut observed = Observed::start(data.path());
    observed.save("before");
    observed.events();
    let texts: Vec<String> = (0..300)
        .map(|number| format!("{number}: {}", "x".repeat(1000)))
        .collect();
    assert_eq!(observed.import(&texts), 300);
    let syncs = |event: &&Event| matches!(event, Event::Sync(_));
    assert_eq!(observed.events().iter().filter(syncs).count(), 1);

    let mut later = Observed::start(data.path());
    for text in [&texts[0], &texts[299]] {
        let (answer, is_error) = later.save(text);
        assert!(!is_error && answer.starts_with("Already"), "{answer}");
    }
}

#[test]
fn a_search_waits_for_no_disk() {
    let data = tempfile::tempdir().unwrap();
    let mut observed = Observed::start(data.path());
    observed.save("something");
    observed.events();
    observed.call("memory_search", &json!({"query": "something"}));
    let events = observed.events();
    assert!(
        !events.iter().any(|event| matches!(event, Event::Sync(_))),
        "{events:?}"
    );
}

#[test]
fn what_could_not_be_made_durable_is_not_acknowledged_and_nothing_is_written_after_it() {
    let data = tempfile::tempdir().unwrap();
    let mut observed = Observed::start(data.path());
    observed.save("before");
    observed.set_fault(Fault::Sync);
    let (text, is_error) = observed.save("not durable");
    assert!(is_error, "{text}");
    assert!(text.contains("nothing was stored"), "{text}");

    // The disk works again, and still nothing may be written: nobody knows what became of the line.
    observed.set_fault(Fault::None);
    observed.events();
    for text in ["not durable", "another", "before"] {
        let (refusal, is_error) = observed.save(text);
        assert!(
            is_error && refusal.contains("started again"),
            "{text}: {refusal}"
        );
    }
    assert!(
        !observed
            .events()
            .iter()
            .any(|event| matches!(event, Event::Write(_, bytes) if bytes.contains("save")))
    );
    // Reading goes on.
    assert_eq!(
        observed.call("memory_search", &json!({"query": "before"})),
        ("[m0] (episodic) before".to_owned(), false)
    );
    drop(observed);

    let mut restarted = Observed::start(data.path());
    let (found, _) = restarted.call("memory_search", &json!({"query": "durable"}));
    assert_eq!(
        found, "No matching memories.",
        "what was refused is not there"
    );
    let (text, is_error) = restarted.save("after");
    assert!(!is_error, "{text}");
    assert_ne!(text, "Saved m0.");
}

#[test]
fn a_write_that_fails_leaves_nothing_behind_and_can_be_repeated() {
    let data = tempfile::tempdir().unwrap();
    let mut observed = Observed::start(data.path());
    observed.save("before");
    let journal = data.path().join("journal.jsonl");
    let size = fs::metadata(&journal).unwrap().len();
    observed.set_fault(Fault::Append);
    let (text, is_error) = observed.save("refused");
    assert!(is_error && text.contains("nothing was stored"), "{text}");
    observed.set_fault(Fault::None);
    assert_eq!(fs::metadata(&journal).unwrap().len(), size);
    assert_eq!(observed.save("refused"), ("Saved m1.".to_owned(), false));
}

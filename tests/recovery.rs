//! Killed processes and damaged files: what was acknowledged is there, and what is damaged is said.

use std::collections::HashMap;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::{Builder, JOURNAL, Server, crc32, tool_call, wait_until};

const SET_ASIDE: &str = "set-aside.jsonl";

fn start(data: &Path) -> Server {
    Builder::memory_in(data).start()
}

/// The text of each memory, by id.
fn all(server: &mut Server) -> HashMap<String, String> {
    let mut found = HashMap::new();
    let mut params = json!({});
    loop {
        let result = server.request("resources/list", &params)["result"].clone();
        for resource in result["resources"].as_array().unwrap() {
            let uri = resource["uri"].as_str().unwrap();
            let contents = server.request("resources/read", &json!({"uri": uri}))["result"]["contents"][0]["text"].clone();
            let id = uri.rsplit('/').next().unwrap().to_owned();
            assert!(
                found
                    .insert(id, contents.as_str().unwrap().to_owned())
                    .is_none(),
                "{uri} twice"
            );
        }
        match result.get("nextCursor") {
            Some(cursor) => params = json!({"cursor": cursor}),
            None => return found,
        }
    }
}

/// The sizes of the memories that are listed, by id: enough to tell whether one is there, without reading each.
fn listed(server: &mut Server) -> HashMap<String, u64> {
    let mut found = HashMap::new();
    let mut params = json!({});
    loop {
        let result = server.request("resources/list", &params)["result"].clone();
        for resource in result["resources"].as_array().unwrap() {
            let id = resource["uri"]
                .as_str()
                .unwrap()
                .rsplit('/')
                .next()
                .unwrap();
            let size = resource["size"].as_u64().unwrap();
            assert_eq!(found.insert(id.to_owned(), size), None, "{id} twice");
        }
        match result.get("nextCursor") {
            Some(cursor) => params = json!({"cursor": cursor}),
            None => return found,
        }
    }
}

/// What was acknowledged: texts by id. An id that was given out before must not come again.
fn acknowledge(acknowledged: &mut HashMap<String, String>, reply: &Value) {
    let id = reply["result"]["structuredContent"]["id"].as_str();
    let id = id.unwrap_or_else(|| panic!("{reply}")).to_owned();
    let text = reply["id"].as_str().unwrap().to_owned();
    assert_eq!(acknowledged.insert(id, text), None, "{reply}");
}

#[test]
fn what_was_acknowledged_survives_a_kill() {
    const ROUNDS: usize = 50;
    const SAVES: usize = 40;
    let data = tempfile::tempdir().unwrap();
    let mut acknowledged: HashMap<String, String> = HashMap::new();
    for round in 0..ROUNDS {
        let mut server = start(data.path());
        let found = listed(&mut server);
        for (id, text) in &acknowledged {
            assert_eq!(found.get(id), Some(&(text.len() as u64)), "{id}, {round}");
        }
        // Many are on their way; the kill comes after a few answers, so in the middle of one.
        for number in 0..SAVES {
            let id = format!("round {round}, {}", "x".repeat(number));
            server.send(&tool_call(id.clone(), "memory_save", &json!({"text": id})));
        }
        for _ in 0..=round % SAVES {
            acknowledge(&mut acknowledged, &server.read());
        }
        server.kill();
        // Answers that were sent and not read yet count as well.
        while let Some(line) = server.read_line() {
            match serde_json::from_slice::<Value>(&line) {
                Ok(reply) => acknowledge(&mut acknowledged, &reply),
                Err(_) => break,
            }
        }
    }
    let mut server = start(data.path());
    let found = all(&mut server);
    for (id, text) in &acknowledged {
        assert_eq!(found.get(id), Some(text), "{id} was acknowledged");
    }
    let saved = server.call("memory_save", &json!({"text": "after all that"}));
    assert!(!found.contains_key(saved["structuredContent"]["id"].as_str().unwrap()));
    server.end_in_order();
}

/// The client sees no answer, and says it again to another process. The kill comes at any point: before the line was
/// written, in the middle of it, or after it.
#[test]
fn a_save_that_is_repeated_after_a_kill_is_one_memory() {
    const ROUNDS: usize = 30;
    let data = tempfile::tempdir().unwrap();
    let mut ids = HashMap::new();
    for round in 0..ROUNDS {
        let text = format!("said twice, round {round}");
        let save = json!({"text": text});
        let mut server = start(data.path());
        // Open, so that little else is left to do.
        server.call("memory_search", &json!({"query": "twice"}));
        server.send(&tool_call("lost", "memory_save", &save));
        thread::sleep(Duration::from_micros(100) * (round % 10) as u32);
        server.kill();

        let mut server = start(data.path());
        let saved = server.call("memory_save", &save)["structuredContent"].clone();
        let id = saved["id"].as_str().unwrap().to_owned();
        assert_eq!(ids.insert(id, text), None, "{saved}");
    }
    let mut server = start(data.path());
    assert_eq!(all(&mut server), ids);
    server.end_in_order();
}

/// As above, where the line was written for certain.
#[test]
fn a_save_that_was_written_and_not_answered_is_found_when_it_is_repeated() {
    let data = tempfile::tempdir().unwrap();
    let mut server = Builder::memory_in(data.path()).unread().start();
    let save = json!({"text": "nobody heard the answer"});
    server.send(&tool_call("lost", "memory_save", &save));
    wait_until("it is written", || {
        let journal = fs::read_to_string(data.path().join(JOURNAL));
        journal.is_ok_and(|journal| journal.contains("the answer\"") && journal.ends_with('\n'))
    });
    server.kill();
    let mut server = start(data.path());
    let saved = server.call("memory_save", &save)["structuredContent"].clone();
    assert_eq!(
        (&saved["id"], &saved["created"]),
        (&json!("m0"), &json!(false))
    );
    server.end_in_order();
}

#[test]
fn an_interrupted_write_is_cut_off_and_kept_aside() {
    let data = tempfile::tempdir().unwrap();
    let mut server = start(data.path());
    server.call("memory_save", &json!({"text": "whole"}));
    server.end_in_order();
    let torn = r#"{"crc":"00000000","prev":"00000000","save":{"id":"m1","text":"to"#;
    OpenOptions::new()
        .append(true)
        .open(data.path().join(JOURNAL))
        .unwrap()
        .write_all(torn.as_bytes())
        .unwrap();

    let mut server = start(data.path());
    assert_eq!(
        server.call_text("memory_search", &json!({"query": "whole"})),
        "[m0] (episodic) whole"
    );
    let saved = server.call_text("memory_save", &json!({"text": "next"}));
    let stderr = server.end_in_order();
    assert!(stderr.contains("interrupted write"), "{stderr}");
    assert!(
        fs::read_to_string(data.path().join(SET_ASIDE))
            .unwrap()
            .contains("m1")
    );

    let mut server = start(data.path());
    assert_eq!(all(&mut server).len(), 2, "{saved}");
    assert_eq!(server.end_in_order(), "", "said once");
}

#[test]
fn a_damaged_line_is_set_aside_and_all_else_is_served() {
    let data = tempfile::tempdir().unwrap();
    let mut server = start(data.path());
    for text in ["the first", "the second", "the third"] {
        server.call("memory_save", &json!({"text": text}));
    }
    server.end_in_order();
    let journal = data.path().join(JOURNAL);
    let damaged = fs::read_to_string(&journal)
        .unwrap()
        .replace("the second", "the sec\u{7f}nd");
    fs::write(&journal, &damaged).unwrap();

    let mut server = start(data.path());
    let found = all(&mut server);
    assert_eq!(found.len(), 2);
    assert_eq!(
        (found["m0"].as_str(), found["m2"].as_str()),
        ("the first", "the third")
    );
    assert_eq!(
        server.call_text("memory_save", &json!({"text": "the fourth"})),
        "Saved m3.",
        "m1 is not given out again"
    );
    let stderr = server.end_in_order();
    assert!(stderr.contains("1 damaged line"), "{stderr}");
    assert!(
        fs::read_to_string(data.path().join(SET_ASIDE))
            .unwrap()
            .contains("the sec")
    );
    assert!(
        fs::read_to_string(&journal).unwrap().starts_with(&damaged),
        "what is damaged is not thrown away"
    );
}

#[test]
fn a_journal_that_is_no_journal_is_not_destroyed() {
    let data = tempfile::tempdir().unwrap();
    let garbage = b"\x00\xff not a journal\n{}\n\n[1]\n";
    fs::write(data.path().join(JOURNAL), garbage).unwrap();
    let mut server = start(data.path());
    assert_eq!(all(&mut server).len(), 0);
    server.call("memory_save", &json!({"text": "a new beginning"}));
    let stderr = server.end_in_order();
    assert!(stderr.contains("3 damaged line"), "{stderr}");
    let journal = fs::read(data.path().join(JOURNAL)).unwrap();
    assert!(journal.starts_with(garbage), "{journal:?}");
    let mut server = start(data.path());
    let found = all(&mut server);
    assert_eq!(found.values().collect::<Vec<_>>(), ["a new beginning"]);
    // Nobody knows which ids the lost header had given out.
    assert!(!found.contains_key("m0"), "{found:?}");
}

#[test]
fn a_journal_of_a_newer_version_is_left_alone() {
    let data = tempfile::tempdir().unwrap();
    let mut server = start(data.path());
    server.call("memory_save", &json!({"text": "old"}));
    server.end_in_order();
    let journal = data.path().join(JOURNAL);
    let text = fs::read_to_string(&journal).unwrap();
    // The header of a later format, with the checksum that it needs.
    let header = text.lines().next().unwrap();
    let covered = header
        .split_once(',')
        .unwrap()
        .1
        .replace(r#""format":1"#, r#""format":2"#);
    let newer = format!(
        "{{\"crc\":\"{:08x}\",{covered}\n",
        crc32(covered.as_bytes())
    );
    fs::write(&journal, &newer).unwrap();

    let mut server = start(data.path());
    for (tool, arguments) in [
        ("memory_save", json!({"text": "x"})),
        ("memory_search", json!({"query": "x"})),
    ] {
        let result = server.call(tool, &arguments);
        assert_eq!(result["isError"], true, "{result}");
        assert!(
            result["content"][0]["text"]
                .as_str()
                .unwrap()
                .contains("format 2"),
            "{result}"
        );
    }
    server.end_in_order();
    assert_eq!(fs::read_to_string(&journal).unwrap(), newer);
}

#[test]
fn the_journal_is_what_the_format_says() {
    let data = tempfile::tempdir().unwrap();
    let mut server = start(data.path());
    server.call(
        "memory_save",
        &json!({"text": "text with \"quotes\"\nand é", "tags": ["a"]}),
    );
    server.call("memory_search", &json!({"query": "quotes"}));
    server.call(
        "memory_save",
        &json!({"text": "text with \"quotes\"\nand é", "tags": ["b"], "importance": 9.5}),
    );
    server.end_in_order();
    let text = fs::read_to_string(data.path().join(JOURNAL)).unwrap();
    let mut previous = "00000000".to_owned();
    for line in text.lines() {
        let parsed: Value = serde_json::from_str(line).unwrap();
        let covered = line.split_once(',').unwrap().1;
        assert_eq!(
            parsed["crc"],
            format!("{:08x}", crc32(covered.as_bytes())),
            "{line}"
        );
        assert_eq!(parsed["prev"], previous.as_str(), "{line}");
        previous = parsed["crc"].as_str().unwrap().to_owned();
    }
    assert!(text.ends_with('\n'));
    let events: Vec<String> = text
        .lines()
        .map(|line| {
            let parsed: Value = serde_json::from_str(line).unwrap();
            parsed.as_object().unwrap().keys().nth(2).unwrap().clone()
        })
        .collect();
    assert_eq!(events[0], "journal");
    assert_eq!(events[1], "save");
    assert_eq!(events.last().unwrap(), "update");
}

//! Memories in JSON: one object a line, or one document.

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::{Candidate, graph};
use crate::convert::Memory;

/// Members of a document that hold the memories, or what memories are made of.
const LISTS: [&str; 3] = ["memories", "entities", "relations"];

/// Reads an object a line, a list, or a document with a list. Lines may be of a knowledge graph.
///
/// # Errors
///
/// Something is not JSON, or no memory; with its line.
pub(super) fn read(text: &str) -> Result<Vec<Candidate>> {
    let mut candidates = Vec::new();
    if let Ok(document) = serde_json::from_str::<Value>(text) {
        for (position, record) in records(document)?.into_iter().enumerate() {
            let read = candidate(record, 1, &mut candidates);
            read.with_context(|| format!("memory {}", position + 1))?;
        }
        return Ok(candidates);
    }
    for (index, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let line_number = index + 1;
        let read = serde_json::from_str(line)
            .map_err(anyhow::Error::from)
            .and_then(|record| candidate(record, line_number, &mut candidates));
        read.with_context(|| format!("line {line_number}"))?;
    }
    Ok(candidates)
}

fn records(document: Value) -> Result<Vec<Value>> {
    match document {
        Value::Array(records) => Ok(records),
        Value::Object(mut object) => {
            let mut found = Vec::new();
            let mut is_list = false;
            for name in LISTS {
                if let Some(Value::Array(records)) = object.get_mut(name).map(Value::take) {
                    is_list = true;
                    found.extend(records.into_iter().map(|record| graph::typed(name, record)));
                }
            }
            match is_list {
                true => Ok(found),
                false => Ok(vec![Value::Object(object)]),
            }
        }
        other => bail!("it is neither an object nor a list: {other}"),
    }
}

fn candidate(record: Value, line: usize, candidates: &mut Vec<Candidate>) -> Result<()> {
    if let Some(memories) = graph::memories(&record)? {
        candidates.extend(
            memories
                .into_iter()
                .map(|memory| Candidate { memory, line }),
        );
        return Ok(());
    }
    let memory: Memory = serde_json::from_value(record).context("it is no memory")?;
    candidates.push(Candidate { memory, line });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<(usize, String)> {
        let candidates = read(text).unwrap().into_iter();
        candidates
            .map(|candidate| (candidate.line, candidate.memory.text))
            .collect()
    }

    #[test]
    fn lines_lists_and_documents_are_read() {
        let expected =
            |places: [usize; 2]| vec![(places[0], "a".to_owned()), (places[1], "b".to_owned())];
        assert_eq!(
            texts("{\"text\":\"a\"}\n\n{\"text\":\"b\"}\n"),
            expected([1, 3])
        );
        assert_eq!(texts(r#"[{"text":"a"},{"text":"b"}]"#), expected([1, 1]));
        assert_eq!(
            texts(r#"{"x": 1, "memories":[{"text":"a"},{"text":"b"}]}"#),
            expected([1, 1])
        );
        assert_eq!(texts(r#"{"text":"a"}"#), [(1, "a".to_owned())]);
        assert_eq!(texts(""), []);
    }

    #[test]
    fn what_is_no_memory_is_told_with_its_place() {
        let told = |text: &str| format!("{:#}", read(text).unwrap_err());
        assert!(told("{\"text\":\"a\"}\n{\"text\":").contains("line 2"));
        assert!(told("{\"text\":\"a\"}\n{\"note\":\"b\"}").contains("line 2"));
        assert!(told(r#"[{"text":"a"},3]"#).contains("memory 2"));
        assert!(told("7").contains('7'));
    }
}

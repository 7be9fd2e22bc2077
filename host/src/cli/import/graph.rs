//! The knowledge graph of `@modelcontextprotocol/server-memory`, as sentences: an observation with the name of what it is
//! about, a relation with both of its ends.

use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::convert::Memory;

/// What stands in the graph is taken to be so.
const KIND: &str = "semantic";

/// A line of the graph.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Node {
    #[serde(rename_all = "camelCase")]
    Entity {
        name: String,
        #[serde(default)]
        entity_type: String,
        #[serde(default)]
        observations: Vec<String>,
    },
    #[serde(rename_all = "camelCase")]
    Relation {
        from: String,
        to: String,
        relation_type: String,
    },
}

/// A record from one of the lists that the server's `read_graph` returns, which lack the type that lines have.
pub(super) fn typed(list: &str, mut record: Value) -> Value {
    let kind = match list {
        "entities" => "entity",
        "relations" => "relation",
        _ => return record,
    };
    if let Some(object) = record.as_object_mut() {
        object.entry("type").or_insert_with(|| json!(kind));
    }
    record
}

/// The memories that a line of the graph becomes; `None` if it is none.
///
/// # Errors
///
/// It is one, and something is missing.
pub(super) fn memories(record: &Value) -> Result<Option<Vec<Memory>>> {
    if !matches!(record["type"].as_str(), Some("entity" | "relation")) {
        return Ok(None);
    }
    let node = Node::deserialize(record).context("it is no part of a knowledge graph")?;
    Ok(Some(match node {
        Node::Entity {
            name,
            entity_type,
            observations,
        } => entity(&name, &entity_type, observations),
        Node::Relation {
            from,
            to,
            relation_type,
        } => vec![fact(format!("{from} {} {to}", words(&relation_type)), None)],
    }))
}

/// An entity of which nothing was observed is remembered for what it is.
fn entity(name: &str, entity_type: &str, observations: Vec<String>) -> Vec<Memory> {
    let tag = Some(entity_type).filter(|tag| !tag.trim().is_empty());
    if observations.is_empty() {
        let text = match tag {
            Some(kind) => format!("{name} ({kind})"),
            None => name.to_owned(),
        };
        return vec![fact(text, tag)];
    }
    let about = |observation: String| match observation.contains(name) {
        true => observation,
        false => format!("{name}: {observation}"),
    };
    observations
        .into_iter()
        .map(|observation| fact(about(observation), tag))
        .collect()
}

fn fact(text: String, tag: Option<&str>) -> Memory {
    Memory {
        text,
        kind: Some(KIND.to_owned()),
        tags: tag.map(str::to_owned).into_iter().collect(),
        ..Memory::default()
    }
}

/// A name such as `works_at` or `worksAt` as words.
fn words(name: &str) -> String {
    let mut words = String::with_capacity(name.len());
    let mut after_lowercase = false;
    for character in name.chars() {
        match character {
            '_' | '-' => words.push(' '),
            _ if character.is_ascii_uppercase() && after_lowercase => {
                words.push(' ');
                words.push(character.to_ascii_lowercase());
            }
            _ => words.push(character),
        }
        after_lowercase = character.is_ascii_lowercase();
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(record: &Value) -> Vec<String> {
        let memories = memories(record).unwrap().unwrap().into_iter();
        memories.map(|memory| memory.text).collect()
    }

    #[test]
    fn observations_and_relations_become_sentences() {
        let entity = json!({"type": "entity", "name": "Ada", "entityType": "person",
            "observations": ["likes chess", "Ada speaks Greek"]});
        assert_eq!(texts(&entity), ["Ada: likes chess", "Ada speaks Greek"]);
        let memory = &memories(&entity).unwrap().unwrap()[0];
        assert_eq!(
            (memory.tags.as_slice(), memory.kind.as_deref()),
            (&["person".to_owned()][..], Some(KIND))
        );
        let relation =
            json!({"type": "relation", "from": "Ada", "to": "Acme", "relationType": "works_at"});
        assert_eq!(texts(&relation), ["Ada works at Acme"]);
        let bare =
            json!({"type": "entity", "name": "Acme", "entityType": "company", "observations": []});
        assert_eq!(texts(&bare), ["Acme (company)"]);
    }

    #[test]
    fn the_lists_of_read_graph_are_read_like_lines() {
        let record = typed(
            "relations",
            json!({"from": "a", "to": "b", "relationType": "isPartOf"}),
        );
        assert_eq!(texts(&record), ["a is part of b"]);
    }

    #[test]
    fn other_records_are_none_of_the_graph_s_and_broken_ones_are_told() {
        assert_eq!(memories(&json!({"text": "x"})).unwrap(), None);
        assert_eq!(memories(&json!(3)).unwrap(), None);
        assert!(memories(&json!({"type": "entity"})).is_err());
        assert!(memories(&json!({"type": "relation", "from": "a"})).is_err());
    }
}

//! Collections with known answers, in the layout of BEIR (Thakur et al. 2021): `corpus.jsonl`, `queries.jsonl` and
//! `qrels/test.tsv` in a directory.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

/// One directory.
pub(super) struct Collection {
    pub(super) documents: Vec<Document>,
    pub(super) queries: Vec<Query>,
    pub(super) judgements: Vec<Judgement>,
}

/// A line of `corpus.jsonl`. Other members are not looked at.
#[derive(Deserialize)]
pub(super) struct Document {
    #[serde(rename = "_id")]
    pub(super) id: String,
    #[serde(default)]
    title: String,
    text: String,
    #[serde(default)]
    pub(super) metadata: Metadata,
}

/// What a memory has and a document of others may have.
#[derive(Default, Deserialize)]
pub(super) struct Metadata {
    pub(super) session: Option<String>,
    pub(super) created_at: Option<String>,
}

/// A line of `queries.jsonl`.
#[derive(Deserialize)]
pub(super) struct Query {
    #[serde(rename = "_id")]
    pub(super) id: String,
    pub(super) text: String,
}

/// A line of `qrels/test.tsv`: how relevant a document is for a query.
pub(super) struct Judgement {
    pub(super) query: String,
    pub(super) document: String,
    pub(super) grade: u32,
}

impl Document {
    /// What is searched: a title is the beginning of its text.
    pub(super) fn full_text(&self) -> String {
        match self.title.is_empty() {
            true => self.text.clone(),
            false => format!("{}\n{}", self.title, self.text),
        }
    }
}

impl Collection {
    /// Reads a directory. Errors name file and line.
    pub(super) fn read(directory: &Path) -> Result<Collection> {
        let judgements = read(&directory.join("qrels/test.tsv"))?;
        Ok(Collection {
            documents: lines(&directory.join("corpus.jsonl"))?,
            queries: lines(&directory.join("queries.jsonl"))?,
            judgements: parse_judgements(&judgements)
                .with_context(|| directory.join("qrels/test.tsv").display().to_string())?,
        })
    }
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("{} can't be read", path.display()))
}

fn lines<T: for<'a> Deserialize<'a>>(path: &Path) -> Result<Vec<T>> {
    let text = read(path)?;
    let lines = text.lines().enumerate();
    let lines = lines.filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(number, line)| {
            serde_json::from_str(line)
                .with_context(|| format!("{}, line {}", path.display(), number + 1))
        })
        .collect()
}

/// Tab-separated, with a line of headings.
fn parse_judgements(text: &str) -> Result<Vec<Judgement>> {
    let mut judgements = Vec::new();
    for (number, line) in text.lines().enumerate().skip(1) {
        let mut columns = line.trim_end().split('\t');
        match (columns.next(), columns.next(), columns.next()) {
            (Some(""), None, _) => {}
            (Some(query), Some(document), Some(grade)) => judgements.push(Judgement {
                query: query.to_owned(),
                document: document.to_owned(),
                grade: grade
                    .parse()
                    .with_context(|| format!("line {}: `{grade}` is no grade", number + 1))?,
            }),
            _ => bail!("line {} has not three columns", number + 1),
        }
    }
    Ok(judgements)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_collection_is_read_and_what_is_wrong_is_named() {
        let directory = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = directory.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write(
            "corpus.jsonl",
            "{\"_id\":\"1\",\"title\":\"A\",\"text\":\"b\",\"metadata\":{\"session\":\"s\"}}\n\n{\"_id\":\"2\",\"text\":\"c\"}\n",
        );
        write(
            "queries.jsonl",
            "{\"_id\":\"q\",\"text\":\"?\",\"metadata\":{\"category\":2}}\n",
        );
        write("qrels/test.tsv", "query-id\tcorpus-id\tscore\nq\t1\t2\n");
        let read = Collection::read(directory.path()).unwrap();
        assert_eq!(read.documents[0].full_text(), "A\nb");
        assert_eq!(read.documents[1].full_text(), "c");
        assert_eq!(read.queries.len(), 1);
        assert_eq!(read.judgements[0].grade, 2);

        let error = |name: &str, text: &str| {
            write(name, text);
            let error = Collection::read(directory.path()).err().unwrap();
            format!("{error:#}")
        };
        assert!(error("qrels/test.tsv", "\nq\t1\n").contains("line 2 has not three"));
        assert!(error("qrels/test.tsv", "\nq\t1\tx\n").contains("`x` is no grade"));
        assert!(error("corpus.jsonl", "{}").contains("corpus.jsonl, line 1"));
    }
}

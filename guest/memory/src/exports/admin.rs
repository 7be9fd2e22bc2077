//! What the owner may do.

use std::cell::RefCell;
use std::time::Instant;

use super::{
    Component, PASSAGES_KEY, embed, given, moment_in, random_id, time_is_up_after, with_backend,
};
use crate::backend::{ChangeError, Memory};
use crate::bindings::exports::personal_memory::mcp::types::{
    EmbeddingPurpose, Pending, Resumption,
};
use crate::bindings::exports::personal_memory::memory::admin;
use crate::evaluate::{Progress, Run};
use crate::security::{RawMemory, echo, parse_id};
use crate::store::event::rfc3339;

/// The built-in vectors alone are in use.
const NO_EMBEDDER: &str = "none";

impl admin::Guest for Component {
    fn export_page(
        cursor: Option<String>,
        limit: u32,
        forgotten: bool,
    ) -> Result<admin::EntryPage, admin::Failure> {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let page = with_backend(|backend| backend.export(cursor.as_deref(), limit, forgotten))?;
        Ok(admin::EntryPage {
            entries: page.memories.into_iter().map(entry).collect(),
            next_cursor: page.next_cursor,
        })
    }

    fn import_batch(
        entries: Vec<admin::NewEntry>,
        dry_run: bool,
    ) -> Result<admin::ImportReport, admin::Failure> {
        let batch: Vec<RawMemory> = entries.into_iter().map(raw).collect();
        let report = with_backend(|backend| backend.import(&batch, dry_run, &moment_in("")))?;
        Ok(admin::ImportReport {
            ids: report.ids.into_iter().map(|id| format!("m{id}")).collect(),
            added: report.added,
            merged: report.merged,
            refused: report.refused,
        })
    }

    fn get(id: String) -> Result<admin::Entry, admin::Failure> {
        let id = number(&id)?;
        Ok(entry(with_backend(|backend| backend.any(id))?))
    }

    fn forget(id: String) -> Result<admin::Entry, admin::Failure> {
        let id = number(&id)?;
        with_backend(|backend| backend.forget(id, &moment_in("")))?;
        Ok(entry(with_backend(|backend| backend.any(id))?))
    }

    fn restore(id: String) -> Result<admin::Entry, admin::Failure> {
        let id = number(&id)?;
        let memory = with_backend(|backend| backend.restore(id, &moment_in("")))?;
        Ok(entry(memory))
    }

    fn purge(ids: Vec<String>) -> Result<u32, admin::Failure> {
        let ids: Vec<u64> = ids.iter().map(|id| number(id)).collect::<Result<_, _>>()?;
        Ok(with_backend(|backend| backend.purge(&ids, &moment_in("")))?)
    }

    fn stats() -> Result<admin::Statistics, admin::Failure> {
        let figures = with_backend(|backend| backend.statistics())?;
        let embedder = with_backend(|backend| backend.embedder().map(str::to_owned));
        Ok(admin::Statistics {
            living: figures.living,
            forgotten: figures.forgotten,
            journal_bytes: figures.journal_bytes,
            dead_bytes: figures.dead_bytes,
            index_bytes: figures.index_bytes,
            damaged_lines: figures.damaged_lines,
            embedder: embedder.unwrap_or_else(|| NO_EMBEDDER.to_owned()),
            format: figures.format,
        })
    }

    fn verify(
        cursor: Option<String>,
        budget_ms: u32,
    ) -> Result<admin::FindingPage, admin::Failure> {
        let mut time_is_up = time_is_up_after(budget_ms);
        let page = with_backend(|backend| backend.verify(cursor.as_deref(), &mut time_is_up))?;
        let finding = |finding: crate::backend::Finding| admin::Finding {
            file: finding.file,
            offset: finding.offset,
            problem: finding.problem,
        };
        Ok(admin::FindingPage {
            findings: page.found.into_iter().map(finding).collect(),
            next_cursor: page.next_cursor,
        })
    }

    fn evaluate(
        request: String,
        resume: Option<Resumption>,
    ) -> Result<admin::Evaluation, admin::Failure> {
        evaluate(&request, resume)
    }
}

/// What a slice of an evaluation works, in milliseconds: well within any deadline, and long beside what a call costs.
const SLICE_MS: f64 = 1000.0;

thread_local! {
    /// The evaluation that is under way, and the state by which its next slice is told from another one's first.
    static RUN: RefCell<Option<(Vec<u8>, Run)>> = const { RefCell::new(None) };
}

/// A slice of an evaluation. One that this instance does not know (the instance may be a new one) starts over.
fn evaluate(
    request: &str,
    resume: Option<Resumption>,
) -> Result<admin::Evaluation, admin::Failure> {
    let state = resume.as_ref().and_then(|resume| resume.state.clone());
    let known = RUN
        .take()
        .filter(|(token, _)| state.as_ref() == Some(token));
    let ((token, mut run), given) = match known {
        Some(known) => (known, given(resume, PASSAGES_KEY)),
        None => {
            let embedder = with_backend(|backend| backend.embedder().map(str::to_owned));
            let run = Run::start(request, embedder.as_deref()).map_err(admin::Failure::Invalid)?;
            ((random_id().to_vec(), run), None)
        }
    };
    let start = Instant::now();
    let mut clock = || start.elapsed().as_secs_f64() * 1000.0;
    let progress = run.advance(given.as_ref(), &mut clock, SLICE_MS);
    let needs = match progress.map_err(admin::Failure::Failed)? {
        Progress::Done(report) => return Ok(admin::Evaluation::Complete(report.to_string())),
        Progress::More => Vec::new(),
        Progress::Needs { texts, are_queries } => {
            let purpose = match are_queries {
                true => EmbeddingPurpose::Query,
                false => EmbeddingPurpose::Passage,
            };
            vec![embed(PASSAGES_KEY, texts, purpose)]
        }
    };
    RUN.set(Some((token.clone(), run)));
    let state = Some(token);
    Ok(admin::Evaluation::Needs(Pending { needs, state }))
}

fn number(id: &str) -> Result<u64, admin::Failure> {
    parse_id(id).ok_or_else(|| {
        admin::Failure::Invalid(format!(
            "id must be m and a number, such as m3, got {}",
            echo(id)
        ))
    })
}

fn entry(memory: Memory) -> admin::Entry {
    admin::Entry {
        id: format!("m{}", memory.id),
        text: memory.text,
        kind: memory.kind.name().to_owned(),
        tags: memory.tags,
        importance: memory.importance,
        created_at: rfc3339(memory.created_at),
        last_accessed: rfc3339(memory.last_accessed),
        session: memory.session.as_deref().map(str::to_owned),
        forgotten_at: memory.forgotten_at.map(rfc3339),
    }
}

fn raw(new: admin::NewEntry) -> RawMemory {
    RawMemory {
        text: new.text,
        kind: new.kind,
        tags: new.tags,
        importance: new.importance,
        created_at: new.created_at,
        last_accessed: new.last_accessed,
        session: new.session,
        forgotten_at: new.forgotten_at,
    }
}

impl From<ChangeError> for admin::Failure {
    fn from(error: ChangeError) -> Self {
        let text = error.to_string();
        match error {
            ChangeError::Store(_) => Self::Failed(text),
            ChangeError::NotFound { .. } => Self::NotFound(text),
            ChangeError::Forgotten { .. }
            | ChangeError::NotForgotten { .. }
            | ChangeError::Invalid(_) => Self::Invalid(text),
        }
    }
}

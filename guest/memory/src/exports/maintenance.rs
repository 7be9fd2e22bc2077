//! Work between calls, in slices.

use super::{Component, PASSAGES_KEY, embed, given, moment_in, time_is_up_after, with_backend};
use crate::bindings::exports::personal_memory::mcp::maintenance;
use crate::bindings::exports::personal_memory::mcp::types::{
    EmbeddingPurpose, Pending, Resumption,
};

impl maintenance::Guest for Component {
    fn open(budget_ms: u32) -> Result<bool, String> {
        let mut time_is_up = time_is_up_after(budget_ms);
        with_backend(|backend| backend.open(&mut time_is_up)).map_err(|error| error.to_string())
    }

    fn step(
        budget_ms: u32,
        resume: Option<Resumption>,
    ) -> Result<maintenance::StepOutcome, String> {
        let mut time_is_up = time_is_up_after(budget_ms);
        let now = moment_in("").now();
        let state = resume.as_ref().and_then(|resume| resume.state.clone());
        let given = given(resume, PASSAGES_KEY);
        with_backend(|backend| {
            if let (Some(state), Some(given)) = (state, given) {
                let taken = backend.take_vectors(&state, &given);
                taken.map_err(|error| error.to_string())?;
            }
            let done = backend.step(now, &mut time_is_up);
            if !done.map_err(|error| error.to_string())? {
                return Ok(maintenance::StepOutcome::More);
            }
            let wanted = backend.wanted_vectors();
            Ok(match wanted.map_err(|error| error.to_string())? {
                None => maintenance::StepOutcome::Done,
                Some(wanted) => maintenance::StepOutcome::Needs(Pending {
                    needs: vec![embed(PASSAGES_KEY, wanted.texts, EmbeddingPurpose::Passage)],
                    state: Some(wanted.state),
                }),
            })
        })
    }
}

//! Work between calls, in slices.

use super::{Component, moment_in, time_is_up_after, with_backend};
use crate::bindings::exports::personal_memory::mcp::maintenance;
use crate::bindings::exports::personal_memory::mcp::types::Resumption;

impl maintenance::Guest for Component {
    fn open(budget_ms: u32) -> Result<bool, String> {
        let mut time_is_up = time_is_up_after(budget_ms);
        with_backend(|backend| backend.open(&mut time_is_up)).map_err(|error| error.to_string())
    }

    fn step(budget_ms: u32, _: Option<Resumption>) -> Result<maintenance::StepOutcome, String> {
        let mut time_is_up = time_is_up_after(budget_ms);
        let now = moment_in("").now();
        match with_backend(|backend| backend.step(now, &mut time_is_up)) {
            Ok(true) => Ok(maintenance::StepOutcome::Done),
            Ok(false) => Ok(maintenance::StepOutcome::More),
            Err(error) => Err(error.to_string()),
        }
    }
}

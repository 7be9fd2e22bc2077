//! `personal-memory show`.

use anyhow::Result;
use clap::Args;
use serde_json::json;

use super::options::Common;
use super::owner::Owner;
use super::terminal::{BOLD, DIM, Screen, YELLOW, one_line, shown};
use crate::convert::Memory;

#[derive(Debug, Args)]
pub(super) struct ShowOptions {
    /// Such as m3. Forgotten ones can be shown as well.
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,

    /// Print the result as JSON.
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    pub(super) common: Common,
}

pub(super) fn run(options: &ShowOptions) -> Result<()> {
    let mut owner = Owner::open(&options.common)?;
    let ids = options.ids.iter();
    let memories = ids
        .map(|id| {
            owner
                .administer(|sandbox| sandbox.entry(id))
                .map(Memory::from)
        })
        .collect::<Result<Vec<_>>>()?;
    let mut screen = Screen::new();
    if options.json {
        screen.json(&json!({"memories": memories}))?;
    } else {
        for (index, memory) in memories.iter().enumerate() {
            if index > 0 {
                screen.line("")?;
            }
            show(&mut screen, memory)?;
        }
    }
    screen.finish()?;
    owner.tidy();
    Ok(())
}

fn show(screen: &mut Screen, memory: &Memory) -> Result<()> {
    let value = |value: &Option<String>| one_line(value.as_deref().unwrap_or_default());
    let importance = memory.importance.unwrap_or_default();
    screen.line(&format!(
        "{}  {}, importance {importance}",
        screen.styled(BOLD, &value(&memory.id)),
        value(&memory.kind)
    ))?;
    let tags = Some(memory.tags.join(", ")).filter(|tags| !tags.is_empty());
    let fields = [
        ("tags", &tags),
        ("saved", &memory.created_at),
        ("used", &memory.last_accessed),
        ("session", &memory.session),
    ];
    for (name, field) in fields.into_iter().filter(|(_, field)| field.is_some()) {
        screen.line(&screen.styled(DIM, &format!("{name:<9} {}", value(field))))?;
    }
    if memory.forgotten_at.is_some() {
        let when = value(&memory.forgotten_at);
        screen.line(&screen.styled(YELLOW, &format!("forgotten {when}")))?;
    }
    screen.line("")?;
    screen.line(&shown(&memory.text))
}

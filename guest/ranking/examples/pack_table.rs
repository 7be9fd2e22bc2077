//! Makes `data/` from the table as it was fitted: `cargo run -p ranking --example pack_table -- SOURCE DESTINATION`.
//!
//! SOURCE has `ridge64.i8`, `ridge64.scale.f32` and `vocab.txt`. See `data/README.md` for both forms. The same source
//! gives the same bytes.

use std::error::Error;
use std::path::Path;
use std::{env, fs};

const DIMENSIONS: usize = 64;
const SLOTS: usize = 1 << 16;
const EMPTY: u16 = u16::MAX;
const CONTINUES: u32 = 1 << 31;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let (Some(source), Some(destination)) = (arguments.next(), arguments.next()) else {
        return Err("usage: pack_table SOURCE DESTINATION".into());
    };
    let (source, destination) = (Path::new(&source), Path::new(&destination));
    let rows = fs::read(source.join("ridge64.i8"))?;
    let scales = fs::read(source.join("ridge64.scale.f32"))?;
    let vocabulary = fs::read_to_string(source.join("vocab.txt"))?;
    let pieces: Vec<&str> = vocabulary.lines().collect();
    if rows.len() != pieces.len() * DIMENSIONS || scales.len() != pieces.len() * 4 {
        return Err(format!("the table doesn't fit {} pieces", pieces.len()).into());
    }

    let kept: Vec<usize> = (0..pieces.len())
        .filter(|&id| is_kept(pieces[id]))
        .collect();
    let kept_rows: Vec<u8> = kept
        .iter()
        .flat_map(|&id| &rows[id * DIMENSIONS..(id + 1) * DIMENSIONS])
        .copied()
        .collect();
    let kept_scales: Vec<u8> = kept
        .iter()
        .flat_map(|&id| &scales[id * 4..(id + 1) * 4])
        .copied()
        .collect();
    let names: Vec<&str> = kept.iter().map(|&id| pieces[id]).collect();
    fs::write(destination.join("rows.i8"), kept_rows)?;
    fs::write(destination.join("scales.f32"), kept_scales)?;
    fs::write(destination.join("pieces.bin"), pack(&names)?)?;
    Ok(())
}

/// All but the rows that no text ever asks for: unused ones and marks of sentences. The unknown piece comes first.
fn is_kept(piece: &str) -> bool {
    !(piece.starts_with("[unused") || ["[PAD]", "[CLS]", "[SEP]", "[MASK]"].contains(&piece))
}

fn pack(names: &[&str]) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut slots = vec![EMPTY; SLOTS];
    let mut ends = Vec::with_capacity(names.len());
    let mut letters = Vec::new();
    for (id, name) in names.iter().enumerate() {
        let (continues, bare) = match name.strip_prefix("##") {
            Some(rest) if !rest.is_empty() => (true, rest),
            _ => (false, *name),
        };
        let mut slot = hash(continues, bare.as_bytes());
        while slots[slot] != EMPTY {
            slot = (slot + 1) % SLOTS;
        }
        slots[slot] = u16::try_from(id)?;
        letters.extend_from_slice(bare.as_bytes());
        ends.push(u32::try_from(letters.len())? | if continues { CONTINUES } else { 0 });
    }
    let mut packed = Vec::new();
    packed.extend_from_slice(&u32::try_from(names.len())?.to_le_bytes());
    packed.extend(slots.iter().flat_map(|slot| slot.to_le_bytes()));
    packed.extend(ends.iter().flat_map(|end| end.to_le_bytes()));
    packed.extend_from_slice(&letters);
    Ok(packed)
}

/// FNV-1a of 32 bits, folded to 16. Pieces that continue a word begin from another state.
fn hash(continues: bool, bytes: &[u8]) -> usize {
    let start = 0x811c_9dc5 ^ u32::from(continues);
    let hash = bytes.iter().fold(start, |hash, &byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    });
    ((hash ^ (hash >> 16)) & 0xffff) as usize
}

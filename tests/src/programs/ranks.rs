//! Generated programs on ranks: those that compute while messages are on their way, against the order of the text.

use std::sync::Arc;

use anyhow::{anyhow, bail};
use isobar_compiler::call::launch::ScalarInput;
use isobar_compiler::config::Config;
use isobar_compiler::space::Domain;
use isobar_program::compile::compile;
use isobar_program::decomposition::{RankGrid, Topology};
use isobar_program::interpret::{HaloFill, ProgramInputs};
use isobar_program::nodes::{ContainerRole, ExchangePhase, ProgramStmtKind};
use isobar_runtime::executors::{OwnedSetting, interpreters};
use isobar_runtime::programs::{CodeSetting, CutProgram, RankSource};

use super::{bits_of, generated, in_c_order};
use crate::levels::Held;

/// The domain that ranks cut, and the ways to cut it.
const DOMAIN: [i64; 3] = [8, 6, 2];
const LAYOUTS: [[u32; 2]; 2] = [[2, 1], [2, 2]];

/// Whether a generated program has the same bits on ranks however exchanges overlap with calls. Answers how many did.
///
/// # Errors
///
/// The layout, and what differs.
pub fn hold_on_ranks(seed: u64) -> anyhow::Result<Held> {
    let text = generated(seed);
    let given = inputs_of(&text)?;
    let setting = OwnedSetting { temporary: std::env::temp_dir(), ..OwnedSetting::embedded(1) };
    let overlapping: CodeSetting = Some((Arc::new(interpreters::Numpy), setting));
    let mut held = Held::default();
    for layout in LAYOUTS {
        let grid = RankGrid { topology: Topology::Tile(HaloFill::Periodic), layout };
        let run = |code: &CodeSetting| {
            let source = RankSource::Document("model.json", &text);
            let made = CutProgram::new(source, &Config::default(), (DOMAIN, grid), code, true);
            let mut inputs = given.clone();
            let ended = made.and_then(|mut it| {
                it.run(&mut inputs, &|| 0.0)?;
                Ok(it)
            });
            match ended {
                Ok(program) => Ok((inputs, n_started(&program))),
                Err(refused) => {
                    Err(refused.diagnostics.iter().map(|it| it.message.clone()).collect::<Vec<_>>())
                }
            }
        };
        match (run(&None), run(&overlapping)) {
            (Ok((expected, _)), Ok((found, n_overlapping))) => {
                for (name, array) in &expected.fields {
                    if bits_of(array) != bits_of(&found.fields[name]) {
                        bail!("program of seed {seed} on {layout:?} ranks: `{name}` differs\n{text}");
                    }
                }
                held.runs += n_overlapping;
            }
            (Err(expected), Err(found)) if expected == found => {}
            (expected, found) => {
                let [expected, found] = [expected, found].map(|it| it.map(drop));
                bail!("program of seed {seed} on {layout:?} ranks: {expected:?}, and {found:?}\n{text}");
            }
        }
    }
    Ok(held)
}

/// The exchanges that stand apart from their `wait`: the text has none.
fn n_started(program: &CutProgram) -> u64 {
    let mut n_started = 0;
    program.whole().body.iter().for_each(|stmt| {
        stmt.walk(&mut |it| {
            let is_start =
                matches!(&it.kind, ProgramStmtKind::Exchange(it) if it.phase == ExchangePhase::Start);
            n_started += u64::from(is_start);
        });
    });
    n_started
}

/// The fields of the whole domain, and the scalar.
fn inputs_of(text: &str) -> anyhow::Result<ProgramInputs> {
    let program = compile("model.json", text, Config::default()).program;
    let program = program.ok_or_else(|| anyhow!("a generated program does not compile\n{text}"))?;
    let [i, j, k] = DOMAIN;
    let domain = Domain::new(i, j, k);
    let mut inputs = ProgramInputs::default();
    for it in program.containers.values().filter(|it| it.role == ContainerRole::Argument) {
        let points = it.shape.iter().map(|size| usize::try_from(size.on(domain)));
        let mut shape: Vec<usize> = points.collect::<Result<_, _>>()?;
        shape.extend(it.data_dims.iter().map(|&size| size as usize));
        let seed = u32::try_from(inputs.fields.len())? + 1;
        inputs.fields.insert(it.name.clone(), in_c_order(&shape, seed));
    }
    inputs.scalars.insert("a".to_owned(), ScalarInput::Float(0.1));
    Ok(inputs)
}

//! The fields and scalars that the statements access, and the levels of each field.

use std::collections::BTreeSet;

use crate::entity::{Handle, SideTable};
use crate::oir::nodes as oir;
use crate::space::{Level, Reach};

/// The fields and scalars that the statements access.
#[derive(Default)]
pub(super) struct Uses {
    pub(super) read: BTreeSet<Handle<oir::Field>>,
    pub(super) written: BTreeSet<Handle<oir::Field>>,
    pub(super) scalars: BTreeSet<Handle<oir::Scalar>>,
    /// Fields that are touched on a level which is found at run time.
    pub(super) levels_found: BTreeSet<Handle<oir::Field>>,
    /// How far beyond the compute domain's levels each field is touched, where that is known.
    levels: SideTable<oir::Field, Reach>,
}

impl Uses {
    pub(super) fn of(stencil: &oir::Stencil) -> Self {
        let mut uses = Self::default();
        for placed in stencil.placed() {
            let execution = &stencil.executions[placed.execution];
            execution.each_touch(&mut |touch| {
                let Some(field) = touch.what.field() else { return };
                let touched = if touch.is_write { &mut uses.written } else { &mut uses.read };
                touched.insert(field);
                if !touch.is_level_known {
                    uses.levels_found.insert(field);
                    return;
                }
                let (interval, k) = (placed.interval, touch.offset.k);
                let lo = match interval.start.level {
                    Level::Start => interval.start.offset + k,
                    Level::End => 0,
                };
                let hi = match interval.end.level {
                    Level::Start => 0,
                    Level::End => interval.end.offset + k,
                };
                let reach = Reach::new(lo.min(0), hi.max(0)).union(uses.levels(field));
                uses.levels.insert(field, reach);
            });
            for stmt in &execution.body {
                stmt.walk(&mut |stmt| {
                    stmt.exprs().for_each(|expr| {
                        expr.accesses(&mut |access| {
                            if let oir::Access::Scalar(scalar) = *access {
                                uses.scalars.insert(scalar);
                            }
                        });
                    });
                });
            }
        }
        uses
    }

    /// How far beyond the compute domain's levels a field is touched, where that is known.
    pub(super) fn levels(&self, field: Handle<oir::Field>) -> Reach {
        self.levels.get(field).copied().unwrap_or(Reach::ZERO)
    }
}

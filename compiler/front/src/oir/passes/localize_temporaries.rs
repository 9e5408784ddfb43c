//! Makes values at the point of temporaries that do not need to be fields.

use std::fmt;

use rustc_hash::{FxHashMap, FxHashSet};

use super::PassCx;
use crate::diag::Origin;
use crate::entity::{Handle, SideTable};
use crate::oir::analysis::definite_assignment::read_unassigned;
use crate::oir::names::Names;
use crate::oir::nodes::{Field, HorizontalExecution, Local, Stencil, Target};
use crate::oir::visit::Visit;

pub const NAME: &str = "oir/localize-temporaries";
pub const AGAIN: &str = "oir/localize-again";

/// Replaces each temporary by locals that every execution which uses it assigns before it reads it.
///
/// - **Precondition**: valid OIR.
/// - **Effect**: fewer temporaries.
/// - **Legality**: [`FieldUses::homes`]; a refusal that could surprise becomes a remark.
/// - **Why**: a temporary costs an array and the traffic to fill and read it.
pub fn localize_temporaries(stencil: &mut Stencil, cx: &mut PassCx) {
    let temporaries: Vec<Handle<Field>> =
        stencil.fields.iter().filter(|(_, it)| it.is_temporary).map(|(field, _)| field).collect();
    // Making a local of one temporary changes nothing that the others' homes depend on.
    let mut homes = FieldUses::of(stencil);
    let mut locals: FxHashMap<(Handle<HorizontalExecution>, Handle<Field>), Handle<Local>> =
        FxHashMap::default();
    let mut names = Names::of(stencil);
    for field in temporaries {
        let Field { name, dtype, span, .. } = stencil.fields[field].clone();
        match homes.homes(stencil, field) {
            Ok(executions) if cx.may_change() => {
                for (at, &execution) in executions.iter().enumerate() {
                    let own = if at == 0 { name.clone() } else { names.unused(&name) };
                    let local = stencil.locals.push(Local { name: own, dtype, span });
                    locals.insert((execution, field), local);
                }
                let message = match executions.len() {
                    1 => format!("`{name}` is a value at the point, and not a field"),
                    n => format!(
                        "`{name}` is a value at the point, one in each of {n} places, and not a field"
                    ),
                };
                cx.applied(message, homes.origins(field));
            }
            Ok(_) => {}
            Err(blocked) => {
                cx.missed(format!("`{name}` stays a field: {blocked}"), homes.origins(field).first());
            }
        }
    }
    let placed: Vec<_> = stencil.placed().map(|it| it.execution).collect();
    for execution in placed {
        let mut rename = |what: &mut Target| {
            if let Some(&local) = what.field().and_then(|it| locals.get(&(execution, it))) {
                *what = Target::Local(local);
            }
        };
        stencil.executions[execution].body.iter_mut().for_each(|it| it.rename(&mut rename));
    }
}

/// Why a temporary stays a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blocked {
    /// There are several values at a point.
    Several,
    /// No statement uses it.
    Unused,
    /// One execution reads a value that another one assigns.
    Shared,
    /// It is read at another point or level, or written at another level.
    ReadElsewhere,
    /// A value from another level or from before may be read.
    ReadUnassigned,
}

impl fmt::Display for Blocked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Blocked::Several => "it has data dimensions",
            Blocked::Unused => "no statement uses it",
            Blocked::Shared => "statements that cannot be merged share it",
            Blocked::ReadElsewhere => "it is read or written at another point than the one at hand",
            Blocked::ReadUnassigned => "it may be read before it is assigned",
        })
    }
}

/// Where fields are used: found once for all of them, since a stencil may have a thousand temporaries.
#[derive(Debug, Default)]
struct FieldUses {
    uses: SideTable<Field, FieldUse>,
    /// The fields and locals that an execution can read before it assigns them, for each execution looked at
    /// so far.
    unassigned: FxHashMap<Handle<HorizontalExecution>, FxHashSet<Target>>,
}

/// Where a field is used.
#[derive(Clone, Debug, Default)]
struct FieldUse {
    /// In program order, each once.
    executions: Vec<Handle<HorizontalExecution>>,
    is_read_elsewhere: bool,
    /// The statements that use it.
    origins: Vec<Origin>,
}

impl FieldUses {
    fn of(stencil: &Stencil) -> Self {
        let mut uses: SideTable<Field, FieldUse> = SideTable::default();
        for execution in stencil.placed().map(|it| it.execution) {
            stencil.executions[execution].each_touch(&mut |touch| {
                let Some(field) = touch.what.field().filter(|&it| stencil.fields[it].is_temporary) else {
                    return;
                };
                let it = uses.get_or_default(field);
                if it.executions.last() != Some(&execution) {
                    it.executions.push(execution);
                }
                it.is_read_elsewhere |= !touch.is_here();
                if it.origins.last() != Some(touch.origin) {
                    it.origins.push(touch.origin.clone());
                }
            });
        }
        Self { uses, unassigned: FxHashMap::default() }
    }

    /// The statements that use `field`, in program order.
    fn origins(&self, field: Handle<Field>) -> &[Origin] {
        self.uses.get(field).map_or(&[], |it| &it.origins)
    }

    /// Returns the executions that use `field` if each of them can hold it in a local, or why they cannot.
    fn homes(
        &mut self,
        stencil: &Stencil,
        field: Handle<Field>,
    ) -> Result<Vec<Handle<HorizontalExecution>>, Blocked> {
        if !stencil.fields[field].data_dims.is_empty() {
            return Err(Blocked::Several);
        }
        let FieldUse { executions, is_read_elsewhere, .. } = self.uses.get(field).ok_or(Blocked::Unused)?;
        let mut carries = false;
        for &execution in executions {
            let unassigned = self
                .unassigned
                .entry(execution)
                .or_insert_with(|| read_unassigned(&stencil.executions[execution].body));
            // Also keeps a plane that accumulates over the levels of a sweep.
            carries |= unassigned.contains(&Target::Field(field));
        }
        match (*is_read_elsewhere, carries, executions.len()) {
            (true, _, _) => Err(Blocked::ReadElsewhere),
            (false, true, 1) => Err(Blocked::ReadUnassigned),
            (false, true, _) => Err(Blocked::Shared),
            (false, false, _) => Ok(executions.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::oir::passes::tests::after;

    fn check(text: &str, expected: Expect) {
        expected.assert_eq(&after(text, localize_temporaries));
    }

    #[test]
    fn a_temporary_of_one_execution_becomes_a_local() {
        check(
            "
stencil one
field a: float64[IJK]
field b: float64[IJK]
temporary t: float64[IJK]
parallel
  [start, end)
    x0
      if a > 0.0
        t = a
      else
        t = 0.0
      b = t + 1.0
",
            expect![[r#"
                stencil one
                field a: float64[IJK]
                field b: float64[IJK]
                local t: float64

                parallel
                  [start, end)
                    x0
                      if a > 0.0
                        t = a
                      else
                        t = 0.0
                      b = t + 1.0
                applied: `t` is a value at the point, and not a field
            "#]],
        );
    }

    #[test]
    fn temporaries_that_carry_values_stay() {
        check(
            "
stencil carry
field a: float64[IJK]
field b: float64[IJK]
temporary shared: float64[IJK]
temporary sum: float64[IJ]
temporary maybe: float64[IJK]
temporary level: float64[IJK]
forward
  [start+1, end)
    x0
      shared = a
    x1
      sum = sum + a
      if a > 0.0
        maybe = a
      level = a
      b = shared + sum + maybe + level[0,0,-1]
",
            expect![[r#"
                stencil carry
                field a: float64[IJK]
                field b: float64[IJK]
                temporary shared: float64[IJK]
                temporary sum: float64[IJ]
                temporary maybe: float64[IJK]
                temporary level: float64[IJK]

                forward
                  [start+1, end)
                    x0
                      shared = a
                    x1
                      sum = sum + a
                      if a > 0.0
                        maybe = a
                      level = a
                      b = shared + sum + maybe + level[0,0,-1]
                missed: `shared` stays a field: statements that cannot be merged share it
                missed: `sum` stays a field: it may be read before it is assigned
                missed: `maybe` stays a field: it may be read before it is assigned
                missed: `level` stays a field: it is read or written at another point than the one at hand
            "#]],
        );
    }

    #[test]
    fn temporaries_that_some_points_skip_stay() {
        check(
            "
stencil skipped
field a: float64[IJK]
field b: float64[IJK]
temporary edge: float64[IJK]
temporary again: float64[IJK]
temporary both: float64[IJK]
parallel
  [start, end)
    x0
      region i[start, start+1) j[, )
        edge = a
        both = edge
        b = both
      while b > 0.0
        again = b
        b = b - 1.0
      b = edge + again
",
            expect![[r#"
                stencil skipped
                field a: float64[IJK]
                field b: float64[IJK]
                temporary edge: float64[IJK]
                temporary again: float64[IJK]
                local both: float64

                parallel
                  [start, end)
                    x0
                      region i[start, start+1) j[, )
                        edge = a
                        both = edge
                        b = both
                      while b > 0.0
                        again = b
                        b = b - 1.0
                      b = edge + again
                missed: `edge` stays a field: it may be read before it is assigned
                missed: `again` stays a field: it may be read before it is assigned
                applied: `both` is a value at the point, and not a field
            "#]],
        );
    }
}

//! The rules about who may read what beside the point (E15, E18, E19, E22, E23, W07),
//! and what may be assigned (E24).

use std::collections::{BTreeMap, BTreeSet};

use crate::diag::catalog::{data, rules, warnings};
use crate::diag::{Diagnostic, Diagnostics, Span};
use crate::entity::{Handle, SideTable};
use crate::space::{Axis, AxisSet, LoopOrder};

use super::super::nodes::{Field, Stencil, Stmt, StmtKind, VerticalLoop};
use super::super::visit::{FieldTouch, Touches};

/// Reports every violation; whether there was none (warnings aside).
pub fn check(stencil: &Stencil, diagnostics: &mut Diagnostics) -> bool {
    // A field with an element for each point breaks no rule if it is touched only at the point itself. Most
    // fields are such.
    let mut concerned: SideTable<Field, ()> = SideTable::default();
    stencil.each_touch(&mut |_, it| {
        let has_all_axes = stencil.fields[it.field].axes == AxisSet::IJK;
        if it.is_read_beside() || it.is_of_other_level() || it.is_write && !has_all_axes {
            concerned.insert(it.field, ());
        }
    });
    if concerned.iter().next().is_none() {
        return true;
    }
    let touches = |vertical_loop: &VerticalLoop| {
        let mut found = Vec::new();
        let mut keep = |it: FieldTouch| {
            if concerned.get(it.field).is_some() {
                found.push(it);
            }
        };
        vertical_loop.body.iter().for_each(|it| it.each_touch(&mut keep));
        found
    };
    let mut check = Check { stencil, diagnostics, is_legal: true };
    let loops: Vec<Vec<FieldTouch>> = stencil.vertical_loops.iter().map(touches).collect();
    for (vertical_loop, touches) in stencil.vertical_loops.iter().zip(&loops) {
        check.targets(vertical_loop, touches);
        // Most loops read nothing beside the point.
        if touches.iter().any(FieldTouch::is_read_beside) {
            check.statements(vertical_loop);
            check.parameters(vertical_loop, touches);
        }
        if vertical_loop.order == LoopOrder::Parallel && !vertical_loop.interval.is_one_level() {
            check.levels(touches);
        }
    }
    check.regions(&loops);
    check.single_blocks(&loops);
    check.is_legal
}

struct Check<'a> {
    stencil: &'a Stencil,
    diagnostics: &'a mut Diagnostics,
    is_legal: bool,
}

impl<'a> Check<'a> {
    fn refuse(&mut self, diagnostic: Diagnostic) {
        self.is_legal = false;
        self.diagnostics.push(diagnostic);
    }

    fn name(&self, field: Handle<Field>) -> &'a str {
        &self.stencil.fields[field].name
    }

    /// E24: each point must have an element of its own.
    fn targets(&mut self, vertical_loop: &VerticalLoop, touches: &[FieldTouch]) {
        for write in touches.iter().filter(|it| it.is_write) {
            let axes = self.stencil.fields[write.field].axes;
            let is_sequential = vertical_loop.order != LoopOrder::Parallel;
            let has_columns = axes.has(Axis::I) && axes.has(Axis::J);
            if !(axes == AxisSet::IJK || has_columns && is_sequential) {
                let name = self.name(write.field);
                self.refuse(rules::target_lacks_axes(name, axes, vertical_loop.order, write.span));
            }
        }
    }

    /// E15, E18, E22, E23: what one assignment, `while`, `if` or region writes, it does not read beside the point.
    fn statements(&mut self, vertical_loop: &VerticalLoop) {
        for block in &vertical_loop.body {
            block.walk(&mut |stmt| {
                let sentence = match stmt.kind {
                    StmtKind::Assign { .. } => rules::self_read_beside,
                    StmtKind::While { .. } => rules::while_reads_beside,
                    StmtKind::If { .. } => rules::read_beside_in_same_branch,
                    StmtKind::Region { .. } => rules::region_reads_beside_itself,
                };
                let touches = stmt.touches();
                for read in touches.iter().filter(|it| it.is_read_beside()) {
                    let write = touches.iter().find(|it| it.is_write && it.field == read.field);
                    // The innermost statement tells the story best, and it comes last.
                    let is_told_inside = || stmt.children().any(|it| reads_what_it_writes(it, read));
                    if let Some(write) = write
                        && !is_told_inside()
                    {
                        let name = self.name(read.field);
                        let found = sentence(name, read.offset, read.span, write.span);
                        let is_temporary = self.stencil.fields[read.field].is_temporary;
                        self.refuse(if is_temporary { found } else { rules::of_parameter(found, name) });
                    }
                }
            });
        }
    }

    /// E19: a parameter is not both written and read beside the point in one vertical loop.
    fn parameters(&mut self, vertical_loop: &VerticalLoop, touches: &[FieldTouch]) {
        let written: BTreeSet<Handle<Field>> =
            touches.iter().filter(|it| it.is_write).map(|it| it.field).collect();
        for read in touches.iter().filter(|it| it.is_read_beside() && written.contains(&it.field)) {
            if self.stencil.fields[read.field].is_temporary
                || vertical_loop.body.iter().any(|it| reads_what_it_writes(it, read))
            {
                continue;
            }
            if let Some(write) = touches.iter().find(|it| it.is_write && it.field == read.field) {
                let name = self.name(read.field);
                self.refuse(rules::written_and_read_beside(name, read.offset, read.span, write.span));
            }
        }
    }

    /// W07, E21: reads at another level of what the same parallel loop writes; one that is found at run time is refused.
    fn levels(&mut self, touches: &[FieldTouch]) {
        for read in touches.iter().filter(|it| !it.is_write && it.is_of_other_level()) {
            if let Some(write) = touches.iter().find(|it| it.is_write && it.field == read.field) {
                let name = self.name(read.field);
                if !read.is_level_known {
                    self.refuse(data::computed_level_in_parallel(name, read.span, write.span));
                    continue;
                }
                let found = warnings::other_level_in_parallel(name, read.offset, read.span, write.span);
                self.diagnostics.push(found);
            }
        }
    }

    /// E15: what was written before, outside any region, a region does not read beside the point.
    fn regions(&mut self, loops: &[Vec<FieldTouch>]) {
        let mut written: BTreeMap<Handle<Field>, Span> = BTreeMap::new();
        for touch in loops.iter().flatten() {
            if touch.is_write && touch.scope.region.is_none() {
                written.entry(touch.field).or_insert(touch.span);
            } else if touch.is_read_beside()
                && touch.scope.region.is_some()
                && let Some(&write) = written.get(&touch.field)
            {
                let name = self.name(touch.field);
                self.refuse(rules::region_reads_beside(name, touch.offset, touch.span, write));
            }
        }
    }

    /// E23 for temporaries with few users. If one block alone uses a temporary, it does not read it at
    /// another level. If one vertical loop alone uses it, it does not assign it at another level.
    fn single_blocks(&mut self, loops: &[Vec<FieldTouch>]) {
        // Most temporaries are not touched at another level at all.
        let elsewhere: BTreeSet<Handle<Field>> =
            loops.iter().flatten().filter(|it| it.is_of_other_level()).map(|it| it.field).collect();
        if elsewhere.is_empty() {
            return;
        }
        let blocks = self.stencil.vertical_loops.iter().flat_map(|it| &it.body);
        let blocks: Vec<Vec<FieldTouch>> = blocks.map(Stmt::touches).collect();
        let temporaries = self.stencil.fields.iter().filter(|(_, it)| it.is_temporary);
        for (field, declared) in temporaries.filter(|(field, _)| elsewhere.contains(field)) {
            let mut users = blocks.iter().filter(|it| it.iter().any(|it| it.field == field));
            if let (Some(only), None) = (users.next(), users.next())
                && let Some(read) =
                    only.iter().find(|it| it.field == field && !it.is_write && it.is_of_other_level())
            {
                self.refuse(rules::used_in_one_statement(&declared.name, read.offset, read.span));
                continue;
            }
            let mut users = loops.iter().filter(|it| it.iter().any(|it| it.field == field));
            if let (Some(only), None) = (users.next(), users.next())
                && let Some(write) =
                    only.iter().find(|it| it.field == field && it.is_write && it.is_of_other_level())
            {
                self.refuse(data::level_of_local_temporary(&declared.name, write.span));
            }
        }
    }
}

/// Whether this statement holds the read and writes the same field.
fn reads_what_it_writes(stmt: &Stmt, read: &FieldTouch) -> bool {
    let touches = stmt.touches();
    let is_same_read = |it: &FieldTouch| !it.is_write && it.span == read.span && it.offset == read.offset;
    touches.iter().any(|it| it.field == read.field && is_same_read(it))
        && touches.iter().any(|it| it.field == read.field && it.is_write)
}

//! Control flow: loops, lanes, branches, launches, traps.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I8, I64, I64X2};
use cranelift_codegen::ir::{
    BlockArg, InstBuilder, MemFlagsData, StackSlotData, StackSlotKind, Value as Clif,
};
use cranelift_frontend::Variable;
use isobar_compiler::loops::nodes::{BoundsCheck, For, If, Launch, Trap, While};
use isobar_compiler::space::Symbol;
use isobar_compiler::types::{DType, Value};

use super::host::{Import, TrapSite};
use super::lanes::Operand;
use super::translate::{ParallelLoop, Translation};

/// Iterations of a vector loop that are computed together, in several registers each.
///
/// Four doubles fill two registers of 128 bits, and four singles fill one. So a bool that compares singles
/// and one that compares doubles are for the same lanes, and a body may mix both.
const LANES: usize = 4;

impl Translation<'_, '_> {
    /// Runs `body` once if the byte holds.
    pub(super) fn when(&mut self, condition: Clif, body: impl FnOnce(&mut Self)) {
        self.choose(condition, body, |_| {});
    }

    /// Branches on a byte, and goes on where both branches meet.
    ///
    /// Both closures run, one after the other, and make the code of their branch. So what one of them notes
    /// in `self` (a local that it declares) is seen by the other, unless it is [`scoped`](Self::scoped).
    pub(super) fn choose(
        &mut self,
        condition: Clif,
        then: impl FnOnce(&mut Self),
        otherwise: impl FnOnce(&mut Self),
    ) {
        let builder = &mut self.emit.builder;
        let (yes, no, after) = (builder.create_block(), builder.create_block(), builder.create_block());
        builder.ins().brif(condition, yes, &[], no, &[]);
        builder.seal_block(yes);
        builder.seal_block(no);
        builder.switch_to_block(yes);
        then(self);
        self.emit.builder.ins().jump(after, &[]);
        self.emit.builder.switch_to_block(no);
        otherwise(self);
        self.emit.builder.ins().jump(after, &[]);
        self.emit.builder.seal_block(after);
        self.emit.builder.switch_to_block(after);
    }

    /// Runs `body` with an integer that starts at `start`, as long as `is_inside` of it holds; `next` tells what
    /// follows. Answers the first that is not inside.
    ///
    /// The test stands at the end, so that an iteration has one branch:
    ///
    /// ```text
    ///     brif is_inside(start), inside(start), after(start)
    /// inside(at):
    ///     body
    ///     brif is_inside(next(at)), inside(next(at)), after(next(at))
    /// after(end):
    /// ```
    ///
    /// `is_inside` is called twice, and has to make the same test of whatever integer it gets.
    pub(super) fn count(
        &mut self,
        start: Clif,
        is_inside: impl Fn(&mut Self, Clif) -> Clif,
        next: impl Fn(&mut Self, Clif) -> Clif,
        body: impl FnOnce(&mut Self, Clif),
    ) -> Clif {
        let builder = &mut self.emit.builder;
        let (inside, after) = (builder.create_block(), builder.create_block());
        let at = builder.append_block_param(inside, I64);
        let end = builder.append_block_param(after, I64);
        let enters = is_inside(self, start);
        let start = [BlockArg::Value(start)];
        self.emit.builder.ins().brif(enters, inside, &start, after, &start);
        self.emit.builder.switch_to_block(inside);
        body(self, at);
        let following = next(self, at);
        let goes_on = is_inside(self, following);
        let following = [BlockArg::Value(following)];
        self.emit.builder.ins().brif(goes_on, inside, &following, after, &following);
        self.emit.builder.seal_block(inside);
        self.emit.builder.seal_block(after);
        self.emit.builder.switch_to_block(after);
        end
    }

    /// Makes `body` with a position for a symbol. Afterwards a position of that name from around is there
    /// again.
    pub(super) fn with_position(&mut self, symbol: &Symbol, value: Clif, body: impl FnOnce(&mut Self)) {
        let before = self.positions.insert(symbol.clone(), value);
        body(self);
        match before {
            Some(before) => self.positions.insert(symbol.clone(), before),
            None => self.positions.remove(symbol),
        };
    }

    /// One iteration after the other: up by the loop's step, or down by one. Bounds are computed once,
    /// before the loop.
    ///
    /// Rows that the loop prefetches are handed to its body in `ahead`. The first wide loop of the body takes
    /// them: it goes along a row anyway, and prefetches a line at a time. Loops with vectors of 128 bits
    /// prefetch nothing.
    pub(super) fn scalar_loop(&mut self, it: &For) {
        let (start, end) = (self.size(&it.positions.start), self.size(&it.positions.end));
        let symbol = &it.positions.variable;
        let prefetched = self.shared.program.decisions.prefetched(it.id);
        let asks = !prefetched.is_empty();
        let body = |this: &mut Self, at: Clif| {
            if asks {
                this.ahead = prefetched.to_vec();
            }
            this.with_position(symbol, at, |this| this.items(&it.body));
        };
        if it.is_descending {
            let last = self.emit.builder.ins().iadd_imm_s(end, -1);
            let is_inside = |this: &mut Self, at: Clif| {
                this.emit.builder.ins().icmp(IntCC::SignedGreaterThanOrEqual, at, start)
            };
            let next = |this: &mut Self, at: Clif| this.emit.builder.ins().iadd_imm_s(at, -1);
            self.count(last, is_inside, next, body);
        } else {
            let is_inside =
                |this: &mut Self, at: Clif| this.emit.builder.ins().icmp(IntCC::SignedLessThan, at, end);
            let step = it.positions.step;
            let next = |this: &mut Self, at: Clif| this.emit.builder.ins().iadd_imm_s(at, step);
            self.count(start, is_inside, next, body);
        }
        if asks {
            // Rows that no loop of the body took must not be prefetched by a loop behind this one.
            self.ahead.clear();
        }
    }

    /// The iterations in groups of lanes, and the remainder one by one.
    ///
    /// With vectors of 512 or 256 bits it is a call of wide code, if that knows all of the body. Otherwise
    /// the body is made twice:
    ///
    /// ```text
    /// for (i = start; i <= end - 4; i += 4) { …four lanes }
    /// for (; i < end; i += 1)               { …one }
    /// ```
    ///
    /// The remainder has no masks: with four lanes it is three iterations at most.
    pub(super) fn vector_loop(&mut self, it: &For) {
        let ends = [&it.positions.start, &it.positions.end].map(|it| self.known_size(it));
        if let [Some(start), Some(end)] = ends
            && end - start == 1
        {
            // A point beside a row: a vector with a single lane takes longer.
            return self.scalar_loop(it);
        }
        if self.wide_loop(it) {
            return;
        }
        let (start, end) = (self.size(&it.positions.start), self.size(&it.positions.end));
        let symbol = &it.positions.variable;
        let lanes = LANES as i64;
        let last = self.emit.builder.ins().iadd_imm_s(end, -lanes);
        let has_all =
            |this: &mut Self, at: Clif| this.emit.builder.ins().icmp(IntCC::SignedLessThanOrEqual, at, last);
        let next = |this: &mut Self, at: Clif| this.emit.builder.ins().iadd_imm_s(at, lanes);
        let rest = self.count(start, has_all, next, |this, at| {
            this.emit.lanes = LANES;
            this.lane_symbol = Some(symbol.clone());
            this.with_position(symbol, at, |this| this.items(&it.body));
            this.lane_symbol = None;
            this.emit.lanes = 1;
        });
        let is_inside =
            |this: &mut Self, at: Clif| this.emit.builder.ins().icmp(IntCC::SignedLessThan, at, end);
        let next = |this: &mut Self, at: Clif| this.emit.builder.ins().iadd_imm_s(at, 1);
        self.count(rest, is_inside, next, |this, at| {
            this.with_position(symbol, at, |this| this.items(&it.body));
        });
    }

    /// An `if` with all its branches.
    pub(super) fn branches(&mut self, it: &If) {
        self.branches_from(it, 0);
    }

    /// The branches from one on, and what runs if none of them does.
    ///
    /// A condition that is the same for all lanes is a jump. One that differs is a mask: the branch runs
    /// for the lanes where it holds, then the branches behind it run for the others. Each is skipped if no
    /// lane takes it, so the conditions behind it are computed only where some lane comes to them.
    pub(super) fn branches_from(&mut self, it: &If, first: usize) {
        let Some(branch) = it.branches.get(first) else {
            self.items(&it.otherwise);
            return;
        };
        let is_last = first + 1 == it.branches.len() && it.otherwise.is_empty();
        match self.expr(&branch.condition) {
            Operand::Same(condition) => self.choose(
                condition,
                |this| this.scoped(|this| this.items(&branch.body)),
                |this| this.scoped(|this| this.branches_from(it, first + 1)),
            ),
            condition @ Operand::Each(_) => {
                let around = self.mask.clone();
                let inside = self.narrow(around.as_ref(), &condition);
                self.masked(inside, |this| this.items(&branch.body));
                if !is_last {
                    let outside = self.emit.not(&condition);
                    let outside = self.narrow(around.as_ref(), &outside);
                    self.masked(outside, |this| this.branches_from(it, first + 1));
                }
            }
        }
    }

    /// The lanes of a condition that take part around.
    pub(super) fn narrow(&mut self, around: Option<&Operand>, condition: &Operand) -> Operand {
        match around {
            None => condition.clone(),
            Some(around) => self.emit.both(around, condition),
        }
    }

    /// Runs `body` for the lanes of a mask, if there are any.
    ///
    /// Inside, stores and assignments keep the old value of the other lanes; computing may do what it likes
    /// for them, since no expression traps.
    pub(super) fn masked(&mut self, mask: Operand, body: impl FnOnce(&mut Self)) {
        let is_any = self.emit.any(&mask);
        let around = self.mask.replace(mask);
        self.when(is_any, |this| this.scoped(body));
        self.mask = around;
    }

    /// Makes `body`, and then forgets what it has declared.
    ///
    /// Values of a branch do not dominate what stands behind it, so a local that was declared in there must
    /// not be found later. Locals from outside are Cranelift's variables, whose changes are seen behind the
    /// branch.
    pub(super) fn scoped(&mut self, body: impl FnOnce(&mut Self)) {
        let (locals, integers) = (self.locals.clone(), self.integers.clone());
        body(self);
        (self.locals, self.integers) = (locals, integers);
    }

    /// A `while`: a test, the body, and a count of iterations against those without end.
    ///
    /// ```text
    ///          jump test(0), or with all iterations where the run must end before this cell
    /// test(n): active = active and condition
    ///          brif any(active), body, after
    /// body:    brif n == max_turns, endless, fine
    /// endless: raise for the active lanes; jump after
    /// fine:    …the statements, for the active lanes
    ///          jump test(n + 1)
    /// after:
    /// ```
    ///
    /// In a vector loop all lanes go round together, until the last of them has come to its end. A lane
    /// that has left never comes back, even if its condition would hold again: `active` only loses lanes.
    pub(super) fn repeat(&mut self, it: &While) {
        let done = self.iterations_done(&it.trap);
        let builder = &mut self.emit.builder;
        let (test, body, after) = (builder.create_block(), builder.create_block(), builder.create_block());
        let turn = builder.append_block_param(test, I64);
        // In a vector loop, the lanes that have not come to their end.
        let active: Vec<Variable> = if self.emit.lanes > 1 {
            (0..self.emit.n_chunks(I64X2)).map(|_| self.emit.builder.declare_var(I64X2)).collect()
        } else {
            Vec::new()
        };
        let all = match self.mask.clone() {
            Some(mask) => mask,
            None => Operand::Same(self.emit.literal(Value::Bool(true))),
        };
        if !active.is_empty() {
            let all = self.emit.mask_like(&all, I64X2);
            active.iter().zip(all).for_each(|(&it, mask)| self.emit.builder.def_var(it, mask));
        }
        self.emit.builder.ins().jump(test, &[BlockArg::Value(done)]);
        self.emit.builder.switch_to_block(test);
        let condition = self.expr(&it.condition);
        let condition = if active.is_empty() {
            condition
        } else {
            let before = active.iter().map(|&it| self.emit.builder.use_var(it)).collect();
            let now = self.emit.both(&Operand::Each(before), &condition);
            let now = self.emit.mask_like(&now, I64X2);
            active.iter().zip(&now).for_each(|(&it, &mask)| self.emit.builder.def_var(it, mask));
            Operand::Each(now)
        };
        let goes_on = self.emit.any(&condition);
        self.emit.builder.ins().brif(goes_on, body, &[], after, &[]);
        self.emit.builder.seal_block(body);
        self.emit.builder.switch_to_block(body);

        let builder = &mut self.emit.builder;
        let (endless, fine) = (builder.create_block(), builder.create_block());
        builder.set_cold_block(endless);
        let limit = i64::try_from(self.shared.max_turns).unwrap_or(i64::MAX);
        let is_endless = builder.ins().icmp_imm_s(IntCC::Equal, turn, limit);
        builder.ins().brif(is_endless, endless, &[], fine, &[]);
        builder.seal_block(endless);
        builder.seal_block(fine);
        builder.switch_to_block(endless);
        self.raise(&it.trap, &condition);
        self.emit.builder.ins().jump(after, &[]);

        self.emit.builder.switch_to_block(fine);
        let around = match &condition {
            Operand::Same(_) => self.mask.clone(),
            Operand::Each(_) => self.mask.replace(condition.clone()),
        };
        // A check inside may have to end the loop.
        let end = self.while_end.replace(after);
        self.scoped(|this| this.items(&it.body));
        self.while_end = end;
        self.mask = around;
        let next = self.emit.builder.ins().iadd_imm_s(turn, 1);
        self.emit.builder.ins().jump(test, &[BlockArg::Value(next)]);
        self.emit.builder.seal_block(test);
        self.emit.builder.seal_block(after);
        self.emit.builder.switch_to_block(after);
    }

    /// How many iterations a `while` counts as done: none, or all where the run must end at an earlier cell than those of
    /// all lanes. It is then left at once, and its report comes too late to count.
    fn iterations_done(&mut self, trap: &Trap) -> Clif {
        let host = self.load_word(self.frame, 0);
        let builder = &mut self.emit.builder;
        let (ended, goes_on) = (builder.create_block(), builder.create_block());
        builder.set_cold_block(ended);
        let done = builder.append_block_param(goes_on, I64);
        let flag = builder.ins().load(I64, MemFlagsData::new().with_notrap(), host, 0);
        let zero = builder.ins().iconst(I64, 0);
        builder.ins().brif(flag, ended, &[], goes_on, &[BlockArg::Value(zero)]);
        builder.seal_block(ended);
        builder.switch_to_block(ended);
        let mut all = None;
        for lane in 0..self.emit.lanes {
            let is_behind = self.is_behind(host, trap, lane);
            all = Some(match all {
                None => is_behind,
                Some(others) => self.emit.builder.ins().band(others, is_behind),
            });
        }
        let limit = i64::try_from(self.shared.max_turns).unwrap_or(i64::MAX);
        let builder = &mut self.emit.builder;
        let done_there = builder.ins().imul_imm_s(all.unwrap_or(zero), limit);
        builder.ins().jump(goes_on, &[BlockArg::Value(done_there)]);
        builder.seal_block(goes_on);
        builder.switch_to_block(goes_on);
        done
    }

    /// 1 where the cell of a lane comes behind one at which the run must end, else 0.
    pub(super) fn is_behind(&mut self, host: Clif, trap: &Trap, lane: usize) -> Clif {
        let site = TrapSite { sweep: trap.sweep, outermost: trap.outermost, statement: trap.statement };
        self.shared.sites.push(site);
        let site = i64::try_from(self.shared.sites.len() - 1).unwrap_or(0);
        let function = self.host(Import::IsBehind);
        let mut arguments = vec![host, self.emit.builder.ins().iconst(I64, site)];
        for sum in [&trap.turn, &trap.cell[0], &trap.cell[1], &trap.cell[2]] {
            let value = self.position_value(sum);
            arguments.push(self.emit.lane(DType::Int64, &value, lane));
        }
        let call = self.emit.builder.ins().call(function, &arguments);
        self.emit.builder.inst_results(call)[0]
    }

    /// Tells the host that the run must end, at the cell of each lane that takes part.
    ///
    /// Only the host ends the run: the code goes on, since another cell may have to end it earlier in the
    /// order of the text.
    pub(super) fn raise(&mut self, trap: &Trap, taking_part: &Operand) {
        let site = TrapSite { sweep: trap.sweep, outermost: trap.outermost, statement: trap.statement };
        self.shared.sites.push(site);
        let site = i64::try_from(self.shared.sites.len() - 1).unwrap_or(0);
        let function = self.host(Import::Raise);
        let host = self.load_word(self.frame, 0);
        for lane in 0..self.emit.lanes {
            let takes_part = self.emit.lane(DType::Bool, taking_part, lane);
            self.when(takes_part, |this| {
                let site = this.emit.builder.ins().iconst(I64, site);
                let mut arguments = vec![host, site];
                for sum in [&trap.turn, &trap.cell[0], &trap.cell[1], &trap.cell[2]] {
                    let value = this.position_value(sum);
                    arguments.push(this.emit.lane(DType::Int64, &value, lane));
                }
                this.emit.builder.ins().call(function, &arguments);
            });
        }
    }

    /// Finds indices at run time, and runs the body if each is an element; else reports the cell and leaves
    /// the body out.
    ///
    /// All indices are computed before one is tested. That is safe: of one check, only the first index may
    /// read an element that another index picks. The check around has tested that other index already
    /// (`loops/from_sdfg`).
    ///
    /// In a `while`, the body that is left out may hold the statement that would end the loop. So the loop is
    /// left as well.
    pub(super) fn checked(&mut self, it: &BoundsCheck) {
        let mut is_outside: Option<Clif> = None;
        for index in &it.indices {
            let Operand::Same(value) = self.expr(&index.value) else {
                unreachable!("what is found at run time stays out of vector loops")
            };
            self.integers.insert(index.integer, value);
            let size = self.size(&index.size);
            // A negative index is beyond every size, as a number without sign.
            let beyond = self.emit.builder.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, value, size);
            is_outside = Some(match is_outside {
                None => beyond,
                Some(other) => self.emit.builder.ins().bor(other, beyond),
            });
        }
        let is_outside = is_outside.unwrap_or_else(|| self.emit.builder.ins().iconst(I8, 0));
        let builder = &mut self.emit.builder;
        let (outside, inside, after) =
            (builder.create_block(), builder.create_block(), builder.create_block());
        builder.set_cold_block(outside);
        builder.ins().brif(is_outside, outside, &[], inside, &[]);
        builder.seal_block(outside);
        builder.seal_block(inside);
        builder.switch_to_block(outside);
        let always = Operand::Same(self.emit.literal(Value::Bool(true)));
        self.raise(&it.trap, &always);
        match self.while_end {
            Some(end) if it.is_in_while => self.emit.builder.ins().jump(end, &[]),
            _ => self.emit.builder.ins().jump(after, &[]),
        };
        self.emit.builder.switch_to_block(inside);
        self.scoped(|this| this.items(&it.body));
        self.emit.builder.ins().jump(after, &[]);
        self.emit.builder.seal_block(after);
        self.emit.builder.switch_to_block(after);
    }

    /// Calls a function at all positions, shared among the threads. The host gets the address of words on
    /// the stack: the positions of the loops around, then start and end of each of its own. Steps are
    /// constants, which the host has in [`ParallelLoop`].
    ///
    /// ```text
    /// words = [k, i_start, i_end, j_start, j_end]
    /// call isobar_launch(host, which, words)
    /// ```
    pub(super) fn launch(&mut self, it: &Launch) {
        let n_words = it.outer.len() + 2 * it.positions.len();
        let size = u32::try_from(n_words.max(1) * 8).expect("few positions");
        let slot = StackSlotData::new(StackSlotKind::ExplicitSlot, size, 3);
        let slot = self.emit.builder.create_sized_stack_slot(slot);
        let mut words: Vec<Clif> = it.outer.iter().map(|symbol| self.positions[symbol]).collect();
        for positions in &it.positions {
            words.push(self.size(&positions.start));
            words.push(self.size(&positions.end));
        }
        for (at, word) in words.into_iter().enumerate() {
            let offset = i32::try_from(at * 8).expect("few positions");
            self.emit.builder.ins().stack_store(I64, word, slot, offset);
        }
        let steps = it.positions.iter().map(|it| it.step).collect();
        self.shared.launches.push(ParallelLoop { function: it.function, n_outer: it.outer.len(), steps });
        let which = i64::try_from(self.shared.launches.len() - 1).unwrap_or(0);
        let function = self.host(Import::Launch);
        let host = self.load_word(self.frame, 0);
        let which = self.emit.builder.ins().iconst(I64, which);
        let address = self.emit.builder.ins().stack_addr(I64, slot, 0);
        self.emit.builder.ins().call(function, &[host, which, address]);
    }
}

//! Strip-mined loops: loops over the points of a strip, one behind the other.
//!
//! A `while` of all points of a strip goes on as long as one of them does; those that have ended keep what they have.

use std::collections::BTreeSet;

use super::print::File;
use crate::braces::Braces;
use crate::loops::nodes::{BranchOfStrip, Item, StripPart, Strips, Target, Trap, WhileOfStrip};
use crate::space::{Affine, Symbol};

/// Data common to the loops over the points of a strip.
#[derive(Clone, Copy)]
struct StripContext<'t> {
    variable: &'t str,
    /// The head of such a loop.
    points: &'t str,
    width: u32,
}

impl File<'_> {
    /// Writes a loop in strips.
    pub(super) fn strips(&mut self, it: &Strips) {
        let width = it.width;
        let (variable, start, end, _) = self.bounds(&it.positions);
        self.open("loop", []);
        self.writer
            .line(format_args!("for (int64_t i_strip = {start}; i_strip < {end}; i_strip += {width}) {{"));
        self.writer.indent();
        self.writer.line(format_args!(
            "const int64_t i_end = {end} - i_strip < {width} ? {end} : i_strip + {width};"
        ));
        for &local in &it.kept {
            let declared = self.local_array(local, width);
            self.writer.line(declared);
        }
        if it.parts.iter().any(|it| matches!(it, StripPart::While(_))) {
            self.writer.line(format_args!("int64_t goes_on[{width}];"));
        }
        self.lanes = it.kept.iter().copied().collect();
        let points = format!("for (int64_t {variable} = i_strip; {variable} < i_end; ++{variable}) {{");
        let of_strip = StripContext { variable: &variable, points: &points, width };
        it.parts.iter().for_each(|it| self.part(it, of_strip, None));
        self.lanes = BTreeSet::new();
        self.writer.dedent();
        self.writer.line("}");
        self.writer.close();
    }

    /// A part of a strip, in an arm of so many branches with this number.
    fn part(&mut self, part: &StripPart, of_strip: StripContext<'_>, arm: Option<(usize, usize)>) {
        let StripContext { variable, points, .. } = of_strip;
        match part {
            StripPart::While(it) => self.while_of_strip(it, variable, points),
            StripPart::Branch(it) => self.branch_of_strip(it, of_strip, arm),
            StripPart::Lanes(items) => {
                self.writer.line("#pragma omp simd");
                self.lane_loop(variable, points, |this| {
                    this.is_in_lanes = arm.is_none();
                    if let Some((depth, number)) = arm {
                        this.statement(&format!("if (arm_{depth}[lane] == {number}) {{"));
                        this.block(items);
                        this.writer.line("}");
                    } else {
                        this.items(items);
                    }
                    this.is_in_lanes = false;
                });
            }
        }
    }

    /// Each arm for the points that take it, where there are such. Arms are numbered from 1; 0 is none.
    fn branch_of_strip(
        &mut self,
        it: &BranchOfStrip,
        of_strip: StripContext<'_>,
        outer: Option<(usize, usize)>,
    ) {
        let StripContext { variable, points, width } = of_strip;
        let depth = outer.map_or(1, |(depth, _)| depth + 1);
        self.open("branch", it.arms.iter().map(|it| &it.origin));
        self.writer.line("{");
        self.writer.indent();
        self.writer.line(format_args!("int64_t arm_{depth}[{width}];"));
        self.writer.line(format_args!("uint64_t arms_{depth} = 0;"));
        self.writer.line(format_args!("#pragma omp simd reduction(| : arms_{depth})"));
        let last = if it.otherwise.is_empty() { 0 } else { it.arms.len() + 1 };
        let mut taken = String::new();
        for (at, arm) in it.arms.iter().enumerate() {
            taken.push_str(&format!("{} ? {} : ", self.text(&arm.condition), at + 1));
        }
        taken.push_str(&last.to_string());
        if let Some((depth, number)) = outer {
            taken = format!("arm_{depth}[lane] == {number} ? ({taken}) : 0");
        }
        self.lane_loop(variable, points, |this| {
            this.statement(&format!("arm_{depth}[lane] = {taken};"));
            this.writer.line(format_args!("arms_{depth} |= (uint64_t)1 << arm_{depth}[lane];"));
        });
        for (at, parts) in it.arms().enumerate().filter(|(_, parts)| !parts.is_empty()) {
            let number = at + 1;
            self.writer.line(format_args!("if ((arms_{depth} >> {number} & 1) != 0) {{"));
            self.writer.indent();
            parts.iter().for_each(|it| self.part(it, of_strip, Some((depth, number))));
            self.writer.dedent();
            self.writer.line("}");
        }
        self.writer.dedent();
        self.writer.line("}");
        self.writer.close();
    }

    fn lane_loop(&mut self, variable: &str, points: &str, body: impl FnOnce(&mut Self)) {
        self.writer.line(points);
        self.writer.indent();
        self.writer.line(format_args!("const int64_t lane = {variable} - i_strip;"));
        self.writer.line("(void)lane;");
        body(self);
        self.writer.dedent();
        self.writer.line("}");
    }

    /// Iterations of all points of a strip, as long as some go on.
    fn while_of_strip(&mut self, it: &WhileOfStrip, variable: &str, points: &str) {
        self.open("while", [&it.origin]);
        let (counter, limit) = (self.program.integers[it.counter].name.clone(), self.options.max_turns);
        let done = self.done_of_strip(&it.trap, variable);
        self.writer.line(format_args!("for (uint64_t {counter} = {done};; ++{counter}) {{"));
        self.writer.indent();
        self.writer.line("int64_t some_go_on = 0;");
        self.writer.line("#pragma omp simd reduction(| : some_go_on)");
        let condition = self.text(&it.condition);
        self.lane_loop(variable, points, |this| {
            this.statement(&format!("goes_on[lane] = {condition};"));
            this.writer.line("some_go_on |= goes_on[lane];");
        });
        self.writer.line("if (some_go_on == 0) break;");
        self.writer.line(format_args!("if ({counter} == {limit}u) {{"));
        self.writer.indent();
        let raise = self.raise(&it.trap);
        self.writer.line(points);
        self.writer.line(format_args!("  if (goes_on[{variable} - i_strip] != 0) {raise}"));
        self.writer.line("}");
        self.writer.line("break;");
        self.writer.dedent();
        self.writer.line("}");
        for part in &it.parts {
            self.writer.line("#pragma omp simd");
            self.lane_loop(variable, points, |this| this.iteration(part));
        }
        self.writer.dedent();
        self.writer.line("}");
        self.writer.close();
    }

    /// How many iterations count as done for all of a strip: those of its first point, which comes before the others.
    fn done_of_strip(&self, trap: &Trap, variable: &str) -> String {
        let variable = Symbol::new(variable);
        let factors =
            [&trap.turn, &trap.cell[0], &trap.cell[1], &trap.cell[2]].map(|it| it.factor(&variable));
        if factors != [0, 1, 0, 0] {
            return "0".to_owned();
        }
        let first = Affine::symbol(&Symbol::new("i_strip"));
        let mut of_first = trap.clone();
        of_first.cell[0] = trap.cell[0].substituted(&variable, &first);
        self.done(&of_first)
    }

    /// One iteration at one point, which keeps what it has where it has ended.
    fn iteration(&mut self, items: &[Item]) {
        for item in items {
            match item {
                Item::Assign(it) => {
                    let target = self.target(&it.target);
                    let value = self.text(&it.value);
                    let is_own = matches!(&it.target, Target::Local(local) if !self.lanes.contains(local));
                    self.open("assignment", [&it.origin]);
                    if is_own {
                        self.statement(&format!("{target} = {value};"));
                    } else {
                        self.statement(&format!("{target} = goes_on[lane] != 0 ? ({value}) : {target};"));
                    }
                    self.writer.close();
                }
                Item::If(it) => {
                    self.open("branch", it.branches.iter().map(|it| &it.origin));
                    for (at, branch) in it.branches.iter().enumerate() {
                        let condition = self.text(&branch.condition);
                        let keyword = if at == 0 { "if" } else { "} else if" };
                        self.statement(&format!("{keyword} ({condition}) {{"));
                        self.writer.indent();
                        self.iteration(&branch.body);
                        self.writer.dedent();
                    }
                    if !it.otherwise.is_empty() {
                        self.writer.line("} else {");
                        self.writer.indent();
                        self.iteration(&it.otherwise);
                        self.writer.dedent();
                    }
                    self.writer.line("}");
                    self.writer.close();
                }
                Item::Declare(_)
                | Item::Checked(_)
                | Item::For(_)
                | Item::Strips(_)
                | Item::Launch(_)
                | Item::While(_)
                | Item::Barrier => self.item(item),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use crate::c::{COptions, generate};
    use crate::loops::parse::parse;

    /// Compares the loops of a launched function, as `loops/split-loops` leaves it.
    fn check(names: &str, body: &str, expected: &Expect) {
        let program = format!(
            "\
program s(a, b, o)
field a: float64[I, J, K] shift [0, 0, 0] along IJK given read
field b: float64[I, J, K] shift [0, 0, 0] along IJK given read-write
field o: float64[I, J, K] shift [0, 0, 0] along IJK given write
temporary t: float64[I] shift [0] along I packed private per thread
{names}
function step_1_at(k, j) of step 1:
{body}
function step_1() of step 1:
  launch step_1_at():
    over k in [0, K)
    over j in [0, J)

step step_1 on all threads
"
        );
        let program = parse(&program).expect("it is a program");
        let text = generate(&program, &COptions::default()).listing.text;
        let function = &text[text.find("void step_1_at").expect("there is a step")..];
        let loops = &function[function.find("  for (int64_t i").expect("there is a loop")..];
        let loops = loops[..loops.find("\n}").expect("functions end")].lines();
        let loops: String = loops.map(|it| format!("{}\n", it.strip_prefix("  ").unwrap_or(it))).collect();
        expected.assert_eq(&loops);
    }

    #[test]
    fn parts_are_loops_over_the_points_of_a_strip() {
        check(
            "",
            "
  strips of 32 i in [0, I) keeping c: float64, e: float64:
    lanes:
      let c: float64 = 0.0
    lanes:
      const e: float64 = exp(a[i, j, k])
    lanes:
      const d: float64 = e / 2.0
      c = d if a[i, j, k] > 1.0 else c
      t[i] = c
",
            &expect![[r#"
                for (int64_t i_strip = 0; i_strip < I; i_strip += 32) {
                  const int64_t i_end = I - i_strip < 32 ? I : i_strip + 32;
                  double c[32];
                  double e[32];
                  #pragma omp simd
                  for (int64_t i = i_strip; i < i_end; ++i) {
                    const int64_t lane = i - i_strip;
                    (void)lane;
                    c[lane] = 0.0;
                  }
                  #pragma omp simd
                  for (int64_t i = i_strip; i < i_end; ++i) {
                    const int64_t lane = i - i_strip;
                    (void)lane;
                    e[lane] = isobar_exp_f64(a[i * a_i + j * a_j + k * a_k]);
                  }
                  #pragma omp simd
                  for (int64_t i = i_strip; i < i_end; ++i) {
                    const int64_t lane = i - i_strip;
                    (void)lane;
                    const double d = e[lane] / 2.0;
                    c[lane] = a[i * a_i + j * a_j + k * a_k] > 1.0 ? d : c[lane];
                    t[i] = c[lane];
                  }
                }
            "#]],
        );
    }

    #[test]
    fn a_while_of_a_strip_goes_on_as_long_as_one_of_its_points_does() {
        check(
            "integer turn\n",
            "
  strips of 32 i in [0, I) keeping c: float64, d: float64, p: float64, e: float64:
    lanes:
      let c: float64 = a[i, j, k]
      let d: float64 = 1.0
    while c > 1.0:
      turns turn stop at [i, j, k] in sweep 0 turn 0 of 2
      lanes:
        const p: float64 = c ** 1.5
      lanes:
        d = 3.0 * p + c ** 2
      lanes:
        const e: float64 = log(d)
      lanes:
        if d > 0.0:
          c = c - e
    lanes:
      t[i] = c
",
            &expect![[r#"
                for (int64_t i_strip = 0; i_strip < I; i_strip += 32) {
                  const int64_t i_end = I - i_strip < 32 ? I : i_strip + 32;
                  double c[32];
                  double d[32];
                  double p[32];
                  double e[32];
                  int64_t goes_on[32];
                  #pragma omp simd
                  for (int64_t i = i_strip; i < i_end; ++i) {
                    const int64_t lane = i - i_strip;
                    (void)lane;
                    c[lane] = a[i * a_i + j * a_j + k * a_k];
                    d[lane] = 1.0;
                  }
                  for (uint64_t turn = isobar_done(run->raised, 1000000u, 0, 0, 2, i_strip, j, k);; ++turn) {
                    int64_t some_go_on = 0;
                    #pragma omp simd reduction(| : some_go_on)
                    for (int64_t i = i_strip; i < i_end; ++i) {
                      const int64_t lane = i - i_strip;
                      (void)lane;
                      goes_on[lane] = c[lane] > 1.0;
                      some_go_on |= goes_on[lane];
                    }
                    if (some_go_on == 0) break;
                    if (turn == 1000000u) {
                      for (int64_t i = i_strip; i < i_end; ++i) {
                        if (goes_on[i - i_strip] != 0) isobar_raise(run->raised, 0, 0, 2, 2, i, j, k);
                      }
                      break;
                    }
                    #pragma omp simd
                    for (int64_t i = i_strip; i < i_end; ++i) {
                      const int64_t lane = i - i_strip;
                      (void)lane;
                      p[lane] = isobar_pow_f64(c[lane], 1.5);
                    }
                    #pragma omp simd
                    for (int64_t i = i_strip; i < i_end; ++i) {
                      const int64_t lane = i - i_strip;
                      (void)lane;
                      d[lane] = goes_on[lane] != 0 ? (3.0 * p[lane] + isobar_square_f64(c[lane])) : d[lane];
                    }
                    #pragma omp simd
                    for (int64_t i = i_strip; i < i_end; ++i) {
                      const int64_t lane = i - i_strip;
                      (void)lane;
                      e[lane] = isobar_log_f64(d[lane]);
                    }
                    #pragma omp simd
                    for (int64_t i = i_strip; i < i_end; ++i) {
                      const int64_t lane = i - i_strip;
                      (void)lane;
                      if (d[lane] > 0.0) {
                        c[lane] = goes_on[lane] != 0 ? (c[lane] - e[lane]) : c[lane];
                      }
                    }
                  }
                  #pragma omp simd
                  for (int64_t i = i_strip; i < i_end; ++i) {
                    const int64_t lane = i - i_strip;
                    (void)lane;
                    t[i] = c[lane];
                  }
                }
            "#]],
        );
    }

    #[test]
    fn arms_of_a_strip_run_where_some_point_takes_them() {
        check(
            "",
            "
  strips of 32 i in [0, I) keeping c: float64:
    if a[i, j, k] > 1.0:
      lanes:
        let c: float64 = b[i, j, k]
      if c > 2.0:
        lanes:
          o[i, j, k] = exp(c - 1.0)
      elif c > 1.0:
        lanes:
          o[i, j, k] = 1.0
      else:
        lanes:
          o[i, j, k] = 0.0
      lanes:
        if c < 0.0:
          c = 0.0
        t[i] = exp(c)
    else:
      lanes:
        t[i] = 0.0
",
            &expect![[r#"
                for (int64_t i_strip = 0; i_strip < I; i_strip += 32) {
                  const int64_t i_end = I - i_strip < 32 ? I : i_strip + 32;
                  double c[32];
                  {
                    int64_t arm_1[32];
                    uint64_t arms_1 = 0;
                    #pragma omp simd reduction(| : arms_1)
                    for (int64_t i = i_strip; i < i_end; ++i) {
                      const int64_t lane = i - i_strip;
                      (void)lane;
                      arm_1[lane] = a[i * a_i + j * a_j + k * a_k] > 1.0 ? 1 : 2;
                      arms_1 |= (uint64_t)1 << arm_1[lane];
                    }
                    if ((arms_1 >> 1 & 1) != 0) {
                      #pragma omp simd
                      for (int64_t i = i_strip; i < i_end; ++i) {
                        const int64_t lane = i - i_strip;
                        (void)lane;
                        if (arm_1[lane] == 1) {
                          c[lane] = b[i * b_i + j * b_j + k * b_k];
                        }
                      }
                      {
                        int64_t arm_2[32];
                        uint64_t arms_2 = 0;
                        #pragma omp simd reduction(| : arms_2)
                        for (int64_t i = i_strip; i < i_end; ++i) {
                          const int64_t lane = i - i_strip;
                          (void)lane;
                          arm_2[lane] = arm_1[lane] == 1 ? (c[lane] > 2.0 ? 1 : c[lane] > 1.0 ? 2 : 3) : 0;
                          arms_2 |= (uint64_t)1 << arm_2[lane];
                        }
                        if ((arms_2 >> 1 & 1) != 0) {
                          #pragma omp simd
                          for (int64_t i = i_strip; i < i_end; ++i) {
                            const int64_t lane = i - i_strip;
                            (void)lane;
                            if (arm_2[lane] == 1) {
                              o[i * o_i + j * o_j + k * o_k] = isobar_exp_f64(c[lane] - 1.0);
                            }
                          }
                        }
                        if ((arms_2 >> 2 & 1) != 0) {
                          #pragma omp simd
                          for (int64_t i = i_strip; i < i_end; ++i) {
                            const int64_t lane = i - i_strip;
                            (void)lane;
                            if (arm_2[lane] == 2) {
                              o[i * o_i + j * o_j + k * o_k] = 1.0;
                            }
                          }
                        }
                        if ((arms_2 >> 3 & 1) != 0) {
                          #pragma omp simd
                          for (int64_t i = i_strip; i < i_end; ++i) {
                            const int64_t lane = i - i_strip;
                            (void)lane;
                            if (arm_2[lane] == 3) {
                              o[i * o_i + j * o_j + k * o_k] = 0.0;
                            }
                          }
                        }
                      }
                      #pragma omp simd
                      for (int64_t i = i_strip; i < i_end; ++i) {
                        const int64_t lane = i - i_strip;
                        (void)lane;
                        if (arm_1[lane] == 1) {
                          if (c[lane] < 0.0) {
                            c[lane] = 0.0;
                          }
                          t[i] = isobar_exp_f64(c[lane]);
                        }
                      }
                    }
                    if ((arms_1 >> 2 & 1) != 0) {
                      #pragma omp simd
                      for (int64_t i = i_strip; i < i_end; ++i) {
                        const int64_t lane = i - i_strip;
                        (void)lane;
                        if (arm_1[lane] == 2) {
                          t[i] = 0.0;
                        }
                      }
                    }
                  }
                }
            "#]],
        );
    }
}

//! The SDFG as text: blocks and scopes as indentation, tasklets with the elements that their memlets move.

use std::fmt::{self, Display};

use itertools::Itertools;

use super::nodes::{
    BlockKind, Condition, Connector, Container, ContainerKind, ControlFlowRegion, GpuMemory, Input,
    LoopOrder, Map, MapParam, Memlet, NestedSdfg, Node, NodeKind, Operand, Range, RunTimeIndex,
    RunTimeSubscript, Schedule, Sdfg, State, Tasklet,
};
use crate::diag::{Listing, ListingWriter, Origin};
use crate::entity::{Arena, Handle};
use crate::expr::print::text_in_loops;
use crate::space::Affine;

/// The whole graph, with nested graphs in their places. Access nodes show as the names in the memlets.
#[must_use]
pub fn listing(sdfg: &Sdfg) -> Listing {
    let mut printer = Printer { writer: ListingWriter::new(), n_listed: 0 };
    printer.open("sdfg", []);
    let arguments: Vec<&str> = sdfg.arguments.iter().map(|&it| sdfg.containers[it].name.as_str()).collect();
    printer.writer.line(format_args!("sdfg {}({})", sdfg.name, arguments.join(", ")));
    printer.writer.indent();
    printer.containers(sdfg, |_| true);
    printer.region(sdfg, &sdfg.region);
    printer.writer.dedent();
    printer.writer.close();
    printer.writer.finish()
}

struct Printer {
    writer: ListingWriter,
    n_listed: usize,
}

impl Printer {
    fn open<'a>(&mut self, kind: &'static str, origins: impl IntoIterator<Item = &'a Origin>) -> String {
        let id = format!("n{}", self.n_listed);
        self.n_listed += 1;
        self.writer.open(id.clone(), kind, origins);
        id
    }

    fn containers(&mut self, sdfg: &Sdfg, is_shown: impl Fn(&Container) -> bool) {
        for (_, it) in sdfg.containers.iter().filter(|(_, it)| is_shown(it)) {
            let kind = match it.kind {
                ContainerKind::Field { is_read: true, is_written: true } => "inout",
                ContainerKind::Field { is_written: true, .. } => "out",
                ContainerKind::Field { .. } => "in",
                ContainerKind::Scalar => "scalar",
                ContainerKind::Temporary => "temporary",
                ContainerKind::Local => "local",
            };
            let shape: Vec<String> = it.shape.iter().map(ToString::to_string).collect();
            let shape = if shape.is_empty() { String::new() } else { format!("[{}]", shape.join(", ")) };
            let ring = it.ring.map_or(String::new(), |ring| format!(", {ring}"));
            let place = match &it.place {
                None => String::new(),
                Some(GpuMemory::Register) => ", register".to_owned(),
                Some(GpuMemory::Shared) => ", shared".to_owned(),
                Some(GpuMemory::Scratch) => ", scratch".to_owned(),
                Some(GpuMemory::Over(output)) => format!(", over {output}"),
            };
            self.writer.line(format_args!("{kind} {}: {}{shape}{ring}{place}", it.name, it.dtype));
        }
    }

    fn region(&mut self, sdfg: &Sdfg, region: &ControlFlowRegion) {
        for (at, block) in region.blocks.iter().enumerate() {
            if region.is_behind_barrier(at) {
                self.writer.line("barrier");
            }
            let label = &block.label;
            match &block.kind {
                BlockKind::State(state) => {
                    let id = self.open("state", []);
                    self.writer.line(format_args!("{id}: state {label}"));
                    self.writer.indent();
                    self.scope(sdfg, state, None);
                    self.writer.dedent();
                    self.writer.close();
                }
                BlockKind::Loop(it) => {
                    let id = self.open("loop", []);
                    let order = match it.order {
                        LoopOrder::Ascending => "ascending",
                        LoopOrder::Descending => "descending",
                    };
                    let (variable, start, end) = (&it.variable, &it.start, &it.end);
                    let step = if it.step == 1 { String::new() } else { format!(":{}", it.step) };
                    self.writer.line(format_args!(
                        "{id}: loop {label}: {variable} in [{start}:{end}{step}] {order}"
                    ));
                    self.body(sdfg, &it.body);
                    self.writer.close();
                }
                BlockKind::While(it) => {
                    let id = self.open("while", [&it.origin]);
                    let condition = condition(&it.condition, &sdfg.containers);
                    self.writer.line(format_args!("{id}: while {label}: {condition}"));
                    self.body(sdfg, &it.body);
                    self.writer.close();
                }
                BlockKind::Conditional(it) => {
                    let id = self.open("conditional", []);
                    for (at, branch) in it.branches.iter().enumerate() {
                        let keyword = if at == 0 { format!("{id}: if {label}:") } else { "elif".to_owned() };
                        let condition = condition(&branch.condition, &sdfg.containers);
                        self.open("branch", [&branch.origin]);
                        self.writer.line(format_args!("{keyword} {condition}"));
                        self.body(sdfg, &branch.body);
                        self.writer.close();
                    }
                    if let Some(otherwise) = &it.otherwise {
                        self.open("branch", []);
                        self.writer.line("else");
                        self.body(sdfg, otherwise);
                        self.writer.close();
                    }
                    self.writer.close();
                }
            }
        }
    }

    fn body(&mut self, sdfg: &Sdfg, region: &ControlFlowRegion) {
        self.writer.indent();
        self.region(sdfg, region);
        self.writer.dedent();
    }

    fn scope(&mut self, sdfg: &Sdfg, state: &State, scope: Option<Handle<Node>>) {
        // A faulty graph is printed too, so that its fault can be found.
        let order = state.in_order(scope).unwrap_or_else(|| state.nodes.handles().collect());
        for node in order {
            match &state.nodes[node].kind {
                NodeKind::Access(_) | NodeKind::MapExit { .. } => {}
                NodeKind::Tasklet(it) => self.tasklet(sdfg, state, node, it),
                NodeKind::MapEntry(it) => self.map(sdfg, state, node, it),
                NodeKind::NestedSdfg(it) => self.nested(it),
            }
        }
    }

    fn tasklet(&mut self, sdfg: &Sdfg, state: &State, node: Handle<Node>, tasklet: &Tasklet) {
        let id = self.open("tasklet", [&tasklet.origin]);
        let edges: Vec<_> = state.edges_into(node).collect();
        let input = |at: usize, picked: &[RunTimeSubscript], f: &mut fmt::Formatter<'_>| {
            let Some(Connector { name, .. }) = tasklet.inputs.get(at) else { return f.write_str("?") };
            let edge = edges.iter().find(|it| it.target_connector.as_ref() == Some(name));
            match edge.and_then(|it| it.memlet.as_ref()) {
                Some(memlet) => element(memlet, picked, tasklet, &sdfg.containers).fmt(f),
                None => f.write_str(name),
            }
        };
        let leaf = |it: &Input, f: &mut fmt::Formatter<'_>| match it {
            Input::Connector(at) => input(*at, &[], f),
            Input::Element { connector, at } => input(*connector, at, f),
            Input::Symbolic(sum) => spelled(sum).fmt(f),
        };
        for RunTimeIndex { name, code, size } in &tasklet.found {
            self.writer.line(format_args!(
                "{id}: {name} = {} in [0:{size}], else a trap",
                text_in_loops(code, &leaf)
            ));
        }
        let code = text_in_loops(&tasklet.code, &leaf);
        let name = &tasklet.output.name;
        let out = state.edges_out_of(node).find(|it| it.source_connector.as_ref() == Some(name));
        match out.and_then(|it| it.memlet.as_ref()) {
            Some(memlet) => {
                let target = element(memlet, &tasklet.output_at, tasklet, &sdfg.containers);
                self.writer.line(format_args!("{id}: {target} = {code}"));
            }
            None => self.writer.line(format_args!("{id}: {name} = {code}")),
        }
        self.writer.close();
    }

    fn map(&mut self, sdfg: &Sdfg, state: &State, entry: Handle<Node>, map: &Map) {
        let id = self.open("map", []);
        let param = |it: &MapParam| {
            let MapParam { symbol, range: Range { start, end }, step, .. } = it;
            let step = if *step == 1 { String::new() } else { format!(":{step}") };
            format!("{symbol} in [{start}:{end}{step}]")
        };
        let schedule = match map.schedule {
            Schedule::Sequential => "",
            Schedule::Threads => ", threads",
            Schedule::Simd => ", simd",
            Schedule::Grid => ", grid",
            Schedule::Block => ", block",
        };
        self.writer.line(format_args!("{id}: map {}{schedule}", map.params.iter().map(param).format(", ")));
        self.writer.indent();
        let exit = state
            .nodes
            .handles()
            .find(|&it| matches!(state.nodes[it].kind, NodeKind::MapExit { entry: of } if of == entry));
        let reads: Vec<&Memlet> = state.edges_into(entry).filter_map(|it| it.memlet.as_ref()).collect();
        let out = exit.into_iter().flat_map(|exit| state.edges_out_of(exit));
        let writes: Vec<&Memlet> = out.filter_map(|it| it.memlet.as_ref()).collect();
        for (word, memlets) in [("reads", reads), ("writes", writes)] {
            if !memlets.is_empty() {
                let memlets = memlets.iter().map(|it| moved(it, &sdfg.containers));
                self.writer.line(format_args!("{word} {}", memlets.format(", ")));
            }
        }
        self.scope(sdfg, state, Some(entry));
        self.writer.dedent();
        self.writer.close();
    }

    fn nested(&mut self, it: &NestedSdfg) {
        let id = self.open("nested-sdfg", []);
        let (inputs, outputs) = (it.inputs.join(", "), it.outputs.join(", "));
        self.writer.line(format_args!("{id}: nested {}({inputs}) -> ({outputs})", it.sdfg.name));
        self.writer.indent();
        self.containers(&it.sdfg, |it| it.is_transient);
        self.region(&it.sdfg, &it.sdfg.region);
        self.writer.dedent();
        self.writer.close();
    }
}

/// A condition in the notation of the language, elements with their indices.
#[must_use]
pub fn condition(condition: &Condition, containers: &Arena<Container>) -> String {
    let leaf = |it: &Operand, f: &mut fmt::Formatter<'_>| match it {
        Operand::Element { container, index } => {
            moved(&Memlet::element(*container, index), containers).fmt(f)
        }
        Operand::Symbolic(sum) => spelled(sum).fmt(f),
    };
    text_in_loops(condition, &leaf).to_string()
}

/// A sum, in parentheses where it has more than one term.
fn spelled(sum: &Affine) -> impl fmt::Display {
    let text = sum.to_string();
    let is_bare = !text.contains([' ', '*']);
    fmt::from_fn(move |f| if is_bare { f.write_str(&text) } else { write!(f, "({text})") })
}

/// The element that a tasklet picks of what a memlet moves: `q[i, j, q_at]`.
fn element<'a>(
    memlet: &'a Memlet,
    picked: &'a [RunTimeSubscript],
    tasklet: &'a Tasklet,
    containers: &'a Arena<Container>,
) -> impl fmt::Display + 'a {
    fmt::from_fn(move |f| {
        if picked.is_empty() {
            return moved(memlet, containers).fmt(f);
        }
        let index = memlet.subset.iter().enumerate().map(|(dimension, range)| {
            let found = picked.iter().find(|it| it.dimension == dimension);
            match (found.and_then(|it| tasklet.found.get(it.found)), range.as_point()) {
                (Some(found), _) => found.name.clone(),
                (None, Some(at)) => at.to_string(),
                (None, None) => format!("{}:{}", range.start, range.end),
            }
        });
        let name = containers.get(memlet.data).map_or("?", |it| it.name.as_str());
        write!(f, "{name}[{}]", index.format(", "))
    })
}

/// The elements that a memlet moves: `q[0:I, j + 1, k]`.
fn moved<'a>(memlet: &'a Memlet, containers: &'a Arena<Container>) -> impl fmt::Display + 'a {
    let range = |it: &'a Range| {
        fmt::from_fn(|f| match it.as_point() {
            Some(at) => at.fmt(f),
            None => write!(f, "{}:{}", it.start, it.end),
        })
    };
    fmt::from_fn(move |f| {
        f.write_str(containers.get(memlet.data).map_or("?", |it| it.name.as_str()))?;
        if memlet.subset.is_empty() {
            return Ok(());
        }
        write!(f, "[{}]", memlet.subset.iter().map(range).format(", "))
    })
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::listing;
    use crate::samples;
    use crate::sdfg::from_schedule::lower;

    #[test]
    fn a_temporary_moves_between_two_maps_of_one_state() {
        expect![[r#"
            sdfg laplacian(q, out)
              in q: float64[I + 4, J + 4, K]
              out out: float64[I, J, K]
              temporary lap: float64[I + 2, J + 2, K]
              local flux: float64
              n1: state state_0
                n2: map k in [0:K], threads
                  reads q[0:I + 4, 0:J + 4, 0:K]
                  writes lap[0:I + 2, 0:J + 2, 0:K]
                  n3: map j in [-1:J + 1]
                    reads q[0:I + 4, 0:J + 4, k]
                    writes lap[0:I + 2, 0:J + 2, k]
                    n4: map i in [-1:I + 1], simd
                      reads q[0:I + 4, j + 1:j + 4, k]
                      writes lap[0:I + 2, j + 1, k]
                      n5: lap[i + 1, j + 1, k] = q[i + 3, j + 2, k] + q[i + 1, j + 2, k] + q[i + 2, j + 3, k] + q[i + 2, j + 1, k] + -4.0 * q[i + 2, j + 2, k]
                n6: map k in [0:K], threads
                  reads q[2:I + 2, 2:J + 2, 0:K], lap[0:I + 2, 0:J + 2, 0:K]
                  writes out[0:I, 0:J, 0:K]
                  n7: map j in [0:J]
                    reads q[2:I + 2, 2:J + 2, k], lap[0:I + 2, 0:J + 2, k]
                    writes out[0:I, 0:J, k]
                    n8: map i in [0:I], simd
                      reads q[2:I + 2, j + 2, k], lap[0:I + 2, j:j + 3, k]
                      writes out[0:I, j, k]
                      n9: flux = lap[i + 2, j + 1, k] + lap[i, j + 1, k] + lap[i + 1, j + 2, k] + lap[i + 1, j, k]
                      n10: out[i, j, k] = q[i + 2, j + 2, k] + 0.1 * flux
        "#]].assert_eq(&listing(&lower(&samples::laplacian())).text);
    }

    #[test]
    fn control_flow_makes_a_nested_graph() {
        expect![[r#"
            sdfg columns(q, out)
              inout q: float64[I, J, K]
              out out: float64[I, J, K]
              n1: state state_0
                n2: map k in [0:K], threads
                  reads q[0:I, 0:J, 0:K]
                  writes q[0:I, 0:J, 0:K], out[0:I, 0:J, 0:K]
                  n3: map j in [0:J]
                    reads q[0:I, 0:J, k]
                    writes q[0:I, 0:J, k], out[0:I, 0:J, k]
                    n4: map i in [0:I], simd
                      reads q[0:I, j, k]
                      writes q[0:I, j, k], out[0:I, j, k]
                      n5: nested map_0_body(q) -> (out, q)
                        local x: float64
                        local n: int64
                        n6: state state_0
                          n7: x = q[i, j, k]
                          n8: n = 0
                        n9: if region_0: i < 1
                          n11: state state_1
                            n12: x = 7.5
                        n13: while while_0: x > 1.0
                          n14: state state_2
                            n15: x = 0.5 * x
                            n16: n = n + 1
                        n17: if if_0: x > 0.0
                          n19: state state_3
                            n20: out[i, j, k] = 1.0
                        elif q[i, j, k] > 0.0
                          n22: state state_4
                            n23: out[i, j, k] = x
                        else
                          n25: state state_5
                            n26: out[i, j, k] = -1.0
                        n27: state state_6
                          n28: q[i, j, k] = x + float64(n)
        "#]]
        .assert_eq(&listing(&lower(&samples::columns())).text);
    }

    #[test]
    fn a_sweep_is_a_loop_region() {
        expect![[r#"
            sdfg sweep(q, out)
              in q: float64[I, J, K]
              inout out: float64[I, J, K]
              n1: state state_0
                n2: map j in [0:J], threads
                  reads q[0:I, 0:J, 1:K], out[0:I, 0:J, 0:K - 1]
                  writes out[0:I, 0:J, 1:K]
                  n3: nested map_0_body(out, q) -> (out)
                    n4: loop loop_0: k in [1:K] ascending
                      n5: state state_0
                        n6: map i in [0:I], simd
                          reads q[0:I, j, k], out[0:I, j, k - 1]
                          writes out[0:I, j, k]
                          n7: out[i, j, k] = out[i, j, k - 1] + q[i, j, k]
        "#]]
        .assert_eq(&listing(&lower(&samples::sweep())).text);
    }
}

//! Makes symbols of integers that symbols tell.

use std::collections::BTreeMap;

use super::PassCx;
use crate::diag::Origin;
use crate::entity::Handle;
use crate::expr::{Expr, ExprKind};
use crate::sdfg::nodes::{
    BlockKind, Container, ControlFlowRegion, Input, NodeKind, Operand, Sdfg, State, Storage, Tasklet,
};
use crate::space::{Affine, Symbol};
use crate::types::{BinaryOp, DType, Value};

pub const NAME: &str = "sdfg/promote-scalars";

/// Replaces each register that one statement writes, with a sum of symbols, by that sum where it is read.
///
/// - **Precondition** — a valid graph.
/// - **Effect** — readers need no data; the statement itself is left to `eliminate-dead-dataflow`.
/// - **Legality** — [`may_promote`]; every refusal of what could be a symbol becomes a remark.
/// - **Why** — a symbol can be reasoned about, and needs no place in memory.
pub fn promote_scalars(sdfg: &mut Sdfg, cx: &mut PassCx) {
    sdfg.region.each_state_mut(&mut |state| {
        for (_, node) in state.nodes.iter_mut() {
            if let NodeKind::NestedSdfg(nested) = &mut node.kind {
                promote_scalars(&mut nested.sdfg, cx);
            }
        }
    });
    let uses = Uses::of(sdfg);
    let mut sums = BTreeMap::new();
    for (handle, uses) in uses.of_containers {
        let container = &sdfg.containers[handle];
        let is_candidate = container.is_transient
            && container.storage == Storage::Register
            && container.dtype == DType::Int64
            && !uses.readers.is_empty();
        let [Writer { sum: Some(sum), origin, .. }] = uses.writers.as_slice() else { continue };
        if !is_candidate {
            continue;
        }
        match may_promote(&uses) {
            Ok(()) if cx.may_change() => {
                cx.applied(format!("`{}` is the symbol {sum}", container.name), [origin]);
                sums.insert(handle, sum.clone());
            }
            Ok(()) => {}
            Err(reason) => {
                cx.missed(format!("`{}` is {sum}, but stays a value: {reason}", container.name), [origin]);
            }
        }
    }
    if !sums.is_empty() {
        replace(sdfg, &sums);
    }
}

/// A statement, loop or branch around, by number; loops and maps with their variables.
type Path = Vec<(usize, Vec<Symbol>)>;

#[derive(Default)]
struct Uses {
    of_containers: BTreeMap<Handle<Container>, OfContainer>,
    n_scopes: usize,
}

#[derive(Default)]
struct OfContainer {
    writers: Vec<Writer>,
    /// Where it is read.
    readers: Vec<Path>,
    is_passed_on: bool,
}

struct Writer {
    path: Path,
    /// What it writes, where symbols tell it.
    sum: Option<Affine>,
    origin: Origin,
}

/// Whether what the one statement writes is known wherever it is read.
fn may_promote(uses: &OfContainer) -> Result<(), &'static str> {
    let [writer] = uses.writers.as_slice() else { return Err("several statements write it") };
    if uses.is_passed_on {
        return Err("a graph inside takes it as a value");
    }
    let numbers = |path: &Path| path.iter().map(|it| it.0).collect::<Vec<_>>();
    let of_writer = numbers(&writer.path);
    if uses.readers.iter().any(|reader| !numbers(reader).starts_with(&of_writer)) {
        return Err("it is read where the statement may not have run");
    }
    Ok(())
}

impl Uses {
    fn of(sdfg: &Sdfg) -> Self {
        let mut uses = Self::default();
        uses.region(&sdfg.region, &mut Vec::new());
        uses
    }

    fn scope(&mut self, path: &mut Path, variables: Vec<Symbol>) {
        self.n_scopes += 1;
        path.push((self.n_scopes, variables));
    }

    fn region(&mut self, region: &ControlFlowRegion, path: &mut Path) {
        for block in &region.blocks {
            let depth = path.len();
            match &block.kind {
                BlockKind::State(state) => self.state(state, path),
                BlockKind::Loop(it) => {
                    self.scope(path, vec![it.variable.clone()]);
                    self.region(&it.body, path);
                }
                BlockKind::While(it) => {
                    self.scope(path, Vec::new());
                    self.condition(&it.condition, path);
                    self.region(&it.body, path);
                }
                BlockKind::Conditional(it) => {
                    for branch in &it.branches {
                        self.condition(&branch.condition, path);
                        self.scope(path, Vec::new());
                        self.region(&branch.body, path);
                        path.truncate(depth);
                    }
                    if let Some(otherwise) = &it.otherwise {
                        self.scope(path, Vec::new());
                        self.region(otherwise, path);
                    }
                }
            }
            path.truncate(depth);
        }
    }

    fn condition(&mut self, condition: &crate::sdfg::nodes::Condition, path: &Path) {
        condition.accesses(&mut |operand| {
            if let Operand::Element { container, .. } = operand {
                self.of_containers.entry(*container).or_default().readers.push(path.clone());
            }
        });
    }

    fn state(&mut self, state: &State, path: &Path) {
        // Maps are numbered by their entries.
        let first = self.n_scopes + 1;
        self.n_scopes += state.nodes.len();
        let path_of = |node| {
            let mut scopes = Vec::new();
            let mut scope: Option<Handle<_>> = state.nodes[node].scope;
            while let Some(entry) = scope {
                let variables = match &state.nodes[entry].kind {
                    NodeKind::MapEntry(map) => map.params.iter().map(|it| it.symbol.clone()).collect(),
                    _ => Vec::new(),
                };
                scopes.push((first + entry.index(), variables));
                scope = state.nodes[entry].scope;
            }
            path.iter().cloned().chain(scopes.into_iter().rev()).collect::<Path>()
        };
        for edge in &state.edges {
            let Some(memlet) = &edge.memlet else { continue };
            match &state.nodes[edge.source].kind {
                NodeKind::Tasklet(it) => {
                    let writer = Writer {
                        path: path_of(edge.source),
                        sum: Some(it).filter(|it| it.found.is_empty()).and_then(|it| as_sum(&it.code)),
                        origin: it.origin.clone(),
                    };
                    self.of_containers.entry(memlet.data).or_default().writers.push(writer);
                }
                NodeKind::NestedSdfg(_) => {
                    self.of_containers.entry(memlet.data).or_default().is_passed_on = true;
                }
                _ => {}
            }
            match &state.nodes[edge.target].kind {
                NodeKind::Tasklet(_) => {
                    let reader = path_of(edge.target);
                    self.of_containers.entry(memlet.data).or_default().readers.push(reader);
                }
                NodeKind::NestedSdfg(_) => {
                    self.of_containers.entry(memlet.data).or_default().is_passed_on = true;
                }
                _ => {}
            }
        }
    }
}

/// The sum that code is, where it is one of symbols and numbers that cannot overflow.
fn as_sum(code: &Expr<Input>) -> Option<Affine> {
    match &code.kind {
        ExprKind::Access(Input::Symbolic(sum)) if code.dtype == DType::Int64 => Some(sum.clone()),
        ExprKind::Literal(Value::Int64(number)) if i32::try_from(*number).is_ok() => {
            Some(Affine::constant(*number))
        }
        ExprKind::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), left, right) => {
            let (left, right) = (as_sum(left)?, as_sum(right)?);
            Some(if *op == BinaryOp::Add { &left + &right } else { &left - &right })
        }
        _ => None,
    }
}

/// Puts the sums where the containers are read.
fn replace(sdfg: &mut Sdfg, sums: &BTreeMap<Handle<Container>, Affine>) {
    sdfg.region.each_condition_mut(&mut |condition| {
        condition.accesses_mut(&mut |operand| {
            if let Operand::Element { container, .. } = operand
                && let Some(sum) = sums.get(container)
            {
                *operand = Operand::Symbolic(sum.clone());
            }
        });
    });
    sdfg.region.each_state_mut(&mut |state| {
        let nodes: Vec<_> = state.nodes.handles().collect();
        for node in nodes {
            let promoted: Vec<(String, Affine)> = state
                .edges_into(node)
                .filter_map(|edge| {
                    Some((edge.target_connector.clone()?, sums.get(&edge.memlet.as_ref()?.data)?.clone()))
                })
                .collect();
            if let (false, NodeKind::Tasklet(tasklet)) = (promoted.is_empty(), &mut state.nodes[node].kind) {
                promoted.iter().for_each(|(connector, sum)| without_input(tasklet, connector, sum));
                let is_gone =
                    |name: &Option<String>| promoted.iter().any(|(it, _)| name.as_ref() == Some(it));
                state.edges.retain(|edge| edge.target != node || !is_gone(&edge.target_connector));
            }
        }
        state.remove(&|_| false);
    });
}

/// Takes an input away, and reads the sum in its place.
fn without_input(tasklet: &mut Tasklet, connector: &str, sum: &Affine) {
    let Some(gone) = tasklet.inputs.iter().position(|it| it.name == connector) else { return };
    tasklet.inputs.remove(gone);
    let codes = tasklet.found.iter_mut().map(|it| &mut it.code).chain([&mut tasklet.code]);
    for code in codes {
        code.accesses_mut(&mut |input| match input {
            Input::Connector(at) if *at == gone => *input = Input::Symbolic(sum.clone()),
            Input::Connector(at) | Input::Element { connector: at, .. } if *at > gone => *at -= 1,
            _ => {}
        });
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::sdfg::passes::tests::after;

    const HEADER: &str = "\
schedule symbols
field a: float64[I, J, K] shift [0, 0, 0] read
field b: float64[I, J, K] shift [0, 0, 0] write
local n: int64
for k in [0, K) parallel:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
";

    #[test]
    fn an_integer_that_symbols_tell_is_a_symbol_where_it_is_read() {
        let tree = format!(
            "{HEADER}      n = k + 1
      b[i, j, k] = a[i, j, {{n}}] + float64(n)
      if n > 2:
        b[i, j, k] = 0.0
"
        );
        expect![[r#"
            sdfg symbols(a, b)
              in a: float64[I, J, K]
              out b: float64[I, J, K]
              n1: state state_0
                n2: map k in [0:K], j in [0:J], i in [0:I]
                  reads a[0:I, 0:J, 0:K]
                  writes b[0:I, 0:J, 0:K]
                  n3: nested map_0_body(a) -> (b)
                    local n: int64
                    n4: state state_0
                      n5: n = k + 1
                      n6: a_at = (k + 1) in [0:K], else a trap
                      n6: b[i, j, k] = a[i, j, a_at] + float64((k + 1))
                    n7: if if_0: (k + 1) > 2
                      n9: state state_1
                        n10: b[i, j, k] = 0.0
            applied: `n` is the symbol k + 1
        "#]]
        .assert_eq(&after(&tree, promote_scalars));
    }

    #[test]
    fn what_only_a_branch_writes_stays_a_value() {
        let tree = format!(
            "{HEADER}      if a[i, j, k] > 0.0:
        n = k
      b[i, j, k] = float64(n)
"
        );
        expect![[r#"
            sdfg symbols(a, b)
              in a: float64[I, J, K]
              out b: float64[I, J, K]
              n1: state state_0
                n2: map k in [0:K], j in [0:J], i in [0:I]
                  reads a[0:I, 0:J, 0:K]
                  writes b[0:I, 0:J, 0:K]
                  n3: nested map_0_body(a) -> (b)
                    local n: int64
                    n4: if if_0: a[i, j, k] > 0.0
                      n6: state state_0
                        n7: n = k
                    n8: state state_1
                      n9: b[i, j, k] = float64(n)
            missed: `n` is k, but stays a value: it is read where the statement may not have run
        "#]]
        .assert_eq(&after(&tree, promote_scalars));
    }
}

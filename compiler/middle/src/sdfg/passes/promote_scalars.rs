//! Makes symbols of integers that symbols tell.

use std::collections::BTreeMap;

use super::PassCx;
use crate::entity::Handle;
use crate::expr::{Expr, ExprKind};
use crate::sdfg::analysis::Accesses;
use crate::sdfg::analysis::accesses::Access;
use crate::sdfg::nodes::{Container, Input, NodeKind, Operand, Sdfg, Storage, Tasklet};
use crate::space::Affine;
use crate::types::{BinaryOp, DType, Value};

pub const NAME: &str = "sdfg/promote-scalars";

/// Replaces each register that one statement writes, with a sum of symbols, by that sum where it is read.
///
/// - **Precondition**: a valid graph.
/// - **Effect**: readers need no data; the statement itself is left to `eliminate-dead-dataflow`.
/// - **Legality**: [`may_promote`]; every refusal of a value that could be a symbol becomes a remark.
/// - **Why**: a symbol can be reasoned about, and needs no place in memory.
pub fn promote_scalars(sdfg: &mut Sdfg, cx: &mut PassCx) {
    sdfg.each_inner_mut(&mut |nested| promote_scalars(&mut nested.sdfg, cx));
    let accesses = Accesses::of(sdfg);
    let mut sums = BTreeMap::new();
    for (handle, container) in sdfg.containers.iter() {
        let is_candidate = container.is_transient
            && is_register(container.storage)
            && container.dtype == DType::Int64
            && reads(&accesses, handle).next().is_some();
        let mut writers = accesses.writes(handle).filter_map(Access::tasklet);
        let (Some(writer), None) = (writers.next(), writers.next()) else { continue };
        let sum = Some(writer).filter(|it| it.found.is_empty()).and_then(|it| as_sum(&it.code));
        let Some(sum) = sum.filter(|_| is_candidate) else { continue };
        let origin = &writer.origin;
        match may_promote(&accesses, handle) {
            Ok(()) if cx.may_change() => {
                cx.applied(format!("`{}` is the symbol {sum}", container.name), [origin]);
                sums.insert(handle, sum);
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

/// One value in each iteration.
fn is_register(storage: Storage) -> bool {
    match storage {
        Storage::Register => true,
        Storage::Caller | Storage::Heap | Storage::Private => false,
    }
}

/// The statements and conditions that read a container.
fn reads<'a, 's>(
    accesses: &'a Accesses<'s>,
    data: Handle<Container>,
) -> impl Iterator<Item = &'a Access<'s>> {
    accesses.reads(data).filter(|it| !it.is_by_graph())
}

/// Whether the value that the one statement writes is known wherever it is read.
fn may_promote(accesses: &Accesses<'_>, data: Handle<Container>) -> Result<(), &'static str> {
    if accesses.of_container(data).any(Access::is_by_graph) {
        return Err("a graph inside takes it as a value");
    }
    let mut writers = accesses.writes(data);
    let (Some(writer), None) = (writers.next(), writers.next()) else {
        return Err("several statements write it");
    };
    if !reads(accesses, data).all(|reader| accesses.is_within_scope_of(reader, writer)) {
        return Err("it is read where the statement may not have run");
    }
    Ok(())
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

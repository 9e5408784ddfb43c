//! Exchanges the axes I and K of loops, for arrays whose neighbours along k lie side by side.
//!
//! Loops without an order along k are the same whichever axis is called I. So later passes know only one
//! layout: rows, lanes, stores past the caches and blocks are along I. The caller turns its arrays too:
//! sizes, strides and origin along I and K change places
//! ([`AxisSet::turned`](crate::space::AxisSet::turned)).

use super::nodes::{Access, Container, Expr, Loop, Node, Order, RegionScope, Tree, Where};
use super::transform::peel::place_of;
use crate::expr::ExprKind;
use crate::space::{Affine, Axis, Bound, Region, Side, Size, Symbol};

/// Why loops cannot be turned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TurnRefusal {
    /// Levels follow each other.
    Order,
    /// An element is found, or a loop ends, at run time.
    RunTime,
}

impl TurnRefusal {
    /// One sentence without a final dot.
    #[must_use]
    pub fn reason(self) -> &'static str {
        match self {
            Self::Order => "levels follow each other in columns",
            Self::RunTime => "what is touched shows at run time only",
        }
    }
}

/// Turns a tree as it was lowered: nests `k { j { i } }`, no choice made.
///
/// Nests come out as `k { j { i } }` again, each with the statements of one horizontal loop. A loop over
/// levels may be divided like that, since levels without an order do not see each other's values.
///
/// # Errors
///
/// The reason why the tree cannot be turned.
pub fn turned(tree: &Tree) -> Result<Tree, TurnRefusal> {
    let mut to = tree.clone();
    to.children.clear();
    let axes: Vec<usize> = tree.containers.iter().map(|(_, it)| it.axes.len()).collect();
    for (_, it) in to.containers.iter_mut() {
        container(it)?;
    }
    for node in &tree.children {
        let Node::Loop(levels) = node else { return Err(TurnRefusal::Order) };
        if levels.order != Order::Parallel || levels.axis != Axis::K {
            return Err(TurnRefusal::Order);
        }
        for plane in &levels.children {
            let Node::Loop(rows) = plane else { return Err(TurnRefusal::Order) };
            let [Node::Loop(row)] = rows.children.as_slice() else { return Err(TurnRefusal::Order) };
            let mut body = row.children.clone();
            let (mut row, mut rows) = (loop_over(row, Axis::K)?, loop_over(rows, Axis::J)?);
            // A region that holds the whole body becomes limits of the loops around.
            while let [Node::Region(it)] = body.as_mut_slice() {
                limit(&mut row, it.region.i);
                limit(&mut rows, it.region.j);
                body = std::mem::take(&mut it.children);
            }
            TurnContext { axes: &axes, levels: &row }.statements(&mut body)?;
            let inner = Loop { children: body, ..loop_over(levels, Axis::I)? };
            let rows = Loop { children: vec![Node::Loop(inner)], ..rows };
            to.children.push(Node::Loop(Loop { children: vec![Node::Loop(rows)], ..row }));
        }
    }
    Ok(to)
}

/// The head of a loop, which is now over this axis.
fn loop_over(it: &Loop, axis: Axis) -> Result<Loop, TurnRefusal> {
    let head = Loop { children: Vec::new(), ..it.clone() };
    let (mut start, mut end) = (it.start.clone(), it.end.clone());
    size(&mut start)?;
    size(&mut end)?;
    Ok(Loop { axis, variable: Symbol::new(axis.position_name()), start, end, ..head })
}

/// Limits a turned loop to a side of a region.
fn limit(it: &mut Loop, side: Side) {
    if let Some(start) = side.start {
        it.start = Size::Max(vec![it.start.clone(), place_of(start, it.axis)]);
    }
    if let Some(end) = side.end {
        it.end = Size::Min(vec![it.end.clone(), place_of(end, it.axis)]);
    }
}

fn container(it: &mut Container) -> Result<(), TurnRefusal> {
    let n = it.axes.len();
    it.shape.iter_mut().try_for_each(size)?;
    it.shift.iter_mut().try_for_each(affine)?;
    // The dimensions of I, J and K become those of K, J and I; a missing axis is left out.
    it.shape[..n].reverse();
    it.shift[..n].reverse();
    it.axes = it.axes.turned();
    Ok(())
}

/// The context in which statements are turned.
struct TurnContext<'t> {
    /// How many axes each container has.
    axes: &'t [usize],
    /// The loop over the former axis I.
    levels: &'t Loop,
}

impl TurnContext<'_> {
    fn statements(&self, nodes: &mut [Node]) -> Result<(), TurnRefusal> {
        for node in nodes {
            match node {
                Node::Loop(_) | Node::Where(_) | Node::Barrier => return Err(TurnRefusal::Order),
                Node::Region(it) => {
                    self.statements(&mut it.children)?;
                    *node = self.limited(it.clone());
                }
                Node::While(_) => return Err(TurnRefusal::RunTime),
                Node::If(it) => {
                    self.expression(&mut it.condition)?;
                    self.statements(&mut it.then)?;
                    self.statements(&mut it.otherwise)?;
                }
                Node::Assign(it) => {
                    self.access(&mut it.target)?;
                    self.expression(&mut it.value)?;
                }
            }
        }
        Ok(())
    }

    /// Makes the part of a region along I a limit of the loop over levels. The part along J stays a region.
    fn limited(&self, it: RegionScope) -> Node {
        let RegionScope { region: Region { i, j }, children, origin } = it;
        let levels = self.levels;
        let place = |bound: Option<Bound>, open: &Size| {
            bound.map_or_else(|| open.clone(), |at| place_of(at, levels.axis))
        };
        let (start, end) = (place(i.start, &levels.start), place(i.end, &levels.end));
        let inside =
            |children| Node::Where(Where { variable: levels.variable.clone(), start, end, children });
        let along_j = Region { j, ..Region::default() };
        match (i == Side::default(), j == Side::default()) {
            (false, true) => inside(children),
            (false, false) => inside(vec![Node::Region(RegionScope { region: along_j, children, origin })]),
            (true, _) => Node::Region(RegionScope { region: along_j, children, origin }),
        }
    }

    fn expression(&self, it: &mut Expr) -> Result<(), TurnRefusal> {
        match &mut it.kind {
            ExprKind::Access(it) => self.access(it)?,
            ExprKind::Element(..) => return Err(TurnRefusal::RunTime),
            ExprKind::Position(axis) => *axis = axis.turned(),
            _ => {}
        }
        it.operands_mut().into_iter().try_for_each(|it| self.expression(it))
    }

    fn access(&self, it: &mut Access) -> Result<(), TurnRefusal> {
        for subscript in &mut it.index {
            if subscript.found.is_some() {
                return Err(TurnRefusal::RunTime);
            }
            affine(&mut subscript.known)?;
        }
        it.index[..self.axes[it.container.index()]].reverse();
        Ok(())
    }
}

fn size(it: &mut Size) -> Result<(), TurnRefusal> {
    match it {
        Size::Affine(sum) => affine(sum),
        Size::Min(parts) | Size::Max(parts) => parts.iter_mut().try_for_each(size),
    }
}

/// Exchanges the symbols of I and K. Refuses other symbols, whose values are known at run time only.
fn affine(sum: &mut Affine) -> Result<(), TurnRefusal> {
    let turned = |symbol: &Symbol| {
        let name = match symbol.name() {
            "I" => "K",
            "K" => "I",
            "i" => "k",
            "k" => "i",
            "J" | "j" => return Ok(symbol.clone()),
            _ => return Err(TurnRefusal::RunTime),
        };
        Ok(Symbol::new(name))
    };
    let terms: Result<Vec<_>, _> = sum.terms().map(|(it, factor)| Ok((turned(it)?, factor))).collect();
    *sum = Affine::of(terms?, sum.offset());
    Ok(())
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::schedule::parse::parse;
    use crate::schedule::passes::tests::FIELDS;
    use crate::schedule::print::listing;
    use crate::schedule::validate::validate;

    fn found(loops: &str) -> Result<String, &'static str> {
        let tree = parse(&format!("{FIELDS}{loops}")).expect("the text is a schedule tree");
        let turned = turned(&tree).map_err(TurnRefusal::reason)?;
        assert_eq!(validate(&turned), Vec::<String>::new());
        let text = listing(&turned).text;
        // Nests of one loop over points each come back when they are turned twice, but for regions.
        if !loops.contains("region") && loops.matches("for k").count() == loops.matches("for i").count() {
            assert_eq!(super::turned(&turned).map(|it| listing(&it).text), Ok(listing(&tree).text));
        }
        Ok(text)
    }

    #[test]
    fn nests_and_arrays_change_their_axes() {
        let text = found(
            "
for k in [1, K) parallel:
  for j in [-1, J + 1) parallel:
    for i in [0, I) parallel:
      t[i, j + 1, k] = a[i + 2, j, k]
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      if a[i + 1, j + 1, k - 1] > s:
        b[i, j, k] = t[i, j, k] + p[i, j]
",
        );
        expect![[r#"
            schedule test
            field a: float64[I, J + 2, K + 2] shift [0, 1, 1] read
            field b: float64[I, J, K] shift [0, 0, 0] read-write
            field p: float64[J, K] shift [0, 0] read-write
            scalar s: float64
            field n: int64[K, 2] shift [0, 0] read
            field m: float64[K + 1, 2] shift [0, 0] read-write
            temporary t: float64[I, J + 2, K] shift [0, 1, 0] heap
            local c: float64

            for k in [0, K) parallel:
              for j in [-1, J + 1) parallel:
                for i in [1, I) parallel:
                  t[i, j + 1, k] = a[i, j, k + 2]

            for k in [0, K) parallel:
              for j in [0, J) parallel:
                for i in [1, I) parallel:
                  if a[i - 1, j + 1, k + 1] > s:
                    b[i, j, k] = t[i, j, k] + p[j, k]
        "#]]
        .assert_eq(&text.unwrap());
    }

    #[test]
    fn regions_become_limits_of_the_loops_around() {
        let text = found(
            "
for k in [0, K) parallel:
  for j in [0, J) parallel:
    for i in [-1, I) parallel:
      region i[, end-1) j[start+1, ):
        b[i, j, k] = 1.0
      b[i, j, k] = 2.0
for k in [0, K) parallel:
  for j in [0, J) parallel:
    for i in [-1, I) parallel:
      region i[, end-1) j[start+1, ):
        b[i, j, k] = 1.0
",
        );
        expect![[r#"
            for k in [-1, K) parallel:
              for j in [0, J) parallel:
                for i in [0, I) parallel:
                  where k in [-1, K - 1):
                    region i[, ) j[start+1, ):
                      b[i, j, k] = 1.0
                  b[i, j, k] = 2.0

            for k in [-1, min(K, K - 1)) parallel:
              for j in [max(0, 1), J) parallel:
                for i in [0, I) parallel:
                  b[i, j, k] = 1.0
        "#]]
        .assert_eq(text.unwrap().split_once("\n\n").expect("loops behind containers").1);
    }

    #[test]
    fn what_has_an_order_or_shows_at_run_time_stays() {
        let nest = |order: &str, statement: &str| {
            found(&format!(
                "
for k in [0, K) {order}:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      {statement}
"
            ))
            .err()
        };
        assert_eq!(nest("parallel", "b[i, j, k] = 1.0"), None);
        assert_eq!(nest("ascending", "b[i, j, k] = 1.0"), Some(TurnRefusal::Order.reason()));
        let west = "region i[start, start+1) j[, ):\n        b[i, j, k] = 1.0";
        assert_eq!(nest("parallel", west), None);
        assert_eq!(nest("parallel", &format!("{west}\n      {west}")), None);
        assert_eq!(nest("parallel", "p[i, j] = a[i, j, k + {n[i, 0]}]"), Some(TurnRefusal::RunTime.reason()));
    }
}

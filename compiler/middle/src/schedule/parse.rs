//! Schedule trees read back from their text, so that a test can start from one.

use super::nodes::{
    Access, Assign, Container, ContainerKind, Expr, GpuMemory, If, Loop, Node, Order, Placement, RegionScope,
    Storage, Subscript, Tree, Where, While,
};
use crate::diag::outline::{LineResult, ListingFault, OutlineLine, outline};
use crate::diag::{Origin, Span, StmtId};
use crate::expr::{self, ExprKind};
use crate::space::{Axis, AxisSet, Ring, Size, Symbol, names, parse as space};
use crate::types::DType;

/// Reads a tree that [`listing`](super::print::listing) wrote. Statements are numbered in order,
/// and the place of a statement is its line in `text`.
///
/// # Errors
///
/// The first line that can't be read.
pub fn parse(text: &str) -> Result<Tree, ListingFault> {
    let mut reader = Reader { tree: Tree::default(), n_stmts: 0 };
    reader.top(&outline(text)).map_err(|wrong| ListingFault::at(text, wrong))?;
    Ok(reader.tree)
}

struct Reader {
    tree: Tree,
    n_stmts: u32,
}

impl Reader {
    /// The name, then the containers, then the nodes.
    fn top(&mut self, lines: &[OutlineLine<'_>]) -> LineResult<()> {
        let mut rest = lines;
        while let Some((line, after)) = rest.split_first() {
            let (word, declared) = line.text.split_once(' ').unwrap_or((line.text, ""));
            match word {
                "schedule" => {
                    self.tree.name = declared.to_owned();
                    self.tree.span = line.span;
                }
                "field" | "temporary" | "scalar" | "local" => {
                    let container = container(&self.tree, word, declared, line.span);
                    let container =
                        container.ok_or_else(|| (line.span, "a declaration was expected".to_owned()))?;
                    self.tree.containers.push(container);
                }
                _ => break,
            }
            if let Some(inner) = line.children.first() {
                return Err((inner.span, "a declaration holds nothing".to_owned()));
            }
            rest = after;
        }
        self.tree.children = self.block(rest)?;
        Ok(())
    }

    fn block(&mut self, lines: &[OutlineLine<'_>]) -> LineResult<Vec<Node>> {
        let mut block = Vec::new();
        let mut rest = lines;
        while let Some((line, after)) = rest.split_first() {
            rest = after;
            block.push(self.node(line, &mut rest)?);
        }
        Ok(block)
    }

    /// The node at `line`; an `if` takes its other branches from `rest`.
    fn node(&mut self, line: &OutlineLine<'_>, rest: &mut &[OutlineLine<'_>]) -> LineResult<Node> {
        if line.text == "barrier" {
            return match line.children.first() {
                Some(inner) => Err((inner.span, "a barrier holds nothing".to_owned())),
                None => Ok(Node::Barrier),
            };
        }
        if let Some((target, value)) = line.text.split_once(" = ") {
            let origin = self.origin(line);
            let target = self.target(target, line.span)?;
            return Ok(Node::Assign(Assign { target, value: self.expr(value, line.span)?, origin }));
        }
        let not_a_node = || (line.span, "a loop or a statement was expected".to_owned());
        let (word, header) =
            line.text.strip_suffix(':').and_then(|it| it.split_once(' ')).ok_or_else(not_a_node)?;
        match word {
            "for" | "threads" | "simd" | "grid" | "block" => self.loop_over(word, header, line),
            "if" => self.branches(header, line, rest).map(Node::If),
            "while" => {
                let origin = self.origin(line);
                let condition = self.expr(header, line.span)?;
                Ok(Node::While(While { condition, body: self.block(&line.children)?, origin }))
            }
            "region" => {
                let origin = self.origin(line);
                let region = space::region(header);
                let region = region.ok_or_else(|| (line.span, "a region was expected".to_owned()))?;
                Ok(Node::Region(RegionScope { region, children: self.block(&line.children)?, origin }))
            }
            "where" => {
                let parsed = header.split_once(" in [").and_then(|(name, rest)| {
                    let range = space::sizes(rest.strip_suffix(')')?)?;
                    Some((Symbol::new(name), <[Size; 2]>::try_from(range).ok()?))
                });
                let (variable, [start, end]) =
                    parsed.ok_or_else(|| (line.span, "`k in [start, end)` was expected".to_owned()))?;
                Ok(Node::Where(Where { variable, start, end, children: self.block(&line.children)? }))
            }
            _ => Err(not_a_node()),
        }
    }

    fn loop_over(&mut self, word: &str, header: &str, line: &OutlineLine<'_>) -> LineResult<Node> {
        let placement = match word {
            "threads" => Placement::Threads,
            "simd" => Placement::Simd,
            "grid" => Placement::Grid,
            "block" => Placement::Block,
            _ => Placement::Sequential,
        };
        let parsed = || {
            let (name, rest) = header.split_once(" in [")?;
            let (range, how) = rest.rsplit_once(')')?;
            let axis = Axis::ALL.into_iter().find(|&it| counts_along(it, name))?;
            let [start, end] = <[Size; 2]>::try_from(space::sizes(range)?).ok()?;
            let (step, order) = match how.strip_prefix(" step ").and_then(|it| it.split_once(' ')) {
                Some((step, order)) => (step.parse().ok().filter(|&it| it >= 1)?, order),
                None => (1, how.strip_prefix(' ')?),
            };
            let order = match order {
                "parallel" => Order::Parallel,
                "ascending" => Order::Ascending,
                "descending" => Order::Descending,
                _ => return None,
            };
            let variable = Symbol::new(name);
            Some(Loop { variable, axis, start, end, step, order, placement, children: Vec::new() })
        };
        let it = parsed().ok_or_else(|| (line.span, "`i in [start, end) order` was expected".to_owned()))?;
        Ok(Node::Loop(Loop { children: self.block(&line.children)?, ..it }))
    }

    fn branches(
        &mut self,
        condition: &str,
        line: &OutlineLine<'_>,
        rest: &mut &[OutlineLine<'_>],
    ) -> LineResult<If> {
        let origin = self.origin(line);
        let condition = self.expr(condition, line.span)?;
        let then = self.block(&line.children)?;
        let mut otherwise = Vec::new();
        if let Some((next, after)) = rest.split_first() {
            if next.text == "else:" {
                *rest = after;
                otherwise = self.block(&next.children)?;
            } else if let Some(condition) = elif(next.text) {
                *rest = after;
                otherwise = vec![Node::If(self.branches(condition, next, rest)?)];
            }
        }
        Ok(If { condition, then, otherwise, origin })
    }

    fn origin(&mut self, line: &OutlineLine<'_>) -> Origin {
        let stmt = StmtId(self.n_stmts);
        self.n_stmts += 1;
        Origin::new(stmt, &[line.span])
    }

    fn target(&self, text: &str, span: Span) -> LineResult<Access> {
        match self.expr(text, span)?.kind {
            ExprKind::Access(access) => Ok(access),
            _ => Err((span, format!("`{text}` cannot be assigned"))),
        }
    }

    fn expr(&self, text: &str, span: Span) -> LineResult<Expr> {
        let containers = &self.tree.containers;
        let mut leaf = |name: &str, index: Vec<Subscript>| {
            let container = containers.find(|it| it.name == name);
            let container = container.ok_or_else(|| format!("there is no `{name}`"))?;
            let rank = containers[container].shape.len();
            if index.len() != rank {
                return Err(format!("`{name}` has {rank} dimensions"));
            }
            Ok((Access { container, index }, containers[container].dtype))
        };
        expr::parse::parse(text, span, &mut leaf).map_err(|message| (span, message))
    }
}

/// Whether a loop variable of that name is a position, the start of a tile, or a front, along `axis`.
fn counts_along(axis: Axis, name: &str) -> bool {
    name == axis.position_name() || [names::tile(axis), names::front(axis)].iter().any(|it| it.name() == name)
}

fn elif(text: &str) -> Option<&str> {
    text.strip_prefix("elif ")?.strip_suffix(':')
}

/// A declaration behind its first word.
fn container(tree: &Tree, word: &str, text: &str, span: Span) -> Option<Container> {
    let (name, rest) = text.split_once(": ")?;
    let name = name.to_owned();
    if word == "scalar" || word == "local" {
        let (kind, storage) = match word {
            "scalar" => (ContainerKind::Scalar, Storage::Caller),
            _ => (ContainerKind::Local, Storage::Register),
        };
        let (dtype, axes) = (DType::from_name(rest)?, AxisSet::of(&[]));
        return Some(Container {
            name,
            dtype,
            kind,
            axes,
            shape: vec![],
            shift: vec![],
            storage,
            ring: None,
            place: None,
            span,
        });
    }
    let (dtype, rest) = rest.split_once('[')?;
    let (shape, rest) = rest.split_once("] shift [")?;
    let (shift, last) = rest.split_once("] ")?;
    let (last, place) = placed(tree, word, last);
    let (last, ring) = match last.split_once(" keeping ") {
        Some((last, kept)) => (last, Some(kept.split_once(" along ")?)),
        None => (last, None),
    };
    let mut along = None;
    let (kind, storage) = match (word, last) {
        ("field", "read") => (ContainerKind::Field { is_read: true, is_written: false }, Storage::Caller),
        ("field", "write") => (ContainerKind::Field { is_read: false, is_written: true }, Storage::Caller),
        ("field", "read-write") => {
            (ContainerKind::Field { is_read: true, is_written: true }, Storage::Caller)
        }
        ("temporary", "caller") => (ContainerKind::Temporary, Storage::Caller),
        ("temporary", "heap") => (ContainerKind::Temporary, Storage::Heap),
        ("temporary", "register") => (ContainerKind::Temporary, Storage::Register),
        ("temporary", private) => {
            let (axes, variable) = private.strip_prefix("along ")?.split_once(" in ")?;
            along = Some(space::axes(axes)?);
            if variable.contains(' ') {
                return None;
            }
            (ContainerKind::Temporary, Storage::Private(Symbol::new(variable)))
        }
        _ => return None,
    };
    let dtype = DType::from_name(dtype)?;
    let shape = space::sizes(shape)?;
    // Behind the axes stand the sizes of data dimensions.
    let axes = along.unwrap_or_else(|| AxisSet::of(&shape.iter().map_while(axis_of).collect::<Vec<_>>()));
    let is_data = |size: &Size| matches!(size, Size::Affine(sum) if sum.as_constant().is_some());
    if !shape.get(axes.len()..)?.iter().all(is_data) {
        return None;
    }
    let sums = shift.split(", ").filter(|it| !it.is_empty());
    let shift = sums.map(space::affine).collect::<Option<_>>()?;
    let ring = match ring {
        Some((places, axis)) => {
            let dimension = axes.iter().position(|it| it.to_string() == axis)?;
            let ring = Ring { dimension, places: places.parse().ok()? };
            Some(Some(ring).filter(|it| it.places.count_ones() == 1)?)
        }
        None => None,
    };
    Some(Container { name, dtype, kind, axes, shape, shift, storage, ring, place, span })
}

/// Splits the words behind a shift into the storage of the array and its place on a GPU.
fn placed<'t>(tree: &Tree, word: &str, last: &'t str) -> (&'t str, Option<GpuMemory>) {
    // `register` without axes before it is no place, but a value of each iteration.
    if word != "temporary" || !last.starts_with("along ") {
        return (last, None);
    }
    if let Some((before, name)) = last.rsplit_once(" over ") {
        return match tree.containers.find(|it| it.name == name) {
            Some(output) => (before, Some(GpuMemory::Over(output))),
            None => (last, None),
        };
    }
    let places = [
        (" register", GpuMemory::Register),
        (" shared", GpuMemory::Shared),
        (" scratch", GpuMemory::Scratch),
    ];
    let found = places.into_iter().find_map(|(text, place)| Some((last.strip_suffix(text)?, Some(place))));
    found.unwrap_or((last, None))
}

/// The axis along which a dimension lies: the one whose size it has, give or take a number.
fn axis_of(size: &Size) -> Option<Axis> {
    let Size::Affine(sum) = size else { return None };
    Axis::ALL.into_iter().find(|axis| sum.factor(&Symbol::new(axis.name())) == 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::{print::listing, validate::validate};

    const TREE: &str = "\
schedule everything
field a: float64[I + 1, J, K] shift [1, 0, 0] read
field inf: float64[I, J, K] shift [0, 0, 0] read-write
field p: float32[I, J] shift [0, 0] write
field n: int64[K] shift [0] read
field v: float64[I, J, K + __v_K_above + __v_K_below, 3, 2] shift [0, 0, __v_K_below, 0, 0] read-write
field w: float64[20] shift [0] read
scalar dt: float64
temporary t: float64[I, J + 2, K] shift [0, 1, 0] heap
temporary u: float64[] shift [] register
temporary x: float64[I, 34] shift [0, -j_tile + 1] along IJ in j_tile
local c: bool

threads k in [0, max(K - 1, 1)) parallel:
  for j in [-1, J + 1) parallel:
    simd i in [0, I) parallel:
      t[i, j + 1, k] = a[i, j, k] + a[i + 1, j, k] * dt
      u = -t[i, j + 1, k] ** 2

grid j_tile in [0, J) step 32 parallel:
  for k in [0, K) ascending:
    where k in [1, K):
      block j in [max(-1, j_tile - 1), min(J + 1, j_tile + 33)) parallel:
        for i in [0, I) parallel:
          x[i, j - j_tile + 1] = a[i, j, k - 1]

for k in [0, K) descending:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      c = n[k] == 0 or not $inf[i, j, k] < inf
      if c:
        p[i, j] = float32(k)
      elif a[i, j, k] > 1.0:
        while c:
          c = not c
      else:
        $inf[i, j, k] = 1.0 if c else u
        region i[start, start+1) j[, ):
          v[i, j, __v_K_below + k + {n[k + {n[k]}]}, 2, {n[k] + 1}] = w[19] + v[i, j, __v_K_below + {n[k]}, 0, 1]
";

    #[test]
    fn a_tree_reads_back_as_it_was_written() {
        let tree = parse(TREE).expect("it is a tree");
        assert_eq!(listing(&tree).text, TREE);
        assert_eq!(validate(&tree), Vec::<String>::new());
    }

    /// A block of threads for each tile.
    const GRID: &str = "\
schedule grid
field a: float64[I + 2, J, K] shift [1, 0, 0] read
field b: float64[I, J, K] shift [0, 0, 0] write
temporary t: float64[34, 8] shift [-i_tile + 1, -j_tile] along IJ in i_tile shared
temporary x: float64[K] shift [0] along K in i keeping 2 along K register
temporary y: float64[K] shift [0] along K in i over b
temporary z: float64[K] shift [0] along K in i scratch

grid j_tile in [0, J) step 8 parallel:
  grid i_tile in [0, I) step 32 parallel:
    for k in [0, K) ascending:
      block j in [j_tile, min(J, j_tile + 8)) parallel:
        block i in [i_tile - 1, min(I + 1, i_tile + 33)) parallel:
          t[i - i_tile + 1, j - j_tile] = a[i + 1, j, k]
      barrier
      block j in [j_tile, min(J, j_tile + 8)) parallel:
        block i in [i_tile, min(I, i_tile + 32)) parallel:
          b[i, j, k] = t[i - i_tile, j - j_tile] + t[i - i_tile + 2, j - j_tile]
      barrier
";

    #[test]
    fn a_tree_for_a_gpu_reads_back_as_it_was_written() {
        let tree = parse(GRID).expect("it is a tree");
        assert_eq!(listing(&tree).text, GRID);
        assert_eq!(validate(&tree), Vec::<String>::new());
        for (at, instead, expected) in [
            ("over b", "over u", "line 6: a declaration was expected"),
            ("      barrier\n", "      barrier\n        barrier\n", "line 16: a barrier holds nothing"),
        ] {
            let wrong = parse(&GRID.replacen(at, instead, 1)).expect_err(instead);
            assert_eq!(wrong.to_string(), expected);
        }
    }

    #[test]
    fn what_cannot_be_read_is_named_with_its_line() {
        let wrong = |at: &str, instead: &str| {
            assert!(TREE.contains(at), "{at}");
            parse(&TREE.replacen(at, instead, 1)).expect_err(instead).to_string()
        };
        for (at, instead, expected) in [
            ("[0] read", "[0] keep", "line 5: a declaration was expected"),
            ("[K]", "[3, K]", "line 5: a declaration was expected"),
            ("scalar dt", "  scalar dt", "line 8: a declaration holds nothing"),
            ("threads k", "fibres k", "line 14: a loop or a statement was expected"),
            ("threads k", "threads x", "line 14: `i in [start, end) order` was expected"),
            ("[0, I) parallel", "[0, I, 1) parallel", "line 16: `i in [start, end) order` was expected"),
            ("[0, I) parallel", "[0, I) backward", "line 16: `i in [start, end) order` was expected"),
            ("parallel:", "parallel", "line 14: a loop or a statement was expected"),
            ("a[i, j, k] +", "a[i, j] +", "line 17: `a` has 3 dimensions"),
            ("a[i, j, k] +", "a[i, j, k k] +", "line 17: `k k` is not an index"),
            ("* dt", "* dx", "line 17: there is no `dx`"),
            ("u = -t", "u + 1 = -t", "line 18: `u + 1` cannot be assigned"),
            ("elif", "else if", "line 33: a loop or a statement was expected"),
            ("while c:", "while :", "line 34: the expression ends too early"),
            ("region i[", "region k[", "line 38: a region was expected"),
        ] {
            assert_eq!(wrong(at, instead), expected, "{instead}");
        }
    }
    #[test]
    fn no_text_makes_the_reader_panic() {
        for (at, gone) in TREE.char_indices() {
            let (before, rest) = TREE.split_at(at);
            for instead in ["", "(", "not ", "]", " = ", "9"] {
                // Whether it is still a tree is not the point.
                let _ = parse(&format!("{before}{instead}{}", &rest[gone.len_utf8()..]));
            }
            let _ = parse(before);
        }
    }
}

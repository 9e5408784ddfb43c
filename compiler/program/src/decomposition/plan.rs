//! The plans of a program's exchanges, as the grid of ranks gives them.

use std::collections::BTreeMap;

use isobar_ground::diag::catalog::programs as catalog;
use isobar_ground::diag::{Diagnostic, Span};
use isobar_ground::entity::Handle;
use isobar_ground::space::{Axis, Domain};

use super::{RankBeside, RankGrid, Topology, turned};
use crate::analysis::exchanges::spelled;
use crate::interpret::HaloFill;
use crate::nodes::{
    Container, ContainerPart, ExchangeKind, HaloExchange, ProgramIr, ProgramStmt, ProgramStmtKind,
};
use crate::plan::{ExchangePlan, HaloStrip, Neighbour, StripDimension};

/// The directions in which a rank has neighbours.
const DIRECTIONS: [[i64; 2]; 8] = [[-1, 0], [1, 0], [0, -1], [0, 1], [-1, -1], [1, -1], [-1, 1], [1, 1]];
const NORTH: [i64; 2] = [0, 1];
const EAST: [i64; 2] = [1, 0];

/// A program of one rank: its exchanges have plans. `domain` is that of each rank.
///
/// # Errors
///
/// Exchanges that the grid of ranks, or the size of their domains, does not allow.
pub fn planned(
    program: &ProgramIr,
    grid: &RankGrid,
    rank: u32,
    domain: Domain,
) -> Result<ProgramIr, Vec<Diagnostic>> {
    let mut made = program.clone();
    let mut body = std::mem::take(&mut made.body);
    let mut plans =
        RankPlans { program: &mut made, grid, rank, domain, known: Vec::new(), wrong: Vec::new() };
    plans.body(&mut body);
    let wrong = plans.wrong;
    made.body = body;
    if wrong.is_empty() { Ok(made) } else { Err(wrong) }
}

struct RankPlans<'p> {
    program: &'p mut ProgramIr,
    grid: &'p RankGrid,
    rank: u32,
    domain: Domain,
    /// The exchanges that have a plan already.
    known: Vec<(HaloExchange, Handle<ExchangePlan>)>,
    wrong: Vec<Diagnostic>,
}

impl RankPlans<'_> {
    fn body(&mut self, body: &mut [ProgramStmt]) {
        for stmt in body {
            if let ProgramStmtKind::Exchange(it) = &mut stmt.kind {
                it.plan = self.plan(it, stmt.span).or(it.plan);
            }
            for block in stmt.blocks_mut() {
                self.body(block);
            }
        }
    }

    fn plan(&mut self, exchange: &HaloExchange, span: Span) -> Option<Handle<ExchangePlan>> {
        let mut refuse = |why: &str| {
            let what = format!("the exchange of `{}`", spelled(self.program, &exchange.fields));
            self.wrong.push(catalog::unsupported(&what, why, span));
        };
        if exchange.plan.is_some() {
            refuse("it has a plan of its own, and these ranks have another one");
            return None;
        }
        if let Some(known) = self.known.iter().find(|it| it.0.is_same(exchange)) {
            return Some(known.1);
        }
        let strips = RankStrips { program: self.program, grid: self.grid, exchange, domain: self.domain };
        let neighbours = match strips.neighbours(self.rank) {
            Ok(neighbours) => neighbours,
            Err(why) => {
                refuse(&why);
                return None;
            }
        };
        let tag = u32::try_from(self.known.len()).unwrap_or(u32::MAX);
        let mut name = format!("exchange_{tag}");
        while self.program.plans.find(|it| it.name == name).is_some() {
            name.push('_');
        }
        let plan = self.program.plans.push(ExchangePlan { name, tag, neighbours: neighbours.into(), span });
        self.known.push((exchange.clone(), plan));
        Some(plan)
    }
}

/// The strips of an exchange between ranks.
struct RankStrips<'p> {
    program: &'p ProgramIr,
    grid: &'p RankGrid,
    exchange: &'p HaloExchange,
    /// Of each rank.
    domain: Domain,
}

/// Positions of a box along I and J, from its first point to its last one.
type HaloBox = [[i64; 2]; 2];

impl RankStrips<'_> {
    fn neighbours(&self, rank: u32) -> Result<Vec<Neighbour>, String> {
        let HaloExchange { fields, kind, width, .. } = self.exchange;
        if let Some(part) = fields.iter().find(|it| !it.data_index.is_empty()) {
            return Err(format!("`{}` is a part of a field", part.spelled(self.program)));
        }
        if *kind != ExchangeKind::Scalar && fields.len() % 2 != 0 {
            return Err(format!("a {} has pairs of fields, and these are {}", kind.name(), fields.len()));
        }
        if *kind == ExchangeKind::Interface {
            let needs = |at| if self.is_second(at) { Axis::I } else { Axis::J };
            if let Some(at) = (0..fields.len()).find(|&it| !self.container(it).staggered.has(needs(it))) {
                let (name, axis) = (fields[at].spelled(self.program), needs(at));
                return Err(format!(
                    "two ranks share an edge of `{name}` where it is staggered along {axis}"
                ));
            }
        }
        for axis in [Axis::I, Axis::J] {
            let n = self.domain.along(axis);
            if i64::from(*width) > n {
                return Err(format!("it is {width} points wide, and a rank has {n} along {axis}"));
            }
        }
        let mut found: BTreeMap<u32, Neighbour> = BTreeMap::new();
        let of = |rank| Neighbour { rank, sent: Vec::new(), received: Vec::new() };
        for receiver in 0..self.grid.n_ranks() {
            let place = self.grid.place(receiver);
            for direction in DIRECTIONS {
                let Some(beside) = self.grid.beside(place, direction) else { continue };
                let sender = self.grid.rank(beside.place);
                if ![sender, receiver].contains(&rank) {
                    continue;
                }
                for field in 0..fields.len() {
                    for halo in self.boxes(field, direction, beside) {
                        let [received, sent] = self.strips(field, halo, direction, beside)?;
                        if receiver == rank {
                            found.entry(sender).or_insert_with(|| of(sender)).received.push(received);
                        }
                        if sender == rank {
                            found.entry(receiver).or_insert_with(|| of(receiver)).sent.push(sent);
                        }
                    }
                }
            }
        }
        Ok(found.into_values().collect())
    }

    fn container(&self, field: usize) -> &Container {
        let part: &ContainerPart = &self.exchange.fields[field];
        &self.program.containers[part.container]
    }

    /// The points along I and J that a rank has of a field: one more where it is staggered.
    fn own_points(&self, field: usize) -> [i64; 2] {
        let staggered = self.container(field).staggered;
        [Axis::I, Axis::J].map(|it| self.domain.along(it) + i64::from(staggered.has(it)))
    }

    /// Whether a field of a vector is its second component.
    fn is_second(&self, field: usize) -> bool {
        self.exchange.kind != ExchangeKind::Scalar && field >= self.exchange.fields.len() / 2
    }

    /// Whether the halo of a tile in a direction has the values of the nearest points, along I and J.
    fn is_held(&self, direction: [i64; 2], beside: RankBeside) -> [bool; 2] {
        [0, 1].map(|axis| beside.moved[axis] != direction[axis])
    }

    /// The boxes of a field that a rank gets from a neighbour.
    fn boxes(&self, field: usize, direction: [i64; 2], beside: RankBeside) -> Vec<HaloBox> {
        let own = self.own_points(field);
        let held = self.is_held(direction, beside);
        if self.exchange.kind == ExchangeKind::Interface {
            let axis = usize::from(!self.is_second(field));
            if direction != [EAST, NORTH][axis] || held[axis] {
                return Vec::new();
            }
            let along = 1 - axis;
            let mut edge = [[0; 2]; 2];
            edge[axis] = [own[axis] - 1; 2];
            edge[along] = [0, own[along] - 1];
            return vec![edge];
        }
        let width = i64::from(self.exchange.width);
        let is_clamped = self.grid.topology == Topology::Tile(HaloFill::ZeroGradient);
        if width == 0 || beside.moved == [0, 0] && !is_clamped {
            return Vec::new();
        }
        // Where values come from one row of points, each row of the halo is a box.
        let along = |axis: usize| -> Vec<[i64; 2]> {
            let [first, last] = match direction[axis] {
                -1 => [-width, -1],
                0 => [0, own[axis] - 1],
                _ => [own[axis], own[axis] + width - 1],
            };
            if held[axis] && is_clamped {
                (first..=last).map(|it| [it, it]).collect()
            } else {
                vec![[first, last]]
            }
        };
        let (along_i, along_j) = (along(0), along(1));
        along_i.iter().flat_map(|&i| along_j.iter().map(move |&j| [i, j])).collect()
    }

    /// The strip that a rank receives as a box of a field, and the one that its neighbour sends.
    fn strips(
        &self,
        field: usize,
        halo: HaloBox,
        direction: [i64; 2],
        beside: RankBeside,
    ) -> Result<[HaloStrip; 2], String> {
        let turns = beside.turns;
        let (of, is_negated) = self.sender(field, turns);
        let (receiver, sender) = (self.container(field), self.container(of));
        let name = || self.exchange.fields[field].spelled(self.program);
        let [shape, shape_of_sender] = [receiver, sender].map(|it| {
            let is_horizontal = |at: &usize| matches!(it.axes.iter().nth(*at), Some(Axis::I | Axis::J));
            let of_axes = it.shape.iter().map(|it| it.on(self.domain));
            let all: Vec<i64> = of_axes.chain(it.data_dims.iter().map(|&it| i64::from(it))).collect();
            let others = (0..all.len()).filter(|it| !is_horizontal(it)).map(|it| all[it]).collect::<Vec<_>>();
            (all, others)
        });
        if receiver.axes != sender.axes || shape.1 != shape_of_sender.1 {
            return Err(format!("`{}` and the other component differ in axes or levels", name()));
        }
        let first = self.source(field, of, [halo[0][0], halo[1][0]], direction, beside);
        let last = self.source(field, of, [halo[0][1], halo[1][1]], direction, beside);
        let (Some(first), Some(last)) = (first, last) else {
            return Err(format!("`{}` is staggered along one axis, and faces of a cube are turned", name()));
        };
        let (mut received, mut sent) = (Vec::new(), Vec::new());
        for (dimension, &size) in shape.0.iter().enumerate() {
            let axis = receiver.axes.iter().nth(dimension);
            let Some(axis) = axis.filter(|it| *it != Axis::K).map(Axis::index) else {
                let n = usize::try_from(size).unwrap_or(0);
                let whole = StripDimension { dimension, first: 0, n, is_backwards: false };
                received.push(whole);
                sent.push(whole);
                continue;
            };
            let [begin, end] = halo[axis];
            // The axis of the neighbour that runs along this one.
            let there = if turns.is_multiple_of(2) { axis } else { 1 - axis };
            received.push(self.dimension(receiver, axis, [begin, end])?);
            sent.push(StripDimension {
                n: usize::try_from(end - begin + 1).unwrap_or(0),
                ..self.dimension(sender, there, [first[there], last[there]])?
            });
        }
        let strip = |field, along, is_negated| HaloStrip { field, along, is_negated };
        Ok([strip(field, received, false), strip(of, sent, is_negated)])
    }

    /// Positions of a field along an axis, as indices of its array.
    fn dimension(
        &self,
        container: &Container,
        axis: usize,
        [begin, end]: [i64; 2],
    ) -> Result<StripDimension, String> {
        let dimension = container.axes.iter().position(|it| it.index() == axis);
        let first = usize::try_from(begin + container.origin[axis]).ok();
        let (Some(dimension), Some(first)) = (dimension, first) else {
            return Err(format!("the halo of `{}` is too small", container.name));
        };
        let n = usize::try_from((end - begin).abs() + 1).unwrap_or(0);
        Ok(StripDimension { dimension, first, n, is_backwards: end < begin })
    }

    /// The field that a neighbour sends in the place of one, and whether its sign is turned.
    fn sender(&self, field: usize, turns: usize) -> (usize, bool) {
        if self.exchange.kind == ExchangeKind::Scalar {
            return (field, false);
        }
        let half = self.exchange.fields.len() / 2;
        let is_second = self.is_second(field);
        let other = if is_second { field - half } else { field + half };
        match (turns % 4, is_second) {
            (0, _) => (field, false),
            (1, is_second) => (other, is_second),
            (2, _) => (field, true),
            (_, is_second) => (other, !is_second),
        }
    }

    /// The position in the neighbour's field that has the value of a position here; none where no point lies there.
    fn source(
        &self,
        field: usize,
        of: usize,
        position: [i64; 2],
        direction: [i64; 2],
        beside: RankBeside,
    ) -> Option<[i64; 2]> {
        let axes = [Axis::I, Axis::J];
        let points = axes.map(|it| self.domain.along(it));
        let [here, there] = [field, of].map(|it| axes.map(|axis| self.container(it).staggered.has(axis)));
        let held = self.is_held(direction, beside);
        let clamps = self.grid.topology == Topology::Tile(HaloFill::ZeroGradient);
        // In halves of a point: points lie in the middle, and staggered ones between them.
        let half = [0, 1].map(|axis| {
            let middle = i64::from(!here[axis]);
            let at = 2 * (position[axis] - points[axis] * beside.moved[axis]) + middle;
            if held[axis] && clamps { at.clamp(middle, 2 * points[axis] - middle) } else { at }
        });
        let half = turned(half, 2 * points[0], beside.turns);
        let mut found = [0; 2];
        for axis in [0, 1] {
            let middle = i64::from(!there[axis]);
            if (half[axis] - middle).rem_euclid(2) != 0 {
                return None;
            }
            found[axis] = (half[axis] - middle).div_euclid(2);
        }
        Some(found)
    }
}

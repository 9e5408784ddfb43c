//! Which memory of a GPU an array of iterations lives in.

use super::refusal::name_of;
use super::{Path, Refusal};
use crate::entity::Handle;
use crate::schedule::analysis::accesses::{AccessPaths, Accesses};
use crate::schedule::nodes::{Access, Container, ContainerKind, GpuMemory, Loop, Node, Storage, Tree};
use crate::space::assume::Assumptions;
use crate::space::order::is_at_most;
use crate::space::{Affine, Axis, Size, Symbol};

/// Lets an array live in registers, in shared memory, in memory of its own, or in an output.
///
/// - **Legality**: it is an array that the iterations of a loop have for themselves. Registers need a known
///   length. For an output see [`may_wait`].
/// - **Why**: memory that is near costs no traffic, and an output is written anyway.
///
/// # Errors
///
/// The reason why not; the tree is as it was.
pub fn reside(tree: &mut Tree, container: Handle<Container>, place: GpuMemory) -> Result<(), Refusal> {
    let array = &tree.containers[container];
    let name = name_of(array);
    if !matches!(array.storage, Storage::Private(_)) {
        return Err(Refusal::new(format!("`{name}` is no array that iterations have for themselves")));
    }
    match place {
        GpuMemory::Register if crate::schedule::analysis::launch::elements(array, None).is_none() => {
            return Err(Refusal::new(format!("`{name}` has no length that is known")));
        }
        GpuMemory::Over(output) => may_wait(tree, container, output)?,
        GpuMemory::Register | GpuMemory::Shared | GpuMemory::Scratch => {}
    }
    tree.containers[container].place = Some(place);
    Ok(())
}

/// Whether the values of a column may wait in the output that it writes last.
///
/// The output has the array's type, and nothing reads it there. Each of its levels is written without a
/// condition, after the last use of the value that waits at that level. All levels at which a value waits are
/// written like that.
///
/// # Errors
///
/// The reason why not.
pub fn may_wait(tree: &Tree, container: Handle<Container>, output: Handle<Container>) -> Result<(), Refusal> {
    let (array, field) = (&tree.containers[container], &tree.containers[output]);
    let (name, into) = (name_of(array), name_of(field));
    let refuse = |why: String| Err(Refusal::new(format!("`{name}` cannot wait in `{into}`: {why}")));
    let Storage::Private(owner) = &array.storage else {
        return refuse("it is no array of an iteration".to_owned());
    };
    if array.dtype != field.dtype
        || !matches!(field.kind, ContainerKind::Field { is_written: true, .. })
        || array.axes.iter().collect::<Vec<_>>() != [Axis::K]
        || array.shape.len() != 1
        || array.ring.is_some()
        || field.shape.len() != field.axes.len()
        || !field.axes.has(Axis::K)
    {
        return refuse("it is no column of an output of its type".to_owned());
    }
    if tree.containers.iter().any(|(_, it)| it.place == Some(GpuMemory::Over(output))) {
        return refuse("something waits there already".to_owned());
    }
    let uses = AccessPaths::of(tree);
    let mut home: Option<Path> = None;
    tree.each_loop(&mut |path, it| {
        let holds = uses.paths(container).iter().any(|it| it.starts_with(path));
        if it.variable == *owner && holds {
            home.get_or_insert_with(|| path.clone());
        }
    });
    let Some(home) = home else { return refuse("nothing uses it".to_owned()) };
    if !uses.paths(container).iter().chain(uses.paths(output)).all(|it| it.starts_with(&home)) {
        return refuse(format!("it is used beside the loop over `{owner}`"));
    }
    for axis in field.axes.iter().filter(|it| *it != Axis::K) {
        let position = Symbol::new(axis.position_name());
        let is_around = (1..=home.len())
            .any(|depth| tree.loop_at(&home[..depth]).is_some_and(|it| it.variable == position));
        if !is_around {
            return refuse(format!("the loop over `{position}` stands inside"));
        }
    }
    let mut sweeps: Vec<Sweep> = Vec::new();
    for node in tree.block(&home).unwrap_or_default() {
        let all = Accesses::of(std::slice::from_ref(node));
        let touches = all.iter().any(|it| it.access.container == container || it.access.container == output);
        if !touches {
            continue;
        }
        let Node::Loop(it) = node else {
            return refuse("a statement outside of loops over levels uses it".to_owned());
        };
        match Sweep::of(tree, it, container, output) {
            Ok(sweep) => sweeps.push(sweep),
            Err(why) => return refuse(why),
        }
    }
    for (at, sweep) in sweeps.iter().enumerate() {
        let Some(written) = &sweep.output else { continue };
        for later in &sweeps[at + 1..] {
            let apart =
                |range: &(Size, Size)| is_at_most(&range.1, &written.0) || is_at_most(&written.1, &range.0);
            if !later.uses.iter().all(apart) || later.output.as_ref().is_some_and(|it| !apart(it)) {
                return refuse("levels are used after they were written".to_owned());
            }
        }
    }
    let outputs: Vec<&(Size, Size)> = sweeps.iter().filter_map(|it| it.output.as_ref()).collect();
    let within = Assumptions::some_point();
    let is_whole = sweeps.iter().flat_map(|it| &it.writes).all(|range| {
        // Ranges that follow each other cover it together.
        outputs.iter().any(|first| {
            let (mut start, mut end) = (first.0.clone(), first.1.clone());
            for _ in &outputs {
                for it in &outputs {
                    if it.0 == end {
                        end = it.1.clone();
                    }
                    if it.1 == start {
                        start = it.0.clone();
                    }
                }
            }
            within.is_at_most(&start, &range.0) && within.is_at_most(&range.1, &end)
        })
    });
    if is_whole { Ok(()) } else { refuse("not every level of it is written".to_owned()) }
}

/// The levels that one loop touches of an array and of an output.
struct Sweep {
    /// The levels of the array that it touches.
    uses: Vec<(Size, Size)>,
    /// The levels of the array that it writes.
    writes: Vec<(Size, Size)>,
    /// The levels of the output that it writes.
    output: Option<(Size, Size)>,
}

impl Sweep {
    fn of(
        tree: &Tree,
        it: &Loop,
        container: Handle<Container>,
        output: Handle<Container>,
    ) -> Result<Self, String> {
        if it.axis != Axis::K || it.step != 1 {
            return Err("a loop around its uses is over no levels".to_owned());
        }
        let beside = |access: &Access| {
            let container = &tree.containers[access.container];
            let dimension = container.axes.iter().position(|it| it == Axis::K)?;
            let known = access.index.get(dimension)?.as_known()?;
            (&(known - &container.shift[dimension]) - &Affine::symbol(&it.variable)).as_constant()
        };
        let mut sweep = Self { uses: Vec::new(), writes: Vec::new(), output: None };
        let mut is_over = false;
        for node in &it.children {
            let all = Accesses::of(std::slice::from_ref(node));
            for touch in all.of_container(container) {
                let Some(distance) = beside(touch.access) else {
                    return Err("any level of it is used".to_owned());
                };
                // If the loop writes the output too, later statements must not use a value that the output
                // has replaced.
                let writes_output = Accesses::of(&it.children).has_write_of(output);
                if writes_output && (is_over || distance != 0) {
                    return Err("levels are used after they were written".to_owned());
                }
                let range = (it.start.moved(distance), it.end.moved(distance));
                if touch.role.is_write() {
                    sweep.writes.push(range.clone());
                }
                sweep.uses.push(range);
            }
            for touch in all.of_container(output) {
                let is_plain = matches!(node, Node::Assign(_)) && touch.role.is_write();
                if !is_plain {
                    return Err("it is read, or written under a condition".to_owned());
                }
                let here = beside(touch.access) == Some(0)
                    && touch.access.index.iter().zip(tree.containers[output].axes.iter()).enumerate().all(
                        |(at, (index, axis))| {
                            let shift = &tree.containers[output].shift[at];
                            index.as_known().is_some_and(|known| {
                                known - shift == Affine::symbol(&Symbol::new(axis.position_name()))
                            })
                        },
                    );
                if !here {
                    return Err("it is written beside the point".to_owned());
                }
                is_over = true;
                sweep.output = Some((it.start.clone(), it.end.clone()));
            }
        }
        Ok(sweep)
    }
}

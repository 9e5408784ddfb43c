//! The accesses of each element in a kernel, by thread. If two threads touch an element and one of them
//! writes, a barrier or the end of a launch has to lie between. It is a fault also where both would write the
//! same value.

use std::cell::RefCell;
use std::fmt;

use super::program::{KernelStep, ThreadPosition, Threads};

/// Two accesses that nothing keeps apart.
#[derive(Clone, Copy, Debug)]
pub(super) struct Race {
    pub(super) container: usize,
    is_of_blocks: bool,
    is_read: bool,
}

impl fmt::Display for Race {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let who = if self.is_of_blocks { "two blocks" } else { "two threads between two barriers" };
        let what = if self.is_read { "write and read" } else { "write" };
        write!(f, "{who} {what} one element")
    }
}

/// The place of an access: the block, the interval between two barriers, and the thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct AccessSite {
    block: u32,
    interval: u32,
    thread: u32,
}

/// The last accesses of an element.
#[derive(Clone, Copy, Debug, Default)]
struct LastAccesses {
    write: Option<AccessSite>,
    read: Option<AccessSite>,
    /// Whether other threads read it between the same barriers as well.
    read_by_others: bool,
    /// Whether other blocks read it as well.
    read_by_blocks: bool,
}

/// The accesses of elements in the launch at hand.
#[derive(Debug)]
pub(super) struct Races {
    /// By container; none where no threads share it.
    touched: Vec<Option<RefCell<Vec<LastAccesses>>>>,
    /// None outside of kernels.
    now: Option<AccessSite>,
    /// Numbers that were given away.
    n_marks: u32,
}

/// The thread that stands for all.
const ALL: u32 = u32::MAX;

impl Races {
    pub(super) fn new(is_shared: impl Iterator<Item = bool>) -> Self {
        let touched = is_shared.map(|it| it.then(|| RefCell::new(Vec::new()))).collect();
        Self { touched, now: None, n_marks: 0 }
    }

    /// Forgets the accesses of a container, which is a new one.
    pub(super) fn forget(&mut self, container: usize) {
        if let Some(it) = &mut self.touched[container] {
            it.get_mut().clear();
        }
    }

    pub(super) fn step(&mut self, step: &KernelStep, variables: &[i64]) {
        self.n_marks += 1;
        let fresh = self.n_marks;
        match step {
            KernelStep::Launch => {
                self.touched.iter_mut().flatten().for_each(|it| it.get_mut().clear());
                self.now = Some(AccessSite { block: fresh, interval: fresh, thread: 0 });
            }
            KernelStep::Block => self.now = Some(AccessSite { block: fresh, interval: fresh, thread: 0 }),
            KernelStep::Barrier => {
                if let Some(now) = &mut self.now {
                    now.interval = fresh;
                }
            }
            KernelStep::Thread(threads) => {
                if let Some(now) = &mut self.now {
                    now.thread = match threads {
                        Threads::All => ALL,
                        Threads::At(axes) => number(axes, variables),
                    };
                }
            }
        }
    }

    pub(super) fn read(&self, container: usize, position: usize) -> Result<(), Race> {
        self.touch(container, position, |it, now| {
            let race = it.write.and_then(|write| write.against(now));
            match it.read {
                Some(read) if read.block == now.block && read.interval == now.interval => {
                    it.read_by_others |= read.thread != now.thread;
                }
                Some(read) => {
                    it.read_by_blocks |= read.block != now.block;
                    it.read = Some(now);
                    it.read_by_others = false;
                }
                None => it.read = Some(now),
            }
            race.map(|is_of_blocks| Race { container, is_of_blocks, is_read: true })
        })
    }

    pub(super) fn write(&self, container: usize, position: usize) -> Result<(), Race> {
        self.touch(container, position, |it, now| {
            if let Some(is_of_blocks) = it.write.and_then(|write| write.against(now)) {
                return Some(Race { container, is_of_blocks, is_read: false });
            }
            it.write = Some(now);
            let by_others = it
                .read
                .filter(|_| it.read_by_others)
                .is_some_and(|read| read.block == now.block && read.interval == now.interval);
            let of_read = it.read.and_then(|read| read.against(now)).or(by_others.then_some(false));
            let is_of_blocks = if it.read_by_blocks { Some(true) } else { of_read };
            is_of_blocks.map(|is_of_blocks| Race { container, is_of_blocks, is_read: true })
        })
    }

    fn touch(
        &self,
        container: usize,
        position: usize,
        note: impl FnOnce(&mut LastAccesses, AccessSite) -> Option<Race>,
    ) -> Result<(), Race> {
        let (Some(now), Some(touched)) = (self.now, &self.touched[container]) else { return Ok(()) };
        let mut touched = touched.borrow_mut();
        if touched.len() <= position {
            touched.resize(position + 1, LastAccesses::default());
        }
        note(&mut touched[position], now).map_or(Ok(()), Err)
    }
}

impl AccessSite {
    /// Whether nothing keeps this access apart from a later one; then, whether they are of different blocks.
    fn against(self, later: AccessSite) -> Option<bool> {
        match (self.block == later.block, self.interval == later.interval) {
            (false, _) => Some(true),
            (true, true) if self.thread != later.thread => Some(false),
            (true, _) => None,
        }
    }
}

/// A number for each thread of a block.
fn number(axes: &[Option<ThreadPosition>], variables: &[i64]) -> u32 {
    // No block has so many threads along an axis.
    const MOST: u32 = 4096;
    let at = |it: &ThreadPosition| {
        let distance = variables[it.variable] - it.base.at(variables);
        u32::try_from(distance.div_euclid(it.step).rem_euclid(it.count)).unwrap_or(0)
    };
    axes.iter().fold(0, |number, it| number * MOST + it.as_ref().map_or(0, at))
}

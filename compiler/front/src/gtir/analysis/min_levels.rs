//! The fewest levels for which no interval is empty or reversed, and every temporary has the levels that are read.

use super::super::nodes::Stencil;
use super::super::visit::FieldTouch;
use crate::space::{self, Axis, Interval, Level};

/// Fewer levels than this are refused at a call; 0 where any number will do.
#[must_use]
pub fn min_levels(stencil: &Stencil) -> i64 {
    let mut fewest = space::min_levels(stencil.vertical_loops.iter().map(|it| it.interval));
    stencil.each_touch(&mut |interval, touch| {
        let field = &stencil.fields[touch.field];
        if field.is_temporary && field.axes.has(Axis::K) && touch.is_level_known {
            fewest = fewest.max(levels_for(interval, touch));
        }
    });
    fewest
}

/// The levels that there must be for a touch to stay among them; E23 sees to the ends that it is counted from.
fn levels_for(interval: Interval, touch: FieldTouch) -> i64 {
    let k = i64::from(touch.offset.k);
    let above = match interval.end.level {
        Level::Start => i64::from(interval.end.offset) + k,
        Level::End => 0,
    };
    let below = match interval.start.level {
        Level::Start => 0,
        Level::End => -(i64::from(interval.start.offset) + k),
    };
    above.max(below)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gtir::parse::parse;

    #[test]
    fn temporaries_have_the_levels_that_are_read() {
        let of = |loops: &str| {
            let fields =
                "stencil s\nfield a: float64[IJK]\nfield b: float64[IJK]\ntemporary t: float64[IJK]\n\n";
            min_levels(&parse(&format!("{fields}parallel [start, end)\n  t = a\n{loops}")).expect(loops))
        };
        assert_eq!(of("parallel [start, start+2)\n  b = t\n"), 2);
        assert_eq!(of("parallel [start, start+2)\n  b = t[0,0,1]\n"), 3);
        assert_eq!(of("parallel [start, start+1)\n  b = t[0,0,5000]\n"), 5001);
        assert_eq!(of("parallel [end-1, end)\n  b = t[0,0,-4]\n"), 5);
        // The caller's fields may have more levels than the domain.
        assert_eq!(of("parallel [start, start+2)\n  b = a[0,0,5]\n"), 2);
    }
}

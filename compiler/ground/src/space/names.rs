//! Names beside positions and sizes: from the Tree IR on, `i` and `I` mean places, whatever a stencil calls its fields.

use super::{Axis, Symbol};

/// The name of the container for the stencil's `name`.
///
/// It is the same name, except for the letters of positions and sizes: these get one underscore more, also
/// where underscores follow them already. [`of_stencil`] is the way back.
#[must_use]
pub fn of_container(name: &str) -> String {
    if is_letter(name.trim_end_matches('_')) { format!("{name}_") } else { name.to_owned() }
}

/// The stencil's name for the contents of a container.
#[must_use]
pub fn of_stencil(container: &str) -> &str {
    match container.strip_suffix('_') {
        Some(name) if is_letter(name.trim_end_matches('_')) => name,
        _ => container,
    }
}

/// The variable of a loop over tiles along an axis: where the tile starts.
#[must_use]
pub fn tile(axis: Axis) -> Symbol {
    Symbol::new(&format!("{}{TILE}", axis.position_name()))
}

/// Behind the letter of a position, what a tile's start is called.
const TILE: &str = "_tile";

/// The variable of a loop that stages follow along an axis, each at its distance.
#[must_use]
pub fn front(axis: Axis) -> Symbol {
    Symbol::new(&format!("{}{FRONT}", axis.position_name()))
}

/// Behind the letter of a position, what the front is called that stages follow.
const FRONT: &str = "_front";

/// The number of levels that the array of a container has below the compute domain, where that is told at the call.
#[must_use]
pub fn levels_below(container: &str) -> Symbol {
    Symbol::new(&format!("__{container}_K_below"))
}

/// The number of levels that the array of a container has above the compute domain; negative where it has fewer.
#[must_use]
pub fn levels_above(container: &str) -> Symbol {
    Symbol::new(&format!("__{container}_K_above"))
}

/// Whether it is the size of an axis of the compute domain.
#[must_use]
pub fn is_size(symbol: &Symbol) -> bool {
    Axis::ALL.iter().any(|axis| axis.name() == symbol.name())
}

/// Whether loops count it: a position, the start of a tile, or a front.
#[must_use]
pub fn is_variable(symbol: &Symbol) -> bool {
    Axis::ALL
        .iter()
        .any(|&axis| symbol.name() == axis.position_name() || [tile(axis), front(axis)].contains(symbol))
}

fn is_letter(name: &str) -> bool {
    let name = [TILE, FRONT].into_iter().find_map(|it| name.strip_suffix(it)).unwrap_or(name);
    matches!(name, "i" | "j" | "k" | "I" | "J" | "K")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_letters_of_places_change_and_all_come_back() {
        for name in ["q", "i", "i_", "K__", "ii", "j_x", "_", "k0", "_i"] {
            let container = of_container(name);
            assert!(!is_letter(&container));
            assert_eq!(of_stencil(&container), name);
        }
        assert_eq!((of_container("flux"), of_container("k")), ("flux".to_owned(), "k_".to_owned()));
    }
}

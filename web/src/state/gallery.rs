//! The stencils that come with the page.

/// A stencil to begin with.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// As links name it.
    pub name: &'static str,
    pub title: &'static str,
    pub text: &'static str,
}

/// From the simplest on.
pub const ENTRIES: [Entry; 5] = [
    Entry {
        name: "copy_scale",
        title: "Copy and scale",
        text: include_str!("../../../static/gallery/copy_scale.py"),
    },
    Entry {
        name: "horizontal_diffusion",
        title: "Horizontal diffusion",
        text: include_str!("../../../static/gallery/horizontal_diffusion.py"),
    },
    Entry {
        name: "vertical_advection",
        title: "Vertical advection",
        text: include_str!("../../../static/gallery/vertical_advection.py"),
    },
    Entry {
        name: "ppm_transport",
        title: "PPM transport",
        text: include_str!("../../../static/gallery/ppm_transport.py"),
    },
    Entry {
        name: "column_physics",
        title: "Column physics",
        text: include_str!("../../../static/gallery/column_physics.py"),
    },
];

/// What a first visit shows.
pub const FIRST: &str = "horizontal_diffusion";

/// The entry of that name.
#[must_use]
pub fn entry(name: &str) -> Option<Entry> {
    ENTRIES.into_iter().find(|it| it.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_visit_has_something_to_show() {
        assert!(entry(FIRST).is_some());
        assert!(entry("no such stencil").is_none());
    }
}

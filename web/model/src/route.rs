//! The targets of the address: the editor, a lesson, the gallery, a page of the manual.

/// A view of the page, as the fragment of the address names it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Route {
    #[default]
    Editor,
    /// The list of lessons.
    Learn,
    Lesson {
        course: String,
        folder: String,
    },
    /// Cards of all examples; with a name, that example is opened.
    Gallery(Option<String>),
    /// A page, and a heading of it.
    Manual(Option<String>, Option<String>),
}

/// The course that the list shows.
pub const COURSE: &str = "first-course";

impl Route {
    /// The view that a fragment names, and whether a teacher presents.
    #[must_use]
    pub fn of(fragment: &str) -> (Self, bool) {
        let route = fragment.split('&').find_map(|it| it.strip_prefix('/')).unwrap_or_default();
        let (path, query) = route.split_once('?').unwrap_or((route, ""));
        // Names become parts of addresses: letters, digits and hyphens do.
        let is_plain =
            |it: &str| !it.is_empty() && it.chars().all(|it| it.is_alphanumeric() || it == '-' || it == '_');
        let parts: Vec<&str> = path.split('/').collect();
        let route = match parts.as_slice() {
            ["learn"] => Self::Learn,
            ["learn", course, folder] if is_plain(course) && is_plain(folder) => {
                Self::Lesson { course: (*course).to_owned(), folder: (*folder).to_owned() }
            }
            ["gallery"] => Self::Gallery(None),
            ["gallery", name] if is_plain(name) => Self::Gallery(Some((*name).to_owned())),
            ["manual"] => Self::Manual(None, None),
            ["manual", page] if is_plain(page) => Self::Manual(Some((*page).to_owned()), None),
            ["manual", page, heading] if is_plain(page) && is_plain(heading) => {
                Self::Manual(Some((*page).to_owned()), Some((*heading).to_owned()))
            }
            _ => Self::Editor,
        };
        (route, query == "present")
    }

    /// As style sheets and tests name it.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Editor => "editor",
            Self::Learn => "learn",
            Self::Lesson { .. } => "lesson",
            Self::Gallery(_) => "gallery",
            Self::Manual(..) => "manual",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_names_a_view() {
        let of = |it| Route::of(it).0;
        assert_eq!(of(""), Route::Editor);
        assert_eq!(of("s=1abc"), Route::Editor);
        assert_eq!(of("/learn"), Route::Learn);
        let lesson = Route::Lesson { course: "first-course".to_owned(), folder: "03-vertical".to_owned() };
        assert_eq!(of("/learn/first-course/03-vertical"), lesson);
        assert_eq!(of("token=x&/learn/first-course/03-vertical"), lesson);
        assert_eq!(of("/gallery/copy_scale"), Route::Gallery(Some("copy_scale".to_owned())));
        assert_eq!(
            of("/manual/diagnostics/e18"),
            Route::Manual(Some("diagnostics".to_owned()), Some("e18".to_owned()))
        );
        assert_eq!(Route::of("/learn?present"), (Route::Learn, true));
    }

    #[test]
    fn what_is_no_name_opens_nothing() {
        for odd in ["/learn/../x", "/gallery/a.b", "/manual/%2e%2e", "/learn/a/b/c", "//", "/x"] {
            assert_eq!(Route::of(odd).0, Route::Editor, "{odd}");
        }
    }
}

//! Attributes of modules and classes that another file may assign: `constants.F = 3.0`.
//!
//! Assignments count in the main file and in each file that it imports, directly or through others.

use std::rc::Rc;

use super::bindings::FileNames;
use super::constants::{Constant, Opaque};
use super::evaluate::Environment;
use super::ids::ClassId;
use super::imports::BY_NAME;
use super::modules::Names;
use super::reaching::Moment;
use super::syntax::{Expr, ExprKind};
use crate::diag::FileId;

impl<'p> Names<'p> {
    /// Refuses the value of a name at the top of a file that other code may give another one.
    pub(super) fn hold_module(
        &self,
        file: &FileNames<'p>,
        id: FileId,
        moment: Moment,
        name: &str,
    ) -> Result<(), Opaque> {
        if let Some(span) = file.rewritten.filter(|it| moment.is_behind(it.start)) {
            return Err(Opaque::change("the names of the file are changed as a table here", span));
        }
        self.stored(name, |value| matches!(value, Constant::Module(it) if *it == id), id)
    }

    /// Refuses an attribute of a class that is assigned from outside.
    pub(super) fn hold_class(&self, classes: &[ClassId], name: &str) -> Result<(), Opaque> {
        let Some(first) = classes.first() else { return Ok(()) };
        self.stored(name, |value| matches!(value, Constant::Class(it) if classes.contains(it)), first.file)
    }

    /// Looks for `object.name = ...`, where the object is the one that is meant, in its own file and in all that run.
    fn stored(&self, name: &str, is_it: impl Fn(&Constant) -> bool, own: FileId) -> Result<(), Opaque> {
        let runs =
            |id: FileId| id == own || self.program.main == Some(id) || self.run_by_main().contains(&id);
        for &id in self.assigning(name).iter().filter(|it| runs(**it)) {
            for store in self.of_file(id).stores.iter().filter(|it| it.name.is_none_or(|it| it == name)) {
                let environment = Environment::module(store.scope, store.span.start);
                let is_of_class = |it: &Expr| match &it.kind {
                    ExprKind::Attribute(_, name) => name.name == "__class__",
                    ExprKind::Call { function, .. } => function.as_name() == Some("type"),
                    _ => false,
                };
                let is_meant = match self.unnamed(&environment, store.object) {
                    Ok(value) => is_it(&value),
                    Err(_) => id == own && is_of_class(store.object),
                };
                if is_meant {
                    return Err(Opaque::change("it is assigned from outside of what defines it", store.span));
                }
            }
        }
        Ok(())
    }

    /// The files whose text has `.name =` or `setattr`.
    fn assigning(&self, name: &str) -> Rc<[FileId]> {
        if let Some(known) = self.assigning.borrow().get(name) {
            return Rc::clone(known);
        }
        let may_assign = |id: &FileId| {
            let file = self.program.files.get(usize::from(id.0));
            file.is_some_and(|it| it.assigned().contains(name) || it.assigned().contains(BY_NAME))
        };
        let found: Rc<[FileId]> = self.files().filter(may_assign).collect();
        self.assigning.borrow_mut().insert(name.to_owned(), Rc::clone(&found));
        found
    }
}

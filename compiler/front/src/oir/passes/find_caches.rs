//! Tells what each vertical loop could keep at hand.

use std::collections::BTreeMap;

use super::PassCx;
use crate::oir::analysis::caches::CachesOf;
use crate::oir::nodes::Stencil;
use crate::pass::{LogPoint, LogValue};

pub const NAME: &str = "oir/find-caches";

/// The caches of each vertical loop, in the log.
pub const CACHES: LogPoint =
    LogPoint { name: "caches", about: "for each vertical loop, the fields that it could keep and how" };

/// Reports the [caches](crate::oir::analysis::caches) of the stencil as it is now.
///
/// - **Precondition**: valid OIR, as schedules get it.
/// - **Effect**: none; a value in the log.
/// - **Legality**: it changes nothing.
/// - **Why**: a user who tunes a stencil sees what a cache would save before a schedule uses one.
pub fn find_caches(stencil: &mut Stencil, cx: &mut PassCx) {
    let found = cx.get::<CachesOf>(stencil);
    let of_loop = |caches: &Vec<crate::oir::analysis::caches::Cache>| {
        let each = caches
            .iter()
            .map(|it| (stencil.fields[it.field].name.clone(), LogValue::Text(it.kind.to_string())));
        LogValue::Map(each.collect::<BTreeMap<_, _>>())
    };
    let all = found.loops.iter().map(of_loop).collect();
    cx.log(&CACHES, LogValue::List(all));
}

//! The shape and the halo of a field parameter, in a few signs.

use isobar_protocol::compile::FieldParam;

use crate::bridge::locale::t;

/// The axes, and the sizes of data dimensions: `IJK [3, 2]`.
#[must_use]
pub fn shape(param: &FieldParam) -> String {
    if param.data_dims.is_empty() {
        param.axes.clone()
    } else {
        format!("{} {:?}", param.axes, param.data_dims)
    }
}

/// How far beyond the domain a field is touched: `i −2 +3, j −1`.
#[must_use]
pub fn extent(param: &FieldParam) -> String {
    let sides = ["I", "J", "K"].into_iter().zip(param.boundary).filter(|(axis, _)| param.axes.contains(axis));
    let beyond = sides.filter_map(|(axis, [lo, hi])| {
        let before = (lo < 0).then(|| format!(" −{}", lo.unsigned_abs()));
        let after = (hi > 0).then(|| format!(" +{hi}"));
        let reach = [before, after].into_iter().flatten().collect::<String>();
        (!reach.is_empty()).then(|| format!("{}{reach}", axis.to_lowercase()))
    });
    let all = beyond.collect::<Vec<_>>().join(", ");
    if all.is_empty() { t!("inputs-no-halo").to_owned() } else { t!("inputs-halo", reach = all) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_extent_names_the_sides_that_reach_out() {
        let param = |axes: &str, boundary| FieldParam {
            name: "q".to_owned(),
            dtype: "float64".to_owned(),
            axes: axes.to_owned(),
            data_dims: Vec::new(),
            access: "read".to_owned(),
            boundary,
        };
        assert_eq!(extent(&param("IJK", [[-2, 3], [0, 1], [1, 0]])), "halo i −2 +3, j +1");
        assert_eq!(extent(&param("K", [[-2, 3], [0, 1], [0, 0]])), "no halo");
    }
}

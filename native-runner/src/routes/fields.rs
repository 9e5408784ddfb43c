//! The fields that a job wrote, as bytes.

use axum::body::{Body, Bytes};
use axum::extract::{Query, State};
use axum::http::{HeaderValue, header};
use axum::response::Response;
use isobar_compiler::types::DType;
use isobar_protocol::field::FieldInfo;
use serde::Deserialize;

use super::path::Path;
use crate::error::ApiError;
use crate::jobs::stream::JobField;
use crate::state::AppState;

/// The part of a field that is asked for.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Slice {
    /// An index along the last axis, which must be K; all of the field without.
    k: Option<u64>,
    /// An index for each data dimension, as `2,0`; all elements without.
    data: Option<String>,
}

/// `GET /v1/jobs/{id}/fields/{name}[?k=N][&data=M,N]` — little-endian elements in C order, halo included.
///
/// The headers `isobar-dtype`, `isobar-axes`, `isobar-shape`, `isobar-origin` and `isobar-domain` describe them.
pub(crate) async fn field(
    State(state): State<AppState>,
    Path((id, name)): Path<(String, String)>,
    slice: Result<Query<Slice>, axum::extract::rejection::QueryRejection>,
) -> Result<Response, ApiError> {
    let job = state.jobs.get(&id)?;
    let slice = slice.map_err(|_| {
        ApiError::InvalidRequest("`k` takes an index, and `data` one for each data dimension".to_owned())
    })?;
    let (info, bytes) = match job.field(&name) {
        JobField::Here(info, bytes) => (*info, bytes),
        JobField::Dropped => {
            return Err(ApiError::Gone("the fields of this job are no longer kept".to_owned()));
        }
        JobField::Unknown => return Err(ApiError::NotFound("field of this name in this job".to_owned())),
    };
    // The server shares one copy with all its readers.
    let (mut info, mut bytes) = (info, Bytes::from_owner(Whole(bytes)));
    if let Some(data) = &slice.data {
        (info, bytes) = element(info, &bytes, data)?;
    }
    if let Some(k) = slice.k {
        (info, bytes) = level(info, &bytes, k)?;
    }
    let mut response = Response::new(Body::from(bytes));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    fn list<T: ToString>(sizes: &[T]) -> String {
        sizes.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
    }
    for (name, value) in [
        ("isobar-dtype", info.dtype.clone()),
        ("isobar-axes", info.axes.clone()),
        ("isobar-shape", list(&info.shape)),
        ("isobar-origin", list(&info.origin)),
        ("isobar-domain", list(&info.domain)),
    ] {
        headers.insert(name, HeaderValue::from_str(&value).map_err(|error| ApiError::internal(&error))?);
    }
    Ok(response)
}

struct Whole(std::sync::Arc<Vec<u8>>);

impl AsRef<[u8]> for Whole {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// One level of a field, which then has the axes that are left.
fn level(mut info: FieldInfo, bytes: &[u8], k: u64) -> Result<(FieldInfo, Bytes), ApiError> {
    let dimension = info.axes.len().saturating_sub(1);
    let Some(levels) = info.shape.get(dimension).copied().filter(|_| info.axes.ends_with('K')) else {
        return Err(ApiError::InvalidRequest(format!(
            "`{}` has the axes {} and no levels",
            info.name, info.axes
        )));
    };
    if k >= levels {
        return Err(ApiError::InvalidRequest(format!(
            "`{}` has the levels 0 to {}, and not {k}",
            info.name,
            levels - 1
        )));
    }
    let bytes = picked(&mut info, bytes, dimension, k);
    info.axes.pop();
    Ok((info, bytes))
}

/// One element at each point of a field, which then has no data dimensions.
fn element(mut info: FieldInfo, bytes: &[u8], data: &str) -> Result<(FieldInfo, Bytes), ApiError> {
    let index = data.split(',').map(|it| it.trim().parse().ok()).collect::<Option<Vec<u64>>>();
    let sizes = info.data_dims();
    let is_inside =
        |index: &Vec<u64>| index.len() == sizes.len() && index.iter().zip(sizes).all(|(at, n)| at < n);
    let Some(index) = index.filter(is_inside) else {
        return Err(ApiError::InvalidRequest(format!(
            "`{}` has data dimensions of the sizes {sizes:?}, and no element {data}",
            info.name
        )));
    };
    let mut bytes = Bytes::copy_from_slice(bytes);
    for at in index {
        // The dimensions behind move up.
        let dimension = info.axes.len();
        bytes = picked(&mut info, &bytes, dimension, at);
    }
    Ok((info, bytes))
}

/// The elements at one index along a dimension, which the description then lacks.
fn picked(info: &mut FieldInfo, bytes: &[u8], dimension: usize, at: u64) -> Bytes {
    let index = |it: u64| usize::try_from(it).unwrap_or(usize::MAX);
    let size = DType::from_name(&info.dtype).map_or(1, DType::size_bytes);
    let part = info.shape[dimension + 1..].iter().fold(size, |n, &it| n.saturating_mul(index(it)));
    let (all, start) = (index(info.shape[dimension]).saturating_mul(part), index(at).saturating_mul(part));
    let found: Vec<u8> =
        bytes.chunks_exact(all.max(1)).flat_map(|it| &it[start..start + part]).copied().collect();
    info.shape.remove(dimension);
    info.origin.remove(dimension);
    info.domain.remove(dimension);
    Bytes::from(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_is_every_nth_element() {
        let info = FieldInfo {
            name: "q".to_owned(),
            dtype: "int16".to_owned(),
            axes: "IJK".to_owned(),
            shape: vec![2, 1, 3],
            origin: vec![0, 0, 1],
            domain: vec![2, 1, 2],
            ..FieldInfo::default()
        };
        let bytes: Vec<u8> = (0..6_i16).flat_map(i16::to_le_bytes).collect();
        let (slice, data) = level(info.clone(), &bytes, 1).expect("level 1 is there");
        assert_eq!((slice.axes.as_str(), slice.shape), ("IJ", vec![2, 1]));
        assert_eq!(&data[..], [1, 0, 4, 0]);
        assert!(level(info.clone(), &bytes, 3).is_err());
        assert!(level(FieldInfo { axes: "IJ".to_owned(), ..info }, &bytes, 0).is_err());
    }
    #[test]
    fn an_element_of_data_dimensions_is_picked_at_every_point() {
        let info = FieldInfo {
            name: "v".to_owned(),
            dtype: "int8".to_owned(),
            axes: "IK".to_owned(),
            shape: vec![2, 2, 3, 2],
            origin: vec![0; 4],
            domain: vec![2, 2, 3, 2],
            ..FieldInfo::default()
        };
        let bytes: Vec<u8> = (0..24).collect();
        let (picked, data) = element(info.clone(), &bytes, "2,1").expect("it is there");
        assert_eq!(
            (picked.axes.as_str(), &picked.shape[..], &data[..]),
            ("IK", &[2, 2][..], &[5, 11, 17, 23][..])
        );
        let (slice, data) = level(info.clone(), &bytes, 1).expect("level 1 is there");
        assert_eq!((slice.axes.as_str(), &slice.shape[..]), ("I", &[2, 3, 2][..]));
        assert_eq!(&data[..], [6, 7, 8, 9, 10, 11, 18, 19, 20, 21, 22, 23]);
        for wrong in ["3,0", "0", "0,0,0", "x,0", ""] {
            assert!(element(info.clone(), &bytes, wrong).is_err(), "{wrong}");
        }
    }
}

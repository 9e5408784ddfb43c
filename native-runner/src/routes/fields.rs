//! The fields that a job wrote, as bytes.

use axum::body::{Body, Bytes};
use axum::extract::{Path, Query, State};
use axum::http::{HeaderValue, header};
use axum::response::Response;
use isobar_compiler::types::DType;
use isobar_protocol::field::FieldInfo;
use serde::Deserialize;

use crate::error::ApiError;
use crate::jobs::stream::Kept;
use crate::state::AppState;

/// What of a field is asked for.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Slice {
    /// An index along the last axis, which must be K; all of the field without.
    k: Option<u64>,
}

/// `GET /v1/jobs/{id}/fields/{name}[?k=N]` — little-endian elements in C order, halo included.
///
/// The headers `isobar-dtype`, `isobar-axes`, `isobar-shape`, `isobar-origin` and `isobar-domain` describe them.
pub(crate) async fn field(
    State(state): State<AppState>,
    Path((id, name)): Path<(String, String)>,
    slice: Result<Query<Slice>, axum::extract::rejection::QueryRejection>,
) -> Result<Response, ApiError> {
    let job = state.jobs.get(&id)?;
    let slice = slice.map_err(|_| ApiError::InvalidRequest("`k` takes an index".to_owned()))?;
    let (info, bytes) = match job.field(&name) {
        Kept::Here(info, bytes) => (*info, bytes),
        Kept::Dropped => return Err(ApiError::Gone("the fields of this job are no longer kept".to_owned())),
        Kept::Unknown => return Err(ApiError::NotFound("field of this name in this job".to_owned())),
    };
    let (info, bytes) = match slice.k {
        Some(k) => level(info, &bytes, k)?,
        // The server shares one copy with all its readers.
        None => (info, Bytes::from_owner(Whole(bytes))),
    };
    let mut response = Response::new(Body::from(bytes));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    let list = |sizes: &[u64]| sizes.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
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
    let Some(levels) = info.shape.last().copied().filter(|_| info.axes.ends_with('K')) else {
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
    let size = DType::from_name(&info.dtype).map_or(1, DType::size_bytes);
    let index = |it: u64| usize::try_from(it).unwrap_or(usize::MAX);
    let (stride, start) = (index(levels) * size, index(k) * size);
    let level: Vec<u8> =
        bytes.chunks_exact(stride).flat_map(|column| &column[start..start + size]).copied().collect();
    info.axes.pop();
    info.shape.pop();
    info.origin.pop();
    info.domain.pop();
    Ok((info, Bytes::from(level)))
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
}

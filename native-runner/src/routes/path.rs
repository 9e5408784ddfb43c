//! The parts of an address, or a problem where they are no text.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

use crate::error::ApiError;

/// The parts of an address that its route leaves open.
#[derive(Debug)]
pub(crate) struct Path<T>(pub T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Path<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let found = axum::extract::Path::<T>::from_request_parts(parts, state).await;
        let refused = |_| ApiError::InvalidRequest("the address has a part that is no UTF-8".to_owned());
        found.map(|it| Self(it.0)).map_err(refused)
    }
}

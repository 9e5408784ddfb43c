//! Input fields that were sent before the job that uses them.

use std::collections::BTreeMap;
use std::io::{Seek, SeekFrom};
use std::sync::{Arc, Mutex};

use isobar_protocol::limits::Limits;
use isobar_protocol::problem::LimitHit;
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::error::ApiError;
use crate::wire::Fields;

/// Uploads that arrive at the same time.
const MOST_ARRIVING: usize = 4;

/// The files of all uploads; they have no names and vanish with the runner.
#[derive(Debug)]
pub struct Uploads {
    most_bytes: u64,
    arriving: Semaphore,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    next: u64,
    by_id: BTreeMap<String, Upload>,
}

/// One upload.
#[derive(Clone, Debug)]
pub struct Upload {
    /// Counts up: the smallest is the oldest.
    order: u64,
    bytes: u64,
    file: Arc<std::fs::File>,
}

impl Upload {
    /// The file as a job takes it; it lives as long as the job needs it.
    #[must_use]
    pub fn fields(&self) -> Fields {
        Fields::File { file: Arc::clone(&self.file), bytes: self.bytes }
    }
}

impl Uploads {
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        Self {
            most_bytes: limits.kept_bytes,
            arriving: Semaphore::new(MOST_ARRIVING),
            kept: Mutex::default(),
        }
    }

    /// Waits until one more may arrive; it counts until the permit is dropped.
    ///
    /// # Errors
    ///
    /// None, as long as the runner lives.
    pub async fn begin(&self) -> Result<SemaphorePermit<'_>, ApiError> {
        self.arriving.acquire().await.map_err(|error| ApiError::internal(&error))
    }

    /// Keeps a file and answers its id; the oldest uploads give way where all together would be too much.
    ///
    /// # Errors
    ///
    /// 413 where the file alone is too much; 500 where it cannot be read.
    pub fn keep(&self, mut file: std::fs::File) -> Result<(String, u64), ApiError> {
        let bytes = file.seek(SeekFrom::End(0)).map_err(|error| ApiError::internal(&error))?;
        if bytes > self.most_bytes {
            let limit = LimitHit::new("uploads", self.most_bytes, bytes, "bytes");
            return Err(ApiError::TooLarge { limit });
        }
        let mut kept = self.kept.lock().map_err(|error| ApiError::internal(&error))?;
        while kept.by_id.values().map(|it| it.bytes).sum::<u64>() > self.most_bytes - bytes {
            let oldest = kept.by_id.iter().min_by_key(|(_, it)| it.order).map(|(id, _)| id.clone());
            let Some(oldest) = oldest else { break };
            kept.by_id.remove(&oldest);
        }
        let id = crate::random::hex(16);
        let order = kept.next;
        kept.next += 1;
        kept.by_id.insert(id.clone(), Upload { order, bytes, file: Arc::new(file) });
        Ok((id, bytes))
    }

    /// The upload of that id.
    #[must_use]
    pub fn get(&self, id: &str) -> Option<Upload> {
        self.kept.lock().ok()?.by_id.get(id).cloned()
    }
}

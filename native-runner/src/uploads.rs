//! Input fields that were sent before the job that uses them.
//!
//! Clients share the places of uploads that arrive, and those of uploads that are kept.

use std::collections::{BTreeMap, VecDeque};
use std::io::{Seek, SeekFrom};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use isobar_protocol::limits::Limits;
use isobar_protocol::problem::LimitHit;
use tokio::time::Instant;

use crate::error::ApiError;
use crate::turns::{Client, Rules, Shares, TurnSlot, Turns};
use crate::wire::Fields;

/// Uploads that arrive at the same time.
const MOST_ARRIVING: usize = 4;
/// Names of uploads that are gone and known to have been there.
const MOST_GONE: usize = 1024;

/// The files of all uploads; they have no names and vanish with the runner.
#[derive(Debug)]
pub struct Uploads {
    limits: Limits,
    arriving: Turns,
    kept: Arc<Mutex<UploadTable>>,
}

#[derive(Debug, Default)]
struct UploadTable {
    next: u64,
    by_id: BTreeMap<String, Upload>,
    gone: VecDeque<String>,
    /// Whether a task waits for the age of the oldest.
    is_watched: bool,
}

/// One upload.
#[derive(Clone, Debug)]
pub struct Upload {
    /// Counts up: the smallest is the oldest.
    order: u64,
    client: Client,
    since: Instant,
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
        let turn = Some(Duration::from_millis(limits.upload_turn_ms));
        let least_rate = limits.upload_bytes_per_s;
        let arriving = Turns::new(Rules { places: MOST_ARRIVING, beside: 0, turn, least_rate });
        Self { limits, arriving, kept: Arc::default() }
    }

    /// Waits until one more may arrive; it counts until the place is dropped.
    ///
    /// # Errors
    ///
    /// 503 where others take too long.
    pub(crate) async fn begin(&self, client: &Client) -> Result<TurnSlot, ApiError> {
        let limit_ms = self.limits.upload_wait_ms;
        let free = tokio::time::timeout(Duration::from_millis(limit_ms), self.arriving.take(client)).await;
        free.map_err(|_| ApiError::UploadsBusy { limit_ms })
    }

    /// Keeps a file of the client and answers its id. Where all together would be too many or too much, the oldest of
    /// the client with the most give way.
    ///
    /// # Errors
    ///
    /// 413 where the file alone is too much; 500 where it cannot be read.
    pub fn keep(&self, client: &Client, mut file: std::fs::File) -> Result<(String, u64), ApiError> {
        let bytes = file.seek(SeekFrom::End(0)).map_err(|error| ApiError::internal(&error))?;
        let most_bytes = self.limits.kept_bytes;
        if bytes > most_bytes {
            return Err(ApiError::TooLarge { limit: LimitHit::new("uploads", most_bytes, bytes, "bytes") });
        }
        let mut kept = lock(&self.kept);
        let most = usize::try_from(self.limits.uploads).unwrap_or(usize::MAX).max(1);
        while kept.by_id.len() >= most || kept.bytes() > most_bytes - bytes {
            let is_too_many = kept.by_id.len() >= most;
            let Some(found) = kept.oldest_of_largest(is_too_many).cloned() else { break };
            kept.forget(found);
        }
        let id = crate::random::hex(16);
        let order = kept.next;
        kept.next += 1;
        let (client, since, file) = (client.clone(), Instant::now(), Arc::new(file));
        kept.by_id.insert(id.clone(), Upload { order, client, since, bytes, file });
        if !kept.is_watched {
            kept.is_watched = true;
            tokio::spawn(watch(Arc::downgrade(&self.kept), self.age()));
        }
        Ok((id, bytes))
    }

    fn age(&self) -> Duration {
        Duration::from_millis(self.limits.upload_age_ms)
    }

    /// The upload of that id.
    ///
    /// # Errors
    ///
    /// 410 where it was there, 404 where it was not.
    pub fn get(&self, id: &str) -> Result<Upload, ApiError> {
        let mut kept = lock(&self.kept);
        kept.forget_older_than(self.age());
        let found = kept.by_id.get(id).cloned();
        found.ok_or_else(|| match kept.gone.iter().any(|it| it == id) {
            true => ApiError::Gone("the upload is no longer kept; send it again".to_owned()),
            false => ApiError::NotFound("upload of this name; send it again".to_owned()),
        })
    }
}

fn lock(kept: &Mutex<UploadTable>) -> MutexGuard<'_, UploadTable> {
    // Nothing that holds the lock leaves the table half changed.
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Forgets each upload at its age, also where nobody asks: each holds an open file. Ends when there is none.
async fn watch(kept: Weak<Mutex<UploadTable>>, age: Duration) {
    loop {
        let next = {
            let Some(kept) = kept.upgrade() else { return };
            let mut kept = lock(&kept);
            kept.forget_older_than(age);
            let next = kept.oldest().map(|(_, it)| it.since + age);
            kept.is_watched = next.is_some();
            next
        };
        let Some(next) = next else { return };
        tokio::time::sleep_until(next).await;
    }
}

impl UploadTable {
    fn bytes(&self) -> u64 {
        self.by_id.values().map(|it| it.bytes).sum()
    }

    fn oldest(&self) -> Option<(&String, &Upload)> {
        self.by_id.iter().min_by_key(|(_, it)| it.order)
    }

    /// The oldest upload of the client that has the most, by number or by bytes.
    fn oldest_of_largest(&self, is_by_number: bool) -> Option<&String> {
        let amount = |it: &Upload| if is_by_number { 1 } else { it.bytes };
        let shares: Shares = self.by_id.values().map(|it| (it.client.key(), amount(it))).collect();
        let largest = shares.largest()?;
        let of_largest = self.by_id.iter().filter(|(_, it)| it.client.key() == largest);
        of_largest.min_by_key(|(_, it)| it.order).map(|it| it.0)
    }

    fn forget_older_than(&mut self, age: Duration) {
        while let Some((id, _)) = self.oldest().filter(|(_, it)| it.since.elapsed() >= age) {
            self.forget(id.clone());
        }
    }

    fn forget(&mut self, id: String) {
        self.by_id.remove(&id);
        self.gone.push_back(id);
        if self.gone.len() > MOST_GONE {
            self.gone.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file() -> std::fs::File {
        tempfile::tempfile().expect("a file")
    }

    #[tokio::test]
    async fn the_oldest_of_too_many_uploads_give_way_and_are_known_to_be_gone() {
        let uploads = Uploads::new(Limits { uploads: 2, ..Limits::default() });
        let ids: Vec<String> =
            (0..3).map(|_| uploads.keep(&Client::default(), file()).expect("it is small").0).collect();
        assert!(matches!(uploads.get(&ids[0]), Err(ApiError::Gone(_))));
        assert!(uploads.get(&ids[1]).is_ok() && uploads.get(&ids[2]).is_ok());
        assert!(matches!(uploads.get("never"), Err(ApiError::NotFound(_))));
    }

    #[tokio::test]
    async fn an_upload_is_forgotten_at_its_age_and_its_file_is_closed_though_nobody_asks() {
        let uploads = Uploads::new(Limits { upload_age_ms: 200, ..Limits::default() });
        for _ in 0..2 {
            let (id, _) = uploads.keep(&Client::default(), file()).expect("it is small");
            let held = lock(&uploads.kept).by_id.values().map(|it| Arc::downgrade(&it.file)).next();
            let held = held.expect("it is there");
            let begun = Instant::now();
            while held.strong_count() > 0 {
                assert!(begun.elapsed() < Duration::from_secs(20), "it is never forgotten");
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            assert!(begun.elapsed() > Duration::from_millis(100), "it is kept for a while");
            assert!(matches!(uploads.get(&id), Err(ApiError::Gone(_))));
        }
    }

    #[tokio::test]
    async fn many_uploads_of_one_client_leave_those_of_others() {
        let uploads = Uploads::new(Limits { uploads: 4, kept_bytes: 100, ..Limits::default() });
        let open = [Arc::new(()), Arc::new(())];
        let [one, many] = [0, 1].map(|at| Client::new([10, 0, 0, 1].into(), &open[at]));
        let of = |client: &Client, bytes: u64| {
            let file = file();
            file.set_len(bytes).expect("it is ours");
            uploads.keep(client, file).expect("it is small").0
        };
        let kept = of(&one, 10);
        let all: Vec<String> = (0..8).map(|_| of(&many, 1)).collect();
        assert!(uploads.get(&kept).is_ok());
        assert!(uploads.get(&all[4]).is_err() && uploads.get(&all[5]).is_ok());
        // The same by bytes.
        let large = of(&many, 80);
        assert!(uploads.get(&kept).is_ok() && uploads.get(&large).is_ok());
        let next = of(&many, 85);
        assert!(uploads.get(&kept).is_ok() && uploads.get(&next).is_ok() && uploads.get(&large).is_err());
    }

    #[tokio::test]
    async fn who_waits_too_long_to_begin_is_told_so() {
        let uploads = Uploads::new(Limits { upload_wait_ms: 50, ..Limits::default() });
        let mut arriving = Vec::new();
        for _ in 0..MOST_ARRIVING {
            arriving.push(uploads.begin(&Client::default()).await.expect("there is room"));
        }
        let refused = uploads.begin(&Client::default()).await.expect_err("there is none");
        assert_eq!((refused.problem().status, refused.problem().code.as_str()), (503, "overloaded"));
        drop(arriving);
        assert!(uploads.begin(&Client::default()).await.is_ok());
    }
}

//! Connections on which no token was shown yet: they make room for those who come later.
//!
//! Any program of a machine can hold connections open and say nothing. If such connections took all places,
//! the owner could not connect. So a full runner admits a new connection by closing the oldest one without a
//! token.

use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Notify;

use crate::turns::Client;

/// The connections that are open, in the order in which they came.
#[derive(Clone, Debug, Default)]
pub(crate) struct Guests(Arc<Mutex<Vec<Arc<Guest>>>>);

/// One of them.
#[derive(Debug)]
pub(crate) struct Guest {
    from: IpAddr,
    /// Lives as long as the connection.
    connection: Arc<()>,
    has_token: AtomicBool,
    is_sent: AtomicBool,
    leaves: Notify,
}

/// A connection that counts until this is dropped.
#[derive(Debug)]
pub(crate) struct Stay {
    pub(crate) guest: Arc<Guest>,
    among: Guests,
}

impl Guest {
    /// The client that asks on it.
    pub(crate) fn client(&self) -> Client {
        Client::new(self.from, &self.connection)
    }

    /// The right token was shown: nobody takes its place.
    pub(crate) fn is_known(&self) {
        self.has_token.store(true, Ordering::Relaxed);
    }

    /// Until it has to make room.
    pub(crate) async fn is_sent_away(&self) {
        self.leaves.notified().await;
    }
}

impl Guests {
    /// One that came just now from what counts as one address.
    pub(crate) fn welcome(&self, from: IpAddr) -> Stay {
        let (has_token, is_sent) = (AtomicBool::new(false), AtomicBool::new(false));
        let connection = Arc::default();
        let guest = Arc::new(Guest { from, connection, has_token, is_sent, leaves: Notify::new() });
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&guest));
        Stay { guest, among: self.clone() }
    }

    /// Sends the oldest away on which no token was shown, of one address alone where that has too many; whether there is
    /// one.
    pub(crate) fn send_one_away(&self, of: Option<IpAddr>) -> bool {
        let guests = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let may_go = |it: &&Arc<Guest>| {
            let is_meant = of.is_none_or(|of| it.from == of);
            is_meant && !it.has_token.load(Ordering::Relaxed) && !it.is_sent.load(Ordering::Relaxed)
        };
        let Some(oldest) = guests.iter().find(may_go) else { return false };
        oldest.is_sent.store(true, Ordering::Relaxed);
        oldest.leaves.notify_one();
        true
    }
}

impl Drop for Stay {
    fn drop(&mut self) {
        let mut guests = self.among.0.lock().unwrap_or_else(PoisonError::into_inner);
        guests.retain(|it| !Arc::ptr_eq(it, &self.guest));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_without_a_token_makes_room() {
        let guests = Guests::default();
        let [one, other]: [IpAddr; 2] = [[10, 0, 0, 1].into(), [10, 0, 0, 2].into()];
        let stays = [one, one, other, one].map(|it| guests.welcome(it));
        let is_sent = |at: usize| stays[at].guest.is_sent.load(Ordering::Relaxed);
        stays[0].guest.is_known();
        assert!(guests.send_one_away(Some(other)) && is_sent(2));
        assert!(!guests.send_one_away(Some(other)), "it goes already");
        assert!(guests.send_one_away(None) && is_sent(1) && !is_sent(3));
        assert!(guests.send_one_away(None) && is_sent(3));
        assert!(!guests.send_one_away(None) && !is_sent(0));
        drop(stays);
        assert!(guests.0.lock().expect("nobody panicked").is_empty());
    }
}

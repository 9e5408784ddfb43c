//! Fair turns: clients share places, so that none of them holds all while another waits.
//!
//! A place goes to the waiting client that holds the fewest, first counted by address and then by connection. A holder
//! that is past its turn no longer counts as new, so a waiting one comes in beside it. Where that room is full too, one
//! of them is sent away.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use tokio::sync::{Notify, oneshot};

/// A client: an address, and there a connection. Connections that are closed count together.
#[derive(Clone, Debug, Default)]
pub struct Client {
    address: Option<IpAddr>,
    connection: Weak<()>,
}

/// Tells clients apart: by the address, and by the connection as long as it is open.
pub(crate) type Key = (Option<IpAddr>, usize);

impl Client {
    /// The client on `connection` from what counts as one address.
    #[must_use]
    pub fn new(address: IpAddr, connection: &Arc<()>) -> Self {
        Self { address: Some(address), connection: Arc::downgrade(connection) }
    }

    /// Whether its connection is closed, so that it may be any client of its address.
    pub(crate) fn is_gone(&self) -> bool {
        self.connection.strong_count() == 0
    }

    pub(crate) fn key(&self) -> Key {
        (self.address, if self.is_gone() { 0 } else { self.connection.as_ptr().addr() })
    }
}

/// The places or bytes of each address and of each client.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shares {
    addresses: BTreeMap<Option<IpAddr>, u64>,
    clients: BTreeMap<Key, u64>,
}

impl FromIterator<(Key, u64)> for Shares {
    fn from_iter<T: IntoIterator<Item = (Key, u64)>>(all: T) -> Self {
        let mut shares = Self::default();
        for (key, amount) in all {
            shares.add(key, amount);
        }
        shares
    }
}

impl Shares {
    pub(crate) fn add(&mut self, key: Key, amount: u64) {
        *self.addresses.entry(key.0).or_default() += amount;
        *self.clients.entry(key).or_default() += amount;
    }

    /// The share of the address, and that of the client.
    pub(crate) fn of(&self, key: Key) -> [u64; 2] {
        let of_address = self.addresses.get(&key.0).copied().unwrap_or(0);
        [of_address, self.clients.get(&key).copied().unwrap_or(0)]
    }

    /// The client with the most, within the address with the most.
    pub(crate) fn largest(&self) -> Option<Key> {
        self.clients.keys().copied().max_by_key(|it| self.of(*it))
    }

    /// Whether `holder` has more than `other` has with `amount` more.
    pub(crate) fn exceeds(&self, holder: Key, other: Key, amount: u64) -> bool {
        let at = usize::from(holder.0 == other.0);
        self.of(holder)[at] > self.of(other)[at].saturating_add(amount)
    }
}

/// How many places there are, and for how long.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    /// Places for those within their turn.
    pub places: usize,
    /// Further places for those past their turn.
    pub beside: usize,
    /// None where a holder stays to its end.
    pub turn: Option<Duration>,
    /// Past its turn, a holder that moves fewer bytes each second makes room even for its own client.
    pub least_rate: u64,
}

/// Places and those who wait for them. Cheap to copy.
#[derive(Clone, Debug)]
pub(crate) struct Turns(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    rules: Rules,
    line: Mutex<TurnQueue>,
}

#[derive(Debug, Default)]
struct TurnQueue {
    /// Counts up: the smallest came first.
    next: u64,
    waiting: Vec<Waiting>,
    holding: Vec<Arc<Holder>>,
    /// When each client last got a place, as long as it waits or holds one.
    served: BTreeMap<Key, u64>,
}

#[derive(Debug)]
struct Waiting {
    number: u64,
    client: Client,
    go: oneshot::Sender<TurnSlot>,
}

#[derive(Debug)]
struct Holder {
    client: Client,
    since: Instant,
    moved: AtomicU64,
    is_sent: AtomicBool,
    leaves: Notify,
}

impl Holder {
    /// Bytes each second.
    fn rate(&self) -> u64 {
        let ms = u64::try_from(self.since.elapsed().as_millis()).unwrap_or(u64::MAX).max(1);
        self.moved.load(Ordering::Relaxed).saturating_mul(1000) / ms
    }

    fn is_sent(&self) -> bool {
        self.is_sent.load(Ordering::Relaxed)
    }
}

/// A place that is free again when this is dropped.
#[derive(Debug)]
pub(crate) struct TurnSlot {
    holder: Arc<Holder>,
    among: Turns,
}

impl TurnSlot {
    /// So many bytes more came.
    pub(crate) fn moves(&self, bytes: u64) {
        self.holder.moved.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Until it has to make room.
    pub(crate) async fn is_sent_away(&self) {
        self.holder.leaves.notified().await;
    }
}

impl Drop for TurnSlot {
    fn drop(&mut self) {
        self.among.line().holding.retain(|it| !Arc::ptr_eq(it, &self.holder));
        self.among.serve();
    }
}

/// Those who wait look again at least so often, for turns end without a word.
const LONGEST_LOOK: Duration = Duration::from_millis(500);
const SHORTEST_LOOK: Duration = Duration::from_millis(5);

impl Turns {
    pub(crate) fn new(rules: Rules) -> Self {
        Self(Arc::new(Shared { rules, line: Mutex::default() }))
    }

    fn line(&self) -> MutexGuard<'_, TurnQueue> {
        // Nothing that holds the lock leaves the line half changed.
        self.0.line.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether somebody who comes now need not wait.
    pub(crate) fn is_free(&self) -> bool {
        let line = self.line();
        line.waiting.is_empty() && line.holding.len() < self.0.rules.places
    }

    /// Waits for a place of the client.
    pub(crate) async fn take(&self, client: &Client) -> TurnSlot {
        let (go, mut given) = oneshot::channel();
        {
            let mut line = self.line();
            let number = line.next;
            line.next += 1;
            line.waiting.push(Waiting { number, client: client.clone(), go });
        }
        let look = self.0.rules.turn.map(|it| (it / 4).clamp(SHORTEST_LOOK, LONGEST_LOOK));
        loop {
            self.serve();
            let ends = async {
                match look {
                    Some(look) => tokio::time::sleep(look).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                Ok(place) = &mut given => return place,
                () = ends => {}
            }
        }
    }

    /// Gives places to those whose turn it is.
    fn serve(&self) {
        while let Some((go, place)) = self.next() {
            // Where it is not waited for any more, the place is free again.
            drop(go.send(place));
        }
    }

    fn next(&self) -> Option<(oneshot::Sender<TurnSlot>, TurnSlot)> {
        let Rules { places, beside, turn, .. } = self.0.rules;
        let mut line = self.line();
        line.waiting.retain(|it| !it.go.is_closed());
        let held: Shares = line.holding.iter().map(|it| (it.client.key(), 1)).collect();
        let at = line.first(&held)?;
        let is_past = |it: &Holder| turn.is_some_and(|turn| it.since.elapsed() >= turn);
        if line.holding.iter().filter(|it| !is_past(it)).count() >= places {
            return None;
        }
        let staying = line.holding.iter().filter(|it| !it.is_sent()).count();
        if line.holding.len() >= places + beside {
            if staying >= places + beside {
                let key = line.waiting[at].client.key();
                self.send_one_away(&line.holding, &held, key, is_past);
            }
            return None;
        }
        let Waiting { client, go, .. } = line.waiting.swap_remove(at);
        let served = line.next;
        line.next += 1;
        line.is_served(client.key(), served);
        let (since, moved) = (Instant::now(), AtomicU64::new(0));
        let holder =
            Arc::new(Holder { client, since, moved, is_sent: AtomicBool::new(false), leaves: Notify::new() });
        line.holding.push(Arc::clone(&holder));
        Some((go, TurnSlot { holder, among: self.clone() }))
    }

    fn send_one_away(
        &self,
        holding: &[Arc<Holder>],
        held: &Shares,
        waits: Key,
        is_past: impl Fn(&Holder) -> bool,
    ) {
        let may_go = |it: &&Arc<Holder>| {
            is_past(it) && (it.rate() < self.0.rules.least_rate || held.exceeds(it.client.key(), waits, 1))
        };
        let order = |it: &&Arc<Holder>| (held.of(it.client.key()), u64::MAX - it.rate(), it.since.elapsed());
        if let Some(holder) = holding.iter().filter(may_go).max_by_key(order) {
            holder.is_sent.store(true, Ordering::Relaxed);
            holder.leaves.notify_one();
        }
    }
}

impl TurnQueue {
    /// The next client. The address with the fewest places comes first, then the address that was served
    /// longest ago. The connections of an address are ordered by the same rules.
    fn first(&self, held: &Shares) -> Option<usize> {
        let served_of = |address: Option<IpAddr>| {
            self.served.range((address, 0)..=(address, usize::MAX)).map(|it| *it.1).max()
        };
        let order = |it: &Waiting| {
            let key = it.client.key();
            let [of_address, of_client] = held.of(key);
            (of_address, served_of(key.0), of_client, self.served.get(&key).copied(), it.number)
        };
        (0..self.waiting.len()).min_by_key(|at| order(&self.waiting[*at]))
    }

    /// Notes who was served, and forgets those who neither wait nor hold a place.
    fn is_served(&mut self, key: Key, when: u64) {
        let Self { waiting, holding, served, .. } = self;
        let is_here = |key: &Key| {
            waiting.iter().any(|it| it.client.key() == *key)
                || holding.iter().any(|it| it.client.key() == *key)
        };
        served.retain(|it, _| is_here(it));
        served.insert(key, when);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENDLESS: Rules = Rules { places: 2, beside: 0, turn: None, least_rate: 0 };

    /// Clients of these addresses, each with a connection that is open as long as what comes with them.
    fn clients<const N: usize>(last: [u8; N]) -> ([Client; N], Vec<Arc<()>>) {
        let connections: Vec<Arc<()>> = last.iter().map(|_| Arc::new(())).collect();
        let mut at = 0;
        let clients = last.map(|it| {
            at += 1;
            Client::new([10, 0, 0, it].into(), &connections[at - 1])
        });
        (clients, connections)
    }

    /// Starts to wait, and tells `name` when it has a place, which it gives back on the word of `ends`.
    fn waits(turns: &Turns, client: &Client, name: usize, order: &Arc<Mutex<Vec<usize>>>) {
        let (turns, client, order) = (turns.clone(), client.clone(), Arc::clone(order));
        tokio::spawn(async move {
            let place = turns.take(&client).await;
            order.lock().expect("nobody panicked").push(name);
            tokio::time::sleep(Duration::from_millis(2)).await;
            drop(place);
        });
    }

    async fn settle() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }

    #[tokio::test]
    async fn a_client_that_comes_late_is_served_before_the_many_of_another() {
        let turns = Turns::new(Rules { places: 1, ..ENDLESS });
        let ([many, late, other], _open) = clients([1, 1, 2]);
        let held = turns.take(&many).await;
        let order = Arc::default();
        for name in 0..4 {
            waits(&turns, &many, name, &order);
            tokio::task::yield_now().await;
        }
        waits(&turns, &late, 10, &order);
        tokio::task::yield_now().await;
        waits(&turns, &other, 20, &order);
        settle().await;
        assert!(order.lock().expect("nobody panicked").is_empty());
        drop(held);
        tokio::time::sleep(Duration::from_millis(200)).await;
        assert_eq!(*order.lock().expect("nobody panicked"), [20, 10, 0, 1, 2, 3]);
    }

    #[tokio::test]
    async fn connections_that_are_closed_are_one_client() {
        let ([one, other], open) = clients([1, 1]);
        assert_ne!(one.key(), other.key());
        drop(open);
        assert_eq!(one.key(), other.key());
    }

    #[tokio::test]
    async fn who_waits_comes_in_beside_those_past_their_turn_and_then_in_their_place() {
        let turn = Duration::from_millis(40);
        let turns = Turns::new(Rules { places: 1, beside: 1, turn: Some(turn), least_rate: u64::MAX });
        let ([client], _open) = clients([1]);
        let begun = Instant::now();
        let first = turns.take(&client).await;
        let second = turns.take(&client).await;
        assert!(begun.elapsed() >= turn);
        let third = turns.take(&client);
        let leaves = async {
            first.is_sent_away().await;
            drop(first);
        };
        let (third, ()) =
            tokio::time::timeout(Duration::from_secs(20), async { tokio::join!(third, leaves) })
                .await
                .expect("the first one is sent away");
        drop((second, third));
        assert!(turns.is_free());
    }

    #[tokio::test]
    async fn of_those_past_their_turn_the_slow_and_the_greedy_make_room() {
        let rules = Rules { places: 2, beside: 0, turn: Some(Duration::from_millis(30)), least_rate: 1000 };
        let ([greedy, other], _open) = clients([1, 2]);
        // Both are fast: their own client waits, and another one does not.
        let turns = Turns::new(rules);
        let held = [turns.take(&greedy).await, turns.take(&greedy).await];
        for place in &held {
            place.moves(1 << 30);
        }
        let waits = tokio::time::timeout(Duration::from_millis(150), turns.take(&greedy)).await;
        assert!(waits.is_err());
        let sent = async {
            tokio::select! {
                () = held[0].is_sent_away() => 0,
                () = held[1].is_sent_away() => 1,
            }
        };
        let waiting = {
            let turns = turns.clone();
            tokio::spawn(async move { drop(turns.take(&other).await) })
        };
        let sent = tokio::time::timeout(Duration::from_secs(20), sent).await.expect("one is sent away");
        drop(held);
        waiting.await.expect("it has a place");
        assert!(sent < 2);
        // A slow one makes room for its own client.
        let (fast, slow) = (turns.take(&greedy).await, turns.take(&greedy).await);
        fast.moves(1 << 30);
        let waiting = {
            let (turns, greedy) = (turns.clone(), greedy.clone());
            tokio::spawn(async move { drop(turns.take(&greedy).await) })
        };
        tokio::time::timeout(Duration::from_secs(20), slow.is_sent_away()).await.expect("it is slow");
        drop(slow);
        waiting.await.expect("it has a place");
    }

    #[tokio::test]
    async fn who_waits_no_longer_takes_no_place() {
        let turns = Turns::new(Rules { places: 1, ..ENDLESS });
        let ([client], _open) = clients([1]);
        let held = turns.take(&client).await;
        assert!(tokio::time::timeout(Duration::from_millis(10), turns.take(&client)).await.is_err());
        drop(held);
        assert!(turns.is_free());
        drop(turns.take(&client).await);
    }
}

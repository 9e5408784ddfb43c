//! Connections. Their number is limited, in all and of one address. The time to send a request and to take
//! its answer is limited too.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::response::Response;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use isobar_protocol::limits::Limits;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio_io_timeout::TimeoutStream;
use tower::ServiceExt;

use crate::auth::guests::{Guest, Guests};
use crate::error::ApiError;
use crate::telemetry::metrics::Connection;

/// The line and headers of a request are no longer.
const HEAD_BYTES: usize = 32 * 1024;
/// Connections beyond the limit that are told so at a time; the others are closed without a word.
const REFUSED_AT_ONCE: usize = 32;
/// Such a connection may take this long to hear it.
const REFUSAL: Duration = Duration::from_secs(2);
/// One that makes room is gone after about so long.
const LEAVING: Duration = Duration::from_millis(2);
/// After the system had no connection to give, it is asked again.
const PAUSE: Duration = Duration::from_millis(100);

/// Answers connections until `stop`; those that are open then end with the answer that they are at.
pub async fn serve(listener: TcpListener, app: Router, limits: Limits, stop: impl Future<Output = ()>) {
    let permits = |most: usize| Arc::new(Semaphore::new(most));
    let (taken, refused) = (permits(count(limits.connections)), permits(REFUSED_AT_ONCE));
    let waiting = permits(count(limits.connections));
    let (addresses, guests) = (Addresses::default(), Guests::default());
    let ending = watch::Sender::new(false);
    let mut stop = pin!(stop);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut stop => break,
        };
        let (stream, from) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::warn!("no connection can be taken: {error}");
                tokio::time::sleep(PAUSE).await;
                continue;
            }
        };
        let place = {
            let (addresses, taken) = (addresses.clone(), Arc::clone(&taken));
            move || {
                addresses.take(from.ip(), limits.connections_per_address).and_then(|place| {
                    let permit = Arc::clone(&taken).try_acquire_owned();
                    permit
                        .map(|permit| (permit, place))
                        .map_err(|_| ApiError::TooManyConnections { allowed: limits.connections })
                })
            }
        };
        let (app, is_ending) = (app.clone(), ending.subscribe());
        match place() {
            Ok(place) => {
                let stay = guests.welcome(client(from.ip()));
                tokio::spawn(async move {
                    answer(stream, from, app, limits, is_ending, &stay.guest).await;
                    drop((place, stay));
                });
            }
            Err(why) => {
                let of = matches!(why, ApiError::TooManyOfAddress { .. }).then(|| client(from.ip()));
                if let Ok(permit) = Arc::clone(&waiting).try_acquire_owned()
                    && guests.send_one_away(of)
                {
                    let stay = guests.welcome(client(from.ip()));
                    tokio::spawn(async move {
                        match tokio::time::timeout(REFUSAL, left(place)).await {
                            Ok(place) => {
                                drop(permit);
                                answer(stream, from, app, limits, is_ending, &stay.guest).await;
                                drop((place, stay));
                            }
                            Err(_) => refuse(stream, why).await,
                        }
                    });
                    continue;
                }
                let Ok(permit) = Arc::clone(&refused).try_acquire_owned() else { continue };
                tokio::spawn(async move {
                    let _ = tokio::time::timeout(REFUSAL, refuse(stream, why)).await;
                    drop(permit);
                });
            }
        }
    }
    ending.send_replace(true);
    // All permits are back when all connections have ended.
    let _ = taken.acquire_many(u32::try_from(count(limits.connections)).unwrap_or(u32::MAX)).await;
}

/// The place that another connection leaves.
async fn left<P>(place: impl Fn() -> Result<P, ApiError>) -> P {
    loop {
        if let Ok(place) = place() {
            return place;
        }
        tokio::time::sleep(LEAVING).await;
    }
}

/// How many connections each address has.
#[derive(Clone, Debug, Default)]
struct Addresses(Arc<Mutex<BTreeMap<IpAddr, u64>>>);

/// A connection that counts until this is dropped.
struct ConnectionSlot {
    of: IpAddr,
    among: Addresses,
}

impl Addresses {
    /// One more connection of an address.
    ///
    /// # Errors
    ///
    /// 503 where it has as many as are allowed.
    fn take(&self, address: IpAddr, allowed: u64) -> Result<ConnectionSlot, ApiError> {
        let of = client(address);
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let n = known.entry(of).or_default();
        if *n >= allowed.max(1) {
            return Err(ApiError::TooManyOfAddress { allowed });
        }
        *n += 1;
        Ok(ConnectionSlot { of, among: self.clone() })
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        let mut known = self.among.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(n) = known.get_mut(&self.of) {
            *n = n.saturating_sub(1);
            if *n == 0 {
                known.remove(&self.of);
            }
        }
    }
}

/// The address that a connection counts for: of IPv6 a network, since each of its machines has as many
/// addresses as it likes.
fn client(address: IpAddr) -> IpAddr {
    const NETWORK: u128 = !(u64::MAX as u128);
    match address.to_canonical() {
        IpAddr::V6(it) if !it.is_loopback() => Ipv6Addr::from_bits(it.to_bits() & NETWORK).into(),
        it => it,
    }
}

fn count(limit: u64) -> usize {
    usize::try_from(limit).unwrap_or(usize::MAX).clamp(1, 1 << 16)
}

fn http(head_ms: u64) -> http1::Builder {
    let mut http = http1::Builder::new();
    // It holds for the first request and for each next one: a connection that is silent for longer is closed.
    http.timer(TokioTimer::new()).header_read_timeout(Duration::from_millis(head_ms));
    http.max_header_size(HEAD_BYTES);
    http
}

/// Answers one connection, request by request.
async fn answer(
    stream: TcpStream,
    from: SocketAddr,
    app: Router,
    limits: Limits,
    mut is_ending: watch::Receiver<bool>,
    guest: &Arc<Guest>,
) {
    let _counted = Connection::open();
    let of_requests = Arc::clone(guest);
    let service = service_fn(move |request: hyper::Request<Incoming>| {
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(ConnectInfo(from));
        request.extensions_mut().insert(Arc::clone(&of_requests));
        app.clone().oneshot(request)
    });
    // Events are small, and worth nothing when they come late.
    let _ = stream.set_nodelay(true);
    let mut stream = TimeoutStream::new(stream);
    // It counts only while something waits to be taken: who reads is never cut off, and a silent stream of events neither.
    stream.set_write_timeout(Some(Duration::from_millis(limits.write_ms)));
    let connection = http(limits.head_ms).serve_connection(TokioIo::new(Box::pin(stream)), service);
    let mut connection = pin!(connection);
    // A connection that breaks off is no event.
    tokio::select! {
        _ = connection.as_mut() => return,
        () = guest.is_sent_away() => return,
        _ = is_ending.wait_for(|it| *it) => connection.as_mut().graceful_shutdown(),
    }
    let _ = connection.await;
}

/// Tells a connection why it is not taken.
async fn refuse(stream: TcpStream, why: ApiError) {
    let why = &why;
    let service = service_fn(move |_: hyper::Request<Incoming>| async move {
        let mut response = why.response();
        crate::assets::guard(&mut response);
        Ok::<Response, Infallible>(response)
    });
    let mut http = http(u64::try_from(REFUSAL.as_millis()).unwrap_or(u64::MAX));
    let _ = http.keep_alive(false).serve_connection(TokioIo::new(stream), service).await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_count_by_address_and_no_longer_than_they_last() {
        let addresses = Addresses::default();
        let take = |address: &str| addresses.take(address.parse().expect("an address"), 2);
        let held = [take("10.0.0.1"), take("::ffff:10.0.0.1")];
        assert!(matches!(take("10.0.0.1"), Err(ApiError::TooManyOfAddress { allowed: 2 })));
        let others = [take("10.0.0.2"), take("2001:db8::1"), take("2001:db8::2")];
        assert!(take("2001:db8::3").is_err() && take("2001:db8:0:1::3").is_ok());
        assert!(held.iter().chain(&others).all(Result::is_ok));
        drop(held);
        assert!(take("10.0.0.1").is_ok());
        drop(others);
        assert!(addresses.0.lock().expect("nobody panicked").is_empty());
    }
}

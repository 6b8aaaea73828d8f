//! One task per connection, with limits in time and number.
//!
//! What a client sends is limited here: the size of its headers, how long it may take for them, and
//! how many clients there are. One that reads slowly keeps its own task waiting and nobody else.
//! When there are too many, the one that has been connected longest without asking for anything
//! makes room, so that idle connections never keep anybody out.

use std::collections::VecDeque;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper::service::Service;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot, watch};

use crate::{Listener, ServeError};

/// The most connections at a time.
const CONNECTIONS: usize = 128;
/// Bytes of a request that are read before it is looked at.
const BUFFER_BYTES: usize = 64 << 10;
/// Number of headers of a request.
const HEADERS: usize = 64;
/// How long a client may take for its headers, and stay connected without a request.
const HEADERS_WITHIN: Duration = Duration::from_secs(10);
/// How long open answers have once the server is to end.
const END_WITHIN: Duration = Duration::from_secs(1);
/// How long to wait when the system has no room for another connection.
const NO_ROOM: Duration = Duration::from_millis(100);

/// Answers connections until the server is to end.
pub(crate) async fn accept(
    listener: Listener,
    router: Router,
    mut ended: watch::Receiver<bool>,
) -> Result<(), ServeError> {
    let socket = TcpListener::from_std(listener.socket).map_err(ServeError::Start)?;
    let room = Arc::new(Semaphore::new(CONNECTIONS));
    let mut silent = Silent::default();
    loop {
        let next = async {
            let stream = socket.accept().await;
            (stream, silent.permit(&room).await)
        };
        let (accepted, permit) = tokio::select! {
            next = next => next,
            _ = ended.wait_for(|ended| *ended) => break,
        };
        let Ok((stream, _)) = accepted else {
            // The client has gone, or there are too many open files: the next one may have more
            // luck.
            tokio::time::sleep(NO_ROOM).await;
            continue;
        };
        let (router, ended) = (router.clone(), ended.clone());
        let (asked, cut) = silent.add();
        // Where many are connected, none stays after its answer.
        let keeps = room.available_permits() > CONNECTIONS / 2;
        tokio::spawn(async move {
            let service = Asked { inner: TowerToHyperService::new(router), asked };
            answer(stream, service, keeps, (ended, cut)).await;
            drop(permit);
        });
    }
    drop(socket);
    let all = u32::try_from(CONNECTIONS).unwrap_or(u32::MAX);
    // A connection that is not done by then is cut off.
    let _ = tokio::time::timeout(END_WITHIN, room.acquire_many(all)).await;
    Ok(())
}

/// Connections that have not asked for anything, the oldest first.
#[derive(Default)]
struct Silent(VecDeque<(Arc<AtomicBool>, oneshot::Sender<()>)>);

impl Silent {
    /// Notes a new connection: what it sets when it asks, and what cuts it off.
    fn add(&mut self) -> (Arc<AtomicBool>, oneshot::Receiver<()>) {
        if self.0.len() > 2 * CONNECTIONS {
            self.0.retain(|(asked, cut)| !asked.load(Ordering::Relaxed) && !cut.is_closed());
        }
        let (asked, (cut, is_cut)) = (Arc::<AtomicBool>::default(), oneshot::channel());
        self.0.push_back((Arc::clone(&asked), cut));
        (asked, is_cut)
    }

    /// Room for another connection. Where there is none, the longest silent one is cut off; without
    /// any, one has to end.
    async fn permit(&mut self, room: &Arc<Semaphore>) -> Option<OwnedSemaphorePermit> {
        if let Ok(permit) = Arc::clone(room).try_acquire_owned() {
            return Some(permit);
        }
        while let Some((asked, cut)) = self.0.pop_front() {
            if !asked.load(Ordering::Relaxed) && cut.send(()).is_ok() {
                break;
            }
        }
        // The semaphore is never closed.
        Arc::clone(room).acquire_owned().await.ok()
    }
}

/// Notes that a connection has asked for something.
struct Asked<S> {
    inner: S,
    asked: Arc<AtomicBool>,
}

impl<S: Service<R>, R> Service<R> for Asked<S> {
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn call(&self, request: R) -> S::Future {
        self.asked.store(true, Ordering::Relaxed);
        self.inner.call(request)
    }
}

async fn answer(
    stream: TcpStream,
    service: Asked<TowerToHyperService<Router>>,
    keeps: bool,
    (mut ended, mut cut): (watch::Receiver<bool>, oneshot::Receiver<()>),
) {
    // Answers are whole when they are sent; waiting for more to send only delays them.
    let _ = stream.set_nodelay(true);
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADERS_WITHIN)
        .max_buf_size(BUFFER_BYTES)
        .max_headers(HEADERS)
        .keep_alive(keeps)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = pin!(connection);
    // A connection that breaks is the client's matter.
    tokio::select! {
        _ = connection.as_mut() => return,
        Ok(()) = &mut cut => return,
        _ = ended.wait_for(|ended| *ended) => {}
    }
    connection.as_mut().graceful_shutdown();
    let _ = connection.await;
}

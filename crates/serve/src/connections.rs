//! One task per connection, with limits in time and number.
//!
//! What a client sends is limited here: the size of its headers, how long it may take for them, and
//! how many clients there are. One that reads slowly keeps its own task waiting and nobody else.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};

use crate::{Listener, ServeError};

/// The most connections at a time. Another one waits until one of them ends.
const CONNECTIONS: usize = 128;
/// Bytes of a request that are read before it is looked at.
const BUFFER_BYTES: usize = 64 << 10;
/// Number of headers of a request.
const HEADERS: usize = 64;
/// How long a client may take for its headers, and stay connected without a request.
const HEADERS_WITHIN: Duration = Duration::from_secs(20);
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
    loop {
        let next = async {
            // The semaphore is never closed.
            let permit = Arc::clone(&room).acquire_owned().await.ok();
            (permit, socket.accept().await)
        };
        let (permit, accepted) = tokio::select! {
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
        tokio::spawn(async move {
            answer(stream, router, ended).await;
            drop(permit);
        });
    }
    drop(socket);
    let all = u32::try_from(CONNECTIONS).unwrap_or(u32::MAX);
    // A connection that is not done by then is cut off.
    let _ = tokio::time::timeout(END_WITHIN, room.acquire_many(all)).await;
    Ok(())
}

async fn answer(stream: TcpStream, router: Router, mut ended: watch::Receiver<bool>) {
    // Answers are whole when they are sent; waiting for more to send only delays them.
    let _ = stream.set_nodelay(true);
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADERS_WITHIN)
        .max_buf_size(BUFFER_BYTES)
        .max_headers(HEADERS)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
    let mut connection = pin!(connection);
    // A connection that breaks is the client's matter.
    tokio::select! {
        _ = connection.as_mut() => return,
        _ = ended.wait_for(|ended| *ended) => {}
    }
    connection.as_mut().graceful_shutdown();
    let _ = connection.await;
}

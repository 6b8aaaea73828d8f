//! One connection to the server: TLS 1.3, a certificate at both ends, and what happens to it.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use async_nats::rustls::crypto::ring;
use async_nats::rustls::pki_types::pem::PemObject as _;
use async_nats::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use async_nats::rustls::version::TLS13;
use async_nats::rustls::{self, ClientConfig, RootCertStore};
use async_nats::{Client, ConnectError, ConnectErrorKind, ConnectOptions, Event};
use futures_util::StreamExt as _;
use tokio::sync::mpsc::UnboundedSender;

use crate::NatsError;
use crate::bundle::Bundle;

/// Time between two attempts to connect, and the time that the server has to answer.
const AGAIN: Duration = Duration::from_millis(100);
const ANSWER: Duration = Duration::from_secs(3);

/// How often a client asks the server whether it is there. It gives the connection up at the third
/// time without an answer, and to a coordinator that looks as if the agent had ended: a server
/// that is busy for less than hosts may be alone must not cost them.
pub(crate) const PING: Duration = Duration::from_secs(2);

/// What the task of a connection waits for.
pub(crate) enum Input<C> {
    /// A message, and the subject that it came on.
    Frame(String, Vec<u8>),
    /// The connection was made (true) or lost (false).
    Connected(bool),
    /// The server does not let this client in any more.
    Refused,
    /// A command of another thread of the same process.
    Command(C),
}

/// The TLS settings of a client: its own certificate, and the authority that it trusts.
fn tls(bundle: &Bundle) -> Result<ClientConfig, NatsError> {
    let wrong = |error: &dyn std::fmt::Display| NatsError::Certificates(error.to_string());
    let certificate =
        |pem: &str| CertificateDer::from_pem_slice(pem.as_bytes()).map_err(|error| wrong(&error));
    let mut roots = RootCertStore::empty();
    roots.add(certificate(&bundle.authority)?).map_err(|error| wrong(&error))?;
    let key = PrivateKeyDer::from_pem_slice(bundle.key.as_bytes()).map_err(|e| wrong(&e))?;
    let chain = vec![certificate(&bundle.certificate)?];
    ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_protocol_versions(&[&TLS13])
        .map_err(|error| wrong(&error))?
        .with_root_certificates(roots)
        .with_client_auth_cert(chain, key)
        .map_err(|error| wrong(&error))
}

/// Connects once and listens on a subject. The connection then renews itself for ever.
pub(crate) async fn connect<C: Send + 'static>(
    bundle: &Bundle,
    subject: String,
    ping: Duration,
    inputs: &UnboundedSender<Input<C>>,
) -> Result<Client, NatsError> {
    let events = inputs.clone();
    let options = ConnectOptions::new()
        .name(&bundle.name)
        .tls_client_config(tls(bundle)?)
        .require_tls(true)
        .ignore_discovered_servers()
        .ping_interval(ping)
        .connection_timeout(ANSWER)
        .reconnect_delay_callback(|attempts| if attempts > 1 { AGAIN } else { Duration::ZERO })
        .event_callback(move |event| {
            let input = match event {
                Event::Connected => Some(Input::Connected(true)),
                Event::Disconnected => Some(Input::Connected(false)),
                Event::ServerError(async_nats::ServerError::AuthorizationViolation) => {
                    Some(Input::Refused)
                }
                Event::ClientError(error) if is_violation(&error) => Some(Input::Refused),
                _ => None,
            };
            let _ = input.map(|input| events.send(input));
            std::future::ready(())
        });
    let urls = bundle.urls()?;
    let at = || bundle.servers.join(", ");
    let client = options.connect(urls.as_slice()).await.map_err(|error| failed(&error, at()))?;
    let subscribed = client.subscribe(subject).await;
    let mut messages =
        subscribed.map_err(|error| NatsError::NoConnection { at: at(), why: error.to_string() })?;
    let inputs = inputs.clone();
    tokio::spawn(async move {
        while let Some(message) = messages.next().await {
            let frame = Input::Frame(message.subject.to_string(), message.payload.to_vec());
            if inputs.send(frame).is_err() {
                return;
            }
        }
    });
    Ok(client)
}

fn is_violation(error: &async_nats::ClientError) -> bool {
    let kind = ConnectErrorKind::AuthorizationViolation.to_string();
    matches!(error, async_nats::ClientError::Other(text) if text.contains(&kind))
}

/// Turns an error of the NATS client into ours, which says whether trying again may help.
fn failed(error: &ConnectError, at: String) -> NatsError {
    let why = reasons(error);
    let refused = matches!(
        error.kind(),
        ConnectErrorKind::AuthorizationViolation | ConnectErrorKind::Authentication
    );
    if refused || of_tls(error).is_some() {
        NatsError::Refused { at, why }
    } else {
        NatsError::NoConnection { at, why }
    }
}

/// The error and what caused it, in one line.
fn reasons(error: &dyn Error) -> String {
    let mut parts = vec![error.to_string()];
    let mut cause = error.source();
    while let Some(error) = cause {
        let text = error.to_string();
        if !parts.iter().any(|part| part.contains(&text)) {
            parts.push(text);
        }
        cause = error.source();
    }
    parts.join(": ")
}

/// What TLS says, wherever it is among the causes.
fn of_tls<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a rustls::Error> {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if let Some(error) = error.downcast_ref::<rustls::Error>() {
            return Some(error);
        }
        let inner = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        if let Some(tls) = inner.and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
            return Some(tls);
        }
        cause = error.source();
    }
    None
}

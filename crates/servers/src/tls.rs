//! TLS connections to a server.

use std::path::Path;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme, SupportedProtocolVersion,
};
use tokio_postgres_rustls::MakeRustlsConnect;

/// Which certificates of servers are trusted.
#[derive(Debug, Clone, Copy)]
pub enum Trust<'a> {
    /// The authorities that this system trusts, by [`roots`].
    System,
    /// The certificates of this PEM file, and those that they have signed.
    File(&'a Path),
    /// Every certificate. The server must still own its key.
    Anyone,
}

/// How to encrypt a connection to a server, with one of these versions of TLS.
///
/// # Errors
/// There is no certificate to trust. The text names the file or the remedy.
pub fn client_config(
    trust: Trust<'_>,
    versions: &[&'static SupportedProtocolVersion],
) -> Result<ClientConfig, String> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(versions)
        .map_err(|error| error.to_string())?;
    let config = match trust {
        Trust::System => builder.with_root_certificates(roots()?),
        Trust::File(file) => builder.with_root_certificates(roots_of(file)?),
        Trust::Anyone => {
            builder.dangerous().with_custom_certificate_verifier(Arc::new(Anyone(provider)))
        }
    };
    Ok(config.with_no_client_auth())
}

/// The certificates of a PEM file.
fn roots_of(file: &Path) -> Result<RootCertStore, String> {
    let failed = |what: String| format!("the certificates of `{}`: {what}", file.display());
    let pem = inspect::reading::bytes(file, inspect::reading::TEXT_BYTES_MAX)
        .map_err(|error| failed(error.to_string()))?;
    let found = CertificateDer::pem_slice_iter(&pem);
    let mut roots = RootCertStore::empty();
    for certificate in found {
        let certificate = certificate.map_err(|error| failed(error.to_string()))?;
        roots.add(certificate).map_err(|error| failed(error.to_string()))?;
    }
    if roots.is_empty() { Err(failed("it has none in PEM".into())) } else { Ok(roots) }
}

/// What makes encrypted connections to PostgreSQL; with `verified`, only to servers whose
/// certificate this system trusts.
pub(crate) fn connector(verified: bool) -> Result<MakeRustlsConnect, String> {
    let trust = if verified { Trust::System } else { Trust::Anyone };
    Ok(MakeRustlsConnect::new(client_config(trust, rustls::DEFAULT_VERSIONS)?))
}

/// The certificates that this system trusts; `SSL_CERT_FILE` names a file of others.
pub fn roots() -> Result<RootCertStore, String> {
    if let Some(file) = std::env::var_os("SSL_CERT_FILE").filter(|file| !file.is_empty()) {
        // The library would wait at a pipe, and read a device for ever.
        inspect::reading::open(Path::new(&file)).map_err(|error| {
            format!("the certificates of SSL_CERT_FILE, `{}`: {error}", file.display())
        })?;
    }
    let _reading = inspect::reading::OnlyReading::begin();
    let found = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    let (added, _) = roots.add_parsable_certificates(found.certs);
    if added > 0 {
        return Ok(roots);
    }
    let why = found.errors.first().map(|error| format!(" ({error})")).unwrap_or_default();
    Err(format!(
        "this system has no certificates to trust{why}; install the package ca-certificates, or \
         name a file of them in SSL_CERT_FILE"
    ))
}

/// Takes every certificate, as libpq does for `sslmode=prefer`; the server must still own the key
/// of it.
#[derive(Debug)]
struct Anyone(Arc<CryptoProvider>);

impl ServerCertVerifier for Anyone {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls12_signature(message, cert, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls13_signature(message, cert, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

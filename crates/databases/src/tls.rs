//! Which cryptography the client libraries use.

/// Two of the libraries take what the process has chosen; where nothing was chosen they may not
/// agree, and fail.
pub(crate) fn choose_provider() {
    // An error says that something was chosen already.
    let _ = rustls::crypto::ring::default_provider().install_default();
}

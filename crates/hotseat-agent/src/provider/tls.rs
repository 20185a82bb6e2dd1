//! Which cryptography TLS uses in this process.
//!
//! reqwest is built without one, so that nothing pulls in aws-lc. Building any
//! client without having chosen panics; whoever builds one calls
//! [`install_crypto`] first.

use std::sync::Once;

/// Makes ring the cryptography of this process, unless one was chosen before.
pub fn install_crypto() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        // An error means that the program chose another one, which is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
}

//! Checks the certificate of a team's server against the root certificates of the system or of a file.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt as _;
use tokio_postgres_rustls::MakeRustlsConnect;

use super::TeamError;

/// Returns the connector that encrypts connections and checks the server's certificate. `roots` is a PEM file with the certificates
/// that vouch for the server; empty for those of the system.
///
/// # Errors
/// When the file cannot be read, or has no certificate.
pub(super) fn build_connector(roots: &Path) -> Result<MakeRustlsConnect, TeamError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| roots_error(roots, &error))?;
    if roots.as_os_str().is_empty() {
        let builder = builder.with_platform_verifier().map_err(|error| {
            TeamError::new(format!("the certificates of the system cannot be read: {error}"))
                .with_hint("set team.certificate to a file with the CA certificate of the server")
        })?;
        return Ok(MakeRustlsConnect::new(builder.with_no_client_auth()));
    }
    let mut store = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(roots).map_err(|error| roots_error(roots, &error))? {
        let certificate = certificate.map_err(|error| roots_error(roots, &error))?;
        store.add(certificate).map_err(|error| roots_error(roots, &error))?;
    }
    if store.is_empty() {
        return Err(roots_error(roots, &"has no certificate"));
    }
    Ok(MakeRustlsConnect::new(builder.with_root_certificates(store).with_no_client_auth()))
}

/// Returns the error for a file of root certificates.
fn roots_error(roots: &Path, why: &dyn fmt::Display) -> TeamError {
    TeamError::new(format!("team.certificate: {}: {why}", roots.display()))
        .with_hint("name a readable PEM file with the root certificate of the server")
}

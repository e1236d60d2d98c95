//! Connection to the server, with TLS.

use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use tokio::sync::OnceCell;
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::{CancelToken, Client, Config, Statement};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::{ServerSettings, ShareError, schema};

/// Maximum time for each step of a connection: the password command, the login, and the check of the tables.
const PATIENCE: Duration = Duration::from_secs(10);
/// Maximum time for a statement of a publication or a status. A frozen server never answers.
pub(crate) const STATEMENT: Duration = Duration::from_secs(60);
/// Interval after which a connection without traffic is checked, so that a vanished server is noticed.
const KEEPALIVE: Duration = Duration::from_secs(30);

/// A connection to the server. Dropping it closes the connection.
pub struct ServerConnection {
    /// The client of the connection.
    pub(crate) client: Client,
    /// The prepared statement of a search.
    pub(crate) search: OnceCell<Statement>,
    tls: MakeRustlsConnect,
}

/// Connects to the server, and checks the version of the tables.
///
/// # Errors
/// Fails if a setting is invalid, if the server cannot be reached or its certificate is not valid, if it refuses the
/// login, or if the tables have another version.
pub async fn connect(settings: &ServerSettings) -> Result<ServerConnection, ShareError> {
    let connection = connect_to_any(settings).await?;
    within(PATIENCE, schema::check(&connection.client)).await?;
    Ok(connection)
}

/// Waits for a result, but no longer than `limit`.
pub(crate) async fn within<T, E: Into<ShareError>>(
    limit: Duration,
    work: impl Future<Output = Result<T, E>>,
) -> Result<T, ShareError> {
    match tokio::time::timeout(limit, work).await {
        Ok(done) => done.map_err(Into::into),
        Err(_) => Err(ShareError::Late(limit.as_millis())),
    }
}

/// Connects to a server whose tables may be missing.
pub(crate) async fn connect_to_any(settings: &ServerSettings) -> Result<ServerConnection, ShareError> {
    let password = within(PATIENCE, settings.password.read()).await?;
    let config = configure(settings, password)?;
    let tls = make_tls(settings)?;
    let (client, connection) = within(PATIENCE, config.connect(tls.clone())).await?;
    tokio::spawn(async move {
        // The client of the connection reports the same error.
        let _ = connection.await;
    });
    Ok(ServerConnection {
        client,
        search: OnceCell::new(),
        tls,
    })
}

fn configure(settings: &ServerSettings, password: Option<String>) -> Result<Config, ShareError> {
    let wrong = |why: String| ShareError::Setting { key: "url", why };
    crate::check_url(&settings.url).map_err(wrong)?;
    let mut config: Config = settings
        .url
        .parse()
        .map_err(|_| wrong("could not parse the URL".to_owned()))?;
    if let Some(password) = password {
        config.password(password);
    }
    let is_local = |host: &Host| match host {
        Host::Tcp(name) => matches!(name.as_str(), "localhost" | "127.0.0.1" | "::1"),
        Host::Unix(_) => true,
    };
    // `prefer`, the default, would let an attacker on the network turn TLS off.
    if config.get_ssl_mode() == SslMode::Prefer {
        // `hostaddr` replaces the address of a host.
        let is_here = config.get_hosts().iter().all(is_local)
            && config.get_hostaddrs().iter().all(std::net::IpAddr::is_loopback);
        let mode = match is_here {
            true => SslMode::Disable,
            false => SslMode::Require,
        };
        config.ssl_mode(mode);
    }
    config
        .application_name("hippod")
        .connect_timeout(PATIENCE)
        .keepalives_idle(KEEPALIVE);
    Ok(config)
}

fn make_tls(settings: &ServerSettings) -> Result<MakeRustlsConnect, ShareError> {
    let mut roots = RootCertStore::empty();
    match &settings.ca_file {
        None => roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned()),
        Some(path) => {
            let wrong = |why: String| ShareError::Setting {
                key: "ca_file",
                why: format!("{}: {why}", path.display()),
            };
            let certificates =
                CertificateDer::pem_file_iter(path).map_err(|error| wrong(error.to_string()))?;
            for certificate in certificates {
                let certificate = certificate.map_err(|error| wrong(error.to_string()))?;
                roots.add(certificate).map_err(|error| wrong(error.to_string()))?;
            }
            if roots.is_empty() {
                return Err(wrong("the file contains no certificate".to_owned()));
            }
        }
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| ShareError::Unreachable(error.to_string()))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}

impl ServerConnection {
    /// Returns true if the connection is closed.
    pub fn is_closed(&self) -> bool {
        self.client.is_closed()
    }

    /// Asks the server in the background to cancel the running statement.
    pub fn cancel(&self) {
        let token: CancelToken = self.client.cancel_token();
        let tls = self.tls.clone();
        tokio::spawn(async move {
            // A server that does not answer does not cancel either.
            let _ = tokio::time::timeout(PATIENCE, token.cancel_query(tls)).await;
        });
    }
}

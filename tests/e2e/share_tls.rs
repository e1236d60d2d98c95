//! TLS between the daemon and the server of a team.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use hippo_proto::{ShareStatusRequest, ShareStatusResponse};
use hippod_tests::{Postgres, Scratch};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

use crate::share_team::{call, configure, team};

/// Length of the message with which a client asks for TLS.
const SSL_REQUEST: usize = 8;

/// An authority that signs certificates of servers.
struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Self(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    fn write(&self, path: &Path) {
        std::fs::write(path, self.0.pem()).unwrap();
    }

    /// Returns the configuration of a server with a certificate for this name.
    fn server(&self, name: &str) -> ServerConfig {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        let certificate = params.signed_by(&key, &self.0).unwrap();
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
        ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key)
            .unwrap()
    }
}

/// Accepts connections with TLS, and forwards them to the server, which has no TLS. Returns the port.
fn endpoint(runtime: &tokio::runtime::Runtime, config: ServerConfig, server: u16) -> u16 {
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
    let port = listener.local_addr().unwrap().port();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    runtime.spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                let mut asked = [0; SSL_REQUEST];
                client.read_exact(&mut asked).await?;
                client.write_all(b"S").await?;
                let mut client = acceptor.accept(client).await?;
                let mut server = TcpStream::connect(SocketAddr::from(([127, 0, 0, 1], server))).await?;
                tokio::io::copy_bidirectional(&mut client, &mut server).await
            });
        }
    });
    port
}

fn status_at(url: &str, more: &str) -> ShareStatusResponse {
    let scratch = Scratch::new();
    configure(&scratch, url, "ada", "core", more);
    let daemon = scratch.daemon();
    call(&mut daemon.client(), ShareStatusRequest {}).unwrap()
}

#[test]
fn only_a_server_with_the_right_certificate_and_name_is_trusted() {
    let Some(server) = team() else { return };
    let folder = tempfile::tempdir().unwrap();
    let (own, other) = (Authority::new(), Authority::new());
    own.write(&folder.path().join("own.pem"));
    other.write(&folder.path().join("other.pem"));
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let right = endpoint(&runtime, own.server("localhost"), server.port());
    let misnamed = endpoint(&runtime, own.server("db.example"), server.port());
    let url = |port: u16| format!("postgres://ada@localhost:{port}/hippod?sslmode=require");
    let ca = |name: &str| format!("ca_file = {:?}", folder.path().join(name));

    let status = status_at(&url(right), &ca("own.pem"));
    assert!(status.reachable && status.may_publish, "{status:?}");
    for (port, more) in [
        (right, ca("other.pem")),
        (right, String::new()),
        (misnamed, ca("own.pem")),
        (server.port(), ca("own.pem")),
    ] {
        let status = status_at(&url(port), &more);
        assert!(!status.reachable, "{more}: {status:?}");
        let why = status.why.unwrap();
        assert!(
            why.contains("certificate") || why.contains("TLS"),
            "{more}: {why}"
        );
        assert!(!why.contains(&Postgres::password("ada")), "{why}");
    }
    // A server on another machine is never asked without TLS. The name leads to this machine.
    let remote = format!("postgres://ada@{}:{}/hippod", "127.0.0.2", server.port());
    let status = status_at(&remote, "");
    assert!(!status.reachable, "{status:?}");
}

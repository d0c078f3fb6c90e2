//! Sends one QUIC stream as fast as quinn can: the server writes, the client reads.

use std::error::Error;
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;
use std::sync::Arc;

use quinn::crypto::rustls::QuicClientConfig;
use quinn::{ClientConfig, Endpoint, QlogConfig, ServerConfig, TransportConfig, VarInt};
use rcgen::CertifiedKey;
use rustls::RootCertStore;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, WebPkiSupportedAlgorithms, ring};
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer, ServerName, UnixTime};
use rustls::{DigitallySignedStruct, SignatureScheme};

type Outcome<T> = Result<T, Box<dyn Error>>;

const BLOCK: [u8; 1 << 16] = [0; 1 << 16];

/// What quinn ships with, and a qlog.
fn transport() -> Outcome<Arc<TransportConfig>> {
    let place = std::env::var("QLOGDIR")?;
    let mut qlog = QlogConfig::default();
    let file = File::create(Path::new(&place).join("quinn.sqlog"))?;
    qlog.writer(Box::new(BufWriter::new(file)));
    let mut config = TransportConfig::default();
    config.qlog_stream(qlog.into_stream());
    Ok(Arc::new(config))
}

fn server(address: &str) -> Outcome<Endpoint> {
    let CertifiedKey { cert, signing_key } =
        rcgen::generate_simple_self_signed(["server".to_owned()])?;
    let key = PrivatePkcs8KeyDer::from(signing_key.serialize_der());
    let mut config = ServerConfig::with_single_cert(vec![cert.into()], key.into())?;
    config.transport_config(transport()?);
    Ok(Endpoint::server(config, address.parse()?)?)
}

async fn serve(endpoint: &Endpoint) -> Outcome<()> {
    while let Some(incoming) = endpoint.accept().await {
        let connection = incoming.await?;
        tokio::spawn(async move {
            let Ok((mut stream, _)) = connection.accept_bi().await else { return };
            while stream.write_all(&BLOCK).await.is_ok() {}
        });
    }
    Ok(())
}

fn client() -> Outcome<Endpoint> {
    let mut tls = rustls::ClientConfig::builder()
        .with_root_certificates(RootCertStore::empty())
        .with_no_client_auth();
    let algorithms = ring::default_provider().signature_verification_algorithms;
    tls.dangerous().set_certificate_verifier(Arc::new(Anyone(algorithms)));
    tls.key_log = Arc::new(rustls::KeyLogFile::new());
    let mut config = ClientConfig::new(Arc::new(QuicClientConfig::try_from(tls)?));
    config.transport_config(transport()?);
    let mut endpoint = Endpoint::client("0.0.0.0:0".parse()?)?;
    endpoint.set_default_client_config(config);
    Ok(endpoint)
}

async fn read(endpoint: &Endpoint, address: &str) -> Outcome<()> {
    let connection = endpoint.connect(address.parse()?, "server")?.await?;
    let (mut request, mut answer) = connection.open_bi().await?;
    request.write_all(b"go").await?;
    while answer.read_chunk(usize::MAX, true).await?.is_some() {}
    Ok(())
}

/// Trusts every server.
#[derive(Debug)]
struct Anyone(WebPkiSupportedAlgorithms);

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
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        rustls::crypto::verify_tls12_signature(message, cert, dss, &self.0)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        rustls::crypto::verify_tls13_signature(message, cert, dss, &self.0)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_schemes()
    }
}

#[tokio::main]
async fn main() -> Outcome<()> {
    CryptoProvider::install_default(ring::default_provider()).expect("it is the first");
    let words: Vec<String> = std::env::args().collect();
    let [_, role, address] = &words[..] else {
        return Err("quicperf serve|connect ADDRESS".into());
    };
    let serves = role == "serve";
    let endpoint = if serves { server(address)? } else { client()? };
    let run =
        async { if serves { serve(&endpoint).await } else { read(&endpoint, address).await } };
    tokio::select! {
        done = run => done?,
        _ = tokio::signal::ctrl_c() => {}
    }
    endpoint.close(VarInt::from_u32(0), b"done");
    endpoint.wait_idle().await;
    Ok(())
}

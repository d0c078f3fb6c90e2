//! TLS 1.3 whose keys come from the seed.
//!
//! The server shows a raw public key (RFC 7250) instead of a certificate, so nothing expires and no
//! clock is asked. Ed25519 signatures have one length and draw nothing.

use std::fmt;
use std::sync::Arc;

use ring::signature::{Ed25519KeyPair, KeyPair as _};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{
    ActiveKeyExchange, CryptoProvider, GetRandomFailed, SecureRandom, SharedSecret,
    SupportedKxGroup, WebPkiSupportedAlgorithms, ring as provider,
    verify_tls13_signature_with_raw_key,
};
use rustls::pki_types::{
    CertificateDer, PrivatePkcs8KeyDer, ServerName, SubjectPublicKeyInfoDer, UnixTime,
};
use rustls::server::AlwaysResolvesServerRawPublicKeys;
use rustls::sign::CertifiedKey;
use rustls::time_provider::TimeProvider;
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, NamedGroup, ServerConfig,
    SignatureScheme,
};
use x25519_dalek::{PublicKey, StaticSecret};

use crate::keys::Keys;

/// The prefix of a 32-byte Ed25519 key in PKCS #8 (RFC 8410 section 7).
const PRIVATE: [u8; 16] = [0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20];
/// The prefix of a 32-byte Ed25519 key in a SubjectPublicKeyInfo (RFC 8410 section 4).
const PUBLIC: [u8; 12] = [0x30, 0x2a, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 3, 0x21, 0];

/// The server's key of a connection.
#[derive(Clone, Debug)]
pub(crate) struct Identity {
    private: [u8; 32],
}

impl Identity {
    pub(crate) const fn new(private: [u8; 32]) -> Self {
        Self { private }
    }

    fn public(&self) -> Vec<u8> {
        let pair = Ed25519KeyPair::from_seed_unchecked(&self.private).expect("32 bytes are a key");
        [&PUBLIC[..], pair.public_key().as_ref()].concat()
    }

    /// The server that has this key.
    pub(crate) fn server(&self) -> ServerConfig {
        let private = PrivatePkcs8KeyDer::from([&PRIVATE[..], &self.private].concat());
        let key = provider::sign::any_eddsa_type(&private).expect("a key in PKCS #8");
        let certified = CertifiedKey::new(vec![CertificateDer::from(self.public())], key);
        let resolver = AlwaysResolvesServerRawPublicKeys::new(Arc::new(certified));
        ServerConfig::builder_with_details(seeded_provider(), Arc::new(ConstantTime))
            .with_protocol_versions(&[&rustls::version::TLS13])
            .expect("the provider has TLS 1.3")
            .with_no_client_auth()
            .with_cert_resolver(Arc::new(resolver))
    }

    /// A client that trusts this key alone, and tells its secrets to `keys`.
    pub(crate) fn client(&self, keys: &Keys) -> ClientConfig {
        let algorithms = seeded_provider().signature_verification_algorithms;
        let verifier = PinnedKey { public: self.public(), algorithms };
        let mut config =
            ClientConfig::builder_with_details(seeded_provider(), Arc::new(ConstantTime))
                .with_protocol_versions(&[&rustls::version::TLS13])
                .expect("the provider has TLS 1.3")
                .dangerous()
                .with_custom_certificate_verifier(Arc::new(verifier))
                .with_no_client_auth();
        config.key_log = Arc::new(keys.clone());
        config
    }
}

/// The provider of ring with seeded draws.
fn seeded_provider() -> Arc<CryptoProvider> {
    let kx_groups = vec![&SeededRandom as &dyn SupportedKxGroup];
    Arc::new(CryptoProvider {
        kx_groups,
        secure_random: &SeededRandom,
        ..provider::default_provider()
    })
}

/// Draws from the stream of the end that is at work.
#[derive(Debug)]
struct SeededRandom;

impl SecureRandom for SeededRandom {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), GetRandomFailed> {
        draws::fill(bytes);
        Ok(())
    }
}

impl SupportedKxGroup for SeededRandom {
    fn start(&self) -> Result<Box<dyn ActiveKeyExchange>, Error> {
        let secret = StaticSecret::from(draws::bytes());
        let public = PublicKey::from(&secret);
        Ok(Box::new(Exchange { secret, public }))
    }

    fn ffdhe_group(&self) -> Option<rustls::ffdhe_groups::FfdheGroup<'static>> {
        None
    }

    fn name(&self) -> NamedGroup {
        NamedGroup::X25519
    }
}

/// A key exchange under way.
struct Exchange {
    secret: StaticSecret,
    public: PublicKey,
}

impl ActiveKeyExchange for Exchange {
    fn complete(self: Box<Self>, peer: &[u8]) -> Result<SharedSecret, Error> {
        let wrong = || Error::General("the other end's key isn't 32 bytes long".into());
        let peer: [u8; 32] = peer.try_into().map_err(|_| wrong())?;
        let shared = self.secret.diffie_hellman(&PublicKey::from(peer));
        Ok(SharedSecret::from(&shared.as_bytes()[..]))
    }

    fn ffdhe_group(&self) -> Option<rustls::ffdhe_groups::FfdheGroup<'static>> {
        None
    }

    fn pub_key(&self) -> &[u8] {
        self.public.as_bytes()
    }

    fn group(&self) -> NamedGroup {
        NamedGroup::X25519
    }
}

/// Always the same instant.
#[derive(Debug)]
struct ConstantTime;

impl TimeProvider for ConstantTime {
    fn current_time(&self) -> Option<UnixTime> {
        Some(UnixTime::since_unix_epoch(std::time::Duration::ZERO))
    }
}

/// Trusts one key, and checks that the server has it.
struct PinnedKey {
    public: Vec<u8>,
    algorithms: WebPkiSupportedAlgorithms,
}

impl fmt::Debug for PinnedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OnlyThis").finish_non_exhaustive()
    }
}

impl ServerCertVerifier for PinnedKey {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if end_entity.as_ref() == self.public {
            return Ok(ServerCertVerified::assertion());
        }
        Err(CertificateError::ApplicationVerificationFailure.into())
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _cert: &CertificateDer<'_>,
        _dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Err(Error::General("QUIC has TLS 1.3".into()))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let key = SubjectPublicKeyInfoDer::from(cert.as_ref());
        verify_tls13_signature_with_raw_key(message, &key, dss, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ED25519]
    }

    fn requires_raw_public_keys(&self) -> bool {
        true
    }
}

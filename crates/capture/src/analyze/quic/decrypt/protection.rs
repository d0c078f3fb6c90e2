//! The protection of packets (RFC 9001, section 5), by the crate ring.

use ring::aead::quic::HeaderProtectionKey;
use ring::aead::{Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::{aead, hkdf};

const KEY_PHASE: u8 = 0x04;
const SAMPLE: usize = 16;
/// Bytes of the longest packet number, behind which the sample begins.
const LONGEST_NUMBER: usize = 4;

/// The versions whose protection is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    /// RFC 9000.
    One,
    /// RFC 9369.
    Two,
}

impl Version {
    pub(super) const fn of(number: u32) -> Option<Self> {
        match number {
            1 => Some(Self::One),
            0x6b33_43cf => Some(Self::Two),
            _ => None,
        }
    }

    /// The type of a packet with a long header, in the numbers of version 1.
    pub(super) const fn kind(self, first: u8) -> u8 {
        let bits = first >> 4 & 3;
        match self {
            Self::One => bits,
            Self::Two => bits.wrapping_sub(1) & 3,
        }
    }

    /// The labels of a key, an initialisation vector, header protection and a key update.
    const fn labels(self) -> [&'static str; 4] {
        match self {
            Self::One => ["quic key", "quic iv", "quic hp", "quic ku"],
            Self::Two => ["quicv2 key", "quicv2 iv", "quicv2 hp", "quicv2 ku"],
        }
    }
}

/// A cipher suite of TLS 1.3.
pub(super) struct Suite {
    hash: &'static hkdf::Algorithm,
    aead: &'static aead::Algorithm,
    header: &'static aead::quic::Algorithm,
    /// Bytes of its secrets.
    pub(super) secret: usize,
}

/// The suites that QUIC uses, the most usual first.
pub(super) static SUITES: [Suite; 3] = [
    Suite {
        hash: &hkdf::HKDF_SHA256,
        aead: &aead::AES_128_GCM,
        header: &aead::quic::AES_128,
        secret: 32,
    },
    Suite {
        hash: &hkdf::HKDF_SHA384,
        aead: &aead::AES_256_GCM,
        header: &aead::quic::AES_256,
        secret: 48,
    },
    Suite {
        hash: &hkdf::HKDF_SHA256,
        aead: &aead::CHACHA20_POLY1305,
        header: &aead::quic::CHACHA20,
        secret: 32,
    },
];

/// The protection of what one end sends.
pub(super) struct Protection {
    suite: &'static Suite,
    version: Version,
    header: HeaderProtectionKey,
    before: Option<PacketKey>,
    now: PacketKey,
    /// The secret of `next`.
    next_secret: hkdf::Prk,
    next: PacketKey,
    phase: bool,
    largest: Option<u64>,
}

struct PacketKey {
    key: LessSafeKey,
    iv: [u8; NONCE_LEN],
}

/// The length of an initialisation vector.
struct IvLength;

impl hkdf::KeyType for IvLength {
    fn len(&self) -> usize {
        NONCE_LEN
    }
}

/// Expands a secret with a label of TLS 1.3 and without context (RFC 8446, section 7.1).
fn expand<L: hkdf::KeyType, T>(
    secret: &hkdf::Prk,
    label: &str,
    kind: L,
    make: impl FnOnce(hkdf::Okm<'_, L>) -> T,
) -> T {
    const PREFIX: &[u8] = b"tls13 ";
    let length = u16::try_from(kind.len()).expect("keys are short").to_be_bytes();
    let label_length = [u8::try_from(PREFIX.len() + label.len()).expect("labels are short")];
    let info = [&length[..], &label_length, PREFIX, label.as_bytes(), &[0]];
    make(secret.expand(&info, kind).expect("keys are short"))
}

impl Suite {
    /// The protection with a secret from the key log.
    pub(super) fn protect(&'static self, secret: &[u8], version: Version) -> Protection {
        let secret = hkdf::Prk::new_less_safe(*self.hash, secret);
        let [_, _, header, update] = version.labels();
        let next_secret: hkdf::Prk = expand(&secret, update, *self.hash, |okm| okm.into());
        Protection {
            suite: self,
            version,
            header: expand(&secret, header, self.header, |okm| okm.into()),
            before: None,
            now: self.packet_key(&secret, version),
            next: self.packet_key(&next_secret, version),
            next_secret,
            phase: false,
            largest: None,
        }
    }

    fn packet_key(&self, secret: &hkdf::Prk, version: Version) -> PacketKey {
        let [key, iv, ..] = version.labels();
        let key = expand(secret, key, self.aead, |okm| LessSafeKey::new(UnboundKey::from(okm)));
        let iv = expand(secret, iv, IvLength, |okm| {
            let mut iv = [0; NONCE_LEN];
            okm.fill(&mut iv).expect("it has this length");
            iv
        });
        PacketKey { key, iv }
    }
}

impl PacketKey {
    /// Opens a packet of this number whose header has `header` bytes; returns the frames.
    fn open(&self, number: u64, packet: &[u8], header: usize) -> Option<Vec<u8>> {
        let mut nonce = self.iv;
        for (byte, part) in nonce[NONCE_LEN - 8..].iter_mut().zip(number.to_be_bytes()) {
            *byte ^= part;
        }
        let (aad, sealed) = packet.split_at_checked(header)?;
        let mut payload = sealed.to_vec();
        let nonce = Nonce::assume_unique_for_key(nonce);
        let length = self.key.open_in_place(nonce, Aad::from(aad), &mut payload).ok()?.len();
        payload.truncate(length);
        Some(payload)
    }
}

impl Protection {
    /// Opens a packet with a short header, whose connection ID has `id` bytes; returns its number
    /// and its frames.
    pub(super) fn open(&mut self, packet: &[u8], id: usize) -> Option<(u64, Vec<u8>)> {
        let at = 1 + id;
        let sample = packet.get(at + LONGEST_NUMBER..at + LONGEST_NUMBER + SAMPLE)?;
        let mask = self.header.new_mask(sample).ok()?;
        let mut packet = packet.to_vec();
        packet[0] ^= mask[0] & 0x1f;
        let length = usize::from(packet[0] & 3) + 1;
        let mut short = 0;
        for (byte, mask) in packet[at..at + length].iter_mut().zip(&mask[1..]) {
            *byte ^= mask;
            short = short << 8 | u64::from(*byte);
        }
        let number = whole_number(self.largest, short, length);
        let turned = (packet[0] & KEY_PHASE != 0) != self.phase;
        let newer = self.largest.is_none_or(|largest| number > largest);
        let key = match (turned, newer) {
            (false, _) => &self.now,
            (true, true) => &self.next,
            (true, false) => self.before.as_ref()?,
        };
        let payload = key.open(number, &packet, at + length)?;
        if turned && newer {
            self.update();
        }
        self.largest = self.largest.max(Some(number));
        Some((number, payload))
    }

    /// Goes on to the next keys (RFC 9001, section 6).
    fn update(&mut self) {
        let [.., update] = self.version.labels();
        self.next_secret = expand(&self.next_secret, update, *self.suite.hash, |okm| okm.into());
        let next = self.suite.packet_key(&self.next_secret, self.version);
        let now = std::mem::replace(&mut self.next, next);
        self.before = Some(std::mem::replace(&mut self.now, now));
        self.phase = !self.phase;
    }
}

/// The number whose last `length` bytes are `short`, nearest to the next one (RFC 9000, A.3).
fn whole_number(largest: Option<u64>, short: u64, length: usize) -> u64 {
    let expected = largest.map_or(0, |largest| largest.saturating_add(1));
    let window = 1_u64 << (8 * length);
    let candidate = expected & !(window - 1) | short;
    if candidate.saturating_add(window / 2) <= expected && candidate < (1 << 62) - window {
        candidate + window
    } else if candidate > expected.saturating_add(window / 2) && candidate >= window {
        candidate - window
    } else {
        candidate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(text: &str) -> Vec<u8> {
        (0..text.len())
            .step_by(2)
            .map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap())
            .collect()
    }

    #[test]
    fn a_short_packet_is_that_of_the_example() {
        // RFC 9001, appendix A.5: ChaCha20-Poly1305, without a connection ID, number 654360564.
        let secret = bytes("9ac312a7f877468ebe69422748ad00a15443f18203a07d6060f688f30f21632b");
        let packet = bytes("4cfe4189655e5cd55c41f69080575d7999c25a5bfb");
        let mut protection = SUITES[2].protect(&secret, Version::One);
        protection.largest = Some(654_360_563);
        assert_eq!(protection.open(&packet, 0), Some((654_360_564, vec![1])), "a PING");
        let mut damaged = packet.clone();
        damaged[20] ^= 1;
        assert_eq!(protection.open(&damaged, 0), None);
    }

    #[test]
    fn numbers_are_completed_as_in_the_example() {
        // RFC 9000, appendix A.3.
        assert_eq!(whole_number(Some(0xa82f_30ea), 0x9b32, 2), 0xa82f_9b32);
        assert_eq!(whole_number(None, 3, 1), 3);
        assert_eq!(whole_number(Some(250), 2, 1), 258);
        assert_eq!(whole_number(Some(260), 254, 1), 254);
    }

    #[test]
    fn the_types_of_version_2_are_one_higher() {
        assert_eq!(Version::One.kind(0xc0), 0);
        assert_eq!(Version::Two.kind(0xd0), 0);
        assert_eq!(Version::Two.kind(0xc0), 3);
    }
}

//! The handshake: what both ends agree on, and the two halves of the simulator's TCP.

use narrows_base::registry::Values;
use narrows_base::{Duration, FlowId, Stream, Time};
use narrows_cc::CcConfig;
use narrows_packetdrill::EndError;
use narrows_tcp::{
    Ace, EcnMode, Kind, MakeControl, Receiver, ReceiverConfig, Segment, Sender, SenderConfig,
    SocketConfig,
};

use crate::headers::SynOptions;
use crate::kernel::Kernel;
use crate::socket::SocketOptions;

/// Payload of a full packet without options: MTU 1500 less the headers of IP and TCP.
pub(crate) const ADVERTISED_MSS: u16 = 1_460;
/// Bytes of the timestamps in each packet.
const TIMESTAMP_BYTES: u16 = 12;

/// The result of the negotiation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terms {
    /// Payload of a full packet of this end, in bytes.
    pub(crate) mss: u32,
    pub(crate) timestamps: bool,
    pub(crate) sack: bool,
    /// Shifts of the windows in packets to this end, and in those from it.
    pub(crate) peer_scale: u8,
    pub(crate) own_scale: u8,
    pub(crate) scaling: bool,
    pub(crate) ecn: EcnMode,
}

impl Terms {
    /// The options that both ends have.
    pub(crate) fn agree(peer: SynOptions, own: SynOptions, ecn: EcnMode) -> Self {
        let timestamps = peer.timestamp.is_some() && own.timestamp.is_some();
        let headers = if timestamps { TIMESTAMP_BYTES } else { 0 };
        let scales = peer.window_scale.zip(own.window_scale);
        let (peer_scale, own_scale) = scales.unwrap_or((0, 0));
        Self {
            mss: u32::from(peer.mss.min(own.mss).saturating_sub(headers).max(1)),
            timestamps,
            sack: peer.sack && own.sack,
            peer_scale,
            own_scale,
            scaling: scales.is_some(),
            ecn,
        }
    }
}

/// A sender that began to connect at `started`.
pub(crate) fn sender(
    kernel: &Kernel,
    options: &SocketOptions,
    terms: Terms,
    started: Time,
) -> Result<Sender, EndError> {
    let profile = kernel.leak_profile();
    let config = SenderConfig {
        flow: FlowId(0),
        mss: terms.mss,
        initial_cwnd: 10,
        sysctls: kernel.sysctls,
        profile,
        fq: kernel.fq,
        line_rate: None,
        timer_lateness: Duration::ZERO,
        limits: Kernel::LIMITS,
        notsent_lowat: options.notsent_lowat.or(kernel.notsent_lowat),
        size: Some(0),
        ecn: terms.ecn,
        closes: false,
        gso: false,
        instance: 0,
        note_lost: false,
        metrics: None,
    };
    let control = options.congestion_control.as_ref().unwrap_or(&kernel.control);
    Ok(Sender::connect(config, maker(control, terms.mss, &profile.cc)?, started))
}

/// Makes the control of that name.
fn maker(
    name: &str,
    mss: u32,
    profile: &'static narrows_cc::CcProfile,
) -> Result<MakeControl, EndError> {
    let options = Values::default();
    let (build, options) = narrows_cc::complete(name, &options)
        .map_err(|error| EndError::Unsupported(error.to_string()))?;
    Ok(Box::new(move |_, rtt, initial_cwnd| {
        build(CcConfig {
            mss,
            initial_cwnd,
            initial_rtt: Some(rtt),
            profile,
            random: Stream::new(1, "packetdrill"),
            options: &options,
        })
    }))
}

/// A receiver that listens; with `timestamps` both ends put them in their packets.
pub(crate) fn receiver(
    kernel: &Kernel,
    options: &SocketOptions,
    timestamps: bool,
    ecn: EcnMode,
) -> Receiver {
    let mut kernel = kernel.clone();
    if let Some(bytes) = options.receive_buffer {
        kernel.profile.receive.initial_buffer = bytes;
    }
    let headers = if timestamps { TIMESTAMP_BYTES } else { 0 };
    let mss = options.max_segment.unwrap_or(ADVERTISED_MSS).saturating_sub(headers).max(1);
    Receiver::new(ReceiverConfig {
        flow: FlowId(0),
        profile: kernel.leak_profile(),
        limits: Kernel::LIMITS,
        gro: Duration::ZERO,
        ecn,
        accurate_ecn: kernel.sysctls.accurate_ecn,
        window_clamp: None,
        instance: 0,
        socket: Some(SocketConfig {
            mss: mss.into(),
            is_fixed: options.receive_buffer.is_some(),
            may_shrink: kernel.may_shrink,
        }),
    })
}

/// A segment of the only connection of a flow.
pub(crate) fn segment(kind: Kind) -> Segment {
    Segment { instance: 0, kind }
}

/// A request that the simulator's receiver answers.
pub(crate) fn request(ace: Ace) -> Segment {
    segment(Kind::Syn { window: 0, scale: 0, ts: 0, ace })
}

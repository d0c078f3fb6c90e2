//! The engine's samples in the layout that libraries of controls know.

use narrows_base::Duration;
use narrows_cc as cc;
use narrows_control as own;

pub(super) fn delivered(sample: &cc::DeliveredSample) -> own::DeliveredSample {
    own::DeliveredSample {
        now_ns: sample.now.as_nanos(),
        acked: sample.acked,
        rtt_ns: sample.rtt.map(Duration::as_nanos).into(),
        in_flight: sample.in_flight,
        sacked: sample.sacked,
        cwnd_limited: sample.cwnd_limited,
        ece: sample.ece,
        delivered_ce: sample.delivered_ce,
        delivered: sample.delivered,
        prior_delivered: sample.prior_delivered,
        prr_cwnd: sample.prr_cwnd.into(),
    }
}

pub(super) fn ack(sample: &cc::AckSample, round_start: bool) -> own::AckSample {
    own::AckSample {
        now_ns: sample.now.as_nanos(),
        mss: sample.mss,
        acked: sample.acked,
        lost: sample.lost,
        in_flight: sample.in_flight,
        prior_in_flight: sample.prior_in_flight,
        delivered: sample.delivered,
        delivered_at_ns: sample.delivered_at.as_nanos(),
        lost_total: sample.lost_total,
        rate: sample.rate.map(rate).into(),
        rtt_ns: sample.rtt.map(Duration::as_nanos).into(),
        srtt_ns: Some(sample.srtt)
            .filter(|&srtt| srtt > Duration::ZERO)
            .map(Duration::as_nanos)
            .into(),
        min_rtt_ns: Some(sample.min_rtt)
            .filter(|&rtt| rtt < Duration::MAX)
            .map(Duration::as_nanos)
            .into(),
        ack_delayed: sample.ack_delayed,
        round_start,
        state: state(sample.state),
        may_grow: sample.may_grow,
        cwnd_limited: sample.cwnd_limited,
        departure_ns: sample.departure.as_nanos(),
    }
}

fn rate(sample: cc::RateSample) -> own::RateSample {
    own::RateSample {
        delivered: sample.delivered,
        interval_ns: sample.interval.as_nanos(),
        prior_delivered: sample.prior_delivered,
        app_limited: sample.app_limited,
        at_send: sample.at_send.map(at_send).into(),
    }
}

fn at_send(state: cc::AtSend) -> own::AtSend {
    own::AtSend { in_flight: state.in_flight, lost: state.lost }
}

pub(super) fn lost(packet: &cc::LostPacket) -> own::LostPacket {
    own::LostPacket {
        now_ns: packet.now.as_nanos(),
        at_send: at_send(packet.at_send),
        app_limited: packet.app_limited,
        lost_total: packet.lost_total,
        delivered: packet.delivered,
    }
}

pub(super) fn congestion(event: &cc::CongestionEvent) -> own::CongestionEvent {
    own::CongestionEvent {
        now_ns: event.now.as_nanos(),
        kind: match event.kind {
            cc::Congestion::Loss => own::Congestion::Loss,
            cc::Congestion::Ecn => own::Congestion::Ecn,
            cc::Congestion::TailLoss => own::Congestion::TailLoss,
            cc::Congestion::Timeout { reduce: true } => own::Congestion::Timeout,
            cc::Congestion::Timeout { reduce: false } => own::Congestion::RepeatedTimeout,
        },
        state: state(event.state),
        cwnd: event.cwnd,
        in_flight: event.in_flight,
        mss: event.mss,
        delivered: event.delivered,
        lost_total: event.lost_total,
    }
}

pub(super) fn undo(event: &cc::UndoEvent) -> own::UndoEvent {
    own::UndoEvent {
        now_ns: event.now.as_nanos(),
        cwnd: event.cwnd,
        delivered: event.delivered,
        lost_total: event.lost_total,
    }
}

pub(super) fn start(event: &cc::StartEvent) -> own::StartEvent {
    own::StartEvent {
        now_ns: event.now.as_nanos(),
        last_sent_ns: event.last_sent.map(narrows_base::Time::as_nanos).into(),
        app_limited: event.app_limited,
        mss: event.mss,
        delivered: event.delivered,
    }
}

pub(super) const fn unused(unused: cc::Unused) -> own::Unused {
    match unused {
        cc::Unused::Idle { timeouts, restart_window } => {
            own::Unused::Idle { timeouts, restart_window }
        }
        cc::Unused::Underused { used } => own::Unused::Underused { used },
    }
}

const fn state(state: cc::RecoveryState) -> own::RecoveryState {
    match state {
        cc::RecoveryState::Open => own::RecoveryState::Open,
        cc::RecoveryState::Disorder => own::RecoveryState::Disorder,
        cc::RecoveryState::Cwr => own::RecoveryState::Cwr,
        cc::RecoveryState::Recovery => own::RecoveryState::Recovery,
        cc::RecoveryState::Loss => own::RecoveryState::Loss,
    }
}

//! The engine's samples in the layout that libraries of controls know.
//!
//! `make reference` makes this file from crates/control/samples.toml.

use narrows_base::{Duration, Time};
use narrows_cc::{self as cc, drop_placeholder};
use narrows_control as own;

use super::parts::{at_send, congestion, rate, state};

pub(super) fn ack_of(sample: &cc::AckSample, round_start: bool) -> own::AckSample {
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
        srtt_ns: drop_placeholder(sample.srtt).map(Duration::as_nanos).into(),
        min_rtt_ns: drop_placeholder(sample.min_rtt).map(Duration::as_nanos).into(),
        ack_delayed: sample.ack_delayed,
        round_start,
        state: state(sample.state),
        may_grow: sample.may_grow,
        cwnd_limited: sample.cwnd_limited,
        departure_ns: sample.departure.as_nanos(),
    }
}

pub(super) fn congestion_of(event: &cc::CongestionEvent) -> own::CongestionEvent {
    own::CongestionEvent {
        now_ns: event.now.as_nanos(),
        kind: congestion(event.kind),
        state: state(event.state),
        cwnd: event.cwnd,
        in_flight: event.in_flight,
        mss: event.mss,
        delivered: event.delivered,
        lost_total: event.lost_total,
    }
}

pub(super) fn undo_of(event: &cc::UndoEvent) -> own::UndoEvent {
    own::UndoEvent {
        now_ns: event.now.as_nanos(),
        cwnd: event.cwnd,
        delivered: event.delivered,
        lost_total: event.lost_total,
    }
}

pub(super) fn delivered_of(sample: &cc::DeliveredSample) -> own::DeliveredSample {
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

pub(super) fn lost_of(packet: &cc::LostPacket) -> own::LostPacket {
    own::LostPacket {
        now_ns: packet.now.as_nanos(),
        at_send: at_send(packet.at_send),
        app_limited: packet.app_limited,
        lost_total: packet.lost_total,
        delivered: packet.delivered,
    }
}

pub(super) fn start_of(event: &cc::StartEvent) -> own::StartEvent {
    own::StartEvent {
        now_ns: event.now.as_nanos(),
        last_sent_ns: event.last_sent.map(Time::as_nanos).into(),
        app_limited: event.app_limited,
        mss: event.mss,
        delivered: event.delivered,
    }
}

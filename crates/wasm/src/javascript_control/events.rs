//! The events of a control written in JavaScript, and the arrays of their fields.
//!
//! `make reference` makes this file from crates/control/samples.toml.

#![expect(clippy::cast_precision_loss, reason = "counters stay far below 2^53")]

use narrows_base::{Duration, Time};
use narrows_cc::{self as cc, drop_placeholder};

/// The events and their fields, in the order of the numbers.
pub(super) const EVENTS: [(&str, &[&str]); 7] = [
    ("on_connect", &["mss", "initial_cwnd", "rtt_s"]),
    (
        "on_ack",
        &[
            "now_s",
            "mss",
            "acked",
            "lost",
            "in_flight",
            "prior_in_flight",
            "delivered",
            "delivered_at_s",
            "lost_total",
            "delivery_rate_bps",
            "rate_interval_s",
            "prior_delivered",
            "app_limited",
            "in_flight_at_send",
            "lost_at_send",
            "rtt_s",
            "srtt_s",
            "min_rtt_s",
            "ack_delayed",
            "round_start",
            "state",
            "may_grow",
            "cwnd_limited",
            "departure_s",
        ],
    ),
    (
        "on_congestion",
        &["now_s", "kind", "first", "state", "cwnd", "in_flight", "mss", "delivered", "lost_total"],
    ),
    ("on_undo", &["now_s", "cwnd", "delivered", "lost_total"]),
    (
        "on_delivered",
        &[
            "now_s",
            "acked",
            "rtt_s",
            "in_flight",
            "sacked",
            "cwnd_limited",
            "ece",
            "delivered_ce",
            "delivered",
            "prior_delivered",
            "prr_cwnd",
        ],
    ),
    (
        "on_lost",
        &["now_s", "in_flight_at_send", "lost_at_send", "app_limited", "lost_total", "delivered"],
    ),
    ("on_start", &["now_s", "last_sent_s", "app_limited", "mss", "delivered"]),
];

/// The fields that are flags.
pub(super) const FLAGS: [&str; 7] =
    ["app_limited", "ack_delayed", "round_start", "may_grow", "cwnd_limited", "first", "ece"];

pub(super) fn ack_fields(sample: &cc::AckSample, round_start: bool) -> [f64; 24] {
    [
        sample.now.as_secs_f64(),
        sample.mss.into(),
        sample.acked.into(),
        sample.lost.into(),
        sample.in_flight.into(),
        sample.prior_in_flight.into(),
        sample.delivered as f64,
        sample.delivered_at.as_secs_f64(),
        sample.lost_total as f64,
        sample.rate.map_or(f64::NAN, |rate| rate.payload_bps(sample.mss)),
        sample.rate.map_or(f64::NAN, |rate| rate.interval.as_secs_f64()),
        sample.rate.map_or(f64::NAN, |rate| rate.prior_delivered as f64),
        flag(sample.rate.is_some_and(|rate| rate.app_limited)),
        sample.rate.and_then(|rate| rate.at_send).map_or(f64::NAN, |then| then.in_flight.into()),
        sample.rate.and_then(|rate| rate.at_send).map_or(f64::NAN, |then| then.lost.into()),
        sample.rtt.map_or(f64::NAN, Duration::as_secs_f64),
        drop_placeholder(sample.srtt).map_or(f64::NAN, Duration::as_secs_f64),
        drop_placeholder(sample.min_rtt).map_or(f64::NAN, Duration::as_secs_f64),
        flag(sample.ack_delayed),
        flag(round_start),
        f64::from(sample.state as u8),
        flag(sample.may_grow),
        flag(sample.cwnd_limited),
        sample.departure.as_secs_f64(),
    ]
}

pub(super) fn congestion_fields(event: &cc::CongestionEvent) -> [f64; 9] {
    [
        event.now.as_secs_f64(),
        event.kind.number() as f64,
        flag(event.kind.is_first()),
        f64::from(event.state as u8),
        event.cwnd.into(),
        event.in_flight.into(),
        event.mss.into(),
        event.delivered as f64,
        event.lost_total as f64,
    ]
}

pub(super) fn undo_fields(event: &cc::UndoEvent) -> [f64; 4] {
    [event.now.as_secs_f64(), event.cwnd.into(), event.delivered as f64, event.lost_total as f64]
}

pub(super) fn delivered_fields(sample: &cc::DeliveredSample) -> [f64; 11] {
    [
        sample.now.as_secs_f64(),
        sample.acked.into(),
        sample.rtt.map_or(f64::NAN, Duration::as_secs_f64),
        sample.in_flight.into(),
        sample.sacked.into(),
        flag(sample.cwnd_limited),
        flag(sample.ece),
        sample.delivered_ce as f64,
        sample.delivered as f64,
        sample.prior_delivered as f64,
        sample.prr_cwnd.map_or(f64::NAN, f64::from),
    ]
}

pub(super) fn lost_fields(packet: &cc::LostPacket) -> [f64; 6] {
    [
        packet.now.as_secs_f64(),
        packet.at_send.in_flight.into(),
        packet.at_send.lost.into(),
        flag(packet.app_limited),
        packet.lost_total as f64,
        packet.delivered as f64,
    ]
}

pub(super) fn start_fields(event: &cc::StartEvent) -> [f64; 5] {
    [
        event.now.as_secs_f64(),
        event.last_sent.map_or(f64::NAN, Time::as_secs_f64),
        flag(event.app_limited),
        event.mss.into(),
        event.delivered as f64,
    ]
}

fn flag(holds: bool) -> f64 {
    f64::from(u8::from(holds))
}

//! The parts of samples in the layout that libraries of controls know.

use narrows_cc as cc;
use narrows_control as own;

pub(super) fn rate(sample: cc::RateSample) -> own::RateSample {
    own::RateSample {
        delivered: sample.delivered,
        interval_ns: sample.interval.as_nanos(),
        prior_delivered: sample.prior_delivered,
        app_limited: sample.app_limited,
        at_send: sample.at_send.map(at_send).into(),
    }
}

pub(super) const fn at_send(state: cc::AtSend) -> own::AtSend {
    own::AtSend { in_flight: state.in_flight, lost: state.lost }
}

pub(super) const fn congestion(kind: cc::Congestion) -> own::Congestion {
    match kind {
        cc::Congestion::Loss => own::Congestion::Loss,
        cc::Congestion::Ecn => own::Congestion::Ecn,
        cc::Congestion::TailLoss => own::Congestion::TailLoss,
        cc::Congestion::Timeout { reduce: true } => own::Congestion::Timeout,
        cc::Congestion::Timeout { reduce: false } => own::Congestion::RepeatedTimeout,
    }
}

pub(super) const fn unused_window(unused: cc::Unused) -> own::Unused {
    match unused {
        cc::Unused::Idle { timeouts, restart_window } => {
            own::Unused::Idle { timeouts, restart_window }
        }
        cc::Unused::Underused { used } => own::Unused::Underused { used },
    }
}

pub(super) const fn state(state: cc::RecoveryState) -> own::RecoveryState {
    match state {
        cc::RecoveryState::Open => own::RecoveryState::Open,
        cc::RecoveryState::Disorder => own::RecoveryState::Disorder,
        cc::RecoveryState::Cwr => own::RecoveryState::Cwr,
        cc::RecoveryState::Recovery => own::RecoveryState::Recovery,
        cc::RecoveryState::Loss => own::RecoveryState::Loss,
    }
}

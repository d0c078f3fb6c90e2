//! Makes both ends of a connection.
//!
//! The stack keeps its default options, except for the limits of buffers and windows, which follow
//! `socket_buffers` and `receive_window` as TCP's do.

use std::num::NonZeroUsize;

use draws::EndStream;
use narrows_base::Time;
use narrows_sim::stacks::Connecting;
use narrows_spec::stacks::option;
use narrows_tcp::ends::Ends;

use super::client::Client;
use super::driver::{CLIENT, Driver, SERVER};
use super::limits::Limits;
use super::server::Server;
use super::stack::{SenderControl, Stack};
use crate::clock::Clock;
use crate::events::ConnectionEvents;
use crate::logs::Logs;
use crate::tls::Identity;

/// Both ends of a flow.
pub(crate) fn ends<S: Stack>(connecting: &Connecting, logs: &Logs) -> Ends {
    let flow = &connecting.flow;
    let draws = |end: &str| {
        EndStream::new(connecting.seed, &format!("stack/{}/{}/{end}", S::NAME, flow.name))
    };
    let (mut client_draws, mut server_draws) = (draws("client"), draws("server"));
    let segments =
        option(&flow.options, "segments").and_then(|number| usize::try_from(number).ok());
    let segments = segments.and_then(NonZeroUsize::new).expect("it has a default and bounds");
    let (clock, limits) = (Clock::new(), Limits::of(connecting));

    let identity = server_draws.during(|| Identity::new(draws::bytes()));
    let tls = identity.server();
    let server = server_draws.during(|| S::server(tls, &limits));
    let server = Driver::new(clock, server_draws, segments, server, CLIENT);

    let events = ConnectionEvents::new_shared();
    let sender_control = SenderControl {
        cca: &flow.cca,
        flow: &flow.name,
        seen: &events,
        qlog: logs.qlog(&flow.name),
        start: clock.instant(Time::ZERO),
    };
    let tls = identity.client(&logs.keys);
    let client = client_draws.during(|| S::client(tls, &limits, sender_control));
    let client = Driver::new(clock, client_draws, segments, client, SERVER);
    (Box::new(Client::new(client, connecting, events)), Box::new(Server::new(server)))
}

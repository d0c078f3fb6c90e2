//! QUIC by noq-proto, a fork of quinn-proto with BBRv3. Most of what drives the one drives the other.

use noq_proto as proto;

#[path = "../quic/client.rs"]
mod client;
#[path = "../quic/driver.rs"]
mod driver;
mod own;
#[path = "../quic/server.rs"]
mod server;
#[path = "../quic/setup.rs"]
mod setup;
#[path = "../quic/watch.rs"]
mod watch;
mod watched;

pub(crate) use setup::ends;

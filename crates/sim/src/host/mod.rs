//! The end hosts of a flow: sender and receiver.

mod app;
mod chain;
mod completed;
mod connections;
mod contract;
mod datagram;
mod open_loop;
mod receiving;
mod sending;
mod session;
mod stack;
mod web;

pub(crate) use chain::{Chain, ControlFactory, Plan};
pub(crate) use completed::Completed;
pub(crate) use contract::Out;
pub(crate) use datagram::{Datagrams, Sink, Source};
pub(crate) use receiving::ReceivingHost;
pub(crate) use sending::SendingHost;
pub(crate) use stack::hosts as stack_hosts;

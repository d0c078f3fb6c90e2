//! The end hosts of a flow: sender and receiver.

mod app;
mod chain;
mod completed_transfer;
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
pub(crate) use completed_transfer::CompletedTransfer;
pub(crate) use contract::HostOutput;
pub(crate) use datagram::{Datagrams, Sink, Source};
pub(crate) use receiving::ReceivingHost;
pub(crate) use sending::SendingHost;
pub(crate) use stack::hosts as stack_hosts;

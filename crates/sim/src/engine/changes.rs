//! Changes in the course of a run.
//!
//! A change comes after everything else of its instant, whether the scenario has it from the start
//! or it is requested during the run, so that both give the same results.

use narrows_base::Time;
use narrows_cc::Setting;
use narrows_record::Observer;

use super::Engine;
use crate::changes::Effect;
use crate::network::Node;
use crate::sim_tap::SimTap;

impl<O: Observer, T: SimTap> Engine<O, T> {
    /// Makes the next change if it is due. Another one of the same instant comes after everything
    /// that this one causes at once, as when both are requested during the run.
    #[cold]
    pub(crate) fn change(&mut self, now: Time) {
        for act in self.changes.take_due(now) {
            match act {
                Effect::Stop(flows) => flows.iter().for_each(|&flow| self.stop(flow, now)),
                Effect::Set(flows, setting) => {
                    flows.iter().for_each(|&flow| self.set(flow, setting, now));
                }
                Effect::End => self.ending.end_now(),
                of_path => self.change_path(&of_path, now),
            }
        }
        self.agenda.set(self.network.nodes.len() + 1, self.changes.next());
    }

    fn change_path(&mut self, act: &Effect, now: Time) {
        // Links that are polled late must not see the future.
        self.catch_up_links(now);
        for line in self.network.split_pipes(now) {
            self.agenda.set(line, self.network.nodes[line].next_deadline());
        }
        match act {
            Effect::Rate(link, rate) => self.network.change_rate(*link, *rate, now),
            Effect::RoundTrip(rtt) => self.network.change_round_trip(*rtt),
            Effect::Loss(probability) => self.network.change_loss(*probability),
            Effect::Stop(_) | Effect::Set(..) | Effect::End => {}
        }
        if self.allows_lateness() {
            self.network.allow_lateness();
        }
        for link in 0..self.network.links.len() {
            let id = self.network.links[link];
            match &self.network.nodes[id] {
                Node::Link(_) => self.plan_link(id),
                node => self.agenda.set(id, node.next_deadline()),
            }
        }
    }

    fn stop(&mut self, flow: usize, now: Time) {
        self.network.sender_mut(flow).stop_at(now);
        self.wake_sender(flow, now);
    }

    fn set(&mut self, flow: usize, setting: Setting, now: Time) {
        if let Some(sender) = self.network.sender_mut(flow).sender_mut() {
            sender.set(setting, now);
        }
        self.wake_sender(flow, now);
    }

    fn wake_sender(&mut self, flow: usize, now: Time) {
        let id = self.network.senders[flow];
        let next = self.run_sender(id, now);
        self.agenda.set(id, Some(next));
    }
}

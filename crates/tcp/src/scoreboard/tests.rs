//! Compares the hints of the scoreboard with walks without them.

use proptest::prelude::*;

use super::*;

/// Operations on a scoreboard; numbers count from `una`.
#[derive(Clone, Copy, Debug)]
enum Step {
    Send(u32),
    Acknowledge(u32),
    Sack(u32, u32),
    /// Mark packets with this many SACKed packets above them.
    Count(u32),
    /// Mark a number of packets, as FACK does.
    Reach(u32),
    Resend,
    Undo,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => (1u32..20).prop_map(Step::Send),
        2 => (1u32..8).prop_map(Step::Acknowledge),
        6 => (0u32..40, 1u32..6).prop_map(|(from, len)| Step::Sack(from, len)),
        4 => (1u32..6).prop_map(Step::Count),
        2 => (0u32..40).prop_map(Step::Reach),
        2 => Just(Step::Resend),
        1 => Just(Step::Undo),
    ];
    prop::collection::vec(step, 1..80)
}

fn act(board: &mut Scoreboard, step: Step) {
    let una = board.una;
    match step {
        Step::Send(packets) => board.push(SentPacket::new(1448), packets, 1448),
        Step::Acknowledge(packets) => {
            let end = board.next.min(una + packets);
            while board.una < end {
                board.pop_sacked(end);
                if board.una < end {
                    board.pop();
                }
            }
            board.prune();
        }
        Step::Sack(from, len) => board.sack(una + from, una + from + len, |board, seq| {
            board.mark_sacked(seq);
        }),
        Step::Count(n) => {
            if let Some(witness) = board.nth_highest_sacked(n) {
                board.mark_lost_below(witness);
            }
        }
        Step::Reach(packets) => board.mark_lost_below(board.next.min(una + packets)),
        Step::Resend => {
            if let Some(seq) = board.next_lost() {
                board.mark_retransmitted(seq);
                board.sent_now(seq);
            }
        }
        Step::Undo => board.unmark_lost(),
    }
}

/// The packets that a walk from the head marks lost, like `tcp_mark_head_lost` without its hints.
fn plain_walk(board: &Scoreboard, step: Step) -> Vec<Seq> {
    let is = |seq: &Seq, mark| board.get(*seq).marks.has(mark);
    let sacked = |end: Seq| (board.una..end).filter(|seq| is(seq, Marks::SACKED)).count();
    let end = match step {
        Step::Reach(packets) => board.next.min(board.una + packets),
        Step::Count(n) => {
            let Some(limit) = sacked(board.next).checked_sub(n as usize) else {
                return Vec::new();
            };
            let passed = |end: &Seq| sacked(*end + 1) > limit;
            (board.una..board.next).find(passed).unwrap_or(board.next)
        }
        _ => return Vec::new(),
    };
    let walk = (board.una..end).filter(|seq| !is(seq, Marks::SACKED) && !is(seq, Marks::LOST));
    walk.collect()
}

proptest! {
    #[test]
    fn hints_mark_what_a_plain_walk_marks(steps in steps()) {
        let mut board = Scoreboard::new(true, false);
        for step in steps {
            let expected = plain_walk(&board, step);
            act(&mut board, step);
            prop_assert_eq!(board.take_lost().collect::<Vec<_>>(), expected, "{:?}", step);
            let marked = |mark| {
                let out = board.una..board.next;
                u32::try_from(out.filter(|&seq| board.get(seq).marks.has(mark)).count()).unwrap()
            };
            prop_assert_eq!(board.sacked_out, marked(Marks::SACKED));
            prop_assert_eq!(board.bursts, marked(Marks::BURST_HEAD));
        }
    }
}

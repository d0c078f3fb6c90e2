//! A video player, which requests chunks as long as its buffer has room, and plays them.

use narrows_base::{Duration, Time};

use crate::ladder::Ladder;

/// The buffer of a player that fetches one chunk after another (as DASH players do).
///
/// All instants are those of the sender, half a round trip later than the player's own:
/// a shift that changes no length of time.
#[derive(Debug)]
pub struct Player {
    ladder: Ladder,
    chunk: Duration,
    /// The level needed before it plays, initially and after it ran dry.
    start: Duration,
    /// The capacity of the buffer.
    capacity: Duration,
    /// The level at `as_of`.
    level: Duration,
    as_of: Time,
    state: PlayerState,
    started: Time,
    /// The startup delay.
    startup: Option<Duration>,
    stalls: u32,
    stalled: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PlayerState {
    Starting,
    Playing,
    /// It has been dry since then.
    Stalled(Time),
}

impl Player {
    /// A player whose buffer is empty.
    #[must_use]
    pub fn new(
        bitrates_bps: Vec<u64>,
        chunk: Duration,
        start: Duration,
        capacity: Duration,
    ) -> Self {
        Self {
            ladder: Ladder::new(bitrates_bps, capacity),
            chunk,
            start,
            capacity,
            level: Duration::ZERO,
            as_of: Time::ZERO,
            state: PlayerState::Starting,
            started: Time::ZERO,
            startup: None,
            stalls: 0,
            stalled: Duration::ZERO,
        }
    }

    /// Makes a player from lengths in ns.
    #[must_use]
    pub fn of(bitrates_bps: Vec<u64>, chunk_ns: u64, start_ns: u64, room_ns: u64) -> Self {
        let [chunk, start, capacity] = [chunk_ns, start_ns, room_ns].map(Duration::from_nanos);
        Self::new(bitrates_bps, chunk, start, capacity)
    }

    /// When play was pressed.
    pub fn start(&mut self, now: Time) {
        (self.started, self.as_of) = (now, now);
    }

    /// Requests a chunk of the bitrate that suits the buffer; returns its payload in bytes.
    pub fn request(&mut self, now: Time) -> u64 {
        self.advance(now);
        self.ladder.choose(self.level);
        let bits = u128::from(self.ladder.bitrate()) * u128::from(self.chunk.as_nanos());
        u64::try_from(bits / 8_000_000_000).unwrap_or(u64::MAX).max(1)
    }

    /// Plays until `now`.
    fn advance(&mut self, now: Time) {
        let elapsed = now.saturating_since(self.as_of);
        if self.state == PlayerState::Playing {
            if elapsed > self.level {
                self.state = PlayerState::Stalled(self.as_of + self.level);
                self.stalls += 1;
            }
            self.level = self.level.saturating_sub(elapsed);
        }
        self.as_of = now;
    }

    /// Takes a chunk; returns when to request the next.
    pub fn take_chunk(&mut self, now: Time) -> Time {
        self.advance(now);
        self.level += self.chunk;
        if self.level >= self.start {
            match self.state {
                PlayerState::Starting => self.startup = Some(now.saturating_since(self.started)),
                PlayerState::Stalled(since) => self.stalled += now.saturating_since(since),
                PlayerState::Playing => {}
            }
            self.state = PlayerState::Playing;
        }
        now + (self.level + self.chunk).saturating_sub(self.capacity)
    }

    /// Shows the level of the buffer, number and duration of stalls, and startup delay.
    pub fn inspect(&self, now: Time, visit: &mut dyn FnMut(&'static str, f64)) {
        let elapsed = now.saturating_since(self.as_of);
        let (mut level, mut stalls, mut stalled) = (self.level, self.stalls, self.stalled);
        match self.state {
            PlayerState::Starting => {}
            PlayerState::Playing => {
                stalled += elapsed.saturating_sub(level);
                stalls += u32::from(elapsed > level);
                level = level.saturating_sub(elapsed);
            }
            PlayerState::Stalled(since) => stalled += now.saturating_since(since),
        }
        visit("playout_buffer_s", seconds(level));
        visit("stalls", f64::from(stalls));
        visit("stalled_s", seconds(stalled));
        if self.ladder.is_choice() {
            visit("video_mbps", mbps(self.ladder.bitrate()));
        }
        if let Some(startup) = self.startup {
            visit("startup_s", seconds(startup));
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "for the recorder: 53 bits are enough")]
fn seconds(span: Duration) -> f64 {
    span.as_nanos() as f64 / 1e9
}

#[expect(clippy::cast_precision_loss, reason = "for the recorder: 53 bits are enough")]
fn mbps(bps: u64) -> f64 {
    bps as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }

    fn value(player: &Player, now: Time, wanted: &str) -> f64 {
        let mut found = f64::NAN;
        player.inspect(now, &mut |name, value| {
            if name == wanted {
                found = value;
            }
        });
        found
    }

    /// Chunks of 2 s at 8 Mbit/s; it plays from 4 s on and holds 6 s.
    fn player() -> Player {
        let [chunk, start, capacity] = [2, 4, 6].map(Duration::from_secs);
        let mut player = Player::new(vec![8_000_000], chunk, start, capacity);
        player.start(at(1_000));
        player
    }

    #[test]
    fn it_plays_when_enough_is_there_and_waits_for_room() {
        let mut player = player();
        assert_eq!(player.request(at(1_000)), 2_000_000);
        assert_eq!(player.take_chunk(at(1_500)), at(1_500));
        assert_eq!(player.take_chunk(at(2_000)), at(2_000), "4 s buffered, capacity for 2 s");
        assert_eq!(value(&player, at(2_000), "startup_s"), 1.0);
        assert_eq!(player.take_chunk(at(2_500)), at(4_000), "5.5 s buffered: 1.5 s must be played");
        assert_eq!(value(&player, at(4_000), "playout_buffer_s"), 4.0);
    }

    #[test]
    fn its_chunks_grow_with_the_level() {
        let [chunk, start, capacity] = [2, 2, 20].map(Duration::from_secs);
        let mut player = Player::new(vec![1_000_000, 8_000_000], chunk, start, capacity);
        player.start(at(0));
        let sizes: Vec<u64> = (0..10_u64)
            .map(|_| {
                let size = player.request(at(1));
                player.take_chunk(at(1));
                size
            })
            .collect();
        assert_eq!(sizes[8..], [250_000, 2_000_000], "18 of 20 s are 90 %");
        assert_eq!(value(&player, at(1), "video_mbps"), 8.0);
    }

    #[test]
    fn a_late_chunk_interrupts_until_enough_is_there_again() {
        let mut player = player();
        player.take_chunk(at(1_500));
        player.take_chunk(at(2_000));
        assert_eq!(value(&player, at(7_000), "stalled_s"), 1.0, "dry since 6 s");
        player.take_chunk(at(8_000));
        assert_eq!(value(&player, at(8_500), "stalled_s"), 2.5, "2 s don't suffice to go on");
        player.take_chunk(at(9_000));
        assert_eq!(value(&player, at(9_500), "stalled_s"), 3.0);
        assert_eq!(value(&player, at(9_500), "stalls"), 1.0);
        assert_eq!(value(&player, at(9_500), "playout_buffer_s"), 3.5);
    }
}

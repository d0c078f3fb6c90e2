//! Non-blocking writing, since a real-time loop can't wait for a disk.

use std::io::{Error, Result, Write};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};

use narrows_linux::process;

/// Bytes handed over at a time.
const PORTION: usize = 1 << 20;
/// The most portions that may wait for the disk.
const MOST: usize = 64;

/// Gathers written bytes and hands them to a thread that writes them to `W`.
///
/// The writer first checks whether there is room. Writing then takes no longer than copying; the
/// thread is woken once per portion.
pub(crate) struct Handoff {
    portion: Vec<u8>,
    full: Sender<Vec<u8>>,
    empty: Receiver<Vec<u8>>,
    /// The number of portions, including the one being filled.
    portions: usize,
    thread: JoinHandle<Result<()>>,
}

impl Handoff {
    /// Starts the thread.
    ///
    /// # Errors
    /// If no thread can be started.
    pub(crate) fn new(out: impl Write + Send + 'static) -> Result<Self> {
        let ((full, to_write), (written, empty)) = (channel(), channel());
        let thread = thread::Builder::new().spawn(move || write_out(out, &to_write, &written))?;
        Ok(Self { portion: Vec::with_capacity(PORTION), full, empty, portions: 1, thread })
    }

    /// Returns `true` if `bytes`, less than a portion, can be written now.
    pub(crate) fn has_room(&mut self, bytes: usize) -> bool {
        if self.portion.len() + bytes <= PORTION {
            return true;
        }
        let next = self.empty.try_recv().ok().or_else(|| self.another());
        let Some(next) = next else { return false };
        // Fails if the thread has ended, which `finish` reports.
        _ = self.full.send(std::mem::replace(&mut self.portion, next));
        true
    }

    fn another(&mut self) -> Option<Vec<u8>> {
        (self.portions < MOST).then(|| {
            self.portions += 1;
            Vec::with_capacity(PORTION)
        })
    }

    /// Waits until all is written.
    ///
    /// # Errors
    /// If writing failed.
    pub(crate) fn finish(self) -> Result<()> {
        _ = self.full.send(self.portion);
        drop(self.full);
        self.thread.join().map_err(|_| Error::other("a thread that writes a capture panicked"))?
    }
}

impl Write for Handoff {
    fn write(&mut self, data: &[u8]) -> Result<usize> {
        self.portion.extend_from_slice(data);
        Ok(data.len())
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}

fn write_out(
    mut out: impl Write,
    full: &Receiver<Vec<u8>>,
    written: &Sender<Vec<u8>>,
) -> Result<()> {
    // In the router it has inherited the real-time class; elsewhere it is already ordinary.
    _ = process::normal_scheduling();
    for mut portion in full {
        out.write_all(&portion)?;
        portion.clear();
        // Fails when there are no writers left.
        _ = written.send(portion);
    }
    out.flush()
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;
    use std::sync::{Arc, Mutex};

    use super::*;

    /// A disk that blocks as long as it is held.
    struct Disk(Arc<Mutex<Vec<u8>>>);

    impl Write for Disk {
        fn write(&mut self, data: &[u8]) -> Result<usize> {
            self.0.lock().expect("a disk").write(data)
        }

        fn flush(&mut self) -> Result<()> {
            Ok(())
        }
    }

    #[test]
    fn all_arrives_in_order_and_a_slow_disk_leaves_no_room() {
        let content = Arc::new(Mutex::new(Vec::new()));
        let mut handoff = Handoff::new(Disk(Arc::clone(&content))).expect("a thread");
        let held = content.lock().expect("a disk");
        let (mut sent, mut number) = (Vec::new(), 0_u32);
        while handoff.has_room(1000) {
            let record = number.to_le_bytes().repeat(250);
            handoff.write_all(&record).expect("room");
            sent.extend(record);
            number += 1;
        }
        assert_eq!(sent.len() / PORTION, MOST - 1, "that much waits, and no more");
        drop(held);
        while !handoff.has_room(1000) {
            thread::yield_now();
        }
        handoff.write_all(b"end").expect("room");
        sent.extend(b"end");
        handoff.finish().expect("a disk with room");
        assert!(*content.lock().expect("a disk") == sent);
    }

    #[test]
    fn a_full_disk_is_reported_at_the_end() {
        struct Full;
        impl Write for Full {
            fn write(&mut self, _: &[u8]) -> Result<usize> {
                Err(ErrorKind::StorageFull.into())
            }
            fn flush(&mut self) -> Result<()> {
                Ok(())
            }
        }
        let mut handoff = Handoff::new(Full).expect("a thread");
        for _ in 0..3000 {
            assert!(handoff.has_room(1000));
            handoff.write_all(&[0; 1000]).expect("memory");
        }
        let error = handoff.finish().expect_err("no room");
        assert_eq!(error.kind(), ErrorKind::StorageFull);
    }
}

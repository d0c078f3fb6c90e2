//! The result files: CSV with a header, written at once at the end.

use std::fmt::Write as _;
use std::io::Result;
use std::path::Path;

use crate::queue::QueueCounters;
use crate::receiver::ArrivedData;
use crate::sender::{FinishedTransfer, Sample};

const FLOWS: &str = "time_ns,flow,instance,ca_state,cwnd,ssthresh,unacked,sacked,lost,retrans,\
srtt_us,rttvar_us,min_rtt_us,pacing_rate,delivery_rate,app_limited,reordering,snd_wnd,\
rwnd_limited_us,sndbuf_limited_us,mss,dsack_dups,cc0,cc1,cc2,cc3,cc4,sent,delivered,retransmitted,acked_bytes,\
arrived_segments,open_segments,arrived_bytes,open_bytes\n";
/// How many of these describe the connection instead of the whole chain.
const CONNECTION_FIELDS: usize = 24;
const QUEUE: &str = "time_ns,bytes,packets,queued_packets,queued_bytes,drops,marks\n";
const APPLICATIONS: &str = "time_ns,flow,name,value\n";
const COMPLETIONS: &str = "flow,instance,start_ns,end_ns,size_bytes,retransmitted\n";

/// The rows so far.
pub struct Output {
    flows: String,
    queue: String,
    applications: String,
    completions: String,
}

impl Default for Output {
    fn default() -> Self {
        Self {
            flows: FLOWS.into(),
            queue: QUEUE.into(),
            applications: APPLICATIONS.into(),
            completions: COMPLETIONS.into(),
        }
    }
}

impl Output {
    /// A row of `flows.csv`; the fields of the connection are empty where there is none.
    pub fn flow(&mut self, at: u64, flow: usize, sample: &Sample, arrived: ArrivedData) {
        let out = &mut self.flows;
        _ = write!(out, "{at},{flow},{},", sample.instance);
        match &sample.info {
            None => out.extend(std::iter::repeat_n(',', CONNECTION_FIELDS)),
            Some((i, c)) => {
                let app_limited = u8::from(i.app_limited);
                _ = write!(out, "{},{},{},{},", i.ca_state, i.cwnd, i.ssthresh, i.unacked);
                _ = write!(out, "{},{},{},{},", i.sacked, i.lost, i.retrans, i.srtt_us);
                _ = write!(out, "{},{},{},", i.rttvar_us, i.min_rtt_us, i.pacing_rate);
                _ = write!(out, "{},{app_limited},{},", i.delivery_rate, i.reordering);
                _ = write!(out, "{},{},", i.snd_wnd, i.rwnd_limited_us);
                _ = write!(out, "{},{},{},", i.sndbuf_limited_us, i.snd_mss, i.dsack_dups);
                _ = write!(out, "{},{},{},{},{},", c[0], c[1], c[2], c[3], c[4]);
            }
        }
        let t = &sample.totals;
        _ = write!(out, "{},{},{},{},", t.sent, t.delivered, t.retransmitted, t.acked_bytes);
        let a = arrived;
        _ = writeln!(out, "{},{},{},{}", a.segments, a.open_segments, a.bytes, a.open_bytes);
    }

    /// A row of `queue.csv`.
    pub fn queue(&mut self, at: u64, q: &QueueCounters) {
        let (b, p, n) = (q.bytes, q.packets, q.queued_packets);
        _ = writeln!(self.queue, "{at},{b},{p},{n},{},{},{}", q.queued_bytes, q.drops, q.marks);
    }

    /// A row of `applications.csv`.
    pub fn application(&mut self, at: u64, flow: usize, name: &str, value: f64) {
        _ = writeln!(self.applications, "{at},{flow},{name},{value}");
    }

    /// A row of `completions.csv`.
    pub fn completion(&mut self, flow: usize, c: &FinishedTransfer) {
        let (start, end, size) = (c.start_ns, c.end_ns, c.size_bytes);
        _ = write!(self.completions, "{flow},{},{start},{end},", c.instance);
        _ = writeln!(self.completions, "{size},{}", c.retransmitted);
    }

    /// Writes the files into a directory.
    ///
    /// # Errors
    /// If that fails.
    pub fn write(&self, dir: &Path) -> Result<()> {
        std::fs::write(dir.join("flows.csv"), &self.flows)?;
        std::fs::write(dir.join("queue.csv"), &self.queue)?;
        std::fs::write(dir.join("applications.csv"), &self.applications)?;
        std::fs::write(dir.join("completions.csv"), &self.completions)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::info::TcpInfo;
    use crate::sender::Totals;

    #[test]
    fn every_row_has_the_columns_of_the_header() {
        let mut output = Output::default();
        let totals = Totals { sent: 7, ..Totals::default() };
        for info in [None, Some((TcpInfo { snd_mss: 1448, ..TcpInfo::default() }, [1; 5]))] {
            output.flow(5, 1, &Sample { instance: 2, info, totals }, ArrivedData::default());
        }
        let rows: Vec<Vec<&str>> = output.flows.lines().map(|l| l.split(',').collect()).collect();
        assert_eq!(rows.len(), 3);
        for row in &rows {
            assert_eq!(row.len(), rows[0].len());
        }
        let column = |name| rows[0].iter().position(|c| *c == name).expect("a column");
        assert_eq!((rows[1][column("mss")], rows[1][column("sent")]), ("", "7"));
        assert_eq!((rows[2][column("mss")], rows[2][column("cc4")]), ("1448", "1"));
    }
}

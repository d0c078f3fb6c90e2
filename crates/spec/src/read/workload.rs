//! Reads the workload of a flow: `workload = { kind = "poisson", ... }`.

use narrows_base::registry::{Info, ParameterDefault};
use num_traits::Signed;

use crate::document::{Node, Table};
use crate::exact;
use crate::inputs::Inputs;
use crate::law::Law;
use crate::law::tables::Distribution;
use crate::limits::MAX_DURATION_NS;
use crate::problem::ValueProblem;
use crate::read::law::{self, Measure};
use crate::read::{parameter, scalar};
use crate::scenario::{Media, MediaControl, Workload};
use crate::text::quote;
use crate::units::{SizeUnit, format_duration, parse_rate, parse_size};
use crate::workloads::WORKLOADS;

/// The connections of a browser to a server (HTTP/1.1).
const HTTP_1_CONNECTIONS: u64 = 6;

/// The feedback interval of NADA (DELTA of RFC 8698 section 4.1, table 2).
const NADA_FEEDBACK_NS: u64 = 100_000_000;
/// The feedback interval that RFC 8298 section 4.2.2 prefers at high bitrates.
const FEEDBACK_NS: u64 = 20_000_000;
const RATE: &str = "\"2mbit\"";

/// The workload in a table.
pub(super) fn read(
    node: &Node,
    inputs: &dyn Inputs,
    expects: &str,
) -> Result<Workload, ValueProblem> {
    let Some(table) = node.table() else {
        return Err(ValueProblem::value(node.describe(), expects));
    };
    let info = parameter::kind(WORKLOADS, table, "workload")?;
    parameter::refuse_unknown(info, table)?;
    let parts = Parts { info, table, inputs };
    match info.name {
        "poisson" => parts.poisson(),
        "arrivals" => parts.arrivals(),
        "on_off" => parts.on_off(),
        "requests" => parts.requests(),
        "adaptive_video" => parts.adaptive_video(),
        "web" => parts.web(),
        "udp" => parts.udp(),
        "ping" => parts.ping(),
        "media" => parts.media(),
        _ => parts.video(),
    }
}

/// The parameters of a workload.
struct Parts<'a> {
    info: &'static Info,
    table: &'a Table,
    inputs: &'a dyn Inputs,
}

impl Parts<'_> {
    fn poisson(&self) -> Result<Workload, ValueProblem> {
        let mean = self.interval()?;
        let gap_ns = Distribution::Exponential { mean }.law().ok_or_else(|| {
            ValueProblem::value("a distribution with values beyond 10^15", "a higher rate")
                .at("rate")
        })?;
        Ok(Workload::Arrivals { gap_ns, size_bytes: self.sizes()? })
    }

    fn arrivals(&self) -> Result<Workload, ValueProblem> {
        let gap_ns = positive(self.times("gap")?, "gap")?;
        Ok(Workload::Arrivals { gap_ns, size_bytes: self.sizes()? })
    }

    fn on_off(&self) -> Result<Workload, ValueProblem> {
        let (on, off) = (self.times("on")?, self.times("off")?);
        let first_ns = match self.table.has("first") {
            true => Some(self.quantity("first", scalar::duration, "\"10s\"")?),
            false => None,
        };
        Ok(Workload::OnOff { on_ns: positive(on, "on")?, first_ns, off_ns: positive(off, "off")? })
    }

    fn requests(&self) -> Result<Workload, ValueProblem> {
        let given = self.table.has("think");
        let default = self.default("think").unwrap_or_default();
        let think_ns = if given { self.times("think")? } else { Law::Constant(default) };
        Ok(Workload::Requests { think_ns, size_bytes: self.sizes()? })
    }

    fn video(&self) -> Result<Workload, ValueProblem> {
        let bitrate_bps = self.quantity("bitrate", parse_rate, "\"5mbit\"")?;
        let [chunk_ns, start_ns, buffer_ns] = self.playback()?;
        Ok(Workload::Video { bitrate_bps, chunk_ns, start_ns, buffer_ns })
    }

    fn adaptive_video(&self) -> Result<Workload, ValueProblem> {
        let bitrates_bps = self.bitrates()?;
        let [chunk_ns, start_ns, buffer_ns] = self.playback()?;
        Ok(Workload::AdaptiveVideo { bitrates_bps, chunk_ns, start_ns, buffer_ns })
    }

    fn web(&self) -> Result<Workload, ValueProblem> {
        let html = self.require("html", "\"50kb\"")?;
        let html = law::read(html, Measure::Size, self.inputs).map_err(|wrong| wrong.at("html"))?;
        let connections = match self.table.get("http").map(|node| (node, node.as_text())) {
            None | Some((_, Some("2"))) => 1,
            Some((_, Some("1.1"))) => HTTP_1_CONNECTIONS,
            Some((node, _)) => {
                return Err(ValueProblem::value(node.describe(), "\"1.1\" or \"2\"").at("http"));
            }
        };
        let given = self.table.has("think");
        let pause = Law::Constant(self.default("think").unwrap_or_default());
        Ok(Workload::Web {
            html_bytes: positive(html, "html")?,
            objects: self.whole("objects")?,
            object_bytes: self.sizes()?,
            levels: self.whole("levels")?,
            connections,
            think_ns: if given { self.times("think")? } else { pause },
        })
    }

    /// A whole number within the registry's bounds, or its default.
    fn whole(&self, key: &str) -> Result<u64, ValueProblem> {
        let parameter = self.info.parameter(key).expect("it is declared");
        let Some(node) = self.table.get(key) else {
            return Ok(self.default(key).expect("it has a default"));
        };
        let number = node.as_whole().filter(|&number| parameter.bounds.contains(number));
        let wrong =
            || ValueProblem::value(node.describe(), parameter::expectation(parameter)).at(key);
        number.ok_or_else(wrong)
    }

    fn udp(&self) -> Result<Workload, ValueProblem> {
        let rate_bps = self.quantity("rate", parse_rate, "\"5mbit\"")?;
        let size_bytes = self.or_default("size", bytes, "\"1200b\"")?;
        let burst = self.whole("burst")?;
        Ok(Workload::Udp { rate_bps, size_bytes, burst })
    }

    fn ping(&self) -> Result<Workload, ValueProblem> {
        let interval_ns = self.or_default("interval", scalar::duration, "\"200ms\"")?;
        let size_bytes = self.or_default("size", bytes, "\"56b\"")?;
        Ok(Workload::Ping { interval_ns, size_bytes })
    }

    fn media(&self) -> Result<Workload, ValueProblem> {
        let control = self.media_control()?;
        let feedback_ns = match (self.table.has("feedback"), control) {
            (true, _) => self.quantity("feedback", scalar::duration, "\"100ms\"")?,
            (false, MediaControl::Nada) => NADA_FEEDBACK_NS,
            (false, _) => FEEDBACK_NS,
        };
        let [min_bps, max_bps] = ["min", "max"].map(|key| self.or_default(key, parse_rate, RATE));
        let time = |key: &str| match (self.table.has(key), self.default(key)) {
            (false, Some(default)) => Ok(default),
            _ => {
                let node = self.require(key, "\"200ms\"")?;
                let exact = node.as_text().map(scalar::duration).transpose();
                let remedy = "a duration such as \"200ms\"";
                let wrong = || ValueProblem::value(node.describe(), remedy).at(key);
                exact.map_err(|wrong| wrong.at(key))?.ok_or_else(wrong)
            }
        };
        let media = Media {
            control,
            min_bps: min_bps?,
            max_bps: max_bps?,
            fps: self.whole("fps")?,
            packet_bytes: self.or_default("packet", bytes, "\"1000b\"")?,
            reaction_ns: time("reaction")?,
            deviation_ppm: self.deviations()?,
            key_frame: self.whole("key_frame")?,
            jitter_buffer_ns: time("jitter_buffer")?,
            feedback_ns,
        };
        if media.max_bps < media.min_bps {
            let given = self.table.get("max").map(|node| ("max", node, "`min` or more"));
            let or = self.table.get("min").map(|node| ("min", node, "at most `max`"));
            if let Some((key, node, remedy)) = given.or(or) {
                return Err(ValueProblem::value(node.describe(), remedy).at(key));
            }
        }
        Ok(Workload::Media(media))
    }

    fn media_control(&self) -> Result<MediaControl, ValueProblem> {
        match self.table.get("control").map(|node| (node, node.as_text())) {
            None | Some((_, Some("nada"))) => Ok(MediaControl::Nada),
            Some((_, Some("scream"))) => Ok(MediaControl::Scream),
            Some((_, Some("scream_program"))) => Ok(MediaControl::ScreamProgram),
            Some((_, Some("none"))) => Ok(MediaControl::None),
            Some((node, _)) => {
                let remedy = "\"nada\", \"scream\", \"scream_program\" or \"none\"";
                Err(ValueProblem::value(node.describe(), remedy).at("control"))
            }
        }
    }

    /// The deviations of a Laplacian distribution to one side, in millionths.
    fn deviations(&self) -> Result<Law, ValueProblem> {
        let percent = self.whole("variation")?;
        let mean = percent.min(100) * 10_000;
        let law = Distribution::Exponential { mean }.law().filter(|_| mean > 0);
        Ok(law.unwrap_or(Law::Constant(percent * 10_000)))
    }

    /// A quantity above zero, or the registry's default.
    fn or_default(
        &self,
        key: &str,
        parse: fn(&str) -> Result<u64, ValueProblem>,
        example: &str,
    ) -> Result<u64, ValueProblem> {
        match self.default(key) {
            Some(default) if !self.table.has(key) => Ok(default),
            _ => self.quantity(key, parse, example),
        }
    }

    /// The bitrates of an adaptive video in bit/s.
    fn bitrates(&self) -> Result<Vec<u64>, ValueProblem> {
        let example = "[\"1mbit\", \"5mbit\"]";
        let node = self.require("bitrates", example)?;
        let remedy = format!("a list of rates above zero, such as {example},");
        let wrong =
            |node: &Node| ValueProblem::value(node.describe(), remedy.clone()).at("bitrates");
        let rate = |node: &Node| -> Result<u64, ValueProblem> {
            let text = node.as_text().ok_or_else(|| wrong(node))?;
            let bps = parse_rate(text).map_err(|wrong| wrong.at("bitrates"))?;
            if bps > 0 { Ok(bps) } else { Err(wrong(node)) }
        };
        let list = node.list().filter(|list| !list.is_empty()).ok_or_else(|| wrong(node))?;
        list.iter().map(rate).collect()
    }

    /// Chunk, start and buffer of a video's player, in ns.
    fn playback(&self) -> Result<[u64; 3], ValueProblem> {
        let chunk_ns = self.quantity("chunk", scalar::duration, "\"4s\"")?;
        let or = |key: &str| match self.table.has(key) {
            true => self.quantity(key, scalar::duration, "\"4s\""),
            false => Ok(self.default(key).unwrap_or(chunk_ns)),
        };
        let (start_ns, buffer_ns) = (or("start")?, or("buffer")?);
        if start_ns + chunk_ns > buffer_ns {
            let found = quote(&format_duration(buffer_ns));
            let least = format_duration(start_ns + chunk_ns);
            let remedy = format!("room for `start` and a chunk, \"{least}\" or more,");
            return Err(ValueProblem::value(found, remedy).at("buffer"));
        }
        Ok([chunk_ns, start_ns, buffer_ns])
    }

    /// The default, if the registry has a whole one.
    fn default(&self, key: &str) -> Option<u64> {
        match self.info.parameter(key)?.default {
            ParameterDefault::Whole(default) => Some(default),
            _ => None,
        }
    }

    fn require(&self, key: &str, example: &str) -> Result<&Node, ValueProblem> {
        let missing = || ValueProblem::missing(key, format!("a value such as {example}"));
        self.table.get(key).ok_or_else(missing)
    }

    fn sizes(&self) -> Result<Law, ValueProblem> {
        let node = self.require("size", "\"1mb\"")?;
        let law = law::read(node, Measure::Size, self.inputs).map_err(|wrong| wrong.at("size"))?;
        positive(law, "size")
    }

    fn times(&self, key: &str) -> Result<Law, ValueProblem> {
        let node = self.require(key, "\"2s\"")?;
        law::read(node, Measure::Time, self.inputs).map_err(|wrong| wrong.at(key))
    }

    /// A quantity above zero.
    fn quantity(
        &self,
        key: &str,
        parse: fn(&str) -> Result<u64, ValueProblem>,
        example: &str,
    ) -> Result<u64, ValueProblem> {
        let node = self.require(key, example)?;
        let exact = node.as_text().map(parse).transpose().map_err(|wrong| wrong.at(key))?;
        exact.filter(|&exact| exact > 0).ok_or_else(|| {
            let what = if exact.is_none() { "with its unit" } else { "above zero" };
            let remedy = format!("a quantity {what}, such as {example},");
            ValueProblem::value(node.describe(), remedy).at(key)
        })
    }

    /// The mean time from one flow to the next, in ns, from "5/s", "300/min" or "20/h".
    fn interval(&self) -> Result<u64, ValueProblem> {
        let node = self.require("rate", "\"5/s\"")?;
        let remedy = "a number of flows in a time, such as \"5/s\",";
        let wrong = || ValueProblem::value(node.describe(), remedy).at("rate");
        let (number, unit) = node.as_text().and_then(|t| t.split_once('/')).ok_or_else(wrong)?;
        let seconds = match unit.trim() {
            "s" => 1,
            "min" => 60,
            "h" => 3600,
            _ => return Err(wrong()),
        };
        let number = exact::parse_number(number.trim()).filter(Signed::is_positive);
        let frequency = number.ok_or_else(wrong)? / exact::whole(seconds);
        let mean = exact::whole(1_000_000_000) / frequency;
        if mean < exact::whole(1) || mean > exact::whole(MAX_DURATION_NS) {
            return Err(ValueProblem::value(node.describe(), "from 1/h to 1000000/s").at("rate"));
        }
        Ok(exact::floor(&exact::round(&mean, 0)))
    }
}

/// A size in bytes.
fn bytes(text: &str) -> Result<u64, ValueProblem> {
    let size = parse_size(text)?;
    if size.unit == SizeUnit::Bytes {
        return Ok(size.whole());
    }
    Err(ValueProblem::value(quote(text), "a size in bytes, such as \"1200b\","))
}

/// A distribution that doesn't always give zero.
fn positive(law: Law, key: &str) -> Result<Law, ValueProblem> {
    if law.is_zero() {
        return Err(ValueProblem::value("zero", "more than zero").at(key));
    }
    Ok(law)
}

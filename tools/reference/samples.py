"""The samples that controls get, in each language, from crates/control/samples.toml.

Rust files, Python classes and their stub, arrays for JavaScript and the tables of
docs/how-to/own-control.md.
"""

from __future__ import annotations

import re
import subprocess
import textwrap
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reference import ROOT

DECLARATION = ROOT / "crates" / "control" / "samples.toml"
NOTE = "`make reference` makes this file from crates/control/samples.toml."
_BLOCKS = {
    ROOT / "python" / "narrows" / "_native.pyi": re.compile(
        r"(# Samples\.\n).*?(# End of samples\.)", re.DOTALL
    ),
    ROOT / "docs" / "how-to" / "own-control.md": re.compile(
        r"(<!-- samples -->\n).*?(<!-- end -->)", re.DOTALL
    ),
}


@dataclass(frozen=True)
class FieldKind:
    """How a kind of field is written in each language; `{}` is the field in `narrows_cc`.

    `inside` is its type there. `layout` and `convert` are for a file of Rust, `python` and `value`
    for Python, `number` for JavaScript, `stub` the type in Python, `unit` that of the number.
    """

    inside: str
    layout: str
    convert: str
    python: str
    value: str
    number: str
    stub: str
    unit: str = "packets"


KINDS = {
    "time": FieldKind(
        "Time", "u64", "{}.as_nanos()", "f64", "{}.as_secs_f64()", "{}.as_secs_f64()", "float", "s"
    ),
    "time?": FieldKind(
        "Option<Time>",
        "Maybe<u64>",
        "{}.map(Time::as_nanos).into()",
        "Option<f64>",
        "{}.map(Time::as_secs_f64)",
        "{}.map_or(f64::NAN, Time::as_secs_f64)",
        "float | None",
        "s",
    ),
    "duration?": FieldKind(
        "Option<Duration>",
        "Maybe<u64>",
        "{}.map(Duration::as_nanos).into()",
        "Option<f64>",
        "{}.map(Duration::as_secs_f64)",
        "{}.map_or(f64::NAN, Duration::as_secs_f64)",
        "float | None",
        "s",
    ),
    "measured": FieldKind(
        "Duration",
        "Maybe<u64>",
        "drop_placeholder({}).map(Duration::as_nanos).into()",
        "Option<f64>",
        "drop_placeholder({}).map(Duration::as_secs_f64)",
        "drop_placeholder({}).map_or(f64::NAN, Duration::as_secs_f64)",
        "float | None",
        "s",
    ),
    "u32": FieldKind("u32", "u32", "{}", "u32", "{}", "{}.into()", "int"),
    "u64": FieldKind("u64", "u64", "{}", "u64", "{}", "{} as f64", "int"),
    "u32?": FieldKind(
        "Option<u32>",
        "Maybe<u32>",
        "{}.into()",
        "Option<u32>",
        "{}",
        "{}.map_or(f64::NAN, f64::from)",
        "int | None",
    ),
    "flag": FieldKind("bool", "bool", "{}", "bool", "{}", "flag({})", "bool", ""),
    "round": FieldKind(
        "", "bool", "round_start", "bool", "round_start", "flag(round_start)", "bool", ""
    ),
    "state": FieldKind(
        "RecoveryState",
        "RecoveryState",
        "state({})",
        "&'static str",
        "{}.name()",
        "f64::from({} as u8)",
        "str",
        "",
    ),
}
"""The kinds whose field is one value everywhere."""


@dataclass(frozen=True)
class Flat:
    """A field that stands for a part of another one in Python and JavaScript."""

    name: str
    python: str
    value: str
    number: str
    stub: str
    unit: str
    doc: str


def _of_rate(name: str, doc: str, inner: str, stub: str, unit: str, *, count: bool) -> Flat:
    """A number of the rate sample, which may be missing."""
    as_number = " as f64" if count else ""
    return Flat(
        name,
        "Option<u64>" if count else "Option<f64>",
        f"sample.rate.map(|rate| {inner})",
        f"sample.rate.map_or(f64::NAN, |rate| {inner}{as_number})",
        f"{stub} | None",
        unit,
        doc,
    )


def _at_send(of: str, name: str, doc: str, *, maybe: bool) -> Flat:
    """A number of the flow's state when a packet was sent."""
    inner = name.removesuffix("_at_send")
    if not maybe:
        value = f"{of}.{inner}"
        return Flat(name, "u32", value, f"{value}.into()", "int", "packets", doc)
    then = f"{of}.and_then(|rate| rate.at_send)"
    return Flat(
        name,
        "Option<u32>",
        f"{then}.map(|then| then.{inner})",
        f"{then}.map_or(f64::NAN, |then| then.{inner}.into())",
        "int | None",
        "packets",
        f"{doc}; none without `on_lost`.",
    )


_IN_FLIGHT = "Packets in flight when the packet was sent, including it"
_LOST = "Packets marked lost before the packet was sent, modulo 2^32"
FLAT = {
    "rate": (
        _of_rate(
            "delivery_rate_bps",
            "Delivery rate, if the ACK gives a valid sample.",
            "rate.payload_bps(sample.mss)",
            "float",
            "payload bit/s",
            count=False,
        ),
        _of_rate(
            "rate_interval_s",
            "Time over which the rate was measured: the longer of the send and the ACK interval.",
            "rate.interval.as_secs_f64()",
            "float",
            "s",
            count=False,
        ),
        _of_rate(
            "prior_delivered",
            "`delivered` when the sampled packet was sent.",
            "rate.prior_delivered",
            "int",
            "packets",
            count=True,
        ),
        Flat(
            "app_limited",
            "bool",
            "sample.rate.is_some_and(|rate| rate.app_limited)",
            "flag(sample.rate.is_some_and(|rate| rate.app_limited))",
            "bool",
            "",
            "True if the sampled packet left while the sender had too little to send.",
        ),
        _at_send("sample.rate", "in_flight_at_send", _IN_FLIGHT, maybe=True),
        _at_send("sample.rate", "lost_at_send", _LOST, maybe=True),
    ),
    "at_send": (
        _at_send("packet.at_send", "in_flight_at_send", f"{_IN_FLIGHT}.", maybe=False),
        _at_send("packet.at_send", "lost_at_send", f"{_LOST}.", maybe=False),
    ),
    "congestion": (
        Flat(
            "kind",
            "&'static str",
            "event.kind.name()",
            "event.kind.number() as f64",
            "str",
            "",
            'The reason: "loss", "ecn", "tail_loss" or "timeout".',
        ),
        Flat(
            "first",
            "bool",
            "event.kind.is_first()",
            "flag(event.kind.is_first())",
            "bool",
            "",
            "False for a timeout that only repeats one, or comes within an episode.",
        ),
    ),
}
"""The kinds that are several values in Python and JavaScript."""
LAYOUTS = {
    "rate": ("Maybe<RateSample>", "{}.map(rate).into()"),
    "at_send": ("AtSend", "at_send({})"),
    "congestion": ("Congestion", "congestion({})"),
}
"""Their types in a file of Rust."""
INSIDE = {
    "rate": "Option<RateSample>",
    "at_send": "AtSend",
    "congestion": "Congestion",
    "progress": "Progress",
    "pacing": "Rate",
}
"""Their types in `narrows_cc`, and those of the kinds that are there alone."""
WITHOUT_DEFAULT = {"congestion"}
"""The kinds that have no default there."""


@dataclass(frozen=True)
class Sample:
    """A declared sample."""

    event: str
    name: str
    doc: str
    every: Sequence[Mapping[str, Any]]

    @property
    def fields(self) -> list[Mapping[str, Any]]:
        """The fields that other languages have, too."""
        return [field for field in self.every if not field.get("inside")]

    @property
    def argument(self) -> str:
        """Its name as an argument."""
        if self.event == "on_lost":
            return "packet"
        return "sample" if self.name.endswith("Sample") else "event"

    @property
    def function(self) -> str:
        """The name of its conversion."""
        return self.event.removeprefix("on_")

    @property
    def has_rounds(self) -> bool:
        """Returns True if its adapter tells rounds."""
        return any(field["kind"] == "round" for field in self.fields)

    @property
    def parameters(self) -> str:
        """The parameters of its conversion."""
        own = f"{self.argument}: &cc::{self.name}"
        return f"{own}, round_start: bool" if self.has_rounds else own

    def flat(self) -> Iterator[Flat]:
        """Its fields in Python and JavaScript."""
        for field in self.fields:
            if field["kind"] in FLAT:
                yield from FLAT[field["kind"]]
                continue
            kind = KINDS[field["kind"]]
            place = f"{self.argument}.{field['name']}"
            unit = field.get("unit", kind.unit)
            name = f"{field['name']}_s" if kind.unit == "s" else field["name"]
            doc = field["doc"]
            if field["kind"] == "state":
                doc = doc.removesuffix(".") + ': "open", "disorder", "cwr", "recovery" or "loss".'
            yield Flat(
                name,
                kind.python,
                kind.value.format(place),
                kind.number.format(place),
                kind.stub,
                unit,
                doc,
            )


def read_samples() -> list[Sample]:
    """The declared samples."""
    declared = tomllib.loads(DECLARATION.read_text(encoding="utf-8"))["sample"]
    return [Sample(one["event"], one["name"], one["doc"], one["fields"]) for one in declared]


def _comment(text: str, indent: str = "", mark: str = "///") -> str:
    lead = f"{indent}{mark} "
    return "\n".join(
        textwrap.wrap(
            text,
            100,
            initial_indent=lead,
            subsequent_indent=lead,
            break_on_hyphens=False,
            break_long_words=False,
        )
    )


def _layout_name(field: Mapping[str, Any]) -> str:
    timed = field["kind"] in KINDS and KINDS[field["kind"]].unit == "s"
    return f"{field['name']}_ns" if timed else str(field["name"])


def _entry(name: str, value: str) -> str:
    """A field in a literal of Rust, short if its value has its name."""
    return f"{name}," if name == value else f"{name}: {value},"


def _structure(name: str, attributes: str, doc: str, fields: Iterable[tuple[str, str]]) -> str:
    """A type of Rust with its fields, each with its doc."""
    parts = [_comment(doc), attributes, f"pub struct {name} {{"]
    for declared, what in fields:
        parts += [_comment(what, "    "), f"    {declared},"]
    return "\n".join([*parts, "}"])


def write_events(samples: Sequence[Sample]) -> str:
    """The sender's own types, in `narrows_cc`."""
    parts = [
        "//! The events that the sender tells a control; their parts are in `samples`.",
        f"//!\n//! {NOTE}",
        "",
        "use narrows_base::{Duration, Rate, Time};",
        "",
        "use crate::progress::Progress;",
        "use crate::samples::{AtSend, Congestion, RateSample, RecoveryState};",
    ]
    for sample in samples:
        fields = [field for field in sample.every if field["kind"] != "round"]
        has_default = not any(field["kind"] in WITHOUT_DEFAULT for field in fields)
        derived = f"#[derive(Clone, Copy, Debug{', Default' if has_default else ''})]"
        told = map(_inside, fields)
        parts += ["", _structure(sample.name, derived, sample.doc, told)]
    return "\n".join(parts) + "\n"


def _inside(field: Mapping[str, Any]) -> tuple[str, str]:
    """A field in `narrows_cc`, and its doc."""
    kind, doc = field["kind"], field["doc"]
    if "placeholder" in field:
        doc = f"{doc.removesuffix('.')}; {field['placeholder']} before the first sample."
    inside = INSIDE[kind] if kind in INSIDE else KINDS[kind].inside
    return f"pub {field['name']}: {inside}", doc


def write_layouts(samples: Sequence[Sample]) -> str:
    """The types that a file of Rust gets, in the layout of C."""
    parts = [
        "//! The samples in a fixed layout; `narrows_cc` has the sender's own.",
        f"//!\n//! {NOTE}",
        "",
        "use crate::samples::{AtSend, Congestion, Maybe, RateSample, RecoveryState};",
    ]
    for sample in samples:
        derived = "#[repr(C)]\n#[derive(Clone, Copy, Debug)]"
        told = map(_in_layout, sample.fields)
        parts += ["", _structure(sample.name, derived, sample.doc, told)]
    return "\n".join(parts) + "\n"


def _in_layout(field: Mapping[str, Any]) -> tuple[str, str]:
    """A field in the layout of C, and its doc."""
    kind = field["kind"]
    layout = LAYOUTS[kind][0] if kind in LAYOUTS else KINDS[kind].layout
    return f"pub {_layout_name(field)}: {layout}", field["doc"]


def write_conversions(samples: Sequence[Sample]) -> str:
    """The functions from the sender's samples to those of a file of Rust."""
    parts = [
        "//! The engine's samples in the layout that libraries of controls know.",
        f"//!\n//! {NOTE}",
        "",
        "use narrows_base::{Duration, Time};",
        "use narrows_cc::{self as cc, drop_placeholder};",
        "use narrows_control as own;",
        "",
        "use super::parts::{at_send, congestion, rate, state};",
    ]
    for sample in samples:
        head = f"pub(super) fn {sample.function}_of({sample.parameters}) -> own::{sample.name} {{"
        parts += ["", head, f"    own::{sample.name} {{"]
        for field in sample.fields:
            kind = field["kind"]
            convert = LAYOUTS[kind][1] if kind in LAYOUTS else KINDS[kind].convert
            name, value = _layout_name(field), convert.format(f"{sample.argument}.{field['name']}")
            parts.append(_entry(name, value))
        parts += ["    }", "}"]
    return "\n".join(parts) + "\n"


def write_classes(samples: Sequence[Sample]) -> str:
    """The classes of the native module for controls written in Python."""
    parts = [
        "//! The arguments of a control written in Python: plain objects, units in their names.",
        f"//!\n//! {NOTE}",
        "",
        "use narrows_base::{Duration, Time};",
        "use narrows_cc::{self as cc, drop_placeholder};",
        "use pyo3::prelude::*;",
    ]
    for sample in samples:
        fields = list(sample.flat())
        derived = '#[pyclass(frozen, get_all, module = "narrows._native")]\n#[derive(Debug)]'
        told = ((f"{field.name}: {field.python}", field.doc) for field in fields)
        parts += ["", _structure(sample.name, derived, sample.doc, told)]
        parts += ["", f"impl {sample.name} {{"]
        parts.append(f"    pub(super) fn new({sample.parameters}) -> Self {{")
        parts.append("        Self {")
        for field in fields:
            parts.append(_entry(field.name, field.value))
        parts += ["        }", "    }", "}", "", "#[pymethods]", f"impl {sample.name} {{"]
        parts += ["    fn __repr__(&self) -> String {", '        format!("{self:?}")', "    }", "}"]
    return "\n".join(parts) + "\n"


def write_arrays(samples: Sequence[Sample]) -> str:
    """The arrays of numbers for controls written in JavaScript."""
    parts = [
        "//! The events of a control written in JavaScript, and the arrays of their fields.",
        f"//!\n//! {NOTE}",
        "",
        '#![expect(clippy::cast_precision_loss, reason = "counters stay far below 2^53")]',
        "",
        "use narrows_base::{Duration, Time};",
        "use narrows_cc::{self as cc, drop_placeholder};",
        "",
        "/// The events and their fields, in the order of the numbers.",
        f"pub(super) const EVENTS: [(&str, &[&str]); {len(samples) + 1}] = [",
        '    ("on_connect", &["mss", "initial_cwnd", "rtt_s"]),',
    ]
    for sample in samples:
        names = ", ".join(f'"{field.name}"' for field in sample.flat())
        parts.append(f'    ("{sample.event}", &[{names}]),')
    flags = dict.fromkeys(
        f'"{field.name}"' for sample in samples for field in sample.flat() if field.stub == "bool"
    )
    parts += ["];", "", "/// The fields that are flags."]
    parts.append(f"pub(super) const FLAGS: [&str; {len(flags)}] = [{', '.join(flags)}];")
    for sample in samples:
        fields = list(sample.flat())
        result = f"[f64; {len(fields)}]"
        head = f"pub(super) fn {sample.function}_fields({sample.parameters}) -> {result} {{"
        parts += ["", head, "    ["]
        parts += [f"        {field.number}," for field in fields]
        parts += ["    ]", "}"]
    parts += ["", "fn flag(holds: bool) -> f64 {", "    f64::from(u8::from(holds))", "}"]
    return "\n".join(parts) + "\n"


def write_stub(samples: Sequence[Sample]) -> str:
    """The classes of the native module as type checkers read them."""
    parts = []
    for sample in samples:
        parts += ["@final", f"class {sample.name}:", f'    """{sample.doc}"""', ""]
        for field in sample.flat():
            parts += ["    @property", f"    def {field.name}(self) -> {field.stub}:"]
            end = " " if field.doc.endswith('"') else ""
            parts.append(f'        """{field.doc}{end}"""')
        parts.append("")
    return "\n".join(parts)


def write_tables(samples: Sequence[Sample]) -> str:
    """The tables of the how-to, a heading for each method."""
    parts = []
    for sample in samples:
        needed = "" if sample.event in ("on_ack", "on_congestion") else " (optional)"
        parts += [f"**`{sample.event}({sample.argument})`**{needed}: {sample.doc}", ""]
        parts += ["| field | unit | meaning |", "| --- | --- | --- |"]
        for field in sample.flat():
            unit = f"{field.unit} or None" if "None" in field.stub else field.unit
            parts.append(f"| `{field.name}` | {unit} | {field.doc} |")
        parts.append("")
    return "\n".join(parts)


def format_rust(text: str) -> str:
    """A source as rustfmt lays it out."""
    command = ["rustfmt", "--edition", "2024", "--config-path", str(ROOT)]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    return done.stdout


def pages() -> dict[Path, str]:
    """The files by their paths."""
    samples = read_samples()
    stub, page = _BLOCKS
    made = {
        path: format_rust(text)
        for path, text in {
            ROOT / "crates/cc/src/events.rs": write_events(samples),
            ROOT / "crates/control/src/events.rs": write_layouts(samples),
            ROOT / "crates/python/src/control/rust/convert.rs": write_conversions(samples),
            ROOT / "crates/python/src/control/events.rs": write_classes(samples),
            ROOT / "crates/wasm/src/javascript_control/events.rs": write_arrays(samples),
        }.items()
    }
    for path, text in ((stub, f"{write_stub(samples)}\n"), (page, write_tables(samples))):
        old = path.read_text(encoding="utf-8")
        made[path] = _BLOCKS[path].sub(lambda found, text=text: f"{found[1]}{text}{found[2]}", old)
    return made

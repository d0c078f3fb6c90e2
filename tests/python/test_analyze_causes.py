"""Finds the causes in captures of simulated flows at either end, and replays those captures.

docs/results/captures.md has the figures for captures of real Linux on other networks.
"""

import json
from pathlib import Path
from typing import Any

import pytest

import narrows.runner
from narrows import cli
from narrows.analyze import analyze
from narrows.analyze.inferred import impairments
from narrows.figures import describe
from narrows.figures.palette import COLOURS
from narrows.report import write_report
from narrows.report.accounts import conclusion, remedy_lines
from narrows.store import CaptureOptions, open_result

SPEC = """
name = "cause"
[path]
rate = "{rate}"
rtt = "40ms"
buffer = "{buffer}"
{path}
[[flows]]
cca = "cubic"
{flow}
{others}
[run]
duration = "10s"
"""
CASES = {
    "healthy": {},
    "queue": {"buffer": "12bdp"},
    "receiver_window": {"flow": 'receive_window = "40kb"'},
    "application": {"flow": 'workload = { kind = "on_off", on = "50ms", off = "500ms" }'},
    "slow_start": {"flow": 'size = "60kb"'},
    "random_loss": {"path": "loss = 0.01"},
    "policer": {"path": '[[path.impairments]]\nkind = "policer"\nrate = "4mbit"\nburst = "100kb"'},
    "timeouts": {
        "path": '[[path.impairments]]\nkind = "outage"\nevery = "2500ms"\nlasts = "1500ms"'
    },
    "fair_share": {"others": '[[flows]]\ncca = "bbr"\ncount = 2'},
}

MORE = {
    "equal": {"others": '[[flows]]\ncca = "cubic"'},
    "slow_share": {"rate": "4mbit"} | CASES["fair_share"],
}
DEFAULT = {"rate": "20mbit", "buffer": "1bdp", "path": "", "flow": "", "others": ""}


def capture(cause, directory):
    parts = DEFAULT | (CASES | MORE)[cause]
    spec = directory / "cause.toml"
    spec.write_text(SPEC.format(**parts))
    job = narrows.runner.prepare(spec)
    captures = CaptureOptions(pcap=True)
    ran = narrows.runner.execute(job, out=directory / "run", captures=captures)
    return ran.result.trials[0].path / "captures"


def first_flow(analysis):
    return analysis.findings["flows"][0]


@pytest.fixture(params=CASES)
def cause_and_files(request, tmp_path):
    return request.param, capture(request.param, tmp_path)


def test_the_first_cause_is_the_one_that_was_simulated(cause_and_files, tmp_path):
    cause, captures = cause_and_files
    flow = first_flow(analyze([captures / "sender.pcapng"], out=tmp_path / "sender"))
    causes = flow["causes"]
    assert causes["first"] == cause, causes
    assert sum(share["share"] for share in causes["shares"]) == pytest.approx(1.0)
    life_s = flow["end_s"] - flow["start_s"]
    assert sum(share["time_s"] for share in causes["shares"]) == pytest.approx(life_s, abs=1e-6)
    reached = cause in ("healthy", "queue", "timeouts")
    assert (causes["capacity"]["rate_mbps"] is not None) is reached
    if reached:
        assert causes["capacity"]["rate_mbps"] == pytest.approx(20 * 1448 / 1500, rel=0.05)


@pytest.mark.parametrize("cause", ["receiver_window", "application", "queue", "random_loss"])
def test_the_receivers_capture_shows_the_cause_too(cause, tmp_path):
    file = capture(cause, tmp_path) / "receiver.pcapng"
    flow = first_flow(analyze([file], out=tmp_path / "receiver"))
    assert (flow["vantage"], flow["causes"]["first"]) == ("receiver", cause)


WINDOWS = """
path = { rate = "100mbit", rtt = "40ms", buffer = "1bdp" }
host = { socket_buffers = "stock" }
flows = [{ cca = "CCA", receive_window = "WINDOW" }]
run = { duration = "5s" }
"""


def shares_of(cca, window, rtt, directory, rate="100mbit", duration="5s"):
    """The shares of causes of a flow with a receive window."""
    values = {"CCA": cca, "WINDOW": window, "40ms": rtt, "100mbit": rate, "5s": duration}
    text = WINDOWS
    for old, new in values.items():
        text = text.replace(old, new)
    (directory / "up.toml").write_text(text)
    job = narrows.runner.prepare(directory / "up.toml")
    captures = CaptureOptions(pcap=True)
    ran = narrows.runner.execute(job, out=directory / "run", captures=captures)
    file = ran.result.trials[0].path / "captures/sender.pcapng"
    causes = first_flow(analyze([file], out=directory / "found"))["causes"]
    return {one["cause"]: one["share"] for one in causes["shares"]}


@pytest.mark.parametrize("cca", ["cubic", "bbr"])
def test_a_sender_that_fills_the_receivers_window_is_not_limited_by_its_buffer(cca, tmp_path):
    """256,000 bytes have room for 176.8 segments, and the sender waits for longer bursts."""
    shares = shares_of(cca, "256kb", "40ms", tmp_path)
    assert "send_buffer" not in shares
    assert shares["receiver_window"] > 0.9


@pytest.mark.parametrize("cca", ["cubic", "bbr"])
def test_a_sender_limited_by_its_buffer_is_still_called_so(cca, tmp_path):
    """CUBIC fills the receiver's window for 10 of 4,000 ms; BBR stays 12 % below it."""
    shares = shares_of(cca, "60mb", "100ms", tmp_path, rate="500mbit", duration="4s")
    assert shares.get("receiver_window", 0) < 0.01
    assert shares["send_buffer"] > 0.5


@pytest.mark.parametrize("end", ["sender", "receiver"])
def test_two_equal_flows_share_a_bottleneck_however_steady_they_are(end, tmp_path):
    files = capture("equal", tmp_path)
    flows = analyze([files / f"{end}.pcapng"], out=tmp_path / "found").findings["flows"]
    assert [flow["causes"]["first"] for flow in flows] == ["fair_share"] * 2
    assert all(flow["causes"]["capacity"]["rate_mbps"] is None for flow in flows)


def test_a_senders_pauses_do_not_hide_the_queue_of_slow_flows_from_their_receiver(tmp_path):
    file = capture("slow_share", tmp_path) / "receiver.pcapng"
    flows = analyze([file], out=tmp_path / "found").findings["flows"]
    assert [flow["causes"]["first"] for flow in flows] == ["fair_share"] * 3


@pytest.mark.parametrize("end", ["sender", "receiver"])
def test_a_policer_is_measured(end, tmp_path):
    file = capture("policer", tmp_path) / f"{end}.pcapng"
    causes = first_flow(analyze([file], out=tmp_path / "found"))["causes"]
    assert causes["first"] == "policer"
    policer = causes["policer"]
    assert policer["rate_mbps"] == pytest.approx(4 * 1448 / 1500, rel=0.15)
    assert policer["burst_bytes"] == pytest.approx(100e3 * 1448 / 1500, rel=0.1)


def test_terminal_table_and_figure_have_the_causes(tmp_path, capsys):
    file = capture("receiver_window", tmp_path) / "sender.pcapng"
    assert cli.main(["analyze", str(file), "--out", str(tmp_path / "found")]) == 0
    assert "% of the time the receiver's window was full" in capsys.readouterr().out
    page = (tmp_path / "found" / "report.html").read_text(encoding="utf-8")
    assert page.count("unknown, at least") == 1  # the path's rate, in one place
    (trial,) = open_result(tmp_path / "found").trials
    causes = trial.tables["causes"]
    assert "receiver_window" in set(causes["cause"])
    figure = describe("sequence", trial.scenario, trial.columns)
    assert {span.label for span in figure.panels[0].spans} == {
        cause.replace("_", " ") for cause in causes["cause"]
    }


@pytest.mark.parametrize(
    ("capacity_mbps", "needed"),
    [
        (None, "twice the rate, 60 Mbit/s, needs a window of 300 kB in a round trip of 40.0 ms"),
        (80.0, "the capacity, 80 Mbit/s, needs a window of 400 kB in a round trip of 40.0 ms"),
    ],
)
def test_the_remedy_names_the_window_that_the_path_needs(
    capacity_mbps: float | None, needed: str
) -> None:
    causes = {
        "first": "receiver_window",
        "sentence": "",
        "capacity": {"rate_mbps": capacity_mbps},
    }
    flow = {"to_receiver_ms": 40.0, "to_sender_ms": 0.0, "goodput_mbps": 30.0, "causes": causes}
    [line] = remedy_lines(flow)
    assert needed in line
    assert needed not in next(remedy_lines({**flow, "to_receiver_ms": None}))


@pytest.mark.parametrize(
    ("cause", "end"),
    [
        ("healthy", "sender"),
        ("receiver_window", "sender"),
        ("application", "sender"),
        ("timeouts", "sender"),
        ("healthy", "receiver"),
        ("application", "receiver"),
        ("timeouts", "receiver"),
    ],
)
def test_a_replay_agrees_with_what_was_captured(cause, end, tmp_path, capsys):
    file = capture(cause, tmp_path) / f"{end}.pcapng"
    place = tmp_path / "found"
    assert cli.main(["analyze", str(file), "--out", str(place), "--replay", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["replay"]
    assert found["agrees"] == [True], found
    assert set(found["alternatives"]) >= {"bbr", "fq_codel"}
    wider = found["alternatives"].get("twice the window")
    assert (wider is not None) == (cause == "receiver_window")
    if wider is not None:
        assert wider[0]["goodput_mbps"] == pytest.approx(
            2 * found["captured"][0]["goodput_mbps"], rel=0.1
        )
    assert cli.main(["analyze", str(file), "--out", str(place), "--replay", "--force"]) == 0
    printed = capsys.readouterr().out
    assert "the replay agrees" in printed
    page = (place / "report.html").read_text()
    shown = ["captured", "replayed", "BBR", "FQ-CoDel", *["twice the window"] * (wider is not None)]
    assert all(f'<tr><td class="text">{label}</td>' in page for label in shown)
    assert "replay of the inferred path agrees" in page
    full = cause == "receiver_window"
    assert ("what would help: a larger receive buffer" in printed) == full
    assert ("since the receiver's window limited the flow" in printed) == full
    if full and end == "sender":
        result = open_result(place)
        least_ms = result.trials[0].scenario["path"]["rtt_ns"] / 1e6
        assert least_ms < found["captured"][0]["rtt_ms"]
        assert result.summary["runs"][0]["flows"][0]["rtt_ms"]["min"] >= least_ms


def test_outages_of_flows_that_overlap_are_one():
    flows = [
        {
            "causes": {
                "outages": spans,
                "shares": [{"cause": "timeouts", "share": 1.0}],
                "policer": None,
            }
        }
        for spans in ([(1.0, 2.0), (5.0, 5.5)], [(1.5, 2.5)])
    ]
    found = [line for line in impairments(flows) if line.startswith("outages")]
    assert found == ['outages = { "1.000000s" = "1.500000s", "5.000000s" = "0.500000s" }']


def test_kernel_transfer_is_healthy(tmp_path):
    file = Path(__file__).parents[1] / "data/captures/sender.pcapng.gz"
    assert first_flow(analyze([file], out=tmp_path / "out"))["causes"]["first"] == "healthy"


def flow_of(cause: str, control: str = "cubic", received: int = 1000) -> dict[str, Any]:
    """As much of a captured flow as a conclusion needs."""
    return {
        "received_bytes": received,
        "queueing_ms": 30.0,
        "control": {"control": control},
        "causes": {"first": cause, "shares": [{"cause": cause, "share": 1.0}]},
    }


def test_a_conclusion_names_what_held_up_the_flows_and_who_got_how_much() -> None:
    shared = [flow_of("fair_share", "bbr", 9000), flow_of("fair_share"), flow_of("application")]
    assert conclusion(shared) == (
        "In short: 2 flows shared a full bottleneck (30 ms of queue): 1 of BBR got 82 %, "
        "1 of CUBIC got 9 %; 1 flow had no more to send."
    )
    behind = [{**flow, "vantage": "receiver"} for flow in (flow_of("queue"), flow_of("queue"))]
    assert conclusion(behind) == (
        "In short: 2 flows filled the bottleneck and a deep queue (the length of the queue "
        "doesn't show at the receiver)."
    )
    alike = [flow_of("healthy"), flow_of("healthy", "unsure")]
    assert conclusion(alike) == "In short: 2 flows met no limit but the bottleneck."
    assert conclusion([flow_of("queue")]) is None  # one flow's own sentence says it
    silent = flow_of("queue", received=0)
    assert conclusion([flow_of("queue"), silent]) is None


def test_a_conclusion_has_words_for_every_cause() -> None:
    causes = [key.removeprefix("cause:") for key in COLOURS if key.startswith("cause:")]
    for cause in causes:
        assert "2 flows " in str(conclusion([flow_of(cause), flow_of(cause)]))


def test_a_page_leaves_out_replays_that_it_cannot_read(tmp_path):
    place = tmp_path / "found"
    file = capture("healthy", tmp_path) / "sender.pcapng"
    assert cli.main(["analyze", str(file), "--out", str(place)]) == 0
    flow = {"name": "a>b", "verdict": "agrees", "remark": ""}
    odd: list[Any] = [{}, [1], [flow], [flow | {"runs": [2]}], [flow | {"runs": {"bbr": 3}}]]
    for document in odd:
        (place / "replay.json").write_text(json.dumps(document))
        assert "What if?" not in write_report(place).page.read_text()
    run = {"goodput_mbps": "<b>", "rtt_ms": None, "retransmitted": 2}
    (place / "replay.json").write_text(json.dumps([flow | {"runs": {"bbr": run}}]))
    page = write_report(place).page.read_text()
    cells = ("\N{EN DASH}", "\N{EN DASH}", "2")
    assert f'<td class="text">BBR</td><td>{"</td><td>".join(cells)}</td>' in page

"""The state of the kernel's controls, from `TCP_CC_INFO` and the window."""

from __future__ import annotations

from narrows.columns import compute_table
from narrows.late import pl
from narrows.spec.registry import is_bbr
from narrows.spec.scenario import Scenario

_UNIT = 256
"""BBR's gains are in 256ths."""
_BBR = ("bbr",)
"""Controls whose TCP_CC_INFO is `struct tcp_bbr_info` and whose gains name the state.

Version 3 uses the same structure with other gains, so its state isn't named.
"""
_BBR_INFO = ("bbr", "bbr3", "bbr1")


def _flows(scenario: Scenario, names: tuple[str, ...]) -> list[int]:
    return [i for i, flow in enumerate(scenario["flows"]) if flow["cca"] in names]


def cca_states(scenario: Scenario) -> pl.Expr:
    """Returns the state of each flow's control.

    BBR's state follows from its gains, that of others from the window's growth.
    """
    pacing, window = pl.col("cc3"), pl.col("cc4")
    # tcp_bbr.c: high gain 739, drain gain 88, cwnd gain 512 while probing for bandwidth; STARTUP
    # has both gains at 0 until the first ACK.
    bbr = (
        pl.when(((window == 739) & (pacing > _UNIT)) | (window == 0))
        .then(pl.lit("startup"))
        .when(window == 739)
        .then(pl.lit("drain"))
        .when(window == _UNIT)
        .then(pl.lit("probe_rtt"))
        .otherwise(pl.lit("probe_bw"))
    )
    slow = pl.col("cwnd") < pl.col("ssthresh")
    other = pl.when(slow).then(pl.lit("slow_start")).otherwise(pl.lit("congestion_avoidance"))
    of_other_kind = [i for i, flow in enumerate(scenario["flows"]) if is_bbr(flow["cca"])]
    return (
        pl.when(pl.col("cwnd").is_null())
        .then(pl.lit(""))
        .when(pl.col("flow").is_in(_flows(scenario, _BBR)))
        .then(bbr)
        .when(pl.col("flow").is_in(of_other_kind))
        .then(pl.lit(""))
        .otherwise(other)
    )


def internals(
    rows: pl.DataFrame, applications: pl.DataFrame, scenario: Scenario, time_s: pl.Expr
) -> pl.DataFrame:
    """Returns the table `internals`: the named internals of controls and applications."""
    told = applications.filter(pl.col("time_ns").is_in(rows["time_ns"].unique().to_list()))
    known = {name: pl.col(name) for name in ("flow", "name", "value")}
    of_applications = compute_table("internals", told, {"time_s": time_s} | known)
    both = pl.concat([_of_controls(rows, scenario, time_s), of_applications])
    return both.sort("time_s", "flow", maintain_order=True)


def _of_controls(rows: pl.DataFrame, scenario: Scenario, time_s: pl.Expr) -> pl.DataFrame:
    """Returns BBR's bandwidth (payload), minimum RTT and gains, in the units of the simulator."""
    bbr = rows.filter(
        pl.col("flow").is_in(_flows(scenario, _BBR_INFO)) & pl.col("cc3").is_not_null()
    )
    bandwidth = pl.col("cc0") + pl.col("cc1") * 2**32
    wide = bbr.select(
        time_s.alias("time_s"),
        "flow",
        (bandwidth * 8 / 1e6).alias("bw_mbps"),
        (pl.col("cc2").replace(0xFFFF_FFFF, None) / 1e3).alias("min_rtt_ms"),
        (pl.col("cc3") / _UNIT).alias("pacing_gain"),
        (pl.col("cc4") / _UNIT).alias("cwnd_gain"),
    )
    long = wide.unpivot(index=["time_s", "flow"], variable_name="name", value_name="value")
    kept = long.drop_nulls().sort("time_s", "flow", maintain_order=True)
    return compute_table("internals", kept, {name: pl.col(name) for name in kept.columns})

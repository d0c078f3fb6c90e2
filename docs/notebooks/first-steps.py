# %% [markdown]
# # A bottleneck and the flows that share it
#
# Describe a path and its flows once, run it in the simulator, and look at what
# happened. Values are written as in a specification: `"20mbit"`, `"25ms"`, `"1.75bdp"`.

# %%
import polars as pl

import narrows as nw

scenario = nw.Scenario(
    name="two-controls",
    path=nw.Path(rate="20mbit", rtt="25ms", buffer="1.75bdp"),
    flows=[nw.Flow(cca="bbr"), nw.Flow(cca="cubic")],
    run=nw.Run(duration="90s", warmup="10s"),
)
print(scenario.toml())

# %% [markdown]
# The same scenario as a TOML file runs with `narrows run`. A result shows itself as
# a table.

# %%
result = nw.run(scenario)
result

# %%
result.plot("timeline")

# %% [markdown]
# Every table is a polars frame: the series as recorded, a row for each flow, a row
# for each run.

# %%
samples = result.table("flow_samples")
samples.group_by("flow", maintain_order=True).agg(
    mean_window=pl.col("cwnd").mean(), most=pl.col("cwnd").max()
)

# %%
result.flows.select("name", "goodput_mbps", "share", "delay_p50_ms", "delay_p99_ms")

# %% [markdown]
# One value changed is another experiment:

# %%
deep = nw.run(scenario, ["path.buffer=6bdp"])
deep.flows.select("name", "goodput_mbps", "share", "delay_p50_ms", "delay_p99_ms")

# %% [markdown]
# A mistake says where it is and what would be right.

# %%
try:
    nw.run(scenario, ["path.buffer=6bdq"])
except nw.InputError as error:
    print(error)

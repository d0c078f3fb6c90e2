# %% [markdown]
# # Many paths
#
# A list, or a `Range`, in place of a value is an axis. `nw.sweep` runs every
# combination on all cores and keeps each run in a store; an interrupted
# sweep resumes where it stopped.

# %%
import polars as pl

import narrows as nw

study = nw.Scenario(
    name="buffers",
    path=nw.Path(
        rate=["10mbit", "20mbit"],
        rtt="25ms",
        buffer=nw.Range("0.5bdp", "8bdp", count=5, scale="log"),
    ),
    flows=[nw.Flow(cca="bbr"), nw.Flow(cca="cubic")],
    run=nw.Run(duration="100s", warmup="10s", trials=3),
)
swept = nw.sweep(study, out="buffers")
swept.plot("share")

# %%
table = swept.summary_table
table.group_by("path.rate", "path.buffer", maintain_order=True).agg(
    pl.col("bbr.share", "jain", "utilization").mean()
)

# %%
swept.plot("scatter", where=["path.rate=20mbit", "path.buffer=0.5bdp,2bdp,8bdp"], by="path.buffer")

# %% [markdown]
# ## Harm
#
# How much worse does CUBIC fare beside BBR than alone? Harm is its loss, as a part of its
# performance alone (Ware et al., HotNets 2019).

# %%
alone = nw.sweep(
    nw.Scenario(name="alone", path=study.path, flows=[nw.Flow(cca="cubic")], run=study.run),
    out="alone",
)
on = ["path.rate", "path.buffer", "trial"]
harm = nw.metrics.harms(alone.summary_table, swept.summary_table, "cubic.goodput_mbps", on)
harm.group_by("path.buffer", maintain_order=True).agg(pl.col("harm").mean())

# %% [markdown]
# Half of the link would be fair, so any second flow does a harm of 0.5. In
# shallow buffers BBR does far more.
#
# ## Guarding a change
#
# A check is a bound on a metric. The command `narrows run` ends with
# status 1 unless all combinations meet it; here those that don't are listed.

# %%
guarded = nw.Scenario(
    name="buffers",
    path=study.path,
    flows=study.flows,
    run=study.run,
    check=[nw.Check(metric="utilization", at_least=0.9), nw.Check(metric="jain", at_least=0.6)],
)
for line in nw.sweep(guarded, out="buffers").unmet:
    print(line)

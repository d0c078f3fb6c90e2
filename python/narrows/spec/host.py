"""The keys of `[host]` that stand for what real hosts do by themselves."""

MODELLED = ("jitter", "timer_lateness", "gro")
"""Durations that only simulated hosts have: a back end with real hosts takes none of them."""

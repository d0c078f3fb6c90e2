"""The keys of `[host]` that model the behaviour of real hosts."""

MODELLED = ("jitter", "timer_lateness", "gro")
"""Durations for simulated hosts; back ends with real hosts refuse them."""

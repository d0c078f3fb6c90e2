"""The parts that back ends with a real Linux kernel share.

These are their programs, the configuration made from a scenario, and the tables made from their
output.
"""

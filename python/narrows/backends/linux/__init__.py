"""Common parts of the back ends with a real Linux kernel.

These are their programs, the configuration made from a scenario, and the tables made from their
output.
"""

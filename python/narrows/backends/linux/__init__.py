"""What the back ends with a real Linux kernel share.

Their programs, what these are told of a scenario, and what they write as tables.
"""

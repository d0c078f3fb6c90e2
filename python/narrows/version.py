"""The version of the package; the build takes it from Cargo.toml and a test compares."""

__version__ = "0.1.0"

PUBLISHED = False
"""True once this version is on the package index, so that pages may recommend `pip install`."""

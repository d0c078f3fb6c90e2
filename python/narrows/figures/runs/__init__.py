"""The figures of a run: a module for each, with a function of its name."""

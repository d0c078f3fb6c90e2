"""The figures of a sweep: a module for each, with a function of its name."""

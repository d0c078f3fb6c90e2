"""Tests every version of BBR for the problems that the documents found."""

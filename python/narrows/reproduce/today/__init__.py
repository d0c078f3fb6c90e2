"""Is it still true? The problems that the documents found, held against every version of BBR."""

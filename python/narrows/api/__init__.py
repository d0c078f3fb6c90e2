"""narrows from Python: scenarios as classes, results as polars frames and figures."""

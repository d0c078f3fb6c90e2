"""Studies that are data: a file gives conditions, measures, figures and claims with their rules.

    studies/DOCUMENT/NAME.toml

Each is an exhibit like those with their own code. `narrows.reproduce.study_files` says what
a file holds; `method.Study` has the four functions of an exhibit.
"""

from __future__ import annotations

"""Queue disciplines.

nw.Path(queue=nw.queues.FqCodel(target="3ms"))
"""

from __future__ import annotations

from narrows.api.declared import classes_of

globals().update(classes_of(__name__))

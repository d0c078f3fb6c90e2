"""Services of links.

nw.Path(service=nw.services.Wifi())
"""

from __future__ import annotations

from narrows.api.declared import classes_of

globals().update(classes_of(__name__))

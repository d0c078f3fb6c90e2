"""Groups flows into classes: those of an entry with a name, or identical ones.

Entries without a name are a class by their control, such as "cubic". Where flows of a control
differ in more, the class names the difference with as few words as possible: "cubic-20ms" and
"cubic-80ms". The rules are in crates/metrics/src/classes.rs.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from narrows import _native
from narrows.spec.scenario import Scenario

OWN_HOST = tuple(_native.OWN_HOST)
"""Keys of a flow that describe hosts of its own."""
MOST = _native.MAX_CLASSES
"""A property that would give a control more classes than this is ignored."""


def classes(scenario: Scenario, groups: Sequence[str]) -> tuple[str, ...]:
    """The class of each flow by id; `groups` has the names of its entries, or else its control."""
    described = {"flows": scenario["flows"], "path": {"rtt_ns": scenario["path"]["rtt_ns"]}}
    return tuple(_native.flow_classes(json.dumps(described), list(groups)))

"""Groups flows into classes: the flows of a named entry, or flows that are alike.

Flows of entries without a name form a class called after their control, such as "cubic". Where
flows of one control differ in more, the class names the difference in as few words as possible:
"cubic-20ms" and "cubic-80ms". The rules are in crates/metrics/src/classes.rs.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from narrows import _native
from narrows.spec.scenario import Scenario

OWN_HOST = tuple(_native.OWN_HOST)
"""Keys of a flow that describe its own hosts."""
MOST = _native.MAX_CLASSES
"""A property is ignored if it would split a control into more classes than this."""


def classes(scenario: Scenario, groups: Sequence[str]) -> tuple[str, ...]:
    """Returns the class of each flow by id.

    `groups` has the name of each flow's entry, or else its control.
    """
    described = {"flows": scenario["flows"], "path": {"rtt_ns": scenario["path"]["rtt_ns"]}}
    return tuple(_native.flow_classes(json.dumps(described), list(groups)))

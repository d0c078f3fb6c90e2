"""Answers a question about a study: the smallest buffer that does, the fairest queue.

`question` reads the sentence, `study` what it is about, `scale` the values of the place. `judge`
decides with the intervals of means whether conditions hold, `bound` brackets a value by bisection,
and `best` finds the value with the highest or lowest metric; these three run nothing, but yield
what they need to know. `rounds` gathers their requests, `runs` does them and keeps them in a store.
`make` combines all of this.
"""

from __future__ import annotations

from narrows.answer.make import answer

__all__ = ["answer"]

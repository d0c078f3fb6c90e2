"""A job as plain data that another process can run."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from functools import cache

from narrows.backends import Backend, get_backend
from narrows.errors import InputError
from narrows.execute.job import Job
from narrows.plan import Cell, Trial


@dataclass(frozen=True)
class PortableJob:
    """A job given by the name and engine of its back end, its combination, and its trial."""

    backend: str
    engine: str
    cell: Cell
    trial: Trial

    @classmethod
    def of(cls, job: Job) -> PortableJob:
        """Returns a job without the other trials of its combination, which may be thousands."""
        plan = replace(job.cell.plan, trials=(job.trial,))
        backend = job.backend
        return cls(backend.selector, backend.engine, replace(job.cell, plan=plan), job.trial)

    def job(self) -> Job:
        """Returns the job in this process; raises InputError if its engine differs."""
        backend = _backend(self.backend)
        if backend.engine != self.engine:
            found = f"an engine {backend.engine}, not {self.engine}"
            remedy = "the same build of narrows everywhere"
            raise InputError.at(f"worker on {os.uname().nodename}", found, remedy)
        return Job(self.cell, self.trial, backend)


@cache
def _backend(name: str) -> Backend:
    """Returns a back end, which is made once in each process."""
    return get_backend(name)

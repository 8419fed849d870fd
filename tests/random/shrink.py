# SPDX-License-Identifier: BSD-3-Clause
"""Makes a job that fails smaller, as long as it fails: one program, fewer options, ranks, threads
and calls, less data, no delays."""

from dataclasses import replace

import jobs

TRIES = 3  # a job that passes so often counts as passing: schedules differ from run to run


class Shrinker:
    """`fails(job)` tells whether a job still fails."""

    def __init__(self, fails):
        self.fails = fails

    def shrink(self, job):
        job = self._one_program(job)
        job = self._without_options(job)
        for smaller in (
            replace(job, threads=1),
            replace(job, calm=True),
            replace(job, threads=1, calm=True),
        ):
            job = smaller if self.fails(smaller) else job
        job = self._calls(job)
        for ranks in range(2, job.ranks):
            if self.fails(replace(job, ranks=ranks)):
                job = replace(job, ranks=ranks)
                break
        while job.most > 8 and self.fails(replace(job, most=job.most // 4)):
            job = replace(job, most=job.most // 4)
        return self._calls(job)

    def _one_program(self, job):
        for first in range(job.first, job.first + job.count):
            one = replace(job, first=first, count=1)
            if self.fails(one):
                return one
        return job

    def _without_options(self, job):
        for name in list(job.options):
            kept = {each: value for each, value in job.options.items() if each != name}
            # Without it, trials would decide whether calls are the MPI's.
            kept.setdefault("SUMAC_ADAPT", "off")
            if kept != job.options and self.fails(replace(job, options=kept)):
                job = replace(job, options=kept)
        return job

    def _calls(self, job):
        """Leaves out ever shorter runs of calls."""
        only = list(job.only or range(job.calls))
        length = max(1, len(only) // 2)
        while True:
            at = 0
            while at < len(only):
                fewer = only[:at] + only[at + length :]
                if fewer and self.fails(replace(job, only=tuple(fewer))):
                    only = fewer
                else:
                    at += length
            if length == 1:
                return replace(job, only=tuple(only))
            length //= 2


def shrink(job, build, seconds):
    """Returns the smallest job found that fails, and a text that tells what it does."""

    def fails(smaller):
        outcomes = (jobs.run(smaller, build, seconds) for _ in range(TRIES))
        return any(not outcome.passed and not jobs.skipped(outcome) for outcome in outcomes)

    small = Shrinker(fails).shrink(job)
    listing = jobs.run(small, build, seconds, listed=True)
    return small, f"{jobs.command_line(small)}\n{listing.text}"

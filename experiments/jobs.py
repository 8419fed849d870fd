# SPDX-License-Identifier: BSD-3-Clause
"""What the experiments' scripts share: jobs of an MPI, and how a script ends."""

import os
import pathlib
import shutil
import statistics
import subprocess
import sys

# Launchers' options for ranks that may use all processors, and be more than these.
UNBOUND = {
    "openmpi": ["--oversubscribe", "--bind-to", "none"],
    "mpich": ["-bind-to", "none"],
}

TURNS = 4  # of in_one_mode(): times as many jobs at most
ALIKE = 0.35  # difference of the distances in one mode, as a part of their median


def first_mpi():
    """FAMILY=LAUNCHER of the first MPI that is found; "" where there is none."""
    found = [family for family in UNBOUND if shutil.which(f"mpiexec.{family}")]
    return f"{found[0]}=mpiexec.{found[0]}" if found else ""


class Failed(Exception):
    """A job or a count failed; the message gives the reason."""


class Missing(Exception):
    """There is nothing to run, or nothing to run it on; the message gives the reason."""


def parsed(parser, build):
    """The arguments of a script that runs Sumac on one MPI: those of `parser`, and --build (by
    default `build`), --sumac and --mpi. Raises Missing."""
    parser.add_argument("--build", type=pathlib.Path, default=build, help="where it is")
    parser.add_argument("--sumac", type=pathlib.Path, help="the command (of the build)")
    parser.add_argument("--mpi", default="", metavar="FAMILY=LAUNCHER")
    given = parser.parse_args()
    given.sumac = given.sumac or given.build / "bin/sumac"
    given.mpi = given.mpi or first_mpi()
    require(given)
    return given


def require(given):
    """Raises Missing where the MPI or the command of the arguments is not there."""
    if not given.mpi or not given.sumac.exists():
        raise Missing("no MPI, or no Sumac, to run: see 'make build'")


def environment(settings):
    """This process's, with `settings`. No call goes another way than the one that is measured.
    Open MPI needs two variables to run as root."""
    defaults = {"SUMAC_ADAPT": "off"}
    allow = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    return defaults | dict(os.environ) | settings | (allow if os.geteuid() == 0 else {})


def output_of(command, settings, seconds):
    """Runs a job, for at most so many seconds; returns its output. Raises Failed."""
    try:
        done = subprocess.run(
            command,
            env=environment(settings),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise Failed(f"not over after {seconds} s: {' '.join(command)}") from error
    if done.returncode != 0:
        raise Failed(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout


def in_one_mode(ways, rounds, run, distance_of):
    """Calls run(way) for each way, `rounds` times and more, in an order that is reversed each time;
    returns {way: [results]}. distance_of(result): how far the ranks' processors were from one
    another, as a time. Virtual machines move them: results in which it differs from that of the
    others are left out, as long as more jobs can take their place."""
    done = []
    for turn in range(TURNS * rounds):
        for way in ways if turn % 2 == 0 else reversed(ways):
            done.append((way, run(way)))
        middle = statistics.median(distance_of(job) for _, job in done)
        alike = [(way, job) for way, job in done if abs(distance_of(job) / middle - 1) < ALIKE]
        found = {way: [job for which, job in alike if which == way] for way in ways}
        if min(map(len, found.values())) >= rounds:
            return found
    return {way: [job for which, job in done if which == way] for way in ways}


def pyplot():
    """What draws into files; scripts that draw nothing do without."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    return pyplot


def numbers(text):
    """Of an argument with commas."""
    return [int(number) for number in text.split(",") if number]


def status_of(wrong):
    """The exit status of a script that ran to its end: 4 where something had wrong results."""
    for name in wrong:
        print(f"wrong results: {name}", file=sys.stderr)
    return 4 if wrong else 0


def run(main):
    """Ends this process as main() says, or with the reason: with 1 where something failed, with 3
    where something is missing."""
    try:
        sys.exit(main())
    except (Failed, Missing) as reason:
        print(reason, file=sys.stderr)
        sys.exit(3 if isinstance(reason, Missing) else 1)

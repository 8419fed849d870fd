#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What `sumac profile` predicts, beside what loading Sumac then gives, for programs that nobody
here wrote. Prints a table in Markdown. What is measured is kept, and an interrupted run goes on.

Usage: experiments/predict/run.py [--programs NAME,...] [--rounds N] [--restart] ...
Exit status: 0 done, 1 a job failed, 3 no MPI or no Sumac.
"""

import argparse
import collections
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import time
import venv

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "experiments"))
import jobs  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
HPCC_INPUT = pathlib.Path("/usr/share/doc/hpcc/examples/_hpccinf.txt")
RIGID = pathlib.Path("/usr/share/lammps/examples/rigid")
PACKAGES = ("mpi4py", "pylops-mpi")
SECONDS_ALLOWED = 120  # time limit of a job
# Collectives are timed in the jobs "profile", in which Sumac watches and the MPI serves them, and
# "stats", in which Sumac serves them; whole runs in "mpi", without Sumac, and "sumac".
WAYS = ("profile", "stats", "mpi", "sumac")
BUSY = 0.3  # processes that ran beside the jobs, on average, from which a machine is called busy


class NotHere(Exception):
    """The program is not there; the message says how to get it."""


def hpcg(folder, given):
    """HPCG: conjugate gradients with a multigrid preconditioner, 16^3 points a rank."""
    found = given.hpcg or shutil.which("xhpcg")
    if not found:
        raise NotHere("no xhpcg: no package has it; build it from its source, and give --hpcg PATH")
    return [str(found), "--nx=16", "--ny=16", "--nz=16", "--rt=2"]


def hpcc(folder, given):
    """The HPC Challenge: HPL, PTRANS, RandomAccess, FFT and others on a matrix of 1000 x 1000."""
    found = shutil.which("hpcc")
    if not found or not HPCC_INPUT.exists():
        raise NotHere("no hpcc: install Debian's package")
    lines = HPCC_INPUT.read_text(encoding="utf-8").splitlines()
    for number, value in {5: "1000 ", 7: "64 ", 10: "1 ", 11: "2 "}.items():
        lines[number] = value + lines[number]
    (folder / "hpccinf.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "hpccoutf.txt").unlink(missing_ok=True)  # the program adds to it
    return [found]


def lammps(folder, given):
    """LAMMPS, its example of nine rigid bodies, twenty times as many steps."""
    found = shutil.which("lmp")
    if not found or not RIGID.exists():
        raise NotHere("no lmp: install Debian's lammps and lammps-examples")
    text = (RIGID / "in.rigid").read_text(encoding="utf-8")
    (folder / "in.rigid").write_text(text.replace("\nrun", "\nrun 190000\nrun"), encoding="utf-8")
    shutil.copy(RIGID / "data.rigid", folder)
    return [found, "-in", "in.rigid", "-log", "none", "-screen", "none"]


def pylops(folder, given):
    """mpi4py: least squares by pylops-mpi's solver CGLS, 40 x 20000 numbers a rank."""
    python = given.work / "python"
    if not (python / "bin/python").exists():
        print("installing " + ", ".join(PACKAGES), file=sys.stderr)
        venv.create(python, symlinks=True, with_pip=False)
        command = [sys.executable, "-m", "pip", "--python", str(python / "bin/python")]
        done = subprocess.run([*command, "install", "--quiet", *PACKAGES], check=False)
        if done.returncode:
            shutil.rmtree(python)
            raise NotHere(f"pip could not install {', '.join(PACKAGES)}")
    return [str(python / "bin/python"), str(HERE / "least_squares.py"), "40", "20000", "50", "12"]


PROGRAMS = {each.__name__: each for each in (hpcg, hpcc, lammps, pylops)}


def sumac(given, *arguments):
    """Output of a command of Sumac's."""
    return jobs.output_of([str(given.sumac), *arguments], {}, 300)


def measure_table(given):
    """Measures the machine, unless there is a table that holds."""
    family = given.mpi.split("=")[0]
    print(f"measuring the table of {given.ranks} ranks", file=sys.stderr, flush=True)
    sumac(given, "profile", "--measure", "-n", str(given.ranks), "--mpi", family)


def run_once(given, name, way):
    """Runs the program; returns what is known of the job as a dictionary."""
    folder = given.work / name
    kept = folder / way
    shutil.rmtree(kept, ignore_errors=True)
    kept.mkdir(parents=True)
    command = PROGRAMS[name](folder, given)
    family, launcher = given.mpi.split("=", 1)
    settings = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    if way == "profile":
        settings["SUMAC_PROFILE"] = str(kept)
    if way == "stats":
        settings["SUMAC_STATS"] = f"all,{kept}/stats.json"
    front = [] if way == "mpi" else [str(given.sumac), "exec", "--"]
    line = [launcher, *jobs.UNBOUND[family], "-n", str(given.ranks), *front, *command]
    os.chdir(folder)
    begin = time.monotonic()
    jobs.output_of(line, settings, SECONDS_ALLOWED)
    found = {"wall": time.monotonic() - begin, "load": os.getloadavg()[0]}
    if way == "profile":
        found |= profile_of(given, kept)
    if way == "stats":
        found["by"] = times_of(kept / "stats.json")
        found["inside"] = sum(found["by"].values())
    return found


def times_of(path):
    """{collective: seconds in its blocking calls, the mean of the ranks}"""
    ranks = json.loads(path.read_text(encoding="utf-8"))["all"]
    inside = collections.Counter()
    for rank in ranks:
        for counted in rank["paths"]:
            inside[counted["collective"]] += counted["seconds"] / len(ranks)
    return inside


def profile_of(given, kept):
    output = sumac(given, "profile", "--from", str(kept), "--by", "collective", "--json")
    content = json.loads(output)
    told = content["predicted"]
    if not told["tables"]:
        measure_table(given)
        return profile_of(given, kept)
    return {
        "inside": told["seconds"], "after": told["with_sumac_seconds"],
        "set_up": told["set_up_seconds"],
        "waiting": sum(row["waiting_seconds"] for row in content["collectives"]),
        "run": told["run_seconds"], "run_after": told["run_with_sumac_seconds"],
        "by": by_collective(content["collectives"], collectives(given)),
    }  # fmt: skip


def collectives(given):
    """{function: the collective under whose name the statistics count it}"""
    return {row["name"]: row["collective"] for row in json.loads(sumac(given, "__functions"))}


def by_collective(rows, counted_as):
    """{collective, as the statistics count it: seconds in all, waiting, predicted}"""
    found = {}
    for row in rows:
        times = found.setdefault(counted_as.get(row["call"], row["call"]), [0.0, 0.0, 0.0])
        for n, key in enumerate(("seconds", "waiting_seconds", "with_sumac_seconds")):
            times[n] += row[key]
    return found


def state_of(given):
    path = given.work / "measured.json"
    if given.restart:
        path.unlink(missing_ok=True)
    try:
        state = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        state = {}
    built = max(each.stat().st_mtime for each in (given.sumac.parent.parent / "lib").glob("*.so"))
    what = {"mpi": given.mpi, "ranks": given.ranks, "built": built}
    if state.get("what") != what:
        state = {"what": what, "jobs": {}}
    return path, state


def measure(given, name, state, path):
    """All rounds of a program that are not there yet; the ways take turns."""
    done = state["jobs"].setdefault(name, {way: [] for way in WAYS})
    for number in range(given.rounds):
        for way in WAYS if number % 2 == 0 else reversed(WAYS):
            if len(done[way]) > number:
                continue
            done[way].append(run_once(given, name, way))
            path.write_text(json.dumps(state), encoding="utf-8")
    return {way: found[: given.rounds] for way, found in done.items()}


def middle(found, key):
    return statistics.median(each[key] for each in found)


def by_call(done):
    """{call: [ms in it, of that waiting, ms predicted, ms measured]}, medians over the rounds."""

    def median(way, value):
        return statistics.median(1e3 * value(each["by"]) for each in done[way])

    result = {}
    for call in sorted({call for each in done["profile"] + done["stats"] for call in each["by"]}):
        result[call] = [
            median("profile", lambda by, n=n, call=call: by.get(call, [0, 0, 0])[n])
            for n in range(3)
        ] + [median("stats", lambda by, call=call: by.get(call, 0))]
    return result


def row_of(name, done):
    """Of collectives the medians of each call are added up: a round in which something else ran
    spoils no more than itself."""
    before, waiting, after, measured = map(sum, zip(*by_call(done).values()))
    after += 1e3 * middle(done["profile"], "set_up")
    walls = [[1e3 * each["wall"] for each in done[way]] for way in ("mpi", "sumac")]
    spared = statistics.median(walls[0]) - statistics.median(walls[1])
    spread = max(statistics.stdev(wall) if len(wall) > 1 else 0.0 for wall in walls)
    run, error = middle(done["profile"], "run"), after / measured - 1
    return [
        name, f"{run:.2f}", f"{before:.1f}", f"{waiting / before:.0%}", f"{after:.1f}",
        f"{measured:.1f}", f"{error:+.0%}", f"{before / after:.2f}", f"{before / measured:.2f}",
        f"{before - after:.0f}", f"{spared:.0f} ± {spread:.0f}",
    ]  # fmt: skip


def print_details(name, done):
    print(f"\n{name}, ms: the MPI, of it waiting, predicted; measured with Sumac")
    for call, told in by_call(done).items():
        print(f"  {call:24}", " ".join(f"{ms:9.3f}" for ms in told))
    print(f"  set-up, predicted: {1e3 * middle(done['profile'], 'set_up'):.3f}")


HEADS = ("program | run s | in collectives ms | of it waiting | with Sumac, predicted ms | "
         "measured ms | error | times as fast, predicted | measured | spared of the run, predicted "
         "ms | measured ms")  # fmt: skip


def arguments():
    parser = argparse.ArgumentParser(description="what is predicted, beside what is measured")
    parser.add_argument("--programs", default=",".join(PROGRAMS))
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--restart", action="store_true", help="forget what was measured before")
    parser.add_argument("--details", action="store_true", help="times by collective too")
    parser.add_argument("--hpcg", type=pathlib.Path, help="the program xhpcg")
    parser.add_argument("--sumac", type=pathlib.Path, default=ROOT / ".venv/bin/sumac")
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build/predict")
    parser.add_argument("--mpi", default=jobs.first_mpi(), metavar="FAMILY=LAUNCHER")
    given = parser.parse_args()
    given.work = given.work.resolve()
    given.sumac = given.sumac.absolute()
    return given


def main():
    given = arguments()
    jobs.require(given)
    given.work.mkdir(parents=True, exist_ok=True)
    path, state = state_of(given)
    print(f"| {HEADS} |\n|---|" + "---:|" * HEADS.count("|"), flush=True)
    everything = {}
    for name in given.programs.split(","):
        try:
            everything[name] = measure(given, name, state, path)
        except NotHere as missing:
            print(f"| {name} | {missing} |" + " |" * (HEADS.count("|") - 1), flush=True)
            continue
        print(f"| {' | '.join(row_of(name, everything[name]))} |", flush=True)
    loads = [job["load"] for done in everything.values() for way in done.values() for job in way]
    if loads and statistics.mean(loads) > given.ranks + BUSY:
        load = statistics.mean(loads)
        print(f"\nThe machine was busy: the load was {load:.1f}, the jobs' is {given.ranks}.")
    if given.details:
        for name, done in everything.items():
            print_details(name, done)
    return 0


if __name__ == "__main__":
    jobs.run(main)

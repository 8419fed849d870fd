#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs all tests and checks on the build of 'make build'; the last line counts them.

Usage: scripts/check.py [--all] [--preset NAME]
--all adds the slow tests, other projects' suites under Sumac, the unit tests and jobs of real
ranks under the sanitizers, and the kernels' tests on emulated Arm processors.
Exit status: 0 all passed, 1 not.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

ROOT = pathlib.Path(__file__).resolve().parents[1]
RESULTS = ROOT / "build/check"
# Preset -> which of the unit tests. The kernels have no threads, and are slow under tsan. The
# preset for Arm has the kernels alone.
OTHER_PRESETS = {"asan": [], "tsan": ["-E", "kernels"], "aarch64": []}
WITH_JOBS = ("asan", "tsan")  # the presets whose builds have jobs of real ranks as well
# Tests at a time: most are jobs that wait half of their time, for the launcher or for one another.
# On machines with many processors memory and /dev/shm, which the MPIs fill, are what limits them,
# and these do not grow with the processors.
JOBS = min(2 * len(os.sched_getaffinity(0)), 16)
# A line in the output of a test that cannot be tried here (tests/expect.sh).
SKIPPED = re.compile(r"^SKIPPED: (.*)$", re.MULTILINE)
# A line in the output of a kernel test: how often it compared results of one type.
CASES = re.compile(r"^(\w+): ([0-9]+) cases$", re.MULTILINE)


@dataclass
class Step:
    """The result of one program that runs tests, or of one check."""

    name: str
    passed: int = 0
    skipped: dict = field(default_factory=dict)  # name -> why it could not be tried here
    failures: list = field(default_factory=list)
    seconds: float = 0
    cases: dict = field(default_factory=dict)  # (test, instruction set) -> how many


def say(text):
    print(text, flush=True)


def run(command):
    """Runs a program with its output shown. Returns its exit status and its duration."""
    say("$ " + " ".join(map(str, command)))
    start = time.monotonic()
    status = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, check=False).returncode
    return status, time.monotonic() - start


def why_skipped(case):
    """Why a test case could not be tried: as its output says, or else the runner."""
    if told := SKIPPED.findall(case.findtext("system-out", "")):
        return told[-1]
    element = case.find("skipped")
    return (element.get("message") if element is not None else "") or case.get("status", "")


def read_junit(path, step):
    """Adds the test cases of a JUnit file to the step. False when there is no such file."""
    if not path.exists():
        return False
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        names = (case.get("classname"), case.get("name"))  # ctest gives the same for both
        label = ".".join(dict.fromkeys(filter(None, names)))
        for simd, cases in CASES.findall(case.findtext("system-out", "")):
            step.cases[label, simd] = step.cases.get((label, simd), 0) + int(cases)
        if case.find("failure") is not None or case.find("error") is not None:
            step.failures.append(label)
        elif case.find("skipped") is not None or case.get("status") in ("disabled", "notrun"):
            step.skipped[label] = why_skipped(case)
        else:
            step.passed += 1
    return True


def run_tests(name, command, junit_option):
    """One run of a test runner that writes a JUnit file where junit_option says."""
    step = Step(name)
    report = RESULTS / f"{name.replace(' ', '-')}.xml"
    report.unlink(missing_ok=True)
    status, step.seconds = run([*command, junit_option, report])
    read_junit(report, step)
    if not step.failures and (status != 0 or step.passed + len(step.skipped) == 0):
        step.failures.append(f"{name}: ended with status {status}, {step.passed} tests passed")
    return step


def ctest(name, preset, *selection, jobs=JOBS):
    command = ["ctest", "--test-dir", f"build/{preset}", f"-j{jobs}", "--output-on-failure"]
    whole_output = ["--test-output-size-passed", "1000000"]
    return run_tests(name, [*command, *whole_output, *selection], "--output-junit")


def pytest(name, folder, jobs, *selection):
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", folder, *selection]
    # A process runs whole files, so that fixtures of a file are made once.
    return run_tests(name, [*command, "-n", str(jobs), "--dist", "loadfile"], "--junitxml")


def repository_checks():
    """Runs the checks beside one another: none writes what another one reads."""

    def one(script):
        interpreter = [sys.executable] if script.suffix == ".py" else []
        command = [*interpreter, script.relative_to(ROOT)]
        environment = {**os.environ, "PYTHON": sys.executable}
        result = subprocess.run(
            command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, check=False,
        )  # fmt: skip
        say("$ " + " ".join(map(str, command)) + "\n" + result.stdout)
        return result.returncode == 0

    step = Step("repository")
    start = time.monotonic()
    scripts = sorted((ROOT / "scripts/checks").glob("check_*"))
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for script, passed in zip(scripts, pool.map(one, scripts), strict=True):
            step.passed += passed
            step.failures += [] if passed else [script.stem]
    step.seconds = time.monotonic() - start
    return step


def other_build(preset):
    """Runs the tests of a build with a sanitizer or for another processor."""
    targets = ["unit_tests", *(["sanitized_tests"] if preset in WITH_JOBS else [])]
    build = ["cmake", "--build", "--preset", preset, "--target", *targets]
    for command in (["cmake", "--preset", preset], build):
        status, seconds = run(command)
        if status != 0:
            return [Step(preset, failures=[f"{preset}: does not build"], seconds=seconds)]
    steps = [ctest(preset, preset, "-L", "unit", *OTHER_PRESETS[preset])]
    if preset in WITH_JOBS:
        steps.append(ctest(f"{preset} jobs", preset, "-L", "sanitized", jobs=1))
    return steps


def summarise(steps):
    say("")
    for step in steps:
        say(
            f"{step.name:12} {step.passed:5} passed {len(step.failures):3} failed "
            f"{len(step.skipped):3} skipped {step.seconds:7.1f} s"
        )
        for (test, simd), cases in step.cases.items():
            say(f"{'':12} {cases:9} cases of {simd} in {test}")
    by_reason = {}
    for step in steps:
        for label, why in step.skipped.items():
            by_reason.setdefault(why, []).append(label)
    for why, labels in by_reason.items():
        more = f" and {len(labels) - 1} more" if len(labels) > 1 else ""
        say(f"SKIPPED {labels[0]}{more}: {why}")
    failures = [failure for step in steps for failure in step.failures]
    for failure in failures:
        say(f"FAILED {failure}")
    skipped = sum(len(step.skipped) for step in steps)
    line = f"{sum(step.passed for step in steps)} passed, {len(failures)} failed"
    say(line + (f", {skipped} skipped" if skipped else ""))
    return 1 if failures else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--all", action="store_true", help="also slow tests, suites, sanitizers and Arm"
    )
    parser.add_argument("--preset", default="release", help="what was built (release)")
    arguments = parser.parse_args()
    RESULTS.mkdir(parents=True, exist_ok=True)
    steps = [
        ctest("ctest", arguments.preset, "-LE", "slow"),
        pytest("python", "tests/python", JOBS, *([] if arguments.all else ["--in-turns"])),
        repository_checks(),
    ]
    if arguments.all:
        steps.append(ctest("ctest turns", arguments.preset, "-L", "turn"))
        # One at a time: they take gigabytes, or all processors.
        steps.append(ctest("ctest slow", arguments.preset, "-L", "slow", "-LE", "turn", jobs=1))
        steps.append(pytest("suites", "tests/suites", 0))
        for preset in OTHER_PRESETS:
            steps.extend(other_build(preset))
    return summarise(steps)


if __name__ == "__main__":
    sys.exit(main())

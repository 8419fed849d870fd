# SPDX-License-Identifier: BSD-3-Clause
"""Which way `sumac tune` keeps, and the rules that say so: from synthetic measurements alone."""

import itertools
import math
import random
import statistics
import tomllib

import pytest
from sumac_mpi.tune import decision, rules
from sumac_mpi.tune.decision import NATIVE, Cell, Verdict

PLACE = rules.Place("openmpi", "allreduce", 2, shared=False)


def spread(middle, width, count):
    """Two jobs with times around `middle`, up to `width` of it away, in no order."""
    steps = [2 * i / (count - 1) - 1 for i in range(count)] if count > 1 else [0.0]
    times = [middle * (1 + width * step) for step in steps]
    return [times[::2], times[1::2]]


def same(us, count=9):
    return [[us] * (count // 2), [us] * (count - count // 2)]


def flat(jobs):
    return [us for job in jobs for us in job]


def suffices(jobs):
    return len(flat(jobs)) >= 5 and len([job for job in jobs if job]) >= 2


def is_clear(own, other):
    """The criterion as docs/rules.md has it."""
    if not (suffices(own) and suffices(other)):
        return False
    own, other = flat(own), flat(other)
    pairs = list(itertools.product(own, other))
    return statistics.median(other) / statistics.median(own) >= 1.05 and sum(
        a < b for a, b in pairs
    ) >= 0.9 * len(pairs)


def ratios(cell, way, other):
    theirs = cell.ways.get(other, {})
    return [
        statistics.median(flat(theirs[mode])) / statistics.median(flat(jobs))
        for mode, jobs in cell.ways.get(way, {}).items()
        if suffices(jobs) and suffices(theirs.get(mode, []))
    ]


def pays(cell, way):
    shipped = cell.ways[cell.shipped]
    clear = [is_clear(times, shipped.get(mode, [])) for mode, times in cell.ways[way].items()]
    slower = [
        statistics.median(flat(jobs)) > statistics.median(flat(shipped[mode]))
        for mode, jobs in cell.ways[way].items() if mode in shipped
    ]  # fmt: skip
    return any(clear) and not any(slower)


def mean(values):
    return math.prod(values) ** (1 / len(values))


@pytest.mark.parametrize("count", [1, 4, 5, 8, 25])
@pytest.mark.parametrize("width", [0.0, 0.02, 0.1, 0.4, 0.9])
def test_another_way_must_be_faster_by_more_than_the_noise(count, width):
    kept = {}
    for ratio in (0.5, 0.9, 1.0, 1.04, 1.06, 1.2, 2.0, 20.0):
        ways = {
            "a": {None: spread(8.0, width, count)},
            "b": {None: spread(8 / ratio, width, count)},
        }
        verdict = decision.decide(Cell(64, "a", ways))
        kept[ratio] = verdict.kept
        assert (verdict.kept == "b") == is_clear(ways["b"][None], ways["a"][None]), ratio
        assert verdict.changes == (verdict.kept != "a")
        if verdict.changes:
            assert verdict.ratio == pytest.approx(ratio)
    assert kept[0.5] == kept[1.0] == kept[1.04] == "a"
    assert kept[20.0] == ("b" if count >= 5 else "a")
    assert count < 5 or kept[1.2] == ("b" if width < 0.2 else "a")


def test_any_measurements():
    """Cells with one to three modes, missing ways and modes, ties and few rounds."""
    numbers = random.Random(14)
    seen = set()
    for _ in range(2000):
        modes = ["near", "far", "sibling"][: numbers.choice([1, 1, 2, 3])]
        levels = [1.0, 1.0, 1.03, 1.3, 2.0, 4.0]
        ways = {
            way: {
                mode: spread(numbers.choice(levels), numbers.choice([0, 0.05, 0.3]),
                             numbers.choice([0, 3, 5, 6, 9]))
                for mode in modes if numbers.random() < 0.9
            }
            for way in ("a", "b", "c", NATIVE) if numbers.random() < 0.9 or way == "a"
        }  # fmt: skip
        ways = {way: {m: t for m, t in found.items() if flat(t)} for way, found in ways.items()}
        shipped = numbers.choice(["a", NATIVE]) if NATIVE in ways else "a"
        cell = Cell(64, shipped, ways)
        verdict = decision.decide(cell)
        better = [way for way in ways if way != shipped and pays(cell, way)]
        if not better:
            assert verdict.kept == shipped
        else:
            assert verdict.kept in (*better, NATIVE)
            best = max(better, key=lambda way: mean(ratios(cell, way, shipped)))
            beside = ratios(cell, verdict.kept, NATIVE)
            # Never a way slower than the MPI's own; which is taken for being the best, or for that.
            assert verdict.kept == NATIVE or not beside or mean(beside) >= 1
            if verdict.kept != best and verdict.kept == NATIVE:
                assert mean(ratios(cell, best, NATIVE)) < 1
            elif verdict.kept != best:
                assert mean(ratios(cell, best, shipped)) == mean(
                    ratios(cell, verdict.kept, shipped)
                )
        seen.add((shipped == NATIVE, verdict.kept == NATIVE, verdict.changes, len(modes)))
        # Neither the unit of time nor the order of rounds matters.
        scaled = {w: {m: [[1024 * us for us in job[::-1]] for job in t[::-1]] for m, t in f.items()}
                  for w, f in ways.items()}  # fmt: skip
        again = decision.decide(Cell(64, shipped, scaled))
        assert (again.kept, again.why) == (verdict.kept, verdict.why)
    # All kinds of outcomes have been met, in each number of modes.
    kinds = [(False, False, False), (False, False, True), (False, True, True), (True, True, False),
             (True, False, True)]  # fmt: skip
    assert seen == {(*kind, modes) for kind in kinds for modes in (1, 2, 3)}


@pytest.mark.parametrize(
    ("ways", "kept", "why"),
    [
        ({}, "a", "too few rounds"),
        ({"b": {"near": same(1.0, 4)}}, "a", "too few rounds"),
        ({"b": {"far": same(1.0)}}, "a", "too few rounds"),
        ({"b": {"near": [[1.0] * 50]}}, "a", "too few rounds"),  # of one job
        ({"b": {"near": [[], [1.0] * 50]}}, "a", "too few rounds"),
        ({"b": {"near": same(4.0)}}, "a", "the fastest"),
        ({"b": {"near": same(2.0)}}, "a", "the fastest"),
        ({"b": {"near": same(1.95)}}, "a", "b 1.03x: within the noise"),
        ({"b": {"near": same(1.0)}}, "b", "2.00x"),
        ({"b": {"near": same(1.0)}, "c": {"near": same(1.0)}}, "b", "2.00x"),
        ({"b": {"near": same(1.0)}, NATIVE: {"near": same(0.5)}}, NATIVE, "4.00x"),
        # The MPI's own is not clearly faster than the shipped way, but faster than b.
        ({"b": {"near": same(1.0)}, NATIVE: {"near": [[0.9] * 6, [9.0] * 5]}}, NATIVE,
         "b is slower than the MPI's own"),
    ],
)  # fmt: skip
def test_single_cases(ways, kept, why):
    verdict = decision.decide(Cell(64, "a", {"a": {"near": same(2.0)}, **ways}))
    assert verdict.kept == kept and verdict.why.startswith(why)


def test_a_way_must_hold_in_all_modes():
    shipped = {"near": same(2.0), "far": same(2.0)}
    for far, kept in ((1.0, "b"), (2.0, "b"), (2.1, "a"), (4.0, "a")):
        ways = {"a": shipped, "b": {"near": same(1.0), "far": same(far)}}
        verdict = decision.decide(Cell(64, "a", ways))
        assert verdict.kept == kept, far
        assert kept == "b" or verdict.why == "b is faster in one mode and slower in another"


def test_a_few_rounds_in_another_mode_speak_against_a_way():
    for far, kept in ((1.0, "b"), (2.5, "a")):
        shipped = {"near": same(2.0), "far": [[2.0]]}
        ways = {"a": shipped, "b": {"near": same(1.0), "far": [[far]]}}
        assert decision.decide(Cell(64, "a", ways)).kept == kept


def test_times_below_the_clocks_resolution():
    cell = Cell(64, "a", {"a": {None: same(0.0)}, "b": {None: same(0.0)}})
    assert decision.decide(cell).kept == "a"


def verdicts(kept):
    """A verdict for each size; the shipped way is "a"."""
    return [
        Verdict(Cell(size, "a", {"a": {}}), way, "", 1.0 if way == "a" else 1.25)
        for size, way in kept.items()
    ]


def numbers_of(text):
    """Both ends of a range in the grammar of rules."""
    ends = [int(end[:-1]) << {"K": 10, "M": 20, "G": 30}[end[-1]] if end[-1] in "KMG" else int(end)
            for end in text.split("-")]  # fmt: skip
    return ends[0], ends[-1]


def test_rules_hold_up_to_the_geometric_middle_between_sizes():
    sizes = [8, 64, 100, 4096, 65536, 1 << 20, 3 << 20]
    for kept in itertools.product(["a", "b", NATIVE], repeat=len(sizes)):
        found = rules.of(PLACE, verdicts(dict(zip(sizes, kept)))[::-1])
        parsed = tomllib.loads(rules.document(["head"], found)).get("rule", [])
        runs = [way for way, _ in itertools.groupby(kept)]
        assert [rule["algorithm"] for rule in parsed] == [way for way in runs if way != "a"]
        spans = [(*numbers_of(rule["bytes"]), rule["algorithm"]) for rule in parsed]
        for size in range(0, 120):
            assert chosen(size, spans) == nearest(size, sizes, kept)
        for size in (200, 639, 640, 641, 16383, 16385, 262143, 262145, 1 << 21, 3 << 20, 4 << 20):
            assert chosen(size, spans) == nearest(size, sizes, kept), size


def chosen(size, spans):
    ways = [way for low, high, way in spans if low <= size <= high]
    assert len(ways) <= 1
    return ways[0] if ways else "a"


def nearest(size, sizes, kept):
    """The way of the measured size that is nearest as a ratio; nothing is said beyond the ends."""
    if not sizes[0] <= size <= sizes[-1]:
        return "a"
    beyond = [size * size > one * other for one, other in itertools.pairwise(sizes)]
    return kept[sum(beyond)]


@pytest.mark.parametrize("family", ["openmpi", "mpich", "mpiabi"])
@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("handover", ["", "near", "far"])
def test_a_rule_names_its_place(family, shared, handover):
    place = rules.Place(family, "bcast", 6, shared, handover)
    (rule,) = tomllib.loads(
        rules.document(["x" * 300, "two"], rules.of(place, verdicts({65536: NATIVE})))
    )["rule"]
    assert rule == {
        "collective": "bcast", "over": "shm", "ranks": "6", "algorithm": "native",
        "bytes": "64K", "room": "shared" if shared else "own",
        **({} if family == "mpiabi" else {"mpi": family}),
        **({"handover": handover} if handover else {}),
    }  # fmt: skip


def test_a_barrier_has_no_bytes():
    (rule,) = rules.of(rules.Place("mpich", "barrier", 2, False), verdicts({0: NATIVE}))
    assert not any("bytes" in line for line in rule.lines())


def test_the_comment_has_the_ratio_of_each_size():
    text = rules.document(["head"], rules.of(PLACE, verdicts({1024: "b", 4096: "b", 16384: "a"})))
    assert text.startswith("# head\n\n# 1K 1.25x as fast as a, 4K 1.25x as fast as a\n[[rule]]\n")

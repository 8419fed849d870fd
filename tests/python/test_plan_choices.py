# SPDX-License-Identifier: BSD-3-Clause
"""Which algorithm a plan shows, why, and which others could run."""

import plans
import pytest
from installed import COMMAND, needs_command
from plans import rule

pytestmark = needs_command
SHIPPED = plans.ROOT / "src/rules/rules.toml"
# A call in which algorithms with these needs can run: none of those that need maps can, which are
# known once a program has buffers.
SHAPES = {
    **dict.fromkeys(("lines", "slots", "single_copy"), ("-n", "4")),
    **dict.fromkeys(("messages", "levels_one_group"), ("-n", "4", "--nodes", "4")),
    **dict.fromkeys(
        ("levels", "levels_messages", "levels_equal_nodes", "levels_all_ranks",
         "levels_single_copy"), ("-n", "8", "--nodes", "2")),
    "levels_slow_ranks": ("-n", "8", "--nodes", "2", "--slow", "3,7"),
}  # fmt: skip
TABLE = plans.algorithms() if COMMAND.exists() else []


def needs_of(collective):
    return {row["name"]: row["needs"] for row in TABLE if row["collective"] == collective}


def call_of(row):
    size = [] if row["collective"] == "barrier" else ["256"]
    return (row["collective"], *size, *SHAPES[row["needs"]])


def forced(row):
    return f"{row['collective']}:{row['name']}"


@pytest.mark.parametrize("row", [row for row in TABLE if row["needs"] in SHAPES], ids=forced)
def test_a_forced_algorithm_is_the_one_shown(row):
    found = plans.plan(*call_of(row), "--algo", forced(row))
    of = found
    if row["needs"] == "messages":
        (of,) = [stage for stage in found["levels"] if stage["operation"] == row["collective"]]
    assert (of["algorithm"], of["rule"]) == (row["name"], "forced")


@pytest.mark.parametrize(
    ("call", "tried"),
    [
        (("bcast", "1M", "-n", "4"), True),
        (("bcast", "1M", "-n", "8", "--nodes", "2"), True),
        (("bcast", "1M", "-n", "8", "--nodes", "2", "--machine", "core:2"), True),
        (("barrier", "-n", "4"), True),
        (("bcast", "1M", "-n", "4", "--algo", "bcast:slots"), False),
        (("bcast", "1M", "-n", "8", "--nodes", "2", "--algo", "reduce:levels"), False),
        (("allreduce", "1M", "-n", "4", "--reproducible"), False),
        (("bcast", "1M", "-n", "4", "--reproducible"), True),
        (("alltoallv", "0", "-n", "4"), False),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else str(value),
)
def test_the_candidates_of_trials_are_shown(call, tried):
    found = plans.plan(*call)
    first, *others = found["candidates"]
    assert first == found["algorithm"]
    assert others[-1:] == (["native"] if tried else [])
    if "--machine" in call:
        assert (first, *others[:-1]) == ("passive", "levels")
    elif "--nodes" in call or call[0] == "barrier":
        assert others[:-1] == []
    elif tried:
        (row,) = found["levels"]
        possible = {other["algorithm"] for other in row["others"]}
        assert 1 <= len(others[:-1]) <= 2 and possible >= set(others[:-1])


@pytest.mark.parametrize(
    ("algorithm", "shape"),
    [
        ("single_copy", ("-n", "4", "--no-attach")),
        ("direct", ("-n", "4")),
        ("ring", ("-n", "4")),
        ("levels", ("-n", "4")),
        ("multi_leader", ("-n", "9", "--nodes", "2")),
        ("multi_leader", ("-n", "8", "--nodes", "2", "--slow", "3,7")),
        ("all_ranks", ("-n", "9", "--nodes", "2")),
        ("all_ranks_peers", ("-n", "8", "--nodes", "2")),
        ("ordered", ("-n", "8", "--nodes", "2")),
        ("tree", ("-n", "4", "--reproducible")),
        ("passive", ("-n", "8", "--nodes", "2", "--no-attach")),
    ],
)
def test_a_forced_algorithm_that_cannot_run_is_passed_over(algorithm, shape):
    found = plans.plan("allreduce", "1M", *shape, "--algo", f"allreduce:{algorithm}")
    assert found["rule"].startswith("rules.toml:")
    for of in [found, *found["levels"]]:
        shown = [of["algorithm"], *(other["algorithm"] for other in of["others"])]
        assert algorithm not in shown


@pytest.mark.parametrize("collective", ["allreduce", "reduce", "bcast", "allgather"])
def test_what_can_run_in_a_group_is_shown_and_nothing_else(collective):
    needs = needs_of(collective)
    in_memory = {"lines", "slots", "single_copy"}
    for size, more, allowed in (
        ("2072", (), in_memory),
        ("2073", (), in_memory - {"lines"}),
        ("2072", ("--no-attach",), in_memory - {"single_copy"}),
        ("2072", ("--nodes", "4"), {"messages"}),
    ):
        (row,) = plans.plan(collective, size, "-n", "4", *more)["levels"]
        shown = {row["algorithm"], *(other["algorithm"] for other in row["others"])}
        assert shown == {name for name, need in needs.items() if need in allowed}


@pytest.mark.parametrize(
    ("shape", "needs"),
    [
        (("-n", "8"), set()),
        (("-n", "8", "--hierarchy", "ranks:2,node"), {"levels_single_copy"}),
        (("-n", "8", "--nodes", "2"), {"levels_single_copy", "levels_messages",
                                       "levels_equal_nodes", "levels_all_ranks"}),
        (("-n", "8", "--nodes", "2", "--slow", "3,7"), {"levels_single_copy", "levels_messages",
                                                        "levels_all_ranks", "levels_slow_ranks"}),
        (("-n", "9", "--nodes", "2"), {"levels_single_copy", "levels_messages"}),
        (("-n", "9", "--nodes", "2", "--no-attach"), {"levels_messages"}),
        (("-n", "4", "--nodes", "4"), {"levels_single_copy", "levels_messages",
                                       "levels_one_group"}),
    ],
)  # fmt: skip
def test_other_ways_over_levels_are_those_that_can_run(shape, needs):
    found = plans.plan("allreduce", "1M", *shape, "--algo", "allreduce:levels")
    allowed = {name for name, need in needs_of("allreduce").items() if need in needs}
    assert {other["algorithm"] for other in found["others"]} == allowed


def test_rules_decide_and_are_named_by_their_place(tmp_path):
    file = tmp_path / "my.toml"
    small, large, up, chain, levels = plans.rules(
        file,
        rule("allreduce", "shm", "flat_lines", bytes="-1K"),
        rule("allreduce", "shm", "split_slots"),
        rule("reduce", "shm", "split_slots"),
        rule("bcast", "p2p", "chain"),
        rule("allreduce", "levels", "levels", chunk="128K"),
    )
    given = ("--rules", str(file))
    for size, algorithm, place in (
        ("1K", "flat_lines", small), ("1025", "split_slots", large)
    ):  # fmt: skip
        found = plans.plan("allreduce", size, "-n", "4", *given)
        (row,) = found["levels"]
        assert (row["algorithm"], row["rule"], found["rule"]) == (algorithm, place, place)
    found = plans.plan("allreduce", "1000000", "-n", "8", "--nodes", "2", *given)
    assert (found["algorithm"], found["chunk"], found["rule"]) == ("levels", 128 << 10, levels)
    assert (found["levels"][0]["algorithm"], found["levels"][0]["rule"]) == ("split_slots", up)
    (row,) = plans.plan("bcast", "1M", "-n", "4", "--nodes", "4", *given)["levels"]
    assert (row["algorithm"], row["rule"]) == ("chain", chain)


def test_shipped_rules_are_named_by_their_place():
    (row,) = plans.plan("allreduce", "8", "-n", "2")["levels"]
    name, line = row["rule"].split(":")
    assert name == "rules.toml"
    here = SHIPPED.read_text().splitlines()[int(line) - 1]
    assert 'collective = "allreduce"' in here and f'algorithm = "{row["algorithm"]}"' in here


def test_the_size_of_a_chunk_decides_within_levels(tmp_path):
    """Of several leaders the chunk is one of a rank's part."""
    file = tmp_path / "my.toml"
    plans.rules(
        file,
        rule("allreduce", "p2p", "ring", bytes="-64K"),
        rule("allreduce", "p2p", "rabenseifner"),
        rule("allreduce", "levels", "levels", bytes="-1M", chunk="128K"),
        rule("allreduce", "levels", "levels", bytes="-2M", chunk="64K"),
        rule("allreduce", "levels", "multi_leader", chunk="64K"),
    )
    for size, algorithm, chunks in (
        ("1M", "rabenseifner", 8), ("2M", "ring", 32), ("4M", "ring", 16)
    ):  # fmt: skip
        found = plans.plan("allreduce", size, "-n", "16", "--nodes", "4", "--rules", str(file))
        top = next(row for row in found["levels"] if row["level"] == "top")
        assert (top["algorithm"], top["chunks"]) == (algorithm, chunks)


def test_groups_as_large_that_hand_down_other_amounts_are_told_apart(tmp_path):
    """Of 21 ranks one node has six and three have five, whose parts are five sixths as much."""
    file = tmp_path / "my.toml"
    plans.rules(
        file,
        rule("bcast", "shm", "tree", bytes="-64K"),
        rule("bcast", "shm", "slots"),
        rule("reduce_scatter", "levels", "levels", chunk="256K"),
    )
    given = ("--nodes", "4", "--hierarchy", "ranks:3,node", "--rules", str(file))
    found = plans.plan("reduce_scatter", "1000000", "-n", "21", *given)
    down = [row for row in found["levels"] if row["operation"] == "bcast" and row["ranks"] == 3]
    assert [(row["groups"], row["algorithm"]) for row in down] == [(2, "slots"), (3, "tree")]


def test_chunks_of_one_group_that_sends_are_large_unless_a_rule_says_otherwise(tmp_path):
    call = ("allreduce", "16M", "-n", "5", "--nodes", "5")
    assert plans.plan(*call)["chunk"] == 4 << 20
    plans.rules(tmp_path / "my.toml", rule("allreduce", "levels", "levels", chunk="256K"))
    assert plans.plan(*call, "--rules", str(tmp_path / "my.toml"))["chunk"] == 256 << 10


def test_trees_show_their_radix(tmp_path):
    plans.rules(tmp_path / "my.toml", rule("reduce", "p2p", "knomial", radix=3))
    call = ("reduce", "1M", "-n", "9", "--nodes", "9")
    (row,) = plans.plan(*call, "--rules", str(tmp_path / "my.toml"))["levels"]
    assert (row["algorithm"], row["radix"], row["steps"]) == ("knomial", 3, 2)
    (row,) = plans.plan(*call, "--algo", "reduce:knomial")["levels"]
    assert row["radix"] == 2


def test_a_call_is_left_to_the_mpi_by_rule(tmp_path):
    (place,) = plans.rules(tmp_path / "my.toml", rule("barrier", "shm", "native", ranks="20-"))
    given = ("--hierarchy", "flat", "--rules", str(tmp_path / "my.toml"))
    found = plans.plan("barrier", "-n", "20", *given)
    assert (found["algorithm"], found["rule"], found["levels"]) == ("native", place, [])
    assert plans.plan("barrier", "-n", "19", *given)["algorithm"] == "flat"


@pytest.mark.parametrize("shape", [("-n", "2"), ("-n", "8", "--hierarchy", "ranks:2,node")])
@pytest.mark.parametrize(
    ("key", "option", "classes"),
    [("handover", "--handover", ["sibling", "near", "far"]),
     ("attach", "--attach", ["fast", "slow"])],
)  # fmt: skip
def test_rules_ask_for_what_is_measured(tmp_path, shape, key, option, classes):
    file = tmp_path / "my.toml"
    wanted = classes[-1]
    (place,) = plans.rules(file, rule("allreduce", "shm", "flat_slots", **{key: wanted}))
    for measured in [None, *classes]:
        given = () if measured is None else (option, measured)
        found = plans.plan("allreduce", "64", *shape, "--rules", str(file), *given)
        places = {row["rule"] for row in found["levels"]}
        assert (place in places) == (measured == wanted)


@pytest.mark.parametrize(("cores", "room"), [(1, "shared"), (2, "own"), (3, "own"), (4, "spare")])
def test_the_machine_says_how_much_room_two_ranks_of_a_node_have(tmp_path, cores, room):
    """Ranks with spare processors have their own, too."""
    file = tmp_path / "my.toml"
    rooms = ["spare", "own", "shared"]
    places = plans.rules(file, *(rule("bcast", "shm", "slots", room=each) for each in rooms))
    given = ("--machine", f"core:{cores}", "--unbound", "--rules", str(file))
    (row,) = plans.plan("bcast", "8", "-n", "2", *given)["levels"]
    assert row["rule"] == places[rooms.index(room)]


def test_a_radix_is_asked_for_by_option_and_variable():
    (row,) = plans.plan("reduce", "64", "-n", "8", "--node-radix", "4")["levels"]
    assert (row["algorithm"], row["radix"], row["rule"]) == ("tree", 4, "radix")
    for off in ("off", "no", "0", "1"):
        (row,) = plans.plan("reduce", "64", "-n", "8", SUMAC_NODE_RADIX=off)["levels"]
        assert row["algorithm"] != "tree"


def test_options_are_taken_from_the_librarys_variables(tmp_path):
    found = plans.plan(
        "allreduce", "64K", "-n", "16", "--nodes", "2",
        SUMAC_HIERARCHY="bcast=flat;ranks:4,node", SUMAC_ALGO="allreduce:levels;allreduce:ring",
    )  # fmt: skip
    assert "ranks:4 4 x 4 shm reduce" in plans.outline(found)
    (top,) = [row for row in found["levels"] if row["level"] == "top"]
    assert (top["algorithm"], top["rule"]) == ("ring", "forced")
    (place,) = plans.rules(tmp_path / "my.toml", rule("bcast", "shm", "tree"))
    found = plans.plan("bcast", "64K", "-n", "4", SUMAC_RULES=str(tmp_path / "my.toml"))
    assert found["rule"] == place
    call = plans.CALLS["slow ranks, peer"]
    by_option = call[: call.index("--slow-design")]
    found = plans.plan(*by_option, "--algo", "allreduce:levels", SUMAC_SLOW_DESIGN="peer")
    assert found == plans.plan(*call)


def test_reproducible_reductions_fold_in_one_group_in_rank_order():
    orders = {row["name"]: row["order"] for row in TABLE if row["collective"] == "allreduce"}
    found = plans.plan("allreduce", "1M", "-n", "12", "--nodes", "3", "--reproducible")
    (row,) = found["levels"]
    assert (row["groups"], row["ranks"], found["algorithm"]) == (1, 12, "ordered")
    for algorithm in [row["algorithm"], *(other["algorithm"] for other in row["others"])]:
        assert orders[algorithm] == "rank"

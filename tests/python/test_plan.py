# SPDX-License-Identifier: BSD-3-Clause
"""What must hold of every plan, and which stages work over which groups."""

import plans
import pytest
from installed import needs_command

pytestmark = needs_command
EVERY = pytest.mark.parametrize("call", plans.CALLS.values(), ids=plans.CALLS)
SENT = {"allreduce": 2, "barrier": 2}  # times that each byte must at least pass between two nodes


def least_between(nodes, found):
    """The bytes that a call on so many nodes must send between them, whatever the algorithm."""
    size = 4 if found["collective"] == "barrier" else found["bytes"]
    return SENT.get(found["collective"], 1) * (nodes - 1) * size


@EVERY
def test_steps_are_those_of_the_stages_and_chunks_overlap(call):
    found = plans.plan(*call)
    if not plans.priced(found):
        assert (found["steps"], found["bytes_between_nodes"]) == (None, None)
        return
    slowest = [max(row["steps"] for row in stage) for stage in plans.stages(found)]
    assert found["steps"] == sum(slowest) + (found["chunks"] - 1) * max(slowest)


@EVERY
def test_chunks_cover_the_message(call):
    found = plans.plan(*call)
    rows = found["levels"]
    for row in rows:
        assert row["chunks"] == found["chunks"]
        assert row["chunk"] <= found.get("chunk", row["chunk"])
    if rows:
        whole = found["bytes"] or 4  # of a barrier a word
        if found["algorithm"] == "multi_leader":
            whole /= rows[0]["ranks"]  # of the message the part of one rank
        chunk = rows[-1]["chunk"]
        assert (found["chunks"] - 1) * chunk < whole <= found["chunks"] * chunk


@EVERY
def test_no_plan_sends_less_between_nodes_than_the_call_must(call):
    found = plans.plan(*call)
    for way in [found, *found["others"]]:
        if way["bytes_between_nodes"] is not None:
            assert way["bytes_between_nodes"] >= least_between(found["nodes"], found)
    sending = [row for row in found["levels"] if row["over"] == "p2p"]
    assert bool(sending) == (found["nodes"] > 1 and found["algorithm"] != "native")
    if plans.priced(found):
        most = sum(row["groups"] * row["ranks"] * row["bytes"] for row in sending)
        assert found["bytes_between_nodes"] <= most  # all send no more than the busiest


@EVERY
def test_what_else_could_run_is_of_the_same_collective_and_named_once(call):
    found = plans.plan(*call)
    known = {(row["collective"], row["name"]) for row in plans.algorithms()}
    for of, collective in [
        (found, found["collective"]),
        *((row, row["operation"]) for row in found["levels"]),
    ]:
        names = [of["algorithm"], *(other["algorithm"] for other in of["others"])]
        assert len(names) == len(set(names))
        for name in names[1:]:
            assert (collective, name) in known
    for row in found["levels"]:
        for other in row["others"]:
            assert other["steps"] is None or (other["steps"] > 0 and other["bytes"] > 0)


@EVERY
def test_times_are_predicted_in_shared_memory_where_ranks_have_processors(call):
    found = plans.plan(*call)
    alone = call is not plans.CALLS["more ranks than processors"]
    for row in found["levels"]:
        for priced in (row, *row["others"]):
            predicted = priced["predicted_us"]
            measured = row["ranks"] >= found["prediction"]["least_ranks"]
            assert (predicted is not None) == (row["over"] == "shm" and alone and measured)
            assert predicted is None or predicted > 0


def test_a_prediction_says_how_far_it_is_off_and_prices_every_candidate():
    call = ("allreduce", "-n", "128", "--machine", "package:2 core:64")
    small, large = (plans.plan(*call, size) for size in ("64K", "1M"))
    assert 1 < large["prediction"]["off_by"] < large["prediction"]["off_beyond"]
    assert large["prediction"]["most_ranks"] < large["ranks"]
    (row,) = large["levels"]
    priced = {each["algorithm"]: each["predicted_us"] for each in (row, *row["others"])}
    candidates = set(large["candidates"]) - {"native"}
    assert len(candidates) > 1 and candidates <= priced.keys()
    assert small["levels"][0]["predicted_us"] < row["predicted_us"]


@pytest.mark.parametrize(
    "name",
    ["nodes", "nodes of three levels", "unequal nodes", "more ranks than processors",
     "all ranks send", "parts", "a barrier", "levels in one node"],
)  # fmt: skip
def test_every_rank_is_in_a_group_and_every_group_sends_its_leader_on(name):
    found = plans.plan(*plans.CALLS[name])
    taking_part = found["ranks"]
    reducing = found["collective"] != "bcast"
    for stage in plans.stages(found)[:: 1 if reducing else -1]:
        assert sum(row["groups"] * row["ranks"] for row in stage) == taking_part
        taking_part = sum(row["groups"] for row in stage)
        if stage[0]["level"] == "top":
            break
    assert taking_part == 1


def test_an_all_reduce_goes_up_across_and_down():
    found = plans.plan(*plans.CALLS["nodes"], "--algo", "allreduce:levels;allreduce:ring")
    assert plans.outline(found) == [
        "node 4 x 16 shm reduce", "top 1 x 4 p2p allreduce", "node 4 x 16 shm bcast"
    ]  # fmt: skip
    assert found["bytes_between_nodes"] == least_between(4, found)


def test_a_broadcast_goes_down_all_levels():
    assert plans.outline(plans.plan(*plans.CALLS["nodes of three levels"])) == [
        "top 1 x 8 p2p bcast", "node 8 x 2 shm bcast", "numa 16 x 8 shm bcast"
    ]  # fmt: skip


def test_a_reduce_goes_up_alone_and_larger_nodes_are_told_apart():
    found = plans.plan(*plans.CALLS["unequal nodes"])
    assert plans.outline(found) == [
        "node 2 x 13 shm reduce", "node 2 x 12 shm reduce", "top 1 x 4 p2p reduce"
    ]  # fmt: skip
    needs = {other["algorithm"] for other in found["others"]}
    assert needs.isdisjoint({"passive", "all_ranks"})  # no attach, and no equal nodes


@pytest.mark.parametrize(("ranks", "steps"), [(4, 1), (64, 2)])
def test_a_barrier_of_one_group_has_steps_and_no_data(ranks, steps):
    found = plans.plan("barrier", "-n", str(ranks), "--hierarchy", "flat")
    assert (found["steps"], [row["bytes"] for row in found["levels"]]) == (steps, [0])


def test_a_barrier_is_an_all_reduce_of_a_word_over_levels():
    found = plans.plan(*plans.CALLS["a barrier"])
    assert plans.outline(found) == [
        "node 16 x 16 shm reduce", "top 1 x 16 p2p allreduce", "node 16 x 16 shm bcast"
    ]  # fmt: skip
    assert {row["chunk"] for row in found["levels"]} == {4}


def test_ranks_fill_packages_one_after_another():
    """Of 20 ranks on a node's two packages of 8 cores the last four share those of the first."""
    found = plans.plan(*plans.CALLS["more ranks than processors"])
    assert plans.outline(found) == [
        "numa 2 x 12 shm reduce", "numa 2 x 8 shm reduce", "node 2 x 2 shm reduce",
        "top 1 x 2 p2p allreduce", "node 2 x 2 shm bcast", "numa 2 x 12 shm bcast",
        "numa 2 x 8 shm bcast",
    ]  # fmt: skip


def test_one_level_over_nodes_is_one_group_that_sends():
    found = plans.plan(*plans.CALLS["all ranks send"])
    assert plans.outline(found) == ["top 1 x 12 p2p allreduce"]
    assert "ordered" in {other["algorithm"] for other in found["others"]}


def test_parts_are_reduced_to_leaders_scattered_among_them_and_handed_down():
    found = plans.plan(*plans.CALLS["parts"])
    assert plans.outline(found) == [
        "ranks:4 3 x 4 shm reduce", "ranks:4 2 x 3 shm reduce", "ranks:4 1 x 2 shm reduce",
        "node 3 x 2 shm reduce", "top 1 x 3 p2p reduce_scatter", "node 3 x 2 shm bcast",
        "ranks:4 3 x 4 shm bcast", "ranks:4 2 x 3 shm bcast", "ranks:4 1 x 2 shm bcast",
    ]  # fmt: skip


def test_parts_are_gathered_by_nodes_and_then_among_leaders():
    found = plans.plan(*plans.CALLS["all parts"])
    assert plans.outline(found) == [
        "node 4 x 4 shm allgather", "top 1 x 4 p2p allgather", "node 4 x 4 shm bcast"
    ]  # fmt: skip
    assert found["bytes_between_nodes"] == least_between(4, found)


def test_all_ranks_of_nodes_lead_with_a_part_each():
    found = plans.plan(*plans.CALLS["several leaders"])
    assert plans.outline(found) == [
        "node 3 x 4 shm reduce_scatter", "top 4 x 3 p2p allreduce", "node 3 x 4 shm allgather"
    ]  # fmt: skip
    node, top, _ = found["levels"]
    assert (node["algorithm"], node["rule"]) == ("multi_leader", "")
    assert top["bytes"] < found["bytes"]  # of one part


def test_slow_ranks_have_no_part_where_all_ranks_share_the_work():
    found = plans.plan(*plans.CALLS["shared with slow ranks"])
    assert plans.outline(found) == [
        "node 3 x 4 p2p reduce_scatter", "top 3 x 3 p2p allreduce", "node 3 x 4 p2p allgather"
    ]  # fmt: skip
    node, top, _ = found["levels"]
    assert 3 * top["chunk"] == node["chunk"]
    assert found["bytes_between_nodes"] == least_between(3, found)
    assert "all_ranks_peers" in {other["algorithm"] for other in found["others"]}


def test_a_shared_broadcast_begins_in_the_roots_node():
    found = plans.plan(*plans.CALLS["a shared broadcast"])
    assert plans.outline(found) == [
        "node 1 x 4 p2p scatter", "top 4 x 3 p2p bcast", "node 3 x 4 p2p allgather"
    ]  # fmt: skip
    assert found["bytes_between_nodes"] == least_between(3, found)  # messages within do not count


def test_levels_of_a_node_share_memory():
    found = plans.plan(*plans.CALLS["levels in one node"])
    assert plans.outline(found) == [
        "l3 16 x 4 shm reduce", "package 2 x 8 shm reduce", "top 1 x 2 shm allreduce",
        "package 2 x 8 shm bcast", "l3 16 x 4 shm bcast",
    ]  # fmt: skip
    assert found["bytes_between_nodes"] == 0


def test_ranks_that_are_not_bound_have_no_levels_within_the_node():
    call = ("allreduce", "64K", "-n", "64", "--machine", plans.XML)
    assert plans.outline(plans.plan(*call, "--unbound")) == ["node 1 x 64 shm allreduce"]
    assert len(plans.outline(plans.plan(*call))) > 1


@pytest.mark.parametrize(
    ("design", "up"),
    [
        ("basic", ["node 4 x 4 shm reduce", "attach 2 x 2 shm reduce"]),  # fast, slow: both
        ("direct", ["node 2 x 4 shm reduce", "attach 2 x 5 shm reduce"]),  # slow to the leader
        ("peer", ["attach 8 x 2 shm reduce", "node 2 x 4 shm reduce"]),  # slow to fast, each
    ],
)
def test_slow_ranks_take_part_by_design(design, up):
    found = plans.plan(*plans.CALLS[f"slow ranks, {design}"])
    down = [line.replace("reduce", "bcast") for line in reversed(up)]
    assert plans.outline(found) == [*up, "top 1 x 2 p2p allreduce", *down]
    assert found["bytes_between_nodes"] == least_between(2, found)


def test_a_large_machine():
    call = ("allreduce", "64K", "-n", "4096", "--machine", "package:2 core:32", "--nodes", "64")
    assert "node 64 x 64 shm reduce" in plans.outline(plans.plan(*call))

# SPDX-License-Identifier: BSD-3-Clause
"""A cluster as SimGrid's platform file and smpirun's hostfile.

Each socket, and each coprocessor, is a host of SimGrid's, so that messages within it, between the
sockets and between nodes have links of their own. A host's speed is what a core folds: bytes a
second. All routes are written out, one for each pair of nodes and direction."""

from __future__ import annotations

import math
from collections.abc import Iterator

from sumac_mpi.simulate.cluster import Cluster, Link, Memory

_HEAD = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
<zone id="cluster" routing="Full">
"""
_TAIL = "</zone>\n</platform>\n"


def xml(cluster: Cluster) -> str:
    lines = [_HEAD]
    for node in range(cluster.nodes):
        lines += _node(cluster, node)
    lines += _between(cluster)
    return "\n".join(lines) + "\n" + _TAIL


def hosts(cluster: Cluster) -> Iterator[tuple[str, int, int]]:
    """The hosts in the order of their ranks, with the ranks on each and the node they belong to."""
    for node in range(cluster.nodes):
        for socket in range(cluster.node.sockets):
            yield f"n{node}s{socket}", cluster.node.cores, node
        if cluster.slow:
            yield f"n{node}x", cluster.slow.cores, node


def hostfile(cluster: Cluster) -> str:
    return "".join(f"{name}:{ranks}\n" for name, ranks, _ in hosts(cluster))


def places(cluster: Cluster, ranks: int) -> list[tuple[int, int, int]]:
    """For each rank the node whose memory it shares, its package there (-1: there is one) and, of a
    slow rank, the node of its host (else -1). Coprocessors are nodes of their own."""
    found = []
    several = cluster.node.sockets > 1
    for name, count, node in hosts(cluster):
        if name.endswith("x"):
            found += [(cluster.nodes + node, -1, node)] * count
        else:
            found += [(node, int(name.split("s")[1]) if several else -1, -1)] * count
    return found[:ranks]


def torus_sides(nodes: int, dimensions: int) -> list[int]:
    """The sides of a torus, as equal as whole numbers allow."""
    sides = []
    for left in range(dimensions, 0, -1):
        wanted = round(nodes ** (1 / left))
        fits = [side for side in range(1, nodes + 1) if nodes % side == 0]
        side = min(fits, key=lambda each: abs(math.log(each / wanted)))
        sides.append(side)
        nodes //= side
    return sorted(sides, reverse=True)


def _link(name: str, latency_us: float, bandwidth_gb: float, shared: bool = True) -> str:
    policy = "SHARED" if shared else "FATPIPE"
    return (
        f'<link id="{name}" bandwidth="{bandwidth_gb * 1e9:.0f}Bps" latency="{latency_us:.6f}us" '
        f'sharing_policy="{policy}"/>'
    )


def _route(kind: str, ends: str, links: list[str]) -> str:
    passed = "".join(f'<link_ctn id="{link}"/>' for link in links)
    return f'<{kind} {ends} symmetrical="NO">{passed}</{kind}>'


def _memory(name: str, memory: Memory) -> list[str]:
    return [
        _link(f"{name}_copy", memory.latency_us, memory.bandwidth_gb, shared=False),
        _link(f"{name}_memory", 0, memory.all_gb),
        _route("route", f'src="{name}" dst="{name}"', [f"{name}_copy", f"{name}_memory"]),
    ]


def _one_way(source: str, target: str, link: Link, shared: bool = True) -> list[str]:
    name = f"{source}_{target}"
    return [
        _link(name, link.latency_us, link.bandwidth_gb, shared),
        _route("route", f'src="{source}" dst="{target}"', [name]),
    ]


def _node(cluster: Cluster, number: int) -> list[str]:
    """A zone: hosts, the adapter as a router, and the links between them."""
    node, slow, adapter = cluster.node, cluster.slow, f"n{number}a"
    sockets = [f"n{number}s{socket}" for socket in range(node.sockets)]
    speed = f"{node.fold_gb * 1e9:.0f}f"
    lines = [f'<host id="{name}" speed="{speed}" core="{node.cores}"/>' for name in sockets]
    if slow:
        speed = f"{slow.fold_gb * 1e9:.0f}f"
        lines.append(f'<host id="n{number}x" speed="{speed}" core="{slow.cores}"/>')
    lines.append(f'<router id="{adapter}"/>')
    near = Link(0, node.memory.all_gb)
    for name in sockets:
        lines += _memory(name, node.memory)
        # The adapter is at the first socket.
        way = near if name == sockets[0] or not node.between_sockets else node.between_sockets
        lines += _one_way(name, adapter, way) + _one_way(adapter, name, way)
        for other in sockets:
            if other != name and node.between_sockets:
                lines += _one_way(name, other, node.between_sockets)
    if slow:
        name = f"n{number}x"
        lines += _memory(name, slow.memory)
        lines += _one_way(name, adapter, slow.to_network)
        lines += _one_way(adapter, name, slow.from_network)
        for socket in sockets:
            lines += _one_way(name, socket, slow.to_host) + _one_way(socket, name, slow.from_host)
    # SimGrid wants all routes behind all links.
    lines.sort(key=lambda line: line.startswith("<route "))
    return [f'<zone id="n{number}" routing="Full">', *lines, "</zone>"]


def _between(cluster: Cluster) -> list[str]:
    if cluster.nodes == 1:
        return []
    paths = {"switch": _switch, "fat-tree": _fat_tree, "torus": _torus}[cluster.network.topology]
    links: dict[str, None] = {}
    routes = []
    for source in range(cluster.nodes):
        for target in range(cluster.nodes):
            if source == target:
                continue
            passed = paths(cluster, source, target)
            links.update(dict.fromkeys(passed))
            ends = f'src="n{source}" dst="n{target}" gw_src="n{source}a" gw_dst="n{target}a"'
            routes.append(_route("zoneRoute", ends, passed))
    network = cluster.network
    return [_link(name, network.latency_us, network.bandwidth_gb) for name in links] + routes


def _switch(_: Cluster, source: int, target: int) -> list[str]:
    return [f"up{source}", f"down{target}"]


def _fat_tree(cluster: Cluster, source: int, target: int) -> list[str]:
    """Two levels; the way through the core is chosen by the target (D mod k)."""
    leaf, way = cluster.network.leaf, target % cluster.network.uplinks
    first, last = source // leaf, target // leaf
    through = [] if first == last else [f"leaf{first}up{way}", f"leaf{last}down{way}"]
    return [f"up{source}", *through, f"down{target}"]


def _torus(cluster: Cluster, source: int, target: int) -> list[str]:
    """One dimension after another, the shorter way round. A node's adapter has one link in and out
    besides those to its neighbours."""
    sides = torus_sides(cluster.nodes, cluster.network.dimensions)
    passed, here, stride = [f"up{source}"], source, 1
    for side in sides:
        place, wanted = here // stride % side, target // stride % side
        forward = (wanted - place) % side
        step = 1 if forward * 2 <= side else -1
        while place != wanted:
            passed.append(f"n{here}d{stride}{'f' if step > 0 else 'b'}")
            next_place = (place + step) % side
            here += (next_place - place) * stride
            place = next_place
        stride *= side
    return [*passed, f"down{target}"]

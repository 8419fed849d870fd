# SPDX-License-Identifier: BSD-3-Clause
"""A described cluster: a TOML file, read and checked. docs/hierarchy.md has the keys."""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sumac_mpi.base import errors
from sumac_mpi.base.errors import bad_value

SHIPPED = Path(__file__).parent / "clusters"
TOPOLOGIES = ("switch", "fat-tree", "torus")


@dataclasses.dataclass(frozen=True)
class Link:
    """One way of a link: its latency in us, its bandwidth in GB/s."""

    latency_us: float
    bandwidth_gb: float


@dataclasses.dataclass(frozen=True)
class Memory:
    """How ranks that share it exchange messages: a message's latency, what one of them gets, and
    what all together."""

    latency_us: float
    bandwidth_gb: float
    all_gb: float


@dataclasses.dataclass(frozen=True)
class Node:
    sockets: int
    cores: int  # of a socket, a rank on each
    fold_gb: float  # bytes that a core folds in a second
    memory: Memory  # of a socket
    between_sockets: Link | None = None


@dataclasses.dataclass(frozen=True)
class Slow:
    """A coprocessor of each node, with slow ranks after those of its host."""

    cores: int
    fold_gb: float
    memory: Memory
    to_host: Link
    from_host: Link
    to_network: Link
    from_network: Link


@dataclasses.dataclass(frozen=True)
class Network:
    """`latency_us` is a link's. A message between nodes passes at least two."""

    topology: str
    latency_us: float
    bandwidth_gb: float
    overhead_us: float = 0.0  # of a processor, for each message it sends
    leaf: int = 0  # fat-tree: nodes of a leaf switch, and its links to the core
    uplinks: int = 0
    dimensions: int = 3  # torus


@dataclasses.dataclass(frozen=True)
class Cluster:
    title: str
    nodes: int
    node: Node
    network: Network
    slow: Slow | None = None

    @property
    def ranks_of_a_node(self) -> int:
        return self.node.sockets * self.node.cores + (self.slow.cores if self.slow else 0)

    @property
    def ranks(self) -> int:
        return self.nodes * self.ranks_of_a_node


def names() -> list[str]:
    """The clusters that are shipped."""
    return sorted(path.stem for path in SHIPPED.glob("*.toml"))


def load(name: str) -> Cluster:
    """The cluster of a file, or a shipped one by its name. Raises usage errors."""
    path = Path(name)
    if not path.suffix and not path.exists():
        path = SHIPPED / f"{name}.toml"
        if not path.exists():
            raise errors.unknown(f"CLUSTER {name}: no file, and not known", name, names())
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise bad_value(f"{path}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise bad_value(f"{path}: {error}", fix="docs/hierarchy.md has the keys") from error
    return _checked(_read(Cluster, content, path.name), path.name)


_TABLES: dict[str, type] = {
    "Link": Link, "Link | None": Link, "Memory": Memory, "Node": Node, "Network": Network,
    "Slow | None": Slow,
}  # fmt: skip
_NUMBERS = {"int": (int,), "float": (int, float)}


def _read(kind: type, content: Mapping[str, Any], where: str) -> Any:
    """An object of a class from a table with its fields."""
    fields = {each.name: each for each in dataclasses.fields(kind)}
    for key in content:
        if key not in fields:
            raise errors.unknown(f"{where}: unknown key '{key}'", key, fields)
    values = {}
    for name, field in fields.items():
        if name in content:
            values[name] = _value(str(field.type), content[name], f"{where}: {name}")
        elif field.default is dataclasses.MISSING:
            raise bad_value(f"{where}: '{name}' is missing")
    return kind(**values)


def _value(kind: str, value: Any, where: str) -> Any:
    if table := _TABLES.get(kind):
        if not isinstance(value, Mapping):
            raise bad_value(f"{where} is a table", fix=f"with the keys {_keys(table)}")
        return _read(table, value, where)
    if kind == "str":
        if not isinstance(value, str):
            raise bad_value(f"{where} is a text")
        return value
    if isinstance(value, bool) or not isinstance(value, _NUMBERS[kind]) or value < 0:
        number = "a whole number" if kind == "int" else "a number"
        raise bad_value(f"{where} is {number}, not less than 0")
    return value


def _keys(kind: type) -> str:
    return ", ".join(each.name for each in dataclasses.fields(kind))


def _checked(cluster: Cluster, where: str) -> Cluster:
    network, node = cluster.network, cluster.node
    if network.topology not in TOPOLOGIES:
        raise bad_value(
            f"{where}: topology '{network.topology}' is not known", fix=", ".join(TOPOLOGIES)
        )
    if min(cluster.nodes, node.sockets, node.cores) < 1:
        raise bad_value(f"{where}: nodes, sockets and cores are at least 1")
    if network.topology == "fat-tree" and min(network.leaf, network.uplinks) < 1:
        raise bad_value(f"{where}: a fat-tree has 'leaf' nodes and 'uplinks' of a leaf switch")
    if network.topology == "torus" and network.dimensions < 1:
        raise bad_value(f"{where}: a torus has at least one dimension")
    if node.sockets > 1 and node.between_sockets is None:
        raise bad_value(f"{where}: several sockets need 'between_sockets'")
    for link in _links(cluster):
        if link.bandwidth_gb <= 0:
            raise bad_value(f"{where}: a bandwidth is more than 0")
    return cluster


def _links(cluster: Cluster) -> list[Any]:
    found: list[Any] = [cluster.network, cluster.node.memory]
    if cluster.node.between_sockets:
        found.append(cluster.node.between_sockets)
    if slow := cluster.slow:
        found += [slow.memory, slow.to_host, slow.from_host, slow.to_network, slow.from_network]
    return found

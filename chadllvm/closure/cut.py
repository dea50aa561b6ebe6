"""The cheapest way to cut a network in two: which nodes stay with the source.

A choice between two states for each of many things, where a cost arises if one thing is
in the one state and another in the other, is a cut. The least one is as large as the
largest flow from the source to the sink (Ford and Fulkerson); it is found by Dinic's
method: flow is pushed along shortest paths, all of one length at a time.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

# A cost that is never paid.
NEVER = 1 << 40

SOURCE = "source"
SINK = "sink"


class Network:
    """Nodes are whatever is named in an edge."""

    def __init__(self) -> None:
        self._number: dict[Hashable, int] = {}
        self._edges: list[list[int]] = []
        # The edge 2k leads to `_head[2k]`, and 2k + 1 is the way back.
        self._head: list[int] = []
        self._room: list[int] = []
        self._source, self._sink = self._node(SOURCE), self._node(SINK)

    def _node(self, name: Hashable) -> int:
        if name not in self._number:
            self._number[name] = len(self._edges)
            self._edges.append([])
        return self._number[name]

    def edge(self, start: Hashable, end: Hashable, cost: int) -> None:
        """What it costs if `start` stays with the source and `end` does not."""
        a, b = self._node(start), self._node(end)
        for node, head, room in ((a, b, cost), (b, a, 0)):
            self._edges[node].append(len(self._head))
            self._head.append(head)
            self._room.append(room)

    def cut(self) -> set[Hashable]:
        """The nodes that stay with the source in a cheapest cut.

        Of several, the one where most nodes do not.
        """
        while (levels := self._levels())[self._sink] >= 0:
            self._push(levels)
        return {name for name, k in self._number.items() if levels[k] >= 0}

    def _levels(self) -> list[int]:
        """How far each node is from the source, where there is room; else -1."""
        levels = [-1] * len(self._edges)
        levels[self._source] = 0
        found = [self._source]
        for node in found:
            for edge in self._edges[node]:
                head = self._head[edge]
                if self._room[edge] and levels[head] < 0:
                    levels[head] = levels[node] + 1
                    found.append(head)
        return levels

    def _push(self, levels: list[int]) -> None:
        """Push flow along all paths that go one level down with each edge."""
        left = [edges[:] for edges in self._edges]
        path: list[int] = []
        node = self._source
        while True:
            edges = left[node]
            while edges and not self._goes_down(edges[-1], levels):
                edges.pop()
            if edges and node != self._sink:
                path.append(edges[-1])
                node = self._head[edges[-1]]
            elif node == self._sink:
                self._fill(path)
                path, node = [], self._source
            elif not path:
                return
            else:
                levels[node] = -1
                node = self._head[path.pop() ^ 1]

    def _goes_down(self, edge: int, levels: Sequence[int]) -> bool:
        start, end = self._head[edge ^ 1], self._head[edge]
        return self._room[edge] > 0 and levels[end] == levels[start] + 1

    def _fill(self, path: list[int]) -> None:
        most = min(self._room[edge] for edge in path)
        for edge in path:
            self._room[edge] -= most
            self._room[edge ^ 1] += most

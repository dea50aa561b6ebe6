from typing import NamedTuple


class Node(NamedTuple):
    value: float
    next: "Node"


def f(node: Node):
    return node.value

from dataclasses import dataclass


@dataclass(frozen=True)
class Branch:
    left: "Branch | None"
    right: "Branch | None"


def f(tree: Branch) -> float:
    match tree:
        case Branch(None, None):
            return 1.0
        case Branch(Branch(None, _), _):
            return 2.0

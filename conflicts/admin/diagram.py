"""The states of a model as a picture, drawn from its table of moves, so that the picture cannot lie.

Guarantees plain SVG without script or style of its own: positions are attributes, looks are classes (css/admin.css).
States stand in columns by how many moves lead to them from the first; moves forward are drawn above, moves
back below and dashed. Who does not see it reads the same as a list (templates/admin/conflicts/policies.html).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

HEIGHT, ROW, GAP, LETTER, PAD, EDGE = 36, 76, 84, 7.6, 28, 24


@dataclass(frozen=True, kw_only=True, slots=True)
class Node:
    slug: str
    label: str
    x: float
    y: float
    width: float
    terminal: bool
    first: bool

    @property
    def height(self) -> int:
        return HEIGHT

    @property
    def middle(self) -> float:
        return self.x + self.width / 2

    @property
    def baseline(self) -> float:
        return self.y + HEIGHT / 2 + 4.5

    @property
    def right(self) -> float:
        return self.x + self.width

    @property
    def centre(self) -> float:
        return self.y + HEIGHT / 2

    @property
    def inner(self) -> tuple[float, float, float, float]:
        """The second border of a state that is the end."""
        return self.x + 3, self.y + 3, self.width - 6, HEIGHT - 6


@dataclass(frozen=True, kw_only=True, slots=True)
class Edge:
    path: str
    back: bool
    words: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Diagram:
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    width: float
    height: float


def draw(
    moves: Mapping[str, Sequence[str]], *, labels: Mapping[str, str], first: str, terminal: frozenset[str]
) -> Diagram:
    """Deterministic: the order of the table is the order on the page."""
    columns = _columns(moves, first)
    tallest = max(len(column) for column in columns)
    nodes: dict[str, Node] = {}
    x = float(EDGE)
    for column in columns:
        width = max(max(len(labels[slug]) * LETTER + PAD, 84) for slug in column)
        above = (tallest - len(column)) * ROW / 2
        for row, slug in enumerate(column):
            nodes[slug] = Node(
                slug=slug,
                label=labels[slug],
                x=x,
                y=EDGE + above + row * ROW,
                width=width,
                terminal=slug in terminal,
                first=slug == first,
            )
        x += width + GAP
    level = {slug: number for number, column in enumerate(columns) for slug in column}
    floor = max(node.y for node in nodes.values()) + HEIGHT
    edges = [
        _edge(nodes[old], nodes[new], levels=(level[old], level[new]), words=f"{labels[old]} → {labels[new]}")
        for old, after in moves.items()
        for new in after
    ]
    deepest = floor + (26 if any(edge.back for edge in edges) else 0)
    return Diagram(nodes=tuple(nodes.values()), edges=tuple(edges), width=x - GAP + EDGE, height=deepest + EDGE)


def _columns(moves: Mapping[str, Sequence[str]], first: str) -> list[list[str]]:
    """By the fewest moves from the first state; what no move reaches stands in the first column too."""
    level = {first: 0}
    queue = [first]
    while queue:
        slug = queue.pop(0)
        for new in moves.get(slug, ()):
            if new not in level:
                level[new] = level[slug] + 1
                queue.append(new)
    for slug in moves:
        level.setdefault(slug, 0)
    found: list[list[str]] = [[] for _ in range(max(level.values()) + 1)]
    for slug in moves:
        found[level[slug]].append(slug)
    return found


def _edge(old: Node, new: Node, *, levels: tuple[int, int], words: str) -> Edge:
    here, there = levels
    if there > here:
        bend = max((new.x - old.right) / 2, 24)
        path = (
            f"M{old.right:.0f} {old.centre:.0f} C{old.right + bend:.0f} {old.centre:.0f}"
            f" {new.x - bend:.0f} {new.centre:.0f} {new.x - 2:.0f} {new.centre:.0f}"
        )
        if there - here > 1:  # over what stands between
            high = min(old.y, new.y) - 18
            path = (
                f"M{old.middle:.0f} {old.y:.0f} C{old.middle:.0f} {high:.0f} {new.middle:.0f} {high:.0f}"
                f" {new.middle:.0f} {new.y - 2:.0f}"
            )
        return Edge(path=path, back=False, words=words)
    if there == here:
        down = new.y > old.y
        start, end = (old.y + HEIGHT, new.y - 2) if down else (old.y, new.y + HEIGHT + 2)
        aside = 14 if down else -14
        path = (
            f"M{old.middle + aside:.0f} {start:.0f} C{old.middle + aside * 1.6:.0f} {(start + end) / 2:.0f}"
            f" {new.middle + aside * 1.6:.0f} {(start + end) / 2:.0f} {new.middle + aside:.0f} {end:.0f}"
        )
        return Edge(path=path, back=False, words=words)
    low = max(old.y, new.y) + HEIGHT + 30
    path = (
        f"M{old.middle - 10:.0f} {old.y + HEIGHT:.0f} C{old.middle - 10:.0f} {low:.0f} {new.middle + 10:.0f} {low:.0f}"
        f" {new.middle + 10:.0f} {new.y + HEIGHT + 2:.0f}"
    )
    return Edge(path=path, back=True, words=words)

"""The rooms of the package and the arrows between them, read from its imports."""

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "treeselect"

Graph = dict[str, set[str]]


@cache
def modules() -> dict[str, Path]:
    """All modules by name, folders by that of their ``__init__``."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


@cache
def imported(path: Path) -> list[str]:
    """Dotted names that a file imports, anywhere in it: at the top, in functions, for types."""
    names = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            names += [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            names += [a.value for a in node.args if isinstance(a, ast.Constant)]
    return names


def module_of(name: str, known: dict[str, Path]) -> str | None:
    """The module that a dotted name lies in."""
    while name and name not in known:
        name = name.rpartition(".")[0]
    return name or None


@cache
def imports() -> Graph:
    """The modules of the package that each of its modules imports."""
    known = modules()
    return {
        name: {m for n in imported(path) if (m := module_of(n, known)) and m != name}
        for name, path in known.items()
    }


def drawn_apart(source: str, drawing: set[str]) -> list[str]:
    """Calls that draw bags of single rows, whether or not rows belong together.

    These are the calls of the functions in `drawing` that leave out ``sampling``, whose default is
    ``BOOTSTRAP``, what names that itself, and a ``Sampling`` that isn't told of any groups.
    """
    nodes = list(ast.walk(ast.parse(source)))
    true_name = {
        alias.asname: alias.name
        for node in nodes if isinstance(node, ast.ImportFrom)
        for alias in node.names if alias.asname
    }  # fmt: skip
    told = {"Sampling": "groups"} | dict.fromkeys(drawing, "sampling")

    def name(node: ast.AST) -> str:
        bare = ast.unparse(node).rpartition(".")[2]
        return true_name.get(bare, bare)

    def left_out(call: ast.Call) -> bool:
        given = {word.arg: ast.unparse(word.value) for word in call.keywords}
        if name(call.func) == "Sampling":
            names = ("replace", "share", "groups")
            given |= dict(zip(names, map(ast.unparse, call.args), strict=False))
        return given.get(told[name(call.func)], "None") == "None"

    found = []
    for node in nodes:
        if isinstance(node, ast.Call) and name(node.func) in told and left_out(node):
            found.append(f"line {node.lineno}: {name(node.func)}() without {told[name(node.func)]}")
        elif isinstance(node, ast.Name | ast.Attribute) and name(node) == "BOOTSTRAP":
            found.append(f"line {node.lineno}: BOOTSTRAP")
    return found


def room_of(module: str) -> str:
    """The room that a module is in: a folder, or a file at the top."""
    return module.split(".")[1] if "." in module else "__init__"


def rooms(graph: Graph) -> Graph:
    """The rooms that each room imports."""
    found: Graph = {room_of(module): set() for module in graph}
    for module, targets in graph.items():
        found[room_of(module)] |= {room_of(t) for t in targets} - {room_of(module)}
    return found


def circle(graph: Graph) -> list[str]:
    """Modules that import each other in a circle; none if there is no circle."""
    done: set[str] = set()

    def walk(node: str, way: list[str]) -> list[str]:
        if node in way:
            return way[way.index(node) :]
        if node in done:
            return []
        for target in sorted(graph[node]):
            found = walk(target, [*way, node])
            if found:
                return found
        done.add(node)
        return []

    return next((found for node in sorted(graph) if (found := walk(node, []))), [])


def floors(graph: Graph) -> list[list[str]]:
    """Rooms by the longest way down, from the top floor to the ground."""
    height: dict[str, int] = {}

    def measure(node: str) -> int:
        if node not in height:
            height[node] = 1 + max((measure(target) for target in graph[node]), default=-1)
        return height[node]

    assert not circle(graph)
    for node in graph:
        measure(node)
    top = max(height.values())
    return [sorted(n for n in graph if height[n] == floor) for floor in range(top, -1, -1)]


def figure() -> str:
    """The floors as ARCHITECTURE.md shows them."""
    graph = rooms(imports())
    named = {r: f"{r}/" if (PACKAGE / r).is_dir() else f"{r}.py" for r in graph}
    lines = [
        f"    {number:2d}  {'  '.join(named[room] for room in floor)}"
        for number, floor in zip(range(len(floors(graph)), 0, -1), floors(graph), strict=True)
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    print(figure())
    all_rooms = rooms(imports())
    print(f"\n{len(all_rooms)} rooms, {sum(map(len, all_rooms.values()))} arrows between them")

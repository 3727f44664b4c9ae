"""Show the structure of both packages: lines and modules per room, import cycles, and imports past a room's façade.

    python scripts/show_structure.py            # a table
    python scripts/show_structure.py --places   # and every cycle and every module imported past its façade
    python scripts/show_structure.py --check    # only these, and fail if there are any

A room is a top-level folder of a package. Its façade is the room's ``__init__`` and those of its sub-packages: other rooms
import names from there, so that modules inside can change. A façade may also export a whole module. Faults are extensions, one
per file: they are imported by the names of their modules, so that adding one changes no other file. Imports for type checkers
count as imports.
"""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from pathlib import Path

import grimp

from simcloud.sim import call_deep

PACKAGES = ("simcloud", "aiopslab")
SOURCE = Path(__file__).parent.parent / "src"
EXTENSIONS = "aiopslab.generators.fault"


def find_room(module: str) -> str:
    """Return the package and room of a module, such as ``simcloud.kubectl``."""
    return ".".join(module.split(".")[:2])


def is_facade(module: str) -> bool:
    """Whether a module is a package, an extension, or a module beside the rooms."""
    path = SOURCE.joinpath(*module.split("."))
    return path.is_dir() or module.count(".") < 2 or module.rpartition(".")[0] == EXTENSIONS


def find_exports(package: str) -> frozenset[str]:
    """Return the names that a package's ``__init__`` imports in the form ``X as X``."""
    tree = ast.parse(SOURCE.joinpath(*package.split("."), "__init__.py").read_text())
    statements = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    return frozenset(
        alias.name for statement in statements for alias in statement.names if alias.name == alias.asname
    )


def is_exported_import(graph: grimp.ImportGraph, importer: str, module: str) -> bool:
    """Whether every import of a module has the form ``from package import module`` and the package exports the module."""
    package, _, name = module.rpartition(".")
    details = graph.get_import_details(importer=importer, imported=module)
    lines = [detail["line_contents"] for detail in details]
    return name in find_exports(package) and all(line.startswith(f"from {package} import ") for line in lines)


def find_cycles(graph: grimp.ImportGraph) -> list[list[str]]:
    """Return the groups of modules that import each other, largest first (Tarjan's algorithm)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    cycles: list[list[str]] = []

    def visit(module: str) -> None:
        index[module] = low[module] = len(index)
        stack.append(module)
        for imported in sorted(graph.find_modules_directly_imported_by(module)):
            if imported not in index:
                visit(imported)
                low[module] = min(low[module], low[imported])
            elif imported in stack:
                low[module] = min(low[module], index[imported])
        if low[module] == index[module]:
            group = stack[stack.index(module) :]
            del stack[stack.index(module) :]
            if len(group) > 1:
                cycles.append(sorted(group))

    for module in sorted(graph.modules):
        if module not in index:
            call_deep(visit, module)
    return sorted(cycles, key=lambda group: (-len(group), group))


def find_leaf_imports(graph: grimp.ImportGraph) -> dict[str, set[str]]:
    """Return the modules that other rooms import past the façade, with the modules that do so."""
    found: dict[str, set[str]] = defaultdict(set)
    for importer in graph.modules:
        for imported in graph.find_modules_directly_imported_by(importer):
            if find_room(importer) == find_room(imported) or is_facade(imported):
                continue
            if not is_exported_import(graph, importer, imported):
                found[imported].add(importer)
    return found


def check(cycles: list[list[str]], leaves: dict[str, set[str]]) -> int:
    """Print a sentence for each cycle and for each module imported past its façade; return 1 if there are any."""
    for group in cycles:
        print(f"These modules import each other; move what they share to a lower module: {', '.join(group)}.")
    for leaf in sorted(leaves):
        package = leaf.rpartition(".")[0]
        print(
            f"{', '.join(sorted(leaves[leaf]))}: import from the package {package} instead of the module {leaf}, "
            f"and export the name in {package}'s __init__ if it is missing there."
        )
    return 1 if cycles or leaves else 0


def main() -> int:
    """Print or check the structure; return the exit code."""
    sys.path.insert(0, str(SOURCE))
    graph = grimp.build_graph(*PACKAGES, cache_dir=None)
    cycles, leaves = find_cycles(graph), find_leaf_imports(graph)
    if "--check" in sys.argv:
        return check(cycles, leaves)
    print(f"{'room':26}{'lines':>8}{'modules':>9}{'in cycles':>11}{'past façade':>13}")
    for room in sorted({find_room(module) for module in graph.modules if module.count(".")}):
        path = SOURCE.joinpath(*room.split("."))
        files = sorted(path.rglob("*.py")) if path.is_dir() else [path.with_suffix(".py")]
        lines = sum(len(file.read_text().splitlines()) for file in files)
        cyclic = sum(len(group) for group in cycles if find_room(group[0]) == room)
        past = sum(find_room(leaf) == room for leaf in leaves)
        print(f"{room:26}{lines:8,}{len(files):9}{cyclic:11}{past:13}")
    print(f"\n{len(cycles)} import cycles; {len(leaves)} modules are imported past their room's façade")
    if "--places" in sys.argv:
        for group in cycles:
            print(f"\ncycle of {len(group)}:", *group, sep="\n  ")
        for leaf in sorted(leaves):
            print(f"\n{leaf} is imported by", *sorted(leaves[leaf]), sep="\n  ")
    return 0


if __name__ == "__main__":
    sys.exit(main())

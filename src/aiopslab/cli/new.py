"""``aiopslab new``: write a small working fault, problem, application or agent with its test, to start from."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.util import find_spec
from keyword import iskeyword
from pathlib import Path
from typing import Final

from aiopslab.cli.problems import DONE, UsageError, check_folder

PACKAGE: Final = "aiopslab.cli.templates"
FOLDER: Final = Path(__file__).parent / "templates"
NAME: Final = re.compile(r"[a-z][a-z0-9]*((-[a-z0-9]+)*|(_[a-z0-9]+)*)")
MAX_NAME_CHARS: Final = 40


@dataclass(frozen=True)
class Kind:
    """Where new files of a kind belong, and how to try them."""

    group: str
    """Entry points that installed packages register them in."""
    home: str
    """The package of this repository whose modules are found without an entry point."""
    trial: str
    """A command that uses the new file, as a format string."""


KINDS: Final = {
    "fault": Kind("aiopslab.faults", "aiopslab.generators.fault", ""),
    "problem": Kind(
        "aiopslab.problems",
        "aiopslab.orchestrator.problems",
        "aiopslab play {snake}-mitigation-1 --load {path}",
    ),
    "app": Kind("aiopslab.apps", "aiopslab.apps", ""),
    "agent": Kind(
        "aiopslab.agents",
        "aiopslab.agents",
        "aiopslab run scale_pod_zero_social_net-detection-1 --agent {path}:{pascal}",
    ),
}


@dataclass(frozen=True)
class Names:
    """A name in the three spellings of modules, classes and objects."""

    snake: str
    pascal: str
    kebab: str

    @classmethod
    def parse(cls, name: str) -> Names:
        """Return the spellings of a name in kebab or snake case; raises ``UsageError``."""
        if not NAME.fullmatch(name) or len(name) > MAX_NAME_CHARS:
            raise UsageError(
                f"'{name}' cannot be the name. Use up to {MAX_NAME_CHARS} lower-case letters, digits and hyphens, and start with "
                "a letter: slow-disk."
            )
        words = re.split("[-_]", name)
        if iskeyword(name):
            raise UsageError(f"'{name}' is a keyword of Python. Choose another name.")
        return cls("_".join(words), "".join(map(str.capitalize, words)), "-".join(words))


def write_new(kind: str, name: str, out: Path, tests: Path | None) -> int:
    """Write the files, print what to do next, and return the exit code; raises ``UsageError``."""
    if kind not in KINDS:
        raise UsageError(f"There is no kind '{kind}'. Choose one of: {', '.join(KINDS)}.")
    names = Names.parse(name)
    package = _find_package(out)
    module = f"{package}.{names.snake}" if package else names.snake
    texts = _render(kind, names, module, out, tests or out)
    for path in texts:
        if path.exists():
            raise UsageError(f"{path} exists already. Choose another name, or another folder with --out.")
    _check_free(kind, names, package)
    check_folder(out, "--out")
    check_folder(tests or out, "--tests")
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    print("\n".join(_describe_next(kind, names, module, list(texts))))
    return DONE


def _find_package(folder: Path) -> str:
    """Return the dotted name of the package that a folder is; empty if it is none."""
    parts: list[str] = []
    folder = folder.resolve()
    while (folder / "__init__.py").is_file():
        parts.insert(0, folder.name)
        folder = folder.parent
    return ".".join(parts)


def _check_free(kind: str, names: Names, package: str) -> None:
    """Raise ``UsageError`` if the name would hide a Python module, or is taken in the registry of its kind."""
    if not package and find_spec(names.snake) is not None:
        raise UsageError(f"There is a Python module '{names.snake}' already. Choose another name.")
    taken = _list_taken(kind)
    if names.snake in taken or names.kebab in taken:
        article = "an" if kind[0] == "a" else "a"
        raise UsageError(f"There is {article} {kind} '{names.kebab}' already. Choose another name.")


def _list_taken(kind: str) -> Iterable[str]:
    """Return the registered names of a kind."""
    if kind == "fault":
        from aiopslab.generators.fault import load_faults

        return load_faults()
    if kind == "app":
        from aiopslab.apps import load_applications

        return load_applications()
    if kind == "agent":
        from aiopslab.agents import list_aliases, load_agents

        agents = load_agents()
        return [*agents, *(alias for name in agents for alias in list_aliases(name))]
    from aiopslab.orchestrator.problems import TYPES, ProblemRegistry

    tasks = "|".join(TYPES)
    return [re.sub(rf"(-({tasks}))?(-\d+)?$", "", pid) for pid in ProblemRegistry().get_problem_ids()]


def _render(kind: str, names: Names, module: str, out: Path, tests: Path) -> dict[Path, str]:
    """Return the new files: their paths and contents, the test last."""
    example = f"example_{kind}"
    texts: dict[Path, str] = {}
    for template in _list_templates(example):
        path = template.relative_to(FOLDER)
        text = _place_own_import(template.read_text("utf-8"), f"{PACKAGE}.{example}", module)
        folder = tests if path.name.startswith("test_") else out
        texts[folder / _rename(str(path), kind, names)] = _rename(text, kind, names)
    return texts


def _list_templates(example: str) -> list[Path]:
    """Return the files of an example, which is a module or a folder, and then its test."""
    own = (example, f"{example}.py", f"test_{example}.py")
    paths = sorted(path for path in FOLDER.rglob("*") if path.suffix in (".py", ".yaml"))
    return [path for path in paths if path.relative_to(FOLDER).parts[0] in own]


def _rename(text: str, kind: str, names: Names) -> str:
    for example, name in (
        (f"Example{kind.capitalize()}", names.pascal),
        (f"example_{kind}", names.snake),
        (f"example-{kind}", names.kebab),
    ):
        text = text.replace(example, name)
    return text


def _place_own_import(text: str, example: str, module: str) -> str:
    """Replace the module's name, and move its import to where import sorters expect it."""
    lines = text.splitlines()
    imports = [line for line in lines if line.startswith("from aiopslab.")]
    own = [line for line in imports if line.startswith(f"from {example}")]
    if not own:
        return text
    new = [line.replace(example, module) for line in own]
    others = [line for line in imports if line not in own]
    if module.startswith("aiopslab."):
        block = sorted([*others, *new])
    else:
        block = [*others, "", *new] if others else new
    first = lines.index(imports[0])
    lines[first : first + len(imports)] = block
    return "\n".join(lines) + "\n"


def _describe_next(kind: str, names: Names, module: str, paths: list[Path]) -> list[str]:
    """Return the lines that say what was written and what to do next."""
    facts = KINDS[kind]
    lines = [f"Wrote {', '.join(map(str, paths))}.", f"Test it:  python -m pytest {paths[-1]}"]
    if module == f"{facts.home}.{names.snake}":
        return [
            *lines,
            f"aiopslab finds the modules of {facts.home} by itself; there is nothing to register.",
        ]
    if facts.trial:
        trial = facts.trial.format(path=paths[0], snake=names.snake, pascal=names.pascal)
        lines.append(f"Try it:   {trial}")
    key = names.kebab if kind in ("app", "agent") else names.snake
    target = module if kind == "problem" else f"{module}:{names.pascal}"
    return [
        *lines,
        "To have it wherever your package is installed, add to the package's pyproject.toml:",
        f'  [project.entry-points."{facts.group}"]',
        f'  {key} = "{target}"',
    ]

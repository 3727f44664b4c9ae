"""The options of cp."""

from __future__ import annotations

from typing import Final

from msgspec import Struct, field

from simcloud.machine.process import Context
from simcloud.userland.commands.options import Options
from simcloud.userland.commands.text.tool import one_of

OPTIONS: Final = (
    "a,archive attributes-only copy-contents d f,force i,interactive H l,link L,dereference n,no-clobber "
    "P,no-dereference p preserve=? no-preserve= parents R,r,recursive reflink=? remove-destination sparse= "
    "strip-trailing-slashes s,symbolic-link t,target-directory= T,no-target-directory u,update v,verbose "
    "x,one-file-system Z context=?"
)
ATTRIBUTES: Final = ("mode", "timestamps", "ownership", "links", "context", "xattr", "all")
KEPT_BY_P: Final = ("mode", "ownership", "timestamps")
SPARSE: Final = ("never", "auto", "always")


class Rules(Struct):
    """The options of a copy."""

    recursive: bool = False
    follow: str = ""  # "always", "never" or "arguments"
    force: bool = False
    overwrite: str = ""  # "ask" or "never"
    update: bool = False
    verbose: bool = False
    hard_links: bool = False
    symbolic_links: bool = False
    parents: bool = False
    remove_first: bool = False
    attributes_only: bool = False
    one_file_system: bool = False
    strip_slashes: bool = False
    keep: set[str] = field(default_factory=set)
    moving: bool = False


def archive_rules() -> Rules:
    """As ``cp -a`` copies, for moves from one file system to another."""
    return Rules(recursive=True, follow="never", keep={*KEPT_BY_P, "links"}, moving=True, force=True)


def read_rules(ctx: Context, options: Options) -> Rules:
    """The rules that a command line sets."""
    rules = Rules(
        recursive=options.any("R", "r", "a"),
        force=options.any("f"),
        update=options.any("u"),
        verbose=options.any("v"),
        hard_links=options.any("l"),
        symbolic_links=options.any("s"),
        parents=options.any("parents"),
        remove_first=options.any("remove-destination"),
        attributes_only=options.any("attributes-only"),
        one_file_system=options.any("x"),
        strip_slashes=options.any("strip-trailing-slashes"),
    )
    for option, value in options.given:
        if option in ("i", "n"):
            rules.overwrite = "ask" if option == "i" else "never"
        elif option in ("L", "H", "P", "d", "a"):
            rules.follow = {"L": "always", "H": "arguments"}.get(option, "never")
        if option in ("a", "d", "p"):
            rules.keep |= {"a": {*KEPT_BY_P, "links"}, "d": {"links"}, "p": {*KEPT_BY_P}}[option]
        elif option in ("preserve", "no-preserve"):
            named = _attributes(ctx, option, value)
            rules.keep = rules.keep | named if option == "preserve" else rules.keep - named
        elif option == "sparse":
            one_of(ctx, option, value, SPARSE)
    if not rules.follow:
        rules.follow = "never" if rules.recursive and not rules.hard_links else "always"
    return rules


def _attributes(ctx: Context, option: str, value: str) -> set[str]:
    if not value:
        return set(KEPT_BY_P)
    named = {one_of(ctx, option, word, ATTRIBUTES) for word in value.split(",")}
    return named | ({*KEPT_BY_P, "links"} if "all" in named else set())

"""The state of a shell: variables with their attributes and scopes, functions, options, call stack.

Scoping is dynamic: a function sees its callers' locals. A subshell starts from a copy of the whole state, so its
changes are lost when it ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from simcloud.userland.bash.arithmetic import Unbound, evaluate, wrap
from simcloud.userland.bash.syntax import Command
from simcloud.userland.bash.variable import BadSubscript, Key, Readonly, Variable, apply_letter_case

OPTION_LETTERS: Final = {
    "allexport": "a", "notify": "b", "errexit": "e", "noglob": "f", "hashall": "h", "keyword": "k",
    "monitor": "m", "noexec": "n", "privileged": "p", "onecmd": "t", "nounset": "u", "verbose": "v",
    "xtrace": "x", "braceexpand": "B", "noclobber": "C", "errtrace": "E", "histexpand": "H",
    "physical": "P", "functrace": "T",
}  # fmt: skip
"""Options of ``set`` that have a letter, in the order ``$-`` shows them."""

OPTIONS: Final = (
    "allexport", "braceexpand", "emacs", "errexit", "errtrace", "functrace", "hashall", "histexpand",
    "history", "ignoreeof", "interactive-comments", "keyword", "monitor", "noclobber", "noexec", "noglob",
    "nolog", "notify", "nounset", "onecmd", "physical", "pipefail", "posix", "privileged", "verbose", "vi",
    "xtrace",
)  # fmt: skip

SHOPTS: Final = (
    "autocd", "assoc_expand_once", "cdable_vars", "cdspell", "checkhash", "checkjobs", "checkwinsize", "cmdhist",
    "compat31", "compat32", "compat40", "compat41", "compat42", "compat43", "compat44", "complete_fullquote",
    "direxpand", "dirspell", "dotglob", "execfail", "expand_aliases", "extdebug", "extglob", "extquote",
    "failglob", "force_fignore", "globasciiranges", "globskipdots", "globstar", "gnu_errfmt", "histappend",
    "histreedit", "histverify", "hostcomplete", "huponexit", "inherit_errexit", "interactive_comments",
    "lastpipe", "lithist", "localvar_inherit", "localvar_unset", "login_shell", "mailwarn",
    "no_empty_cmd_completion", "nocaseglob", "nocasematch", "noexpand_translation", "nullglob",
    "patsub_replacement", "progcomp", "progcomp_alias", "promptvars", "restricted_shell", "shift_verbose",
    "sourcepath", "varredir_close", "xpg_echo",
)  # fmt: skip

SHOPTS_ON: Final = (
    "checkwinsize", "cmdhist", "complete_fullquote", "extquote", "force_fignore", "globasciiranges",
    "globskipdots", "hostcomplete", "interactive_comments", "patsub_replacement", "progcomp", "promptvars",
    "sourcepath",
)  # fmt: skip
"""Options that are on by default."""


MAX_NAMEREF_DEPTH: Final = 8


class Function(Struct):
    """A function: its body, where it was defined, and whether it is exported."""

    name: str
    body: Command
    source_name: str
    line: int
    exported: bool = False
    readonly: bool = False


class Frame(Struct, eq=False):
    """One call on the stack: a function, or a sourced file."""

    name: str
    call_line: int
    source_name: str
    is_function: bool
    scope_index: int = 0
    loops: int = 0


class State:
    """The state that a subshell inherits by copy."""

    def __init__(self) -> None:
        self.scopes: list[dict[str, Variable]] = [{}]
        self.functions: dict[str, Function] = {}
        self.aliases: dict[str, str] = {}
        self.options: dict[str, bool] = {"braceexpand": True, "hashall": True, "interactive-comments": True}
        self.shopts: dict[str, bool] = {}
        self.arguments: list[str] = []
        self.name = "bash"
        self.frames: list[Frame] = []
        self.directories: list[str] = []
        self.hashed: dict[str, tuple[str, int]] = {}
        self.history: list[str] = []
        self.dynamic: dict[str, Callable[[], Variable]] = {}
        self.on_assign: dict[str, Callable[[str], None]] = {}

    def copy(self) -> State:
        """Return the state of a new subshell."""
        twin = State.__new__(State)
        twin.scopes = [{name: variable.copy() for name, variable in scope.items()} for scope in self.scopes]
        twin.functions = dict(self.functions)
        twin.aliases = dict(self.aliases)
        twin.options = dict(self.options)
        twin.shopts = dict(self.shopts)
        twin.arguments = list(self.arguments)
        twin.name = self.name
        twin.frames = [replace(frame) for frame in self.frames]
        twin.directories = list(self.directories)
        twin.hashed = dict(self.hashed)
        twin.history = self.history
        twin.dynamic = dict.fromkeys(self.dynamic, Variable)
        twin.on_assign = {}
        return twin

    # -- finding -------------------------------------------------------------------------------

    def find(self, name: str) -> Variable | None:
        """The variable of that name as seen from here, following namerefs."""
        variable = self.find_plain(name)
        if variable is not None and variable.nameref:
            target = self.resolve(name)
            return self.find_plain(target.partition("[")[0]) if target != name else None
        return variable

    def find_plain(self, name: str) -> Variable | None:
        """As ``find``, but a nameref is itself."""
        if name in self.dynamic:
            return self.dynamic[name]()
        scopes = self.scopes
        if len(scopes) == 1:
            return scopes[0].get(name)
        for scope in reversed(scopes):
            variable = scope.get(name)
            if variable is not None:
                return variable
        return None

    def resolve(self, name: str) -> str:
        """The name a nameref leads to (maybe with a subscript); any other name is itself."""
        for _ in range(MAX_NAMEREF_DEPTH):
            variable = self.find_plain(name)
            if variable is None or not variable.nameref or not variable.scalar:
                return name
            name = variable.scalar
            if "[" in name:
                return name
        return name

    def get(self, name: str) -> str | None:
        """The value of a variable, None when it has none."""
        variable = self.find_plain(name)
        if variable is None:
            return None
        if variable.nameref:
            variable = self.find(name)
            if variable is None:
                return None
        return variable.value()

    def all_names(self) -> list[str]:
        """Every visible variable's name, sorted."""
        return sorted({name: None for scope in self.scopes for name in scope})

    def environment(self) -> dict[str, str]:
        """Return the environment of children."""
        found: dict[str, str] = {}
        for scope in self.scopes:
            for name, variable in scope.items():
                if variable.exported and variable.scalar is not None and variable.items is None:
                    found[name] = variable.scalar
                elif name in found:
                    del found[name]
        return found

    def local_scopes(self) -> Iterator[dict[str, Variable]]:
        """The scopes of the functions being called, innermost first."""
        for frame in reversed(self.frames):
            if frame.is_function:
                yield self.scopes[frame.scope_index]

    # -- changing ------------------------------------------------------------------------------

    def variable(self, name: str) -> Variable:
        """The variable of that name, created globally if there is none."""
        variable = self.find_plain(name)
        if variable is None:
            variable = self.scopes[0][name] = Variable()
        return variable

    def assign(self, name: str, value: str, append: bool = False) -> None:
        """``name=value``; raises ``Readonly``."""
        if name in self.on_assign:
            self.on_assign[name](value)
            return
        variable = self.find_plain(name)
        if variable is None:
            variable = self.scopes[0][name] = Variable()
        elif variable.nameref and variable.scalar:
            target = self.resolve(name)
            base, bracket, rest = target.partition("[")
            if bracket:
                self.assign_element(base, rest.removesuffix("]"), value, append)
                return
            if target != name:
                self.assign(target, value, append)
                return
        self.store(name, variable, value, append)

    def store(self, name: str, variable: Variable, value: str, append: bool = False) -> None:
        """Give a variable a value, as its attributes want it."""
        if variable.readonly:
            raise Readonly(name)
        if variable.items is not None:
            self.store_element(name, variable, "0" if variable.associative else 0, value, append)
            return
        variable.scalar = self.apply_attributes(variable, value, variable.scalar if append else None)

    def apply_attributes(self, variable: Variable, value: str, before: str | None) -> str:
        """Apply the integer and letter-case attributes to a new value, which is appended to ``before``."""
        if variable.integer:
            number = evaluate(value, self)
            if before is not None:
                number = wrap(number + evaluate(before, self))
            return str(number)
        if before is not None:
            value = before + value
        if variable.letter_case:
            return apply_letter_case(value, variable.letter_case)
        return value

    def store_element(
        self, name: str, variable: Variable, key: Key, value: str, append: bool = False
    ) -> None:
        """Give one element of an array a value."""
        if variable.readonly:
            raise Readonly(name)
        assert variable.items is not None
        before = variable.items.get(key, "") if append else None
        variable.items[key] = self.apply_attributes(variable, value, before)

    def assign_element(self, name: str, subscript: str, value: str, append: bool = False) -> None:
        """``name[subscript]=value``; the subscript is already expanded."""
        name = self.resolve(name)
        variable = self.variable(name)
        if variable.readonly:
            raise Readonly(name)
        if variable.items is None:
            variable.make_array(associative=False)
        self.store_element(name, variable, self.element_key(name, variable, subscript), value, append)

    def element_key(self, name: str, variable: Variable | None, subscript: str) -> Key:
        """An element's key from an expanded subscript; raises ``BadSubscript``."""
        if variable is not None and variable.associative:
            if not subscript:
                raise BadSubscript(f"{name}[{subscript}]")
            return subscript
        if not subscript:
            raise BadSubscript(f"{name}[{subscript}]")
        index = evaluate(subscript, self)
        if index < 0:
            indices = variable.indices() if variable is not None else []
            index += indices[-1] + 1 if indices else 0
            if index < 0:
                raise BadSubscript(f"{name}[{subscript}]")
        return index

    def unset(self, name: str) -> None:
        """Forget a variable; raises ``Readonly``. A special variable is then an ordinary one."""
        if self.dynamic.pop(name, None) is not None:
            self.on_assign.pop(name, None)
        for scope in reversed(self.scopes):
            variable = scope.get(name)
            if variable is None:
                continue
            if variable.readonly:
                raise Readonly(name)
            if scope is not self.scopes[0] and any(scope is local for local in self.local_scopes()):
                # An unset local keeps hiding what its callers have.
                scope[name] = Variable()
            else:
                del scope[name]
            return

    # -- what arithmetic uses ------------------------------------------------------------------

    def read_number(self, name: str, subscript: str | None) -> str:
        """A variable's text for arithmetic; raises ``Unbound`` under ``set -u``."""
        if subscript is None:
            value = self.get(name)
            if value is None and self.options.get("nounset"):
                raise Unbound(name)
            return value or ""
        variable = self.find(name)
        if variable is None:
            return ""
        key = self.element_key(name, variable, subscript)
        if variable.items is None:
            return (variable.scalar or "") if key == 0 else ""
        return variable.items.get(key, "")

    def write_number(self, name: str, subscript: str | None, value: int) -> None:
        """Assign the result of an arithmetic assignment."""
        if subscript is None:
            self.assign(name, str(value))
        else:
            self.assign_element(name, subscript, str(value))

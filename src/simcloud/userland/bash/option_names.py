"""The names of the shell's options."""

from __future__ import annotations

from typing import Final

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
"""Those that are on from the start."""

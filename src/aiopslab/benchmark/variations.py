"""Variations of the texts that an agent gets before a session: the same problem in other words, or with other names.

They measure whether an agent understands its task or knows our wording. A variation of texts changes no fact: names, numbers, labels, commands,
and whatever stands in quotes, code or lists of names stay as they are. What is drawn depends only on the variation and on the
episode's problem, seed and repeat. The documentation of actions keeps its words; ``reordered`` changes its order.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING, Final

from aiopslab.benchmark.episodes import EpisodeKey

if TYPE_CHECKING:
    from aiopslab.orchestrator import Prompt

MARK: Final = "~"
"""Stands between the name of an agent and that of a variation: ``react@gpt-5-mini~misspelt``."""
TEMPERATURES: Final = {"temperature-0": "0", "temperature-1": "1"}
"""Variations of the model's temperature instead of the texts, for agents that take a model."""
MISSPELT_SHARE: Final = 0.12
MIN_MISSPELT_CHARS: Final = 5
ADDED_SENTENCES: Final = 6
_SYSTEM_NAMES: Final = ("coredns", "kubectl")
"""Names in our sentences that look like words."""

_FENCE: Final = re.compile(r"(```.*?```)", re.DOTALL)
_FACT: Final = re.compile(r"[A-Z][^.:]{1,70}: ")
"""Beginning of a line with a fact, such as ``Namespace: ``; the rest of it may be a list of names."""
_TASK: Final = "Your task: "
_KEPT: Final = re.compile(r"\"[^\"\n]*\"|'[^'\n]*'|`[^`\n]*`|\([^()\n]*\)|\S*[^\sa-z,.;:]\S*")
"""Parts of a sentence that may be names, labels or commands."""
_WORD: Final = re.compile(r"[a-z]+")

_OTHER_WORDS: Final[Mapping[str, tuple[str, ...]]] = {
    "You are on call for": ("You are the engineer on duty for", "You look after"),
    "a microservice application on Kubernetes": (
        "an application of microservices that runs on Kubernetes",
        "a Kubernetes application made of microservices",
    ),
    "users outside the cluster reach it at": ("from outside the cluster, users call it at",),
    "You may look at everything and change nothing": (
        "You can read everything, but you cannot change anything",
    ),
    "determine whether something is wrong with the application now": (
        "find out if the application has a problem at the moment",
        "decide whether the application is faulty at present",
    ),
    "It may well be healthy": ("Possibly nothing is wrong at all", "It is quite possible that all is well"),
    "something is wrong with the application": ("the application has a problem", "the application is faulty"),
    "find the faulty components": ("identify the components that are at fault",),
    "where the problem has its cause, not where its symptoms show": (
        "those that cause the problem, not those that merely suffer from it",
    ),
    "It may also be in the cluster itself": ("The cluster itself may be the cause, too",),
    "the most likely first": ("beginning with the most probable one", "ordered by how likely they are"),
    "find its root cause": ("work out what the root cause is",),
    "repair it, so that users permanently get correct and timely responses again": (
        "fix it, so that users get right answers in good time again, and keep getting them",
    ),
    "Remove the cause, change nothing else": ("Take away the cause, leave all other things as they are",),
    "lose no data that users have written": ("keep all data that users have stored",),
    "When you are done, submit": ("Submit once you have finished",),
    "the state of the system is then judged": ("after that, the system is examined",),
    "Work step by step": ("Proceed one step at a time", "Go through this in single steps"),
    "Each of your answers must contain exactly one call of one action, in a fenced block of its own": (
        "Put exactly one call of one action into each answer, and put it into a fenced block",
    ),
    "you may write your thoughts around it": ("what you think may stand before and after it",),
    "You then get its result": ("Its result comes back to you",),
    "A call that fails or cannot be parsed costs a step": (
        "Calls that fail, or that nobody can parse, use up a step",
    ),
    "and its error message says what to do instead": (
        "and the message that they return explains how to do better",
    ),
    "Do not start editors or other programs that wait for input from a person": (
        "Programs that wait for a person to type something, such as editors, must not be started",
    ),
    "That ends the session": ("The session is over after that",),
}
"""Phrases of our texts with others of the same meaning. Texts of other authors keep what is not among them."""

_OPTIONAL: Final = (
    "; you may write your thoughts around it",
    " You then get its result.",
    "You then get its result. ",
    " A call that fails or cannot be parsed costs a step, and its error message says what to do instead.",
    "A call that fails or cannot be parsed costs a step, and its error message says what to do instead.\n",
    "Work step by step. ",
    "Do not start editors or other programs that wait for input from a person.\n",
)
_OPTIONAL_FACTS: Final = ("Entry point: ", "User journeys")

_ADDED: Final = (
    "Colleagues will read the record of this session later on.",
    "The team has worked with this platform for some years.",
    "There is no need to be polite in your answers, but there is no harm in it either.",
    "If you are in doubt, look again before you decide.",
    "The rotation changes on Mondays; this shift is yours.",
    "Other teams work on other applications, which are none of your concern here.",
    "Nobody expects you to know this application by heart.",
    "Your answers are read by a program first and by people afterwards.",
    "Please be as thorough as you would be on any other day.",
    "What you find out is also of use for the next review of incidents.",
    "This text was written with care, but it is not short.",
    "All times that you are going to see are those of the cluster.",
)
"""Sentences that say nothing about the problem."""


def vary_prompt(name: str, prompt: Prompt, key: EpisodeKey) -> Prompt:
    """Return the texts of a problem in a variation, the same for the same episode; raises ``KeyError`` for an unknown one."""
    if name == NAMES or name in TEMPERATURES:
        return prompt
    random = Random(f"{name} {key.problem} {key.seed} {key.repeat}")
    return _VARIATIONS[name](prompt, random)


def _reword(prompt: Prompt, random: Random) -> Prompt:
    def change(text: str) -> str:
        for phrase, others in _OTHER_WORDS.items():
            chosen = random.choice(others)
            text = text.replace(phrase, chosen)
            text = text.replace(phrase[0].upper() + phrase[1:], chosen[0].upper() + chosen[1:])
        return text

    return replace(prompt, description=change(prompt.description), instructions=change(prompt.instructions))


def _misspell(prompt: Prompt, random: Random) -> Prompt:
    """Make typing errors in sentences, except in words that are also names."""
    facts = [line for line in prompt.description.split("\n") if _is_fact(line)]
    names = set(_WORD.findall(" ".join((*facts, *prompt.actions)))).union(_SYSTEM_NAMES)

    def change(match: re.Match[str]) -> str:
        word = match[0]
        if len(word) < MIN_MISSPELT_CHARS or word in names or random.random() >= MISSPELT_SHARE:
            return word
        return _mistype(word, random)

    def change_text(text: str) -> str:
        return _map_sentences(
            text, lambda sentence: _map_between(_KEPT, sentence, lambda part: _WORD.sub(change, part))
        )

    return replace(
        prompt, description=change_text(prompt.description), instructions=change_text(prompt.instructions)
    )


def _mistype(word: str, random: Random) -> str:
    """Return a word with two neighbours exchanged, or a letter left out or doubled; its first letter is right."""
    place = random.randrange(1, len(word) - 1)
    kind = random.randrange(3)
    if kind == 0 and word[place] != word[place + 1]:
        return word[:place] + word[place + 1] + word[place] + word[place + 2 :]
    return word[:place] + ("" if kind == 1 else word[place] * 2) + word[place + 1 :]


def _reorder(prompt: Prompt, random: Random) -> Prompt:
    """Exchange paragraphs, facts and actions; the order of instructions matters and stays."""
    paragraphs = [
        _shuffle_facts(paragraph, random) for paragraph in prompt.description.strip("\n").split("\n\n")
    ]
    place = next((index for index, text in enumerate(paragraphs) if text.startswith(_TASK)), 0)
    paragraphs = [*paragraphs[place:], *paragraphs[:place]]  # what follows the task may belong to it
    actions = list(prompt.actions.items())
    random.shuffle(actions)
    return replace(prompt, description="\n\n".join(paragraphs) + "\n", actions=dict(actions))


def _shuffle_facts(paragraph: str, random: Random) -> str:
    lines = paragraph.split("\n")
    if len(lines) > 1 and all(_is_fact(line) for line in lines):
        random.shuffle(lines)
    return "\n".join(lines)


def _lengthen(prompt: Prompt, random: Random) -> Prompt:
    sentences = random.sample(_ADDED, ADDED_SENTENCES)
    half = ADDED_SENTENCES // 2
    return replace(
        prompt,
        description=f"{' '.join(sentences[:half])}\n\n{prompt.description}",
        instructions=f"{' '.join(sentences[half:])}\n\n{prompt.instructions}",
    )


def _shorten(prompt: Prompt, random: Random) -> Prompt:
    """Leave out what is also found by looking, and the explanations."""
    lines = prompt.description.split("\n")
    kept = "\n".join(line for line in lines if not line.startswith(_OPTIONAL_FACTS))
    instructions = prompt.instructions
    for phrase in _OPTIONAL:
        instructions = instructions.replace(phrase, "")
    return replace(prompt, description=kept, instructions=instructions)


_VARIATIONS: Final[Mapping[str, Callable[[Prompt, Random], Prompt]]] = {
    "reworded": _reword,
    "misspelt": _misspell,
    "reordered": _reorder,
    "longer": _lengthen,
    "shorter": _shorten,
}
NAMES: Final = "names"
"""The variation with other names of components: the problem is posed in another world, and its texts are written there."""
VARIATIONS: Final = (*_VARIATIONS, NAMES, *TEMPERATURES)
"""The names of all variations."""


def _is_fact(line: str) -> bool:
    return not line.startswith(_TASK) and _FACT.match(line) is not None


def _map_sentences(text: str, change: Callable[[str], str]) -> str:
    """Change the lines of a text that are sentences; those of facts and of fenced blocks stay."""

    def change_lines(part: str) -> str:
        return "\n".join(line if _is_fact(line) else change(line) for line in part.split("\n"))

    return _map_between(_FENCE, text, change_lines)


def _map_between(kept: re.Pattern[str], text: str, change: Callable[[str], str]) -> str:
    """Change what is between the matches of a pattern."""
    parts, end = [], 0
    for match in kept.finditer(text):
        parts += [change(text[end : match.start()]), match[0]]
        end = match.end()
    return "".join((*parts, change(text[end:])))


def split_agent(agent: str) -> tuple[str, str]:
    """Return the name of an agent and of its variation, which is empty for the unvaried texts."""
    name, mark, variation = agent.rpartition(MARK)
    return (name, variation) if mark and variation in VARIATIONS else (agent, "")


def add_temperature(model: str, variation: str) -> str:
    """Return the name of a model with the temperature of a variation; unchanged for other variations."""
    if variation not in TEMPERATURES:
        return model
    name, _, query = model.partition("?")
    parts = [part for part in query.split("&") if part and not part.startswith("temperature=")]
    return f"{name}?{'&'.join((*parts, f'temperature={TEMPERATURES[variation]}'))}"


def select_variations(names: Iterable[str]) -> Sequence[str]:
    """Return the named variations once each, all for ``all``; raises ``ValueError`` with the name that is none."""
    chosen: dict[str, None] = {}
    for name in names:
        if name != "all" and name not in VARIATIONS:
            raise ValueError(name)
        chosen |= dict.fromkeys(VARIATIONS if name == "all" else (name,))
    return list(chosen)

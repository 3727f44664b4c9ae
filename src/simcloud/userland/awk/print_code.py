"""Compiled ``print`` and ``printf``: the text first, then where it goes.

What is printed to the standard output is only kept, so it waits for nothing; a file or a command is opened when
the first text goes there.
"""

from __future__ import annotations

from simcloud.userland.awk import tree
from simcloud.userland.awk.code import Frame
from simcloud.userland.awk.errors import Fatal
from simcloud.userland.awk.waiting_code import Either, WaitingCompiler, result_of


class PrintCompiler(WaitingCompiler):
    """Compiles ``print`` and ``printf``."""

    def print(self, node: tree.Print) -> Either:
        """Code for the statement."""
        if node.formatted and not node.arguments:
            raise Fatal("printf: no arguments", node.place)
        text = self._printed_text(node)
        if node.destination is not None:
            return self._print_into(node, text, self.any_value(node.destination))
        append, text_run = self.runtime.outputs.stdout.parts.append, text.run
        if not text.waits:
            return Either(False, lambda frame: append(text_run(frame)))

        async def run(frame: Frame) -> None:
            append(await text_run(frame))

        return Either(True, run)

    def _print_into(self, node: tree.Print, text: Either, destination: Either) -> Either:
        runtime, outputs, kind = self.runtime, self.runtime.outputs, node.redirection

        async def run(frame: Frame) -> None:
            printed = text.run(frame)
            if text.waits:
                printed = await printed
            name = destination.run(frame)
            if destination.waits:
                name = await name
            name = runtime.to_text(name)
            if not outputs.put(name, printed):
                await outputs.write(kind, name, printed)

        return Either(True, run)

    def _printed_text(self, node: tree.Print) -> Either:
        """Code for all that a ``print`` or ``printf`` prints, as one string."""
        runtime, record = self.runtime, self.runtime.record
        arguments = node.arguments or (tree.Field(tree.Number(0.0)),)
        if self.analysis.waits(arguments):
            return self._printed_later(node)
        if node.formatted:
            values = [self.value(argument) for argument in arguments]
            return Either(False, lambda frame: runtime.format([value(frame) for value in values]))
        texts = [self.shown(argument) for argument in arguments]
        if len(texts) == 1:
            text = texts[0]
            return Either(False, lambda frame: text(frame) + runtime.output_terminator)

        def join(frame: Frame) -> str:
            shown = [text(frame) for text in texts]
            return record.output_separator.join(shown) + runtime.output_terminator

        return Either(False, join)

    def _printed_later(self, node: tree.Print) -> Either:
        runtime, record = self.runtime, self.runtime.record
        values = [self.any_value(argument) for argument in node.arguments]

        async def join(frame: Frame) -> str:
            given = [await result_of(value, frame) for value in values]
            if node.formatted:
                return runtime.format(given)
            shown = record.output_separator.join([runtime.shown(value) for value in given])
            return shown + runtime.output_terminator

        return Either(True, join)

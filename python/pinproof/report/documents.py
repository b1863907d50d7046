"""Markdown that says what it was given: host text can neither break out of a table cell nor become markup."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pinproof.report.text import printable

if TYPE_CHECKING:
    import jinja2

_MARKUP = re.compile(r"[\\`*_{}\[\]<>|~&$#!^]|(?<=[a-z]):(?=//)|(?<=www)\.|@")
_BLOCK = re.compile(r"^([0-9]{0,9})([-+=.)])")
_TICKS = re.compile(r"`+")


def text(value: str) -> str:
    """Give a text as Markdown that shows just this text, in one line."""
    escaped = _MARKUP.sub(lambda match: "\\" + match[0], printable(value).strip())
    return _BLOCK.sub(lambda match: match[1] + "\\" + match[2], escaped)


def code(value: str) -> str:
    """Give a text as a code span that shows just this text, in one line; also inside a table's cell."""
    shown = printable(value)
    if not shown.strip():
        return f"`{shown or '(empty)'}`"
    if "\\|" in shown:
        return text(value)  # in a table this can not be written as a code span
    fence = "`" * (max((len(run) for run in _TICKS.findall(shown)), default=0) + 1)
    padding = " " if shown[0] in "` " or shown[-1] in "` " else ""
    # In a table a pipe ends the cell even within a code span, unless it is escaped.
    return f"{fence}{padding}{shown}{padding}{fence}".replace("|", "\\|")


def fill(template: str, values: Mapping[str, Any]) -> str:
    """Fill in one of the templates beside this file."""
    return re.sub(r"\n{3,}", "\n\n", _environment().get_template(template).render(values)).strip() + "\n"


@functools.cache
def _environment() -> jinja2.Environment:
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("pinproof.report"),
        undefined=jinja2.StrictUndefined,
        autoescape=False,  # not HTML: every value goes through `text` or `code`
        keep_trailing_newline=True,
    )
    environment.filters.update(text=text, code=code)
    return environment

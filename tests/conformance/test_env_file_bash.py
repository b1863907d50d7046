"""The shell dialect against bash itself: what we call literal or default is what bash assigns.

Files are generated from fragments that are chosen to be awkward, with a fixed
seed, and sourced by bash in two launch environments: an empty one, and one that
sets every name that the files use. Nothing is claimed of what we call
undecidable, so that a floor on what is decided keeps the test from becoming empty.
"""

from __future__ import annotations

import random
import shutil
import subprocess
from pathlib import Path

from plugins.module_utils._env_file import parse, settings, unlisted

BASH = shutil.which("bash")

NAMES = ("A", "B", "C", "DD", "E_1")
LAUNCHED = {name: f"launch {name}" for name in NAMES}
# What bash adds to an environment by itself.
OF_BASH = {"PWD", "OLDPWD", "SHLVL", "_", "PATH", "Z_FILE"}
CASES = 320
DRIVER = """
for Z_FILE in "$@"; do
  ( set -a; . "$Z_FILE" >/dev/null 2>&1 </dev/null; builtin exec /usr/bin/env -0 )
  printf 'END\\0'
done
"""


class Generator:
    """Makes the text of an environment file."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.assigned = [NAMES[0]]

    def pick(self, *choices: str) -> str:
        return self.random.choice(choices)

    def name(self) -> str:
        return self.pick(*NAMES)

    def chars(self, alphabet: str, most: int = 4) -> str:
        return "".join(self.random.choice(alphabet) for _ in range(self.random.randint(0, most)))

    def plain(self) -> str:
        return self.chars("ab01.,/:=-_+%@^#{}[]*?!~é", 5)

    def single(self) -> str:
        return "'" + self.chars('a $`"\\#\n~;{}', 6) + "'"

    def double(self, depth: int) -> str:
        inside = ""
        for _ in range(self.random.randint(0, 3)):
            inside += self.pick(
                self.chars("a b#~;|&{}()*", 4),
                "\\\\",
                '\\"',
                "\\$",
                "\\`",
                "\\a",
                "\\\n",
                self.expansion(depth, True),
                "$ ",
            )
        return f'"{inside}"'

    def expansion(self, depth: int, quoted: bool = False) -> str:
        # Mostly a name that the file has set, so that there is something to expand.
        name = self.random.choice(self.assigned) if self.random.random() < 0.7 else self.name()
        if depth <= 0 or self.random.random() < 0.4:
            return self.pick(
                f"${name}", f"${{{name}}}", "$HOME", "$(echo hi)", "`echo hi`", "$((1+1))", "${A%x}", "$1", "${#A}"
            )
        operator = self.pick(":-", "-", ":=", "=", ":+", "+", ":-", "-")
        word = "".join(self.braced(depth - 1, quoted) for _ in range(self.random.randint(0, 2)))
        return f"${{{name}{operator}{word}}}"

    def braced(self, depth: int, quoted: bool) -> str:
        if quoted:
            return self.pick(self.chars("a b#~;|/:", 4), '\\"', "\\}", "\\\\", self.expansion(depth, True))
        return self.pick(
            self.plain().replace("}", ""), "a b", self.single(), self.double(depth), "\\}", self.expansion(depth)
        )

    def value(self, depth: int = 2) -> str:
        parts = (
            self.plain, self.plain, self.single, lambda: self.double(depth), lambda: self.expansion(depth),
            lambda: self.pick("\\ ", "\\\\", "\\#", "\\\n", "\\'", "\\a", "\\~"),
        )  # fmt: skip
        return "".join(self.random.choice(parts)() for _ in range(self.random.randint(0, 3)))

    def assignment(self) -> str:
        self.assigned.append(self.name())
        return self.assigned[-1] + self.pick("=", "=", "=", "=", "=", "+=") + self.value()

    def line(self) -> str:
        kind = self.random.random()
        end = self.pick("\n", "\n", "\n", "\n", " \n", "\t# it's a comment\n", ";\n", "\r\n", "; ", " # c\\\n")
        if kind < 0.6:
            return self.pick("", "", "  ", "\t") + self.assignment() + end
        if kind < 0.7:
            return self.pick("export ", "readonly ", "export -- ") + self.assignment() + end
        if kind < 0.74:
            return self.name() + "=" + self.chars("AB1$${}:-=+'\"\\ \t\n;#&|()`~", 12) + "\n"
        return self.odd() + self.pick("\n", "\n", ";\n")

    def odd(self) -> str:
        name, value = self.name(), self.value(1)
        return self.pick(
            f"export {name}",
            f"export {name} {self.name()}=1",
            f"unset {name}",
            f"unset -v {name} {self.name()}",
            f"{self.assignment()} {self.assignment()}",
            f": ${{{name}:={value}}}",
            f': "${{{name}:=x}}"',
            "set -a",
            "set -u",
            "set -o pipefail",
            "# A=1",
            "",
            f"{name} = 1",
            f"{name}= 2",
            f"{name}=two words",
            f"if [ -n x ]; then\n {self.assignment()}\nfi",
            f"[ -n x ] && {name}={value}",
            f"false || {name}=3",
            f"for {name} in a b; do :; done",
            f"read {name} <<< x",
            f"printf -v {name} x",
            f"( {name}=4 )",
            f"{{ {name}=5; }}",
            f"f() {{ {name}=6; }}",
            "f",
            f"eval {name}=7",
            f"echo ${name} >/dev/null",
            f"{name}=8 &",
            f"{name}=(a b)",
            f"declare -i {name}=1+1",
            f"(( {name} = 9 ))",
            f"let {name}=10",
            f"case x in x) {name}=11;; esac",
            f": <<X\n{name}=12 it's ${{{name}:=1}}\nX",
            f"{name}=1 true",
            f"! {name}=13",
            f"export -n {name}",
            f"export '{name}=a b'",
            f"export {name}={{a,b}}",
            f"while false; do {name}=14; done",
            f"{name}[0]=15",
            f"A-B={value}",
            "fi",
            ")",
            "'",
            f"command export {name}=16",
            'export "${B:-A}=17"',
            f"{name}=$'a\\nb'",
            f'{name}=$"a"',
            "\r",
            f"[[ a == a ]] && {name}=18",
            f"DD='A=5'; {name}=$((DD))",
            f"echo {{A,${{{name}:=19}}}}",
            "return",
            f"false && return; {name}=20",
            "exit",
            f"let DD=1 {name}=3",
            f"test -d /nowhere/${name}",
            f"unset ${name}",
            f"readonly {name}",
            f"typeset -u {name}=abc",
            f"local {name}=1",
            f"trap '{name}=1' DEBUG",
        )

    def text(self) -> str:
        lines = "".join(self.line() for _ in range(self.random.randint(1, 6)))
        return self.pick("", "", "", "", "", "\ufeff") + lines + self.pick("", "", "A=last")


def sourced(files: list[Path], environment: dict[str, str]) -> list[dict[str, str] | None]:
    """Source every file in its own subshell; None where the shell ended without reaching its end."""
    assert BASH is not None, "needs bash to compare with"
    command = ["env", "-i", *(f"{name}={value}" for name, value in environment.items())]
    command += ["PATH=/usr/bin:/bin", BASH, "-c", DRIVER, "driver", *map(str, files)]
    answer = subprocess.run(command, capture_output=True, check=True, cwd=files[0].parent).stdout.decode(
        "utf-8", "surrogateescape"
    )
    results: list[dict[str, str] | None] = []
    for part in answer.split("END\0")[:-1]:
        pairs = dict(item.split("=", 1) for item in part.split("\0") if item)
        results.append(
            {name: pairs[name] for name in pairs if name not in OF_BASH and "%" not in name} if pairs else None
        )
    assert len(results) == len(files)
    return results


def complaints(text: str, empty: dict[str, str] | None, launched: dict[str, str] | None) -> tuple[list[str], int]:
    """Compare what we say of a file with what bash made of it; also give how many values were decided."""
    assignments = parse(text, "shell")
    said = settings(assignments)
    found = []
    decided = 0
    for name, setting in said.items():
        if "value" not in setting:
            continue
        decided += 1
        if empty is not None and empty.get(name) != setting["value"]:
            found.append(f"{name}: {setting}, bash in an empty environment: {empty.get(name)!r}")
        if setting["kind"] == "literal" and launched is not None and launched.get(name) != setting["value"]:
            found.append(f"{name}: {setting}, bash in a full environment: {launched.get(name)!r}")
    if not unlisted(assignments) and empty is not None:
        found += [f"{name}: not listed, and bash sets it to {empty[name]!r}" for name in empty if name not in said]
    return found, decided


def test_what_we_decide_is_what_bash_assigns(tmp_path: Path) -> None:
    texts = [Generator(seed).text() for seed in range(CASES)]
    files = []
    for number, text in enumerate(texts):
        files.append(tmp_path / f"{number}.env")
        files[-1].write_bytes(text.encode())
    empty, launched = sourced(files, {}), sourced(files, LAUNCHED)
    wrong = []
    decided = reached = 0
    for text, here, there in zip(texts, empty, launched, strict=True):
        found, count = complaints(text, here, there)
        wrong += [f"{text!r}: {complaint}" for complaint in found]
        decided += count
        reached += here is not None
    assert wrong == []
    assert decided > CASES
    assert reached > CASES * 0.8


STATES = ["", "A=\n", "A=1\n", "unset A\n", "A=${A:-1}\n", "A=${A:-}\n", "A=${A-}\n", "A=1\nA=$(echo 1)\n"]
OPERATORS = [":-", "-", ":=", "=", ":+", "+", ":?", "?"]


def test_every_operator_on_every_state_of_a_variable(tmp_path: Path) -> None:
    texts = [
        f"{state}B={quote}x${{A{operator}{word}}}y{quote}\nC=after\n"
        for state in STATES
        for operator in OPERATORS
        for quote in ("", '"')
        for word in ("", "d e")
    ]
    files = []
    for number, text in enumerate(texts):
        files.append(tmp_path / f"{number}.env")
        files[-1].write_text(text)
    answers = [sourced(files, environment) for environment in ({}, {"A": "", **LAUNCHED, "B": "", "C": ""}, LAUNCHED)]
    wrong = []
    decided = 0
    for text, unset, empty, launched in zip(texts, *answers, strict=True):
        found, count = complaints(text, unset, launched)
        wrong += [f"{text!r}: {complaint}" for complaint in [*found, *complaints(text, None, empty)[0]]]
        decided += count
    assert wrong == []
    assert decided > len(texts) * 1.5


def test_defaults_give_way_to_the_launch_environment_as_they_say(tmp_path: Path) -> None:
    forms = [
        "${A:-d}",
        "${A-d}",
        '"${A:-d}"',
        "x${A:-d}y",
        "${A:=d}",
        "${A=d}",
        "${B:-${A:-d}}",
        "${A:-}",
        "${A-}",
        "${A:-'d e'}",
    ]
    files = []
    for number, form in enumerate(forms):
        files.append(tmp_path / f"{number}.env")
        files[-1].write_text(f"A={form}\n")
    unset, empty, launched = sourced(files, {}), sourced(files, {"A": ""}), sourced(files, {"A": "launched"})
    for form, file, by_unset, by_empty, by_launched in zip(forms, files, unset, empty, launched, strict=True):
        [found] = [item for item in parse(file.read_text(), "shell") if item.name == "A"][-1:]
        assert (found.kind, found.overridable) == ("default", True), form
        assert by_unset is not None
        assert by_empty is not None
        assert by_launched is not None
        assert by_unset["A"] == found.value
        assert "launched" in by_launched["A"]
        # Where the reason says so, setting it to nothing is enough; otherwise the default stays.
        assert (by_empty["A"] == found.value) == (not found.why.endswith("even to nothing") or not found.value), form

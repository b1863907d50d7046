"""An argument vector is read by option, by one documented rule."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plugins.module_utils._argv import Argv, Invocation, invocation, json_value, parse

TOKENS = st.one_of(
    st.sampled_from(["--", "-", "--=", "---", "-1", "--a", "--a=b", "-x", "--a_b.c_d", "{}", "[1]", "--j={", ""]),
    st.text(max_size=12),
)


@pytest.mark.parametrize(
    ("arguments", "options", "json", "positionals"),
    [
        ([], {}, {}, []),
        (["serve", "/srv/model"], {}, {}, ["serve", "/srv/model"]),
        (["--tensor-parallel-size", "2"], {"tensor-parallel-size": "2"}, {}, []),
        (["--tensor-parallel-size=2"], {"tensor-parallel-size": "2"}, {}, []),
        (["--tensor_parallel_size", "2"], {"tensor-parallel-size": "2"}, {}, []),
        (["--empty=", "--next", ""], {"empty": "", "next": ""}, {}, []),
        (["--equals=a=b"], {"equals": "a=b"}, {}, []),
        (["--flag", "--other"], {"flag": True, "other": True}, {}, []),
        (["-tp", "2", "-O3"], {"tp": "2", "O3": True}, {}, []),
        (["--seed", "-1", "--bias", "-.5", "-2"], {"seed": "-1", "bias": "-.5"}, {}, ["-2"]),
        (["--input", "-", "-"], {"input": "-"}, {}, ["-"]),
        (["--names", "a", "b"], {"names": "a"}, {}, ["b"]),
        (["--x", "1", "--y", "--x", "2", "--x"], {"x": ["1", "2", True], "y": True}, {}, []),
        (["--flag", "--", "--not-an-option", "x"], {"flag": True}, {}, ["--not-an-option", "x"]),
        (["--config", '{"method": "dspark", "k": 5}'], {}, {"config": {"method": "dspark", "k": 5}}, []),
        (["--list=[1, 2.5, null]"], {}, {"list": [1, 2.5, None]}, []),
        (["--compilation_config.cudagraph_mode", "FULL"], {"compilation-config.cudagraph_mode": "FULL"}, {}, []),
        (["--=x", "---"], {}, {}, ["--=x", "---"]),
        (["--text", "a\nb"], {"text": "a\nb"}, {}, []),
    ],
)
def test_rule(arguments: list[str], options: dict[str, Any], json: dict[str, Any], positionals: list[str]) -> None:
    assert parse(arguments) == Argv(options, json, positionals)


def test_json_given_twice_stays_text_because_which_one_counts_is_not_ours_to_say() -> None:
    found = parse(["--config", '{"a": 1}', "--config", '{"a": 2}'])
    assert found.json == {}
    assert found.options == {"config": ['{"a": 1}', '{"a": 2}']}


@pytest.mark.parametrize(
    "text",
    [
        "text",
        "3",
        '"text"',
        "true",
        "{",
        "[1,",
        '{"a": 1, "a": 2}',
        "[NaN]",
        "[1e999]",
        '["\\ud800"]',
        "[" * 9999,
        "",
    ],
)
def test_what_could_be_read_in_two_ways_is_no_json(text: str) -> None:
    assert json_value(text) is None
    assert parse([f"--x={text}"]).options == {"x": text}


@pytest.mark.parametrize(
    ("line", "program", "interpreter", "arguments"),
    [
        ("/opt/venv/bin/vllm serve /m", "/opt/venv/bin/vllm", "", "serve /m"),
        ("/usr/bin/python3.12 /opt/venv/bin/vllm serve /m", "/opt/venv/bin/vllm", "/usr/bin/python3.12", "serve /m"),
        ("python3 -u -X dev -W error s.py --a", "s.py", "python3 -u -X dev -W error", "--a"),
        ("python -m vllm.entrypoints.api --port 1", "vllm.entrypoints.api", "python -m", "--port 1"),
        ("python -Im vllm.entry", "vllm.entry", "python -Im", ""),
        ("python -mvllm.entry --x", "python", "", "-mvllm.entry --x"),
        ("python3 -c code --multiprocessing-fork", "python3", "", "-c code --multiprocessing-fork"),
        ("python3 -Bc code", "python3", "", "-Bc code"),
        ("python3", "python3", "", ""),
        ("python3 -", "python3", "", "-"),
        ("python3 -- s.py x", "s.py", "python3 --", "x"),
        ("bash /srv/start.sh a", "/srv/start.sh", "bash", "a"),
        ("bash -eo pipefail +x start.sh", "start.sh", "bash -eo pipefail +x", ""),
        ("/bin/sh -c exec_something", "/bin/sh", "", "-c exec_something"),
        ("dash start.sh", "start.sh", "dash", ""),
        (
            "node --require ./x.js --max-old-space-size=1 s.js",
            "s.js",
            "node --require ./x.js --max-old-space-size=1",
            "",
        ),
        ("node --eval 1", "node", "", "--eval 1"),
        ("perl -I lib -w s.pl", "s.pl", "perl -I lib -w", ""),
        ("env -i A=1 -u B python3 -O s.py y", "s.py", "env -i A=1 -u B python3 -O", "y"),
        ("pythonic x", "pythonic", "", "x"),
        ("python3-config --libs", "python3-config", "", "--libs"),
    ],
)
def test_program_is_the_script_where_argument_0_is_an_interpreter(
    line: str, program: str, interpreter: str, arguments: str
) -> None:
    assert invocation(line.split()) == Invocation(program, interpreter.split(), arguments.split())


@pytest.mark.parametrize(
    ("argv", "name"),
    [(["/opt/venv/bin/vllm"], "vllm"), (["python3", "/a/b.py"], "b.py"), (["a/"], ""), ([], ""), ([""], "")],
)
def test_name_is_the_last_component(argv: list[str], name: str) -> None:
    assert invocation(argv).name == name


@given(st.lists(TOKENS, max_size=12))
def test_any_list_of_texts_is_parsed_and_no_token_is_lost(arguments: list[str]) -> None:
    found = parse(arguments)
    values = [item for value in found.options.values() for item in (value if isinstance(value, list) else [value])]
    assert not set(found.options) & set(found.json)
    assert all(found.options) or "" not in found.options
    assert all(value is True or isinstance(value, str) for value in values)
    given_options = len(values) + len(found.json)
    assert given_options + len(found.positionals) <= len(arguments)
    texts = set(arguments)
    assert set(found.positionals) <= texts


@given(st.lists(TOKENS, max_size=8))
def test_spelling_with_equals_is_the_same_as_without(values: list[str]) -> None:
    plain = [value for value in values if not value.startswith("-")]
    attached = [f"--name-{index}={value}" for index, value in enumerate(plain)]
    apart = [token for index, value in enumerate(plain) for token in (f"--name_{index}", value)]
    assert parse(attached) == parse(apart)


@given(st.permutations(["--a=1", "--b=2", "--c", "--d={}"]))
def test_order_of_different_options_does_not_matter(arguments: list[str]) -> None:
    assert parse(arguments) == parse(sorted(arguments))


@given(st.lists(st.one_of(TOKENS, st.sampled_from(["python3", "env", "bash", "-c", "-m", "A=1", "perl", "node"]))))
def test_any_argument_vector_is_taken_apart_without_loss(argv: list[str]) -> None:
    found = invocation(argv)
    assert [*found.interpreter, found.program, *found.arguments] == (argv or [""])

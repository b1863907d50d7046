"""Names of units, and the names whose drop-ins apply to them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plugins.module_utils._observation import Unparsable
from plugins.module_utils._unit_name import UnitName, unescape

QUICK = settings(max_examples=80, deadline=None)  # the machine may be busy


@pytest.mark.parametrize(
    ("text", "prefix", "instance", "kind"),
    [
        ("a.service", "a", None, "service"),
        ("dspark-worker-tp2.service", "dspark-worker-tp2", None, "service"),
        ("a@.service", "a", "", "service"),
        ("a@1.timer", "a", "1", "timer"),
        ("a@b@c.service", "a", "b@c", "service"),
        ("a.b.socket", "a.b", None, "socket"),
        ("a\\x2db.path", "a\\x2db", None, "path"),
        ("-.slice", "-", None, "slice"),
    ],
)
def test_a_name_in_parts(text: str, prefix: str, instance: str | None, kind: str) -> None:
    name = UnitName.parse(text)
    assert (name.prefix, name.instance, name.type) == (prefix, instance, kind)
    assert str(name) == text
    assert name.is_template == (instance == "")
    assert name.is_instance == bool(instance)


@pytest.mark.parametrize(
    "text",
    ["", "a", ".service", "a.services", "a.conf", "a b.service", "@1.service", "a/b.service", "é.service",
     "a" * 250 + ".service", "--user.service x", "a.service\n"],
)  # fmt: skip
def test_what_is_no_name(text: str) -> None:
    assert UnitName.maybe(text) is None
    with pytest.raises(Unparsable, match="not a unit name"):
        UnitName.parse(text)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a.service", ["a.service"]),
        ("a-b-c.service", ["a-b-c.service", "a-b-.service", "a-.service"]),
        ("a--b.service", ["a--b.service", "a--.service", "a-.service"]),
        ("a-b-.service", ["a-b-.service", "a-.service"]),
        ("-a.service", ["-a.service"]),
        ("x@1.service", ["x@1.service", "x@.service"]),
        ("x-y@1.service", ["x-y@1.service", "x-y@.service", "x-.service", "x-@1.service", "x-@.service"]),
    ],
)
def test_names_whose_dropins_apply(text: str, names: list[str]) -> None:
    assert UnitName.parse(text).dropin_stems() == names


@pytest.mark.parametrize(
    ("text", "plain"), [("a-b", "a/b"), ("a\\x2db", "a-b"), ("\\xc3\\xa9", "é"), ("a\\x2", "a\\x2"), ("", "")]
)
def test_unescaping(text: str, plain: str) -> None:
    assert unescape(text) == plain


@QUICK
@given(st.text(alphabet="ab-@._:\\x2d", max_size=40))
def test_any_text_is_a_name_or_is_not(text: str) -> None:
    name = UnitName.maybe(text + ".service")
    if name is not None:
        assert UnitName.parse(str(name)) == name
        assert name.dropin_stems()[0] == str(name)
    unescape(text)

"""What a machine is: ids, host key, memory, temperatures."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plugins.module_utils._machine import (
    architecture,
    boot_id,
    fingerprint,
    host_key,
    line,
    machine_id,
    memory,
    parse_memory,
    temperatures,
)
from plugins.module_utils._observation import Absent, LookError, Unparsable
from plugins.module_utils._root import HostRoot

from tests.unit.file_roots import write_tree

QUICK = settings(max_examples=80, deadline=None)  # the machine may be busy

ID = "6f0c9d5b7a1e4c32b8d4e09a51f7c263"
# Made by ssh-keygen -t ed25519, with the fingerprint that ssh-keygen -l prints of it.
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIEeZu2Uxrlb0S1RkIx6rE6m7tYMve59k+PMePk+Z43Hn root@host\n"
FINGERPRINT = "SHA256:iYT2ticmGsbRE98NV4T9kOjLsai9I2Q9XFEJU8FAYHA"


@pytest.mark.parametrize("text", ["", "\n", "uninitialized\n", ID[:31] + "\n", ID.upper() + "\n", ID + ID + "\n"])
def test_a_machine_without_an_id_of_its_own(text: str, tmp_path: Path) -> None:
    write_tree(tmp_path, {"etc/machine-id": text})
    with pytest.raises(Unparsable, match="machine-id"):
        machine_id(HostRoot(str(tmp_path)))


def test_ids(tmp_path: Path) -> None:
    boot = "3b8e2f61-94c7-4d0a-a5f3-7c1e90b264d8"
    write_tree(tmp_path, {"etc/machine-id": ID + "\n", "proc/sys/kernel/random/boot_id": boot + "\n"})
    assert (machine_id(HostRoot(str(tmp_path))), boot_id(HostRoot(str(tmp_path), lane="files"))) == (ID, boot)
    write_tree(tmp_path, {"proc/sys/kernel/random/boot_id": "x\n"})
    with pytest.raises(Unparsable, match="boot_id"):
        boot_id(HostRoot(str(tmp_path)))


# -- host keys ---------------------------------------------------------------------------
def test_the_first_kind_of_key_that_there_is(tmp_path: Path) -> None:
    with pytest.raises(Absent, match="ed25519, ecdsa, rsa"):
        host_key(HostRoot(str(tmp_path)))
    for kind in ("rsa", "ecdsa", "ed25519"):
        text = {"rsa": "ssh-rsa AAAAB3NzaC1yc2EAAA==", "ecdsa": "ssh-rsa AAAAB3NzaC1yc2EAAB==", "ed25519": KEY}[kind]
        write_tree(tmp_path, {f"etc/ssh/ssh_host_{kind}_key.pub": text})
        assert host_key(HostRoot(str(tmp_path))) == fingerprint(text, "x")


def test_a_fingerprint_in_the_form_of_openssh() -> None:
    assert fingerprint(KEY, "x") == FINGERPRINT


@pytest.mark.parametrize(
    "text",
    [
        "ssh-ed25519",
        "ssh-ed25519 !!!!",
        "ssh-rsa " + KEY.split()[1],
        "-----BEGIN OPENSSH PRIVATE KEY-----",
        "a =",
        "ssh-rsa AA==",
    ],
)
def test_what_is_no_public_key(text: str) -> None:
    with pytest.raises(Unparsable, match="not a public key"):
        fingerprint(text, "x")


@QUICK
@given(st.text(max_size=60))
def test_any_text_is_a_key_or_is_refused(text: str) -> None:
    with pytest.raises(Unparsable):
        fingerprint(text, "x")


# -- kernel -------------------------------------------------------------------------------
def test_the_architecture_by_the_kernels_file_or_on_a_host_by_its_answer(tmp_path: Path) -> None:
    write_tree(tmp_path, {"proc/sys/kernel/arch": "aarch64\n"})
    assert architecture(HostRoot(str(tmp_path), recorded=True)) == "aarch64"
    (tmp_path / "proc/sys/kernel/arch").unlink()
    with pytest.raises(Absent):
        architecture(HostRoot(str(tmp_path), recorded=True))
    assert architecture(HostRoot())


@pytest.mark.parametrize("text", ["", "\n", "a\nb\n"])
def test_what_is_not_one_line(text: str, tmp_path: Path) -> None:
    write_tree(tmp_path, {"x": text})
    with pytest.raises(Unparsable, match="/x"):
        line(HostRoot(str(tmp_path)), "/x")


# -- memory ---------------------------------------------------------------------------------
def test_memory_is_in_bytes(tmp_path: Path) -> None:
    text = (
        "MemTotal:       125430452 kB\nMemFree:  3 kB\nMemAvailable:   4 kB\nHugePages_Total:       0\nCmaTotal: 0 kB\n"
    )
    write_tree(tmp_path, {"proc/meminfo": text})
    assert memory(HostRoot(str(tmp_path))) == {
        "MemTotal": 125430452 * 1024, "MemFree": 3072, "MemAvailable": 4096, "CmaTotal": 0,
    }  # fmt: skip


@pytest.mark.parametrize("name", ["MemTotal", "MemFree", "MemAvailable"])
def test_memory_without_what_is_needed(name: str, tmp_path: Path) -> None:
    text = "".join(f"{item}: 1 kB\n" for item in ("MemTotal", "MemFree", "MemAvailable") if item != name)
    write_tree(tmp_path, {"proc/meminfo": text})
    with pytest.raises(Unparsable, match=name):
        memory(HostRoot(str(tmp_path)))


@QUICK
@given(st.text(max_size=80))
def test_any_text_is_read_as_memory(text: str) -> None:
    assert all(value >= 0 for value in parse_memory(text).values())


# -- temperatures --------------------------------------------------------------------------------
def test_zones_by_type_and_number(tmp_path: Path) -> None:
    zone = "sys/class/thermal/thermal_zone"
    write_tree(
        tmp_path,
        {
            f"{zone}0/type": "acpitz\n", f"{zone}0/temp": "61499\n",
            f"{zone}1/type": "acpitz\n", f"{zone}1/temp": "-500\n",
            f"{zone}2/type": "broken\n", f"{zone}2/temp": "hot\n",
            f"{zone}3/temp": "1000\n",
            "sys/class/thermal/cooling_device0/type": "fan\n",
        },
    )  # fmt: skip
    found, failed = temperatures(HostRoot(str(tmp_path)))
    assert found == {"acpitz-0": 61, "acpitz-1": 0}
    assert {zone: type(error) for zone, error in failed.items()} == {"broken-2": Unparsable, "3": Absent}
    assert all(isinstance(error, LookError) for error in failed.values())


def test_a_machine_without_zones(tmp_path: Path) -> None:
    assert temperatures(HostRoot(str(tmp_path))) == ({}, {})

"""RDMA devices in sysfs, in the kernel's formats."""

from __future__ import annotations

from pathlib import Path

import pytest
from plugins.module_utils._observation import Absent, Incomparable, LookError, Unparsable
from plugins.module_utils._rdma import Gid, Port, attribute, gids, netdev, pci_function, port_state, ports
from plugins.module_utils._root import HostRoot

from tests.unit.file_roots import write_tree

CLASS = "sys/class/infiniband"
ZERO = "0000:0000:0000:0000:0000:0000:0000:0000"
LINK_LOCAL = "fe80:0000:0000:0000:4ebb:47ff:fe2a:91c1"
MAPPED = "0000:0000:0000:0000:0000:ffff:0a64:1001"


class Kernel(HostRoot):
    """A tree in which some files read as EINVAL, as unused slots do on a host."""

    invalid: tuple[str, ...] = ()

    def read(self, path: str, *arguments: int) -> bytes:
        if path.endswith(self.invalid):
            raise Unparsable(f"{path}: Invalid argument (EINVAL)")
        return super().read(path, *arguments)


def device(tree: Path, name: str = "rocep1s0f1", port: int = 1, **files: str) -> Port:
    write_tree(tree, {f"{CLASS}/{name}/ports/{port}/{path.replace('__', '/')}": text for path, text in files.items()})
    return Port(name, port)


# -- ports ------------------------------------------------------------------------
def test_devices_with_one_port_and_with_several(tmp_path: Path) -> None:
    device(tmp_path, "mlx5_1", 1, state="4: ACTIVE\n")
    device(tmp_path, "mlx5_0", 2, state="1: DOWN\n")
    device(tmp_path, "mlx5_0", 1, state="4: ACTIVE\n")
    device(tmp_path, "mlx5_0", 10, state="4: ACTIVE\n")
    found = ports(HostRoot(str(tmp_path)))
    assert [port.key for port in found] == ["mlx5_0", "mlx5_0:2", "mlx5_0:10", "mlx5_1"]


def test_no_device_is_absent(tmp_path: Path) -> None:
    (tmp_path / "sys/class").mkdir(parents=True)
    with pytest.raises(Absent, match="infiniband"):
        ports(HostRoot(str(tmp_path)))
    (tmp_path / CLASS).mkdir()
    with pytest.raises(Absent, match="no RDMA device"):
        ports(HostRoot(str(tmp_path)))


@pytest.mark.parametrize(
    ("text", "word"),
    [("4: ACTIVE\n", "ACTIVE"), ("1: DOWN\n", "DOWN"), ("5: LinkUp\n", "LinkUp"), ("3: <unknown>", "<unknown>")],
)
def test_states_by_their_word(text: str, word: str, tmp_path: Path) -> None:
    assert port_state(HostRoot(str(tmp_path)), device(tmp_path, state=text), "state") == word


@pytest.mark.parametrize("text", ["ACTIVE", "4:", "x: ACTIVE"])
def test_what_is_no_state(text: str, tmp_path: Path) -> None:
    with pytest.raises(Unparsable, match="state"):
        port_state(HostRoot(str(tmp_path)), device(tmp_path, state=text), "state")


def test_an_attribute_without_a_value_is_absent(tmp_path: Path) -> None:
    root = Kernel(str(tmp_path))
    root.invalid = ("/speed",)
    write_tree(tmp_path, {"sys/class/net/a/speed": "x", "sys/class/net/a/empty": "\n"})
    for name in ("speed", "empty", "gone"):
        with pytest.raises(Absent, match=name):
            attribute(root, f"/sys/class/net/a/{name}")


# -- GIDs ----------------------------------------------------------------------------
def gid_files(index: int, gid: str, kind: str = "RoCE v2\n", owner: str = "enp1s0f1np1\n") -> dict[str, str]:
    return {f"gids__{index}": gid + "\n", f"gid_attrs__types__{index}": kind, f"gid_attrs__ndevs__{index}": owner}


def test_used_slots_in_the_order_of_their_index(tmp_path: Path) -> None:
    files = {
        **gid_files(0, LINK_LOCAL, "IB/RoCE v1\n"),
        **gid_files(10, MAPPED),
        **gid_files(2, LINK_LOCAL),
        "gids__3": ZERO,
    }
    assert gids(HostRoot(str(tmp_path)), device(tmp_path, **files)) == [
        Gid(LINK_LOCAL, "IB/RoCE v1", "enp1s0f1np1", 0),
        Gid(LINK_LOCAL, "RoCE v2", "enp1s0f1np1", 2),
        Gid(MAPPED, "RoCE v2", "enp1s0f1np1", 10),
    ]


def test_unused_slots_are_empty_and_not_unreadable(tmp_path: Path) -> None:
    root = Kernel(str(tmp_path))
    root.invalid = ("/gids/1", "/types/2", "/ndevs/3")
    files = {**gid_files(0, MAPPED), **gid_files(1, ZERO), **gid_files(2, LINK_LOCAL), **gid_files(3, LINK_LOCAL)}
    files |= gid_files(4, ZERO) | gid_files(5, "") | {"gids__6": LINK_LOCAL}
    assert gids(root, device(tmp_path, **files)) == [
        Gid(MAPPED, "RoCE v2", "enp1s0f1np1", 0),
        Gid(LINK_LOCAL, "RoCE v2", "", 3),
    ]


def test_what_is_no_gid(tmp_path: Path) -> None:
    with pytest.raises(Unparsable, match="gids/0"):
        gids(HostRoot(str(tmp_path)), device(tmp_path, **gid_files(0, "10.100.16.1")))


@pytest.mark.parametrize(
    ("gid", "address"),
    [(MAPPED, "10.100.16.1"), ("0000:0000:0000:0000:0000:ffff:ffff:00ff", "255.255.0.255"), (LINK_LOCAL, "")],
)
def test_a_mapped_gid_stands_for_an_ipv4_address(gid: str, address: str) -> None:
    assert Gid(gid, "RoCE v2", "x", 0).ipv4 == address


# -- interfaces and functions ---------------------------------------------------------
def of(*owners: str) -> list[Gid]:
    return [Gid(LINK_LOCAL, "RoCE v2", owner, index) for index, owner in enumerate(owners)]


@pytest.mark.parametrize(
    ("owners", "folders", "found"),
    [
        (["a", "a"], [], "a"),
        (["a", ""], ["b"], "a"),
        ([], ["b"], "b"),
        (["a", "a.100"], ["a"], "a"),
        (["a.7", "a.100"], ["a.7"], "a.7"),
    ],
)
def test_the_interface_of_a_port(owners: list[str], folders: list[str], found: str, tmp_path: Path) -> None:
    for folder in folders:
        (tmp_path / CLASS / "d/device/net" / folder).mkdir(parents=True)
    assert netdev(HostRoot(str(tmp_path)), Port("d", 1), of(*owners)) == found


@pytest.mark.parametrize(
    ("owners", "folders", "kind"),
    [
        ([], [], Absent),
        (["a", "b"], [], Incomparable),
        (["a", "b"], ["c"], Incomparable),
        ([], ["a", "b"], Incomparable),
    ],
)
def test_no_single_interface(owners: list[str], folders: list[str], kind: type[LookError], tmp_path: Path) -> None:
    for folder in folders:
        (tmp_path / CLASS / "d/device/net" / folder).mkdir(parents=True)
    with pytest.raises(kind, match="d: no"):
        netdev(HostRoot(str(tmp_path)), Port("d", 1), of(*owners))


def test_two_ports_of_one_function_by_their_number(tmp_path: Path) -> None:
    for number, name in enumerate(("a", "b")):
        (tmp_path / CLASS / "d/device/net" / name).mkdir(parents=True)
        write_tree(tmp_path, {f"sys/class/net/{name}/dev_port": f"{number}\n"})
    root = HostRoot(str(tmp_path))
    assert [netdev(root, Port("d", number), []) for number in (1, 2)] == ["a", "b"]


def test_the_pci_function_by_the_link_or_by_the_event_file(tmp_path: Path) -> None:
    write_tree(
        tmp_path,
        {
            "sys/devices/pci0002:00/0002:01:00.1/x": "",
            f"{CLASS}/linked/device": "-> ../../../devices/pci0002:00/0002:01:00.1",
            f"{CLASS}/copied/device/uevent": "DRIVER=mlx5_core\nPCI_SLOT_NAME=0000:01:00.0\n",
            f"{CLASS}/soft/device/uevent": "DRIVER=rxe\n",
        },
    )
    root = HostRoot(str(tmp_path))
    assert pci_function(root, "linked") == "0002:01:00.1"
    assert pci_function(root, "copied") == "0000:01:00.0"
    for name in ("soft", "none"):
        with pytest.raises(Absent, match=name):
            pci_function(root, name)

"""What the NVIDIA driver and nvidia-smi print, in the shapes that real machines show."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plugins.module_utils._nvidia import (
    failure,
    is_uuid,
    normal_bus,
    number,
    parse_information,
    parse_listing,
    parse_table,
    parse_topology,
    parse_version,
    value,
)
from plugins.module_utils._observation import Absent, Denied, Incomparable, LookError, NoTool, Unparsable
from plugins.module_utils._tools import ToolAnswer

QUICK = settings(max_examples=80, deadline=None)  # the machine may be busy

UUID = "GPU-aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee"
INFORMATION = f"""\
Model: \t\t NVIDIA GB10
IRQ:   \t\t 312
GPU UUID: \t {UUID}
Video BIOS: \t 9a.0b.21.00.11
Bus Type: \t Integrated
Bus Location: \t 000f:01:00.0
Device Minor: \t 0
GPU Excluded: \t No
"""


# -- the driver's files ----------------------------------------------------------
def test_information() -> None:
    found = parse_information(INFORMATION, "000f:01:00.0")
    assert (found.bus, found.uuid, found.name) == ("000f:01:00.0", UUID, "NVIDIA GB10")
    assert (found.video_bios, found.excluded) == ("9a.0b.21.00.11", False)


@pytest.mark.parametrize("separator", ["            ", "\t", " ", ""])
def test_information_with_any_separator(separator: str) -> None:
    text = f"Model:{separator}X\nGPU UUID:{separator}{UUID}\n"
    found = parse_information(text, "0000:09:00.0")
    assert (found.name, found.uuid, found.bus) == ("X", UUID, "0000:09:00.0")


def test_a_gpu_that_is_not_initialised_has_no_uuid() -> None:
    text = INFORMATION.replace(UUID, "GPU-????????-????-????-????-????????????").replace(
        "9a.0b.21.00.11", "??.??.??.??.??"
    )
    found = parse_information(text.replace("NVIDIA GB10", "Unknown"), "000f:01:00.0")
    assert (found.uuid, found.video_bios, found.name) == ("", "", "")


@pytest.mark.parametrize("line", ["GPU Excluded: Yes", "Blacklisted: Yes"])
def test_a_gpu_that_the_driver_excludes(line: str) -> None:
    assert parse_information(INFORMATION.replace("GPU Excluded: \t No", line), "x").excluded


@pytest.mark.parametrize(
    ("text", "bus"),
    [("0000000F:01:00.0", "000f:01:00.0"), ("000f:01:00.0", "000f:01:00.0"), ("00000000:C1:00.0", "0000:c1:00.0"),
     ("00010000:01:00.0", "10000:01:00.0")],
)  # fmt: skip
def test_addresses_are_spelled_as_the_kernel_does(text: str, bus: str) -> None:
    assert normal_bus(text) == bus


@pytest.mark.parametrize("text", ["", "01:00.0", "0000:01:00.8", "[N/A]", "x"])
def test_what_is_no_address(text: str) -> None:
    with pytest.raises(Unparsable, match="PCI"):
        normal_bus(text)


@pytest.mark.parametrize(
    ("text", "uuid"),
    [
        (UUID, True),
        (UUID.upper(), True),
        ("GPU-????????-????-????-????-????????????", False),
        ("MIG-" + UUID[4:], False),
        ("MIG-GPU-aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee/1/0", False),
        ("", False),
        ("[N/A]", False),
    ],
)
def test_uuids(text: str, uuid: bool) -> None:
    assert is_uuid(text) is uuid


@pytest.mark.parametrize(
    ("text", "version"),
    [
        (
            "NVRM version: NVIDIA UNIX Open Kernel Module for aarch64  580.142  Release Build  (x)\nGCC: 13.3.0",
            "580.142",
        ),
        ("NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.14  Thu Feb 22 01:44:30 UTC 2024\n", "550.54.14"),
        ("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  590.48.01", "590.48.01"),
    ],
)
def test_versions(text: str, version: str) -> None:
    assert parse_version(text) == version


@pytest.mark.parametrize("text", ["", "GCC version: gcc version 13.3.0", "NVRM version: unknown"])
def test_what_tells_no_version(text: str) -> None:
    with pytest.raises(Unparsable, match="version"):
        parse_version(text)


# -- failures of the tool ------------------------------------------------------------
@pytest.mark.parametrize(
    ("code", "words", "kind"),
    [
        (4, "Insufficient permissions", Denied),
        (6, "No devices were found", Absent),
        (9, "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.", NoTool),
        (1, "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.", NoTool),
        (12, "NVIDIA-SMI couldn't find libnvidia-ml.so library in your system.", NoTool),
        (15, "Unable to determine the device handle for GPU 0000:02:00.0: GPU is lost.", Unparsable),
        (18, "Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 570.124", Unparsable),
        (255, "Failed to initialize NVML: Unknown Error", Unparsable),
        (2, 'Field "x" is not a valid field to query.', Unparsable),
        (0, "", Unparsable),
    ],
)
def test_failures_keep_the_tools_words(code: int, words: str, kind: type[LookError]) -> None:
    error = failure(ToolAnswer(code, words.encode(), b""), "GPUs")
    assert type(error) is kind
    assert f"ended with {code}" in error.why
    assert " ".join(words.split()) in error.why


def test_words_on_the_error_output_count_where_there_are_no_others() -> None:
    assert "broken" in failure(ToolAnswer(3, b"", b"broken"), "x").why


# -- tables -----------------------------------------------------------------------------
def test_a_table_by_position() -> None:
    text = "index, uuid, name, clocks.current.sm [MHz]\n0, U0, NVIDIA GB10, 2100 MHz\n1, U1, A, B, [N/A]\n\n"
    rows, words = parse_table(text, ("index", "uuid"), ("clocks.sm",), "name")
    assert rows == [
        {"index": "0", "uuid": "U0", "name": "NVIDIA GB10", "clocks.sm": "2100 MHz"},
        {"index": "1", "uuid": "U1", "name": "A, B", "clocks.sm": "[N/A]"},
    ]
    assert words == ""


def test_lines_that_are_no_rows_are_words() -> None:
    text = "gpu_uuid, pid, process_name\nUnable to determine the device handle for GPU0000:20:00.0: Unknown Error\n"
    assert parse_table(text, ("gpu_uuid", "pid"), (), "process_name") == (
        [],
        "Unable to determine the device handle for GPU0000:20:00.0: Unknown Error",
    )


@pytest.mark.parametrize("text", ["", "No devices were found", "a, b", "x, uuid, name, clocks", "0, U, N, 1 MHz"])
def test_tables_that_were_not_asked_for(text: str) -> None:
    with pytest.raises(Unparsable, match="not the table"):
        parse_table(text, ("index", "uuid"), ("clocks.sm",), "name")


@pytest.mark.parametrize(
    "cell", ["[N/A]", "N/A", "[Not Supported]", "Not Supported", "", " [n/a] ", "-", "[Function Not Found]"]
)
def test_what_a_gpu_does_not_tell(cell: str) -> None:
    with pytest.raises(Incomparable, match="x"):
        value(cell, "x")


@pytest.mark.parametrize(
    ("cell", "kind"),
    [
        ("[Insufficient Permissions]", Denied),
        ("[Unknown Error]", Unparsable),
        ("[GPU is lost]", Unparsable),
        ("ERR!", Unparsable),
        ("[Requested functionality has been deprecated]", Unparsable),
        ("Requested functionality has been deprecated", Unparsable),
    ],
)
def test_words_in_place_of_a_value(cell: str, kind: type[LookError]) -> None:
    with pytest.raises(kind, match="x"):
        value(cell, "x")


def test_numbers_with_and_without_their_unit() -> None:
    assert (number("2100 MHz", "MHz", "x"), number("46", "C", "x")) == (2100, 46)
    for cell in ("2100 GHz", "2,100 MHz", "-1", "1.5 MHz", "MHz", "²"):
        with pytest.raises(Unparsable, match="x"):
            number(cell, "MHz", "x")


def test_the_plain_listing_is_read_from_the_right() -> None:
    text = (
        f"GPU 0: NVIDIA TITAN X (Pascal) (UUID: {UUID})\n"
        "  MIG 3g.40gb     Device  0: (UUID: MIG-aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee)\n"
        "Unable to determine the device handle for GPU 0000:09:00.0: Unknown Error\n"
    )
    assert parse_listing(text) == {UUID: "NVIDIA TITAN X (Pascal)"}


# -- topology -----------------------------------------------------------------------------
def test_a_matrix_of_one_gpu_and_nics() -> None:
    text = (
        "\tGPU0\tNIC0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\nGPU0\t X \tNODE\t0-19\t0\t\tN/A\nNIC0\tNODE\t X \t\t\n"
    )
    assert parse_topology(text) == {}


@pytest.mark.parametrize(
    "head", ["\x1b[4m\tGPU0\tGPU1\tCPU Affinity\x1b[0m", "\t\x1b[4mGPU0\tGPU1\tCPU Affinity\x1b[0m"]
)
@pytest.mark.parametrize("before", ["", "\n", "Warning: x\n"])
def test_a_matrix_with_an_underlined_head(head: str, before: str) -> None:
    text = f"{before}{head}\nGPU0\t X \tNV4\t0-31\nGPU1\tNV4\t X \t32-63\n\nLegend:\n\n  NV#  = links\n"
    assert parse_topology(text) == {(0, 1): "NV4"}


def test_all_pairs() -> None:
    text = "\tGPU0\tGPU1\tGPU2\nGPU0\tX\tNV4\tPHB\nGPU1\tNV4\tX\tSYS\nGPU2\tPHB\tSYS\tX\n"
    assert parse_topology(text) == {(0, 1): "NV4", (0, 2): "PHB", (1, 2): "SYS"}


@pytest.mark.parametrize(
    "text",
    ["", "Failed to initialize NVML", "\tGPU0\tGPU1\nGPU0\tX\tNV4\nGPU1\tPHB\tX\n", "\tGPU0\tGPU1\nGPU0\tX\t\n"],
)
def test_what_is_no_matrix(text: str) -> None:
    with pytest.raises(Unparsable, match="topo"):
        parse_topology(text)


@QUICK
@given(st.text(alphabet="GPU01 \t\nXNV,:[]\x1b4m-?", max_size=80))
def test_any_text_is_read_or_refused(text: str) -> None:
    for read in (parse_topology, parse_listing, parse_version, lambda t: parse_information(t, "0000:01:00.0")):
        try:
            read(text)
        except Unparsable:
            continue
    try:
        rows, _ = parse_table("a, b, c\n" + text, ("a",), ("c",), "b")
    except Unparsable:
        return
    assert all(set(row) == {"a", "b", "c"} for row in rows)

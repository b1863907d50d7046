"""Wall time of a whole verification against `ansible all -m ping` on the same hosts, in one run.

Prints the ratio of the medians of interleaved runs, which the load of the machine
affects alike. Exits with 1 when the ratio is over the limit.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent
ROUNDS = 5
LIMIT = 1.5


def timed(*command: str) -> float:
    """Run a command in the checkout; its exit code must be 0."""
    environment = {**os.environ, "ANSIBLE_CONFIG": str(PROJECT / "ansible.cfg")}
    begin = time.perf_counter()
    subprocess.run([str(BIN / command[0]), *command[1:]], cwd=PROJECT, env=environment, check=True, capture_output=True)
    return time.perf_counter() - begin


def main() -> int:
    """Run the rounds and print what they took."""
    timed("pinproof", "replica", "build", "--with-baseline")
    pings, verifications = [], []
    for number in range(ROUNDS):
        pings.append(timed("ansible", "all", "-m", "ping"))
        verifications.append(timed("ansible-playbook", "verify.yml", "--check"))
        print(f"round {number + 1} of {ROUNDS}: ping {pings[-1]:.2f} s, verification {verifications[-1]:.2f} s")
    ratio = statistics.median(verifications) / statistics.median(pings)
    print(f"whole verification against ansible ping, same four hosts: {ratio:.2f} times (at most {LIMIT})")
    return 0 if ratio <= LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())

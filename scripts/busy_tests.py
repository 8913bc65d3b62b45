#!/usr/bin/env python3
"""Runs the unit test programs of a build where nothing may hang on luck: beside busy processes, stopped and continued at random.

    scripts/busy_tests.py [--build build/release] [--rounds 3] [--busy 4] [--folders core text ...]

Each program is stopped (SIGSTOP) for up to two seconds and continued, again and again. Cases that measure a timeout cannot pass
that: they have the tag [timeout], and are listed and left out. A round that passed for this very program file is not run again.
Exit 1: a test failed; its output is printed, and kept beside the build.
"""

import argparse
import hashlib
import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
LEFT_OUT = ["~[.]", "~[system]", "~[timeout]"]
LONGEST_STOP = 2.0  # seconds
LIMIT = 900  # seconds of a round; a program that takes longer hangs


def unit_programs(build: Path) -> list[Path]:
    """Returns the programs of ctest's entries with the label `unit`."""
    listed = subprocess.run(["ctest", "--test-dir", build, "-N", "-L", "^unit$"], capture_output=True, text=True, check=True).stdout
    names = re.findall(r"^ *Test +#\d+: (\w+)$", listed, re.MULTILINE)
    return [build / f"test_{name}" for name in names if (build / f"test_{name}").exists()]


def run_round(program: Path, generator: random.Random, output: Path, scratch: Path) -> int:
    """Runs the program with random stops. Returns its exit code, -9 after LIMIT."""
    environment = dict(os.environ, BERTPRETRAIN_NAME_CASES="1", BERTPRETRAIN_TEST_SCRATCH=str(scratch))
    environment.pop("BERTPRETRAIN_SKIPS", None)
    with output.open("wb") as log:
        process = subprocess.Popen([program, "".join(LEFT_OUT)], stdout=log, stderr=log, env=environment)
        end = time.monotonic() + LIMIT
        while process.poll() is None:
            time.sleep(generator.uniform(0.02, 1.0))
            process.send_signal(signal.SIGSTOP)
            time.sleep(generator.uniform(0, LONGEST_STOP))
            process.send_signal(signal.SIGCONT)
            if time.monotonic() > end:
                process.kill()
        return process.wait()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=PROJECT / "build/release", help="folder of the build")
    parser.add_argument("--rounds", type=int, default=3, help="how often each program runs")
    parser.add_argument("--busy", type=int, default=4, help="number of busy processes")
    parser.add_argument("--seed", type=int, default=1, help="seed of the random moments")
    parser.add_argument("--folders", nargs="*", help="folders of tests/; by default all that have unit tests")
    given = parser.parse_args()
    build = given.build.resolve()
    os.chdir(PROJECT)  # tests read files of the project
    programs = [p for p in unit_programs(build) if not given.folders or p.name.removeprefix("test_") in given.folders]
    if not programs:
        print(f"busy_tests: {build} has no unit test programs; run scripts/build.sh release unit_tests", file=sys.stderr)
        return 2
    results = build / "busy_tests"
    results.mkdir(exist_ok=True)
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(given.busy)]
    failed = 0
    try:
        for program in programs:
            left_out = subprocess.run([program, "--list-test-names-only", "[timeout]"], capture_output=True, text=True).stdout
            for name in left_out.splitlines():
                print(f"left out, because it measures a timeout: {program.name}: {name}")
            digest = hashlib.sha256(program.read_bytes()).hexdigest()[:16]
            for number in range(1, given.rounds + 1):
                passed = results / f"{program.name}-{digest}-{given.seed}-{number}.passed"
                if passed.exists():
                    continue
                output = results / f"{program.name}-{number}.txt"
                begin = time.monotonic()
                code = run_round(program, random.Random(f"{given.seed} {program.name} {number}"), output, results / "scratch")
                print(f"{program.name}: round {number} {'passed' if code == 0 else f'FAILED ({code})'} in {time.monotonic() - begin:.0f} s", flush=True)
                if code == 0:
                    passed.touch()
                else:
                    failed += 1
                    print(output.read_text(errors="replace")[-4000:])
    finally:
        for process in busy:
            process.kill()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

"""Runs this project's programs and scripts."""

import os
import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[3]
PROGRAMS = Path(os.environ.get("BERTPRETRAIN_PROGRAMS") or PROJECT / "build/release")


def run(*command, **options):
    """Runs a command, whose messages go to stderr, and returns what it printed. Ends this program if the command fails."""
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, text=True, cwd=PROJECT, **options)
    if done.returncode != 0:
        sys.exit(f"certify: {' '.join(map(str, command))[:300]}: exit status {done.returncode}")
    return done.stdout


def bertpretrain(*arguments, **options):
    return run(PROGRAMS / "bertpretrain", *arguments, **options)


def python(script, *arguments, **options):
    """Runs a Python script, named from the project's folder."""
    return run(sys.executable, PROJECT / script, *arguments, **options)

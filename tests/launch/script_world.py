"""What every_script.py's cases share: a checkout with a hostile path, names for files, and the cases' register."""
import os
import pathlib
import shutil
import subprocess
import sys

PROJECT = pathlib.Path(__file__).resolve().parents[2]
NAME = "  it's \"$HOME\" `id` $(id) *?[a-z] \\n & ; | line\nbreak # ü %s "
DASH = "--output -n leading dash '\" $HOME *\n "

CASES = {}


def case(script):
    def register(function):
        CASES[script] = function
        return function
    return register


class World:
    """A checkout with a hostile path, a folder to start from, and stand-ins."""

    def __init__(self, folder):
        self.bin, self.home, self.calls_file = folder / "bin", folder / "elsewhere", folder / "calls"
        self.checkout = folder / NAME
        self.checkout.mkdir()
        for part in ("scripts", "configs", "data_tools/sample"):
            shutil.copytree(PROJECT / part, self.checkout / part, ignore=shutil.ignore_patterns("__pycache__"))
        self.bin.mkdir()
        self.home.mkdir()

    def stand_in(self, path, code=""):
        """Writes a program that records its name and arguments, and then runs the shell code `code`."""
        path = self.bin / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text('#!/usr/bin/env bash\n{ printf "%s\\0" "${0##*/}" "$@"; printf "\\0\\0"; } >>"$CALLS"\n' + code + "\n")
        path.chmod(0o755)

    def calls(self):
        """Returns the recorded calls, as lists of words, and forgets them."""
        text = self.calls_file.read_text() if self.calls_file.exists() else ""
        self.calls_file.unlink(missing_ok=True)
        return [call.split("\0") for call in text.split("\0\0\0")[:-1]]

    def command(self, script, *arguments):
        file = self.checkout / "scripts" / script
        return [*([sys.executable] if script.endswith(".py") else []), str(file), *map(str, arguments)]

    def environment(self, variables):
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("SLURM_", "BERTPRETRAIN", "OMP_", "PET_", "AWS_"))}
        return {**kept, "PATH": f"{self.bin}:{os.environ['PATH']}", "CALLS": str(self.calls_file), "PYTHONDONTWRITEBYTECODE": "1",
                **{name: str(value) for name, value in variables.items()}}

    def run(self, script, *arguments, code=0, stdin="", **variables):
        """Runs a script, which must end with `code`. Returns its standard output and error."""
        done = subprocess.run(self.command(script, *arguments), cwd=self.home, env=self.environment(variables), input=stdin, text=True,
                              capture_output=True, timeout=120)
        expect(done.returncode == code, f"exit code {done.returncode}, expected {code}:\n{done.stdout}{done.stderr}")
        return done.stdout + done.stderr

    def write(self, name, text):
        file = self.home / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file


def expect(condition, message):
    if not condition:
        raise AssertionError(message)


def expect_equal(found, expected):
    expect(found == expected, f"found    {found!r}\nexpected {expected!r}")

"""The inputs and the result of a stage of first_light.sh."""
import dataclasses
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

from programs import PROJECT, program_environment

PASSED, FAILED, TIMED_OUT, UNAVAILABLE = "passed", "failed", "timed out", "not available"


@dataclasses.dataclass
class Result:
    """`summary` is one line, `data` goes into the JSON file, `text` (Markdown) into the page."""
    status: str
    summary: str
    data: dict = dataclasses.field(default_factory=dict)
    text: str = ""


@dataclasses.dataclass
class Finished:
    """A command that has ended. code: its exit status; None when it was killed at the stage's time limit."""
    code: int | None
    output: str
    log: pathlib.Path

    @property
    def status(self):
        return TIMED_OUT if self.code is None else PASSED if self.code == 0 else FAILED

    @property
    def not_built(self):
        """Whether the wheel or the archive has this program for other versions of PyTorch only (scripts/portable/launcher.sh)."""
        return self.code not in (None, 0) and "was not built for PyTorch" in self.tail()

    def tail(self, lines=15):
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])


class Stage:
    """A running stage: its folder, its deadline, and its commands, which end with it."""

    def __init__(self, name, arguments, limit):
        self.name, self.arguments, self.device = name, arguments, arguments.device
        self.on_gpu = arguments.device == "cuda"
        self.deadline = time.monotonic() + limit
        self.folder = arguments.logs / name
        self.folder.mkdir(parents=True, exist_ok=True)
        self.shared_folder = arguments.logs
        self.processes = []

    def remaining(self):
        return max(0.0, self.deadline - time.monotonic())

    def start(self, command, log_name, **environment):
        """Starts a command in its own process group; its output goes into files of the stage's folder."""
        log = self.folder / f"{log_name}.log"
        with open(log, "w") as errors, open(log.with_suffix(".out"), "w") as output:
            process = subprocess.Popen([str(part) for part in command], stdout=output, stderr=errors, cwd=PROJECT,
                                       env=program_environment(**environment), start_new_session=True)
        self.processes.append(process)
        return process, log

    def finish(self, started):
        """Waits for a started command until the deadline, then kills its process group."""
        process, log = started
        try:
            code = process.wait(timeout=self.remaining())
        except subprocess.TimeoutExpired:
            code = None
        finally:
            end_group(process)
        return Finished(code, log.with_suffix(".out").read_text(errors="replace"), log)

    def end(self):
        """Ends all commands that still run, and deletes checkpoints."""
        for process in self.processes:
            end_group(process)
        for checkpoints in self.folder.glob("*/checkpoints"):
            shutil.rmtree(checkpoints, ignore_errors=True)

    def run(self, command, log_name="command", **environment):
        return self.finish(self.start(command, log_name, **environment))

    def run_python(self, file, *arguments, log_name="command", **environment):
        """Runs a file of scripts/benchmark with this Python."""
        script = PROJECT / "scripts/benchmark" / file
        path = os.pathsep.join([str(PROJECT / "scripts/benchmark"), os.environ.get("PYTHONPATH", "")])
        return self.run([sys.executable, script, *arguments], log_name, PYTHONPATH=path, **environment)


def end_group(process):
    """Ends a command and all processes that it started: first with SIGTERM, so that it can write its results, then with SIGKILL."""
    for number, seconds in ((signal.SIGTERM, 2), (signal.SIGKILL, 10)):
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:
            pass
        try:
            process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            continue


def read_json(path):
    """Returns the content of a JSON file, or {} if it is missing or truncated."""
    try:
        return json.loads(pathlib.Path(path).read_text())
    except (OSError, ValueError):
        return {}


def table(titles, rows):
    """Returns a Markdown table, or an empty text if there are no rows."""
    if not rows:
        return ""
    lines = [titles, ["---"] * len(titles)] + [[str(cell) for cell in row] for row in rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines) + "\n"


def block(text):
    """Returns preformatted text in Markdown, or an empty text if `text` is blank."""
    if not text.strip():
        return ""
    return f"```\n{text.rstrip()}\n```\n"

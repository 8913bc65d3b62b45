"""Reads the lines that telemetry.command gets: those of metrics.jsonl, events.jsonl and devices.jsonl, as they are written."""
import argparse
import hashlib
import importlib
import json
import os
import pathlib
import sys


def records(stream=sys.stdin):
    """Yields ("metrics", step, {name: number}) for each step, evaluation and reading of a host's devices, and ("event", name, details)
    for each event. Skips a line that is cut, and values that are not finite numbers."""
    for text in stream:
        try:
            line = json.loads(text)
        except ValueError:
            continue
        if "event" in line:
            yield "event", line.pop("event"), line
        elif "devices" in line:
            yield "metrics", line["step"], {f"devices/rank_{device['rank']}/{key}": value for device in line["devices"]
                                            for key, value in device.items() if key not in ("rank", "device")}
        elif "step" in line:
            step = line.pop("step")
            numbers = {name: value for name, value in line.items() if isinstance(value, (int, float)) and not isinstance(value, bool)}
            for name, source in (line.get("sources") or {}).items():
                numbers.update({f"sources/{name}/{key}": value for key, value in source.items() if isinstance(value, (int, float))})
            yield "metrics", step, numbers


def run_folder(description):
    """Returns the run's folder, the only argument of the command. The help names the script by its path, which works from any folder."""
    script = pathlib.Path(sys.argv[0])
    description = description.replace(f"scripts/telemetry/{script.name}", str(script.resolve()))
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path, metavar="RUN_FOLDER")
    return parser.parse_args().folder.resolve()


def run_id(folder):
    """Returns the run's id, which its folder got when it was created. Runs of earlier versions have none: a hash of the path."""
    try:
        return (folder / "run_id").read_text().strip()
    except OSError:
        return hashlib.sha256(os.fsencode(folder)).hexdigest()[:16]


def package(name):
    """Imports a package, or ends the command with a message and exit code 1."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        sys.exit(f"{name} cannot be imported ({error}), so the run is not sent to it; do: {sys.executable} -m pip install {name}")


def settings_of(folder):
    """Returns {"section.key": value} of a run's plan.json; nothing if it cannot be read."""
    try:
        plan = json.loads((pathlib.Path(folder) / "plan.json").read_text())
    except (OSError, ValueError):
        return {}
    return {f"{section}.{key}": entry["value"] for section, entries in plan.items() if isinstance(entries, dict)
            for key, entry in entries.items() if isinstance(entry, dict) and "value" in entry}

"""Verifies every digest of a checkpoint's or an export's lineage:  check_lineage.py PATH --run RUN

Uses hashlib, json and h5py only, none of our code. Prints each file that differs; exit code 1 if there is one.
"""
import argparse
import hashlib
import json
import pathlib
import sys

import h5py

problems = []
checked = 0


def sha256(path):
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()


def require(holds, message):
    global checked
    checked += 1
    if not holds:
        problems.append(str(message))


def compare(path, digest):
    path = pathlib.Path(path)
    require(path.is_file() and path.stat().st_size == digest["bytes"] and sha256(path) == digest["sha256"], f"{path}: differs")
    for origin in digest.get("made_from", []):
        compare(origin["file"], origin)


class Number(float):
    """A number with the digits of its file: other programs write some floats differently."""

    def __new__(cls, text):
        number = super().__new__(cls, text)
        number.text = text
        return number

    def __repr__(self):
        return self.text


def compact(value):
    """JSON with sorted keys and without white space."""
    if isinstance(value, dict):
        return "{" + ",".join(json.dumps(key) + ":" + compact(value[key]) for key in sorted(value)) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(compact, value)) + "]"
    return repr(value) if isinstance(value, Number) else json.dumps(value, ensure_ascii=False)


def check_data(data):
    folder = pathlib.Path(data["folder"])
    manifest_file = folder / data["manifest"]["file"]
    compare(manifest_file, data["manifest"])
    try:
        manifest = json.loads(manifest_file.read_text())
    except ValueError:
        return  # it differs, which is reported
    require(manifest.get("corpus") == data["corpus"], f"{manifest_file}: names another corpus")
    records = {shard["file"]: shard for shard in manifest["shards"]}
    kind = {"training": "training", "held_out": "test"}[data["use"]]
    require({name for name in records if kind in name} == {shard["file"] for shard in data["shards"]},
            f"{manifest_file}: lists other shards")
    for shard in data["shards"]:
        path = folder / shard["file"]
        compare(path, shard)
        require(records[shard["file"]]["sha256"] == shard["sha256"], f"{manifest_file}: {shard['file']} has another digest")
        try:
            with h5py.File(path) as rows:
                require(len(rows["input_ids"]) == records[shard["file"]]["rows"], f"{path}: has another number of rows")
        except (OSError, KeyError):
            require(False, f"{path}: cannot be read")
    require(data["corpus"], f"{folder}: the corpus is not recorded")
    for text in data["corpus"]:
        compare(text["file"], text)


def check_sessions(lineage, run):
    """Sessions are the run's starts and resumes; the last one has the settings of the checkpoint."""
    starts = [event for event in map(json.loads, (run / "events.jsonl").read_text().splitlines())
              if event["event"] in ("start", "resume") and event["step"] < lineage["step"]]
    require([(s["step"], s["ranks"], s["settings"], s["computed_by"]) for s in starts] ==
            [(s["begin"], s["ranks"], s["settings_sha256"], s["computed_by"]) for s in lineage["sessions"]],
            f"{run / 'events.jsonl'}: has other sessions")
    settings = run / "checkpoints" / f"step_{lineage['step']:08d}" / "settings.json"
    try:
        text = compact(json.loads(settings.read_text(), parse_float=Number))
        require(hashlib.sha256(text.encode()).hexdigest() == lineage["sessions"][-1]["settings_sha256"],
                f"{settings}: is not of the last session")
    except ValueError:
        require(False, f"{settings}: is not JSON")
    for session in lineage["sessions"]:
        require(session["program"] and session["version"] and session["libraries"],
                "a session does not name its program")


def check_chain(lineage, checkpoints):
    """Each predecessor has the digest that is named, and itself names those before it."""
    before = lineage["predecessors"]
    for number, link in enumerate(before):
        path = checkpoints / f"step_{link['step']:08d}" / "lineage.json"
        require(path.is_file() and sha256(path) == link["lineage_sha256"], f"{path}: differs")
        if not path.is_file():
            continue
        try:
            require(json.loads(path.read_text())["predecessors"] == before[:number], f"{path}: has another chain")
        except (ValueError, UnicodeDecodeError):
            require(False, f"{path}: is not JSON")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("path", type=pathlib.Path)
    parser.add_argument("--run", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    path, run = arguments.path, arguments.run
    beside = (lambda name: path / name) if path.is_dir() else (lambda name: path.with_name(path.name + "." + name))
    lineage_file = beside("lineage.json")
    lineage = json.loads(lineage_file.read_text())
    checkpoint = run / "checkpoints" / f"step_{lineage['step']:08d}"
    if beside("export.json").is_file():
        export = json.loads(beside("export.json").read_text())
        require(export["lineage_sha256"] == sha256(lineage_file) == sha256(checkpoint / "lineage.json"),
                f"{lineage_file}: is of another checkpoint")
        if path.is_dir():
            require({file["file"] for file in export["files"]} | {"lineage.json", "export.json"} ==
                    {file.name for file in path.iterdir()}, f"{path}: has other files")
        for file in export["files"]:
            compare(path / file["file"] if path.is_dir() else path, file)

    marked = json.loads((checkpoint / "COMPLETE.json").read_text())["files"]
    require({file["file"] for file in lineage["files"]} == {*marked, "COMPLETE.json"}, f"{checkpoint}: has other files")
    for file in lineage["files"]:
        compare(checkpoint / file["file"], file)
    compare(lineage["vocabulary"]["file"], lineage["vocabulary"])
    for data in lineage["data"]:
        check_data(data)
    for origin in lineage["started_from"]:
        compare(origin["file"], origin)
    check_sessions(lineage, run)
    check_chain(lineage, run / "checkpoints")

    print("\n".join(problems) or f"{checked} checks hold")
    return 1 if problems else 0


sys.exit(main())

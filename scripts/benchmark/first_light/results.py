"""The results of first_light.sh: first_light.json and first_light.md, written after every stage."""
import json
import os
import time

from .stage import read_json


def read(folder):
    """Returns the results of earlier calls in this folder."""
    return read_json(folder / "first_light.json") or {"stages": {}}


def write(folder, results, stages):
    """Replaces both files. `stages` gives the order and the titles: {name: (title, ...)}."""
    results["written"] = time.strftime("%Y-%m-%d %H:%M:%S %Z")
    replace(folder / "first_light.json", json.dumps(results, indent=1))
    replace(folder / "first_light.md", page(results, stages))


def replace(path, text):
    partial = path.with_suffix(".partial")
    partial.write_text(text)
    os.replace(partial, path)


def page(results, stages):
    done = results["stages"]
    lines = [f"# First light: {results.get('device_name', results['device'])}", "",
             f"{results['version']}, {results['written']}", "",
             "| stage | result | seconds | summary |", "| --- | --- | --- | --- |"]
    for name, (title, *_) in stages.items():
        stage = done.get(name, {"status": "not run", "seconds": 0, "summary": ""})
        earlier = "" if stage.get("version", results["version"]) == results["version"] else ", with another build"
        lines.append(f"| {name}: {title} | {stage['status']}{earlier} | {stage['seconds']:.0f} | {stage['summary'].replace('|', '/')} |")
    for name, (title, *_) in stages.items():
        if done.get(name, {}).get("text"):
            lines += ["", f"## {title[0].upper()}{title[1:]}", "", done[name]["text"].rstrip()]
    return "\n".join(lines) + "\n"

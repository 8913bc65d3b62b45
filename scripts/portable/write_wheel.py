#!/usr/bin/env python3
"""Makes a wheel of a staged folder:  write_wheel.py ROOT OUTPUT_FOLDER --version VERSION --torch MINOR...

A wheel is a zip file; this one needs no build back-end. pip unpacks ROOT as the package's folder `bertpretrain`, puts entry.sh into the
environment's folder of programs under each name of PROGRAMS, and man pages and completion into its share/. Names are sorted and times are
fixed (SOURCE_DATE_EPOCH, default 1980), so that the same ROOT gives the same bytes. Prints the wheel's path."""
import argparse
import base64
import hashlib
import os
import pathlib
import re
import sys
import time
import zipfile

TAG = "py3-none-manylinux_2_34_x86_64"
PROGRAMS = ("bertpretrain", "bertpretrain_data", "first_light")
HERE = pathlib.Path(__file__).resolve().parent
PROJECT = HERE.parents[1]


def metadata(version, minors):
    newest = max(minors, key=lambda minor: [int(part) for part in minor.split(".")])
    oldest = min(minors, key=lambda minor: [int(part) for part in minor.split(".")])
    following = f"{newest.split('.')[0]}.{int(newest.split('.')[1]) + 1}"
    arrow = re.search(r"^pyarrow==([^;\s]*)", (PROJECT / "scripts/requirements.txt").read_text(), re.MULTILINE)[1]
    return f"""Metadata-Version: 2.4
Name: bertpretrain
Version: {version}
Summary: Pretrains BERT, ModernBERT and NeoBERT, from text to checkpoint
License: All rights reserved; LICENCES has the licences of what is bundled
License-File: LICENCES
Classifier: Environment :: Console
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: C++
Classifier: Topic :: Scientific/Engineering :: Artificial Intelligence
Requires-Dist: torch<{following},>={oldest}; extra == "torch"
Requires-Dist: pyarrow=={arrow}; extra == "parquet"
Provides-Extra: torch
Provides-Extra: parquet
Description-Content-Type: text/plain

Two programs, `bertpretrain` and `bertpretrain_data`. They run without Python.

`bertpretrain` uses the libraries of the PyTorch that is installed beside this package: {', '.join(minors)}.
It is no dependency, because a PyTorch that is there already must stay as it is. `bertpretrain_data` needs no PyTorch.
"""


def wheel_file():
    return f"Wheel-Version: 1.0\nGenerator: bertpretrain\nRoot-Is-Purelib: false\nTag: {TAG}\n"


def contents(root, version, minors):
    """Returns {name in the wheel: (bytes, is executable)} without RECORD."""
    info, data = f"bertpretrain-{version}.dist-info", f"bertpretrain-{version}.data"
    found = {f"{info}/METADATA": (metadata(version, minors).encode(), False), f"{info}/WHEEL": (wheel_file().encode(), False)}
    names = {"SBOM.json": f"{info}/sboms/SBOM.json", "LICENCES": f"{info}/licenses/LICENCES"}
    for path in sorted(root.rglob("*")):
        if path.is_dir():
            continue
        name = path.relative_to(root).as_posix()
        target = names.get(name) or (f"{data}/data/{name}" if name.startswith("share/") else f"bertpretrain/{name}")
        found[target] = (path.read_bytes(), os.access(path, os.X_OK))  # a link becomes a copy: wheels have none
    entry = (HERE / "entry.sh").read_bytes()
    for program in PROGRAMS:
        found[f"{data}/scripts/{program}"] = (entry, True)
    return found


def record(files):
    """Returns the text of RECORD: a line with name, checksum and size for each file."""
    lines = []
    for name in sorted(files):
        checksum = base64.urlsafe_b64encode(hashlib.sha256(files[name][0]).digest()).rstrip(b"=").decode()
        quoted = '"' + name.replace('"', '""') + '"' if set(name) & set(',"') else name
        lines.append(f"{quoted},sha256={checksum},{len(files[name][0])}")
    return "\n".join(lines) + "\n"


def write_zip(output, files):
    moment = time.gmtime(max(int(os.environ.get("SOURCE_DATE_EPOCH", 0)), 315532800))[:6]  # zip files begin in 1980
    order = sorted(files, key=lambda name: (".dist-info/" in name, name))  # the metadata last, as the specification advises
    partial = output.with_name(output.name + ".partial")
    with zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name in order:
            entry = zipfile.ZipInfo(name, moment)
            entry.compress_type, entry.create_system = zipfile.ZIP_DEFLATED, 3
            entry.external_attr = (0o100755 if files[name][1] else 0o100644) << 16
            archive.writestr(entry, files[name][0])
    partial.replace(output)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("output", type=pathlib.Path)
    parser.add_argument("--version", required=True)
    parser.add_argument("--torch", nargs="+", required=True, metavar="MINOR")
    arguments = parser.parse_args()
    if not (arguments.root / "bin/bertpretrain").exists():
        sys.exit(f"write_wheel: {arguments.root} has no bin/bertpretrain; stage.sh makes such a folder")
    files = contents(arguments.root, arguments.version, arguments.torch)
    name = f"bertpretrain-{arguments.version}.dist-info/RECORD"
    files[name] = ((record(files) + f"{name},,\n").encode(), False)
    arguments.output.mkdir(parents=True, exist_ok=True)
    output = arguments.output / f"bertpretrain-{arguments.version}-{TAG}.whl"
    write_zip(output, files)
    print(output)


if __name__ == "__main__":
    main()

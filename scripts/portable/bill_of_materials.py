#!/usr/bin/env python3
"""Writes SBOM.json (CycloneDX 1.5) and LICENCES for a staged folder:  bill_of_materials.py ROOT --torch DIR --version VERSION

Covers the libraries that are bundled, which ROOT/parts.txt lists with the files that they were copied from (a name, a tab, a path), and
what is compiled into the programs: headers, and libexpat's static library. ROOT/LICENCES has their versions, files and licences in one
text. Both files depend only on ROOT and on the installed packages, so that two packagings of one build have the same bytes."""
import argparse
import hashlib
import json
import pathlib
import re
import subprocess
import sys

PROJECT = pathlib.Path(__file__).resolve().parents[2]
COMMON = pathlib.Path("/usr/share/common-licenses")
COMPILED_IN = {"nlohmann-json3-dev": "headers", "libcli11-dev": "headers", "libspdlog-dev": "headers", "libexpat1-dev": "static library"}
COMPILED_INTO_TESTS = {"catch2": "headers and library of bin/test_gpu"}
RULE = "=" * 100


def give_up(message):
    sys.exit(f"bill_of_materials: {message}")


def packages_query(*arguments):
    try:
        return subprocess.run(["dpkg-query", *arguments], capture_output=True, text=True).stdout
    except FileNotFoundError:
        give_up("dpkg-query is missing, so versions and licences are unknown; package on Debian or Ubuntu")


def debian_component(package, what, files):
    """Returns a component for a Debian package. `what` says which part of it is used."""
    name, version, architecture = (packages_query("-W", "-f", "${Package} ${Version} ${Architecture}\n", package).split() + [None] * 3)[:3]
    text = pathlib.Path(f"/usr/share/doc/{package.split(':')[0]}/copyright")
    if version is None or not text.exists():
        give_up(f"the version or the licence of package {package} is unknown: dpkg-query and {text} were asked")
    licence = text.read_text(errors="replace")
    names = sorted({name.strip() for name in re.findall(r"^License: *(\S[^\n]*)", licence, re.MULTILINE)})
    return {"name": name, "version": version, "what": what, "files": sorted(files), "licence": licence, "licences": names,
            "purl": f"pkg:deb/{distribution()}/{name}@{version.replace('+', '%2B').replace(':', '%3A')}?arch={architecture}"}


def distribution():
    entries = dict(line.split("=", 1) for line in pathlib.Path("/etc/os-release").read_text().splitlines() if "=" in line)
    return entries.get("ID", "debian").strip('"')


def wheel_component(torch, name, what, files):
    """Returns a component for a Python package in the same folder as PyTorch, or None if it is not there."""
    folders = sorted(torch.parent.glob(f"{name}-*.dist-info"))
    if not folders:
        return None
    version = folders[0].name[len(name) + 1:-len(".dist-info")]
    texts = [file.read_text(errors="replace") for file in sorted(folders[0].glob("licenses/**/*")) if file.is_file()]
    metadata = (folders[0] / "METADATA").read_text(errors="replace").split("\n\n")[0]
    names = re.findall(r"^License(?:-Expression)?: *(\S[^\n]*)", metadata, re.MULTILINE)
    return {"name": name, "version": version, "what": what, "files": files, "licence": "\n\n".join(texts), "licences": names,
            "purl": f"pkg:pypi/{name.replace('_', '-')}@{version}"}


def bundled(root):
    """Returns {Debian package: [file of ROOT]}."""
    found = {}
    for line in (root / "parts.txt").read_text().splitlines():
        file, source = line.split("\t")
        if file.endswith("/libexpat.so.1"):
            continue  # made from libexpat1-dev
        packages = packages_query("-S", f"*/{pathlib.Path(source).name}").split(": ")
        if len(packages) < 2:
            give_up(f"{source} belongs to no package, so its version and licence are unknown")
        found.setdefault(packages[0].split(",")[0].strip(), []).append(file)
    return found


def components(root, torch):
    found = [debian_component(package, "library", files) for package, files in bundled(root).items()]
    compiled = dict(COMPILED_IN)
    if (root / "bin/test_gpu").exists():
        compiled |= COMPILED_INTO_TESTS
    for package, what in compiled.items():
        found.append(debian_component(package, what, ["lib/bertpretrain/libexpat.so.1"] if package == "libexpat1-dev" else []))
    found.append(wheel_component(torch, "torch", "headers; its libraries are not bundled", []))
    if (root / "lib/bertpretrain/libbertpretrain_cuda_kernels.so").exists():
        for package in ("nvidia_cuda_nvcc", "nvidia_cuda_crt", "nvidia_cuda_cccl", "nvidia_cuda_runtime"):
            found.append(wheel_component(torch, package, "headers and compiler of the CUDA kernels", []))
    if (root / "lib/bertpretrain/libbertpretrain_parquet.so").exists():
        found.append(wheel_component(torch, "pyarrow", "headers; its libraries are not bundled", []))
    gomp = root / "lib/fallback/libgomp.so.1"
    if gomp.exists():
        found.append({"name": "libgomp", "version": f"as in torch {found_version(found, 'torch')}", "what": "library", "purl": None,
                      "files": ["lib/fallback/libgomp.so.1"], "licences": ["GPL-3.0-or-later WITH GCC-exception-3.1"],
                      "licence": (PROJECT / "scripts/cmake/libgomp_licence.txt").read_text()})
    return sorted((part for part in found if part), key=lambda part: (part["name"], part["files"]))


def found_version(parts, name):
    return next((part["version"] for part in parts if part and part["name"] == name), "unknown")


def entry(root, part):
    """Returns a component of CycloneDX."""
    properties = [{"name": "bertpretrain:use", "value": part["what"]}]
    properties += [{"name": f"bertpretrain:sha256:{file}", "value": hashlib.sha256((root / file).read_bytes()).hexdigest()}
                   for file in part["files"]]
    return {"type": "library", "bom-ref": f"{part['name']}@{part['version']}", "name": part["name"], "version": part["version"],
            **({"purl": part["purl"]} if part["purl"] else {}),
            **({"licenses": [{"license": {"name": name}} for name in part["licences"]]} if part["licences"] else {}),
            "properties": properties}


def bill(root, parts, version):
    return {"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
            "metadata": {"component": {"type": "application", "bom-ref": f"bertpretrain@{version}", "name": "bertpretrain",
                                       "version": version, "purl": f"pkg:pypi/bertpretrain@{version}"}},
            "components": [entry(root, part) for part in parts],
            "dependencies": [{"ref": f"bertpretrain@{version}", "dependsOn": [f"{part['name']}@{part['version']}" for part in parts]}]}


def licences(parts, version):
    lines = [f"What bertpretrain {version} bundles or has compiled in, with versions, files and licences.",
             "bertpretrain itself: its owner has not chosen a licence yet, so all rights are reserved.", ""]
    for part in parts:
        lines += [f"{part['name']} {part['version']}: {part['what']}" + "".join(f"\n    {file}" for file in part["files"])]
    for part in parts:
        lines += ["", RULE, f"{part['name']} {part['version']}", RULE, part["licence"].strip()]
    referred = sorted({name.rstrip(".") for part in parts for name in re.findall(rf"{COMMON}/([A-Za-z0-9.-]+)", part["licence"])})
    for name in referred:
        if (COMMON / name).is_file():
            lines += ["", RULE, f"{COMMON / name}, which texts above refer to", RULE, (COMMON / name).read_text(errors="replace").strip()]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("--torch", type=pathlib.Path, required=True, help="the folder `torch` that was built against")
    parser.add_argument("--version", required=True)
    arguments = parser.parse_args()
    parts = components(arguments.root, arguments.torch)
    text = json.dumps(bill(arguments.root, parts, arguments.version), indent=1, ensure_ascii=False)
    (arguments.root / "SBOM.json").write_text(text + "\n")
    (arguments.root / "LICENCES").write_text(licences(parts, arguments.version))
    print(f"bill_of_materials: {len(parts)} components")


if __name__ == "__main__":
    main()

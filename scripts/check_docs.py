#!/usr/bin/env python3
"""Runs every command block of the documentation, page by page, as a reader would:  scripts/check_docs.py [PAGE...]

A block is fenced as ```sh or ```python. The blocks of a page run in one shell, with the page's own PATH, in a temporary folder that looks
like a built checkout. A page may use files left by the pages before it. A block that needs something this machine lacks says so on its
fence (```sh needs: 8 GPUs). Such a block is not run: its syntax is checked, its programs are looked up in the PATH, and its options are
compared with --help."""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

root = pathlib.Path(__file__).resolve().parents[1]
# These first, in a reader's order: preparing data leaves the shards that training uses. Then all other pages.
pages = ["README.md", "data_tools/README.md", "apps/bertpretrain/README.md", "configs/README.md", "scripts/launch/README.md"]
pages += sorted(str(file.relative_to(root)) for place in (".github", "apps", "configs", "data_tools", "lib", "scripts", "tests")
                for file in (root / place).rglob("*.md")
                if str(file.relative_to(root)) not in pages and file.parent.name != "results")  # records, whose commands may be gone
fence = re.compile(r"^```(sh|python)(?: needs: ([^\n]*))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page):
    text = (root / page).read_text()
    for match in fence.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        yield f"{page}:{line}", match.group(1), match.group(2), match.group(3)


def check_fences(page):
    """Refuses commands in indented blocks, and fences other than ```sh, ```python and ```json (parts of a settings file)."""
    text = (root / page).read_text()
    parts = re.findall(r"^```json\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    for part in parts:
        try:
            json.loads("{" + part + "}")
        except ValueError as error:
            sys.exit(f"docs: {page}: a ```json block is not a part of a JSON object: {error}")
    if text.count("\n```") != 2 * (len(list(blocks(page))) + len(parts)):
        sys.exit(f"docs: {page}: has blocks that are neither ```sh nor ```python nor ```json")
    for where, _, needs, block in blocks(page):  # the text after ``` is not shown on the rendered page
        above = re.sub(r"^```.*", "", text[:text.index(block)], flags=re.MULTILINE).replace("\n", " ").rsplit("##", 1)[-1]
        for warning in re.findall(r"\((.*)\)", needs or "") + (["root"] if needs == "root" else []):
            if warning not in above:
                sys.exit(f"docs: {where}: the text above the block must also mention: {warning}")
    for number, line in enumerate((root / page).read_text().split("\n"), 1):
        if re.match(r"    (bertpretrain(_data)? [a-z]|scripts/\w+\S* |torchrun |srun |sbatch |build/release/|PATH=)", line):
            before = (root / page).read_text().split("\n")[:number]
            if sum(text.startswith("```") for text in before) % 2 == 0:
                sys.exit(f"docs: {page}:{number}: a command outside a ```sh block")


def make_checkout(folder):
    """Fills `folder` with links to the project's files. setup.sh and build.sh still run in the real checkout."""
    for entry in root.iterdir():
        if entry.name not in ("scripts", "runs", "quickstart", ".git"):
            (folder / entry.name).symlink_to(entry)
    (folder / "scripts").mkdir()
    for entry in (root / "scripts").iterdir():
        if entry.name in ("setup.sh", "build.sh"):
            (folder / "scripts" / entry.name).write_text(f'#!/bin/sh\nexec "{entry}" "$@"\n')
            (folder / "scripts" / entry.name).chmod(0o755)
        else:
            (folder / "scripts" / entry.name).symlink_to(entry)


def check_options(where, block):
    """Ends the program if the block names a script that does not exist, or an option of our two programs that --help does not list."""
    for script in re.findall(r"\bscripts/[\w/.]+", block):
        if not (root / script).exists():
            sys.exit(f"docs: {where}: there is no {script}")
    for command in re.split(r"\n|;|\|", block.replace("\\\n", " ")):
        match = re.search(r"\b(bertpretrain(?:_data)?) ([a-z]+)( [a-z]+)?(.*)", command.split("#")[0])
        if not match:
            continue
        program, subcommand, deeper, rest = match.groups()
        words = [program, subcommand] + ([deeper.strip()] if subcommand == "config" and deeper else [])
        result = subprocess.run([root / "build/release" / program, *words[1:], "--help"], capture_output=True, text=True)
        if result.returncode != 0:
            sys.exit(f"docs: {where}: `{' '.join(words)}` is not a command")
        for option in re.findall(r"(?<!\S)--[a-z-]+", rest):
            if option not in result.stdout:
                sys.exit(f"docs: {where}: {' '.join(words)} has no {option}")


def script_of(page):
    """Returns the page's blocks as one bash script."""
    script = "set -euo pipefail\n"
    for where, language, needs, block in blocks(page):
        if needs:
            print(f"docs: {where}: not run, needs {needs}")
            subprocess.run(["bash", "-n"], input=block, text=True, check=True)
            check_options(where, block)
            for program in re.findall(r"^ *(bertpretrain(?:_data)?|torchrun)\b", block, re.MULTILINE):
                script += f"command -v {program} >/dev/null || {{ echo 'docs: {where}: no {program} in the PATH'; exit 1; }}\n"
            continue
        script += f"echo 'docs: {where}'\n"
        script += block if language == "sh" else f".venv/bin/python - <<'END_OF_BLOCK'\n{block}END_OF_BLOCK\n"
    return script


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", nargs="*", metavar="PAGE", help="by default all pages")
    asked = parser.parse_args().pages or pages
    path = [folder for folder in os.environ["PATH"].split(":") if not folder.startswith(str(root))]  # a reader has no activated .venv
    environment = dict(os.environ, PATH=":".join(path))
    for page in asked:
        if page not in pages:
            sys.exit(f"docs: {page} is not one of the pages: {' '.join(pages)}")
    with tempfile.TemporaryDirectory() as folder:
        make_checkout(pathlib.Path(folder))
        for page in asked:
            check_fences(page)
            if subprocess.run(["bash", "-c", script_of(page)], cwd=folder, env=environment, check=False).returncode != 0:
                sys.exit(f"docs: a block of {page} failed: the last one named above")
    print("docs: every block ran, except those listed above")


main()

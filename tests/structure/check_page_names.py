"""Finds files, options and settings that a page names and the project lacks:  check_docs.py [FOLDER]

Prints FILE:LINE: WHAT for each and exits with 1, or prints nothing. Without FOLDER it reads the project that it lies in. It runs nothing:
scripts/check_docs.py runs the pages' commands. Records (results/) and the changelog may name what is gone."""
import os
import pathlib
import re
import sys

SKIPPED_FOLDERS = {".git", ".venv", "build", "quickstart", "runs", "__pycache__", "results", "golden"}
SKIPPED_PAGES = {".github/CHANGELOG.md"}
SOURCES = {".h", ".cpp", ".inc", ".cu", ".cuh", ".py", ".sh", ".md"}
LINK = re.compile(r"\]\(([^)\s]+)\)")
CODE = re.compile(r"`([^`\n]+)`")
PATH = re.compile(r"[\w.-]+(/[\w.-]+)+/?|[\w-]+\.\w+")
OPTION = re.compile(r"(?<![\w-])--[a-z][\w-]*")
SETTING = re.compile(r"(?<![\w./-])([a-z_]+(?:\.[a-z_]+)+)(?![\w/(-])")
PLACEHOLDER = re.compile(r"[A-Z]{3,}[A-Z_]*|^X$")
FILE_ENDINGS = {"sh", "py", "h", "cpp", "md", "json", "jsonl", "pt", "txt", "npy", "html", "svg", "csv", "safetensors", "bin", "model"}

# Programs whose options a page may name as well. A line of commands that names one of them is not checked for options.
OTHERS = re.compile(r"\b(torchrun|sbatch|scontrol|spm_train|hf (?:download|upload)|optimum-cli|aws|kubectl|pip|tensorboard|apt-get|cpack|ctest|cmake|curl|zstd|jq|tar)\b")
# Names that the project lacks, each with its owner or the reason.
ALLOWED = {
    "audit.sh": "removed", "training_step.sh": "removed", "cores.sh": "removed", "busy.sh": "removed", "windows.sh": "removed",
    "first_light/first_light.md": "an output", "optimizer.learning_rat": "a mistake that a page shows",
    "--cpus-per-task": "Slurm", "--exclusive": "Slurm", "--gpus": "docker", "--gpus-per-node": "Slurm", "--gpus-per-task": "Slurm",
    "--init_checkpoint": "NVIDIA", "--nnodes": "torchrun", "--seq": "jq", "--long": "zstd", "model.byte_fallback": "tokenizer.json",
}


def files_of(folder):
    for path in sorted(folder.iterdir()):
        if path.is_dir():
            if path.name not in SKIPPED_FOLDERS and not path.is_symlink():
                yield from files_of(path)
        else:
            yield path


class Project:
    def __init__(self, folder):
        self.folder = folder
        files = list(files_of(folder))
        self.pages = [file for file in files if file.suffix == ".md" and file.relative_to(folder).as_posix() not in SKIPPED_PAGES]
        self.names = {file.name for file in files}
        self.options = set()
        for file in files:
            if file.suffix in SOURCES | {".yaml", ".yml", ".in", ".cmake"} and file.suffix != ".md" and file.name != "check_docs.py":
                self.options.update(OPTION.findall(file.read_text(encoding="utf-8", errors="replace")))
        self.settings = set()
        if (table := folder / "configs/SETTINGS.md").exists():
            self.settings.update(re.findall(r"^\| `([a-z_.]+)`", table.read_text(), re.MULTILINE))
        self.sections = {setting.rsplit(".", end)[0] for setting in self.settings for end in (1, 2) if setting.count(".") >= end}
        if (pipeline := folder / "lib/plan/pipeline_config.h").exists():
            fields = re.findall(r"field\(\s*\"([a-z_]+)\"", pipeline.read_text())
            self.settings.update(f"{section}.{key}" for section in fields for key in fields)
        self.places = [folder, folder / "lib"] + ([folder / "tests"] if (folder / "tests").exists() else [])

    def lacks_file(self, page, text):
        """Whether the text names a file or folder of the project that is missing."""
        parts = [re.sub(PLACEHOLDER, "*", part) for part in text.rstrip("/").split("/")]
        if len(parts) == 1:
            return pathlib.Path(text).suffix in SOURCES and "*" not in parts[0] and parts[0] not in self.names
        places = [page.parent, *self.places]
        if parts[0] in ("..", "build", "runs", "quickstart") or parts[0] == "*" or not any((place / parts[0]).is_dir() for place in places):
            return False  # a user's folder
        if not text.endswith("/") and "." not in parts[-1] and not (self.folder / parts[0]).is_dir():
            return False  # such as shards/books
        return not any(list(place.glob("/".join(parts))) for place in places if place.is_dir())

    def lacks_link(self, page, target):
        if re.match(r"[a-z]+:", target):
            return False
        path, _, anchor = target.partition("#")
        file = page.parent / path if path else page
        if not file.exists():
            return True
        return bool(anchor) and anchor not in {
            re.sub(r"[^\w\- ]", "", line.lstrip("# ").lower()).strip().replace(" ", "-")
            for line in file.read_text(encoding="utf-8").splitlines() if line.startswith("#")}


def findings(project):
    for page in project.pages:
        name, in_block = page.relative_to(project.folder).as_posix(), False
        for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
            where = f"{name}:{number}"
            if line.startswith("```"):
                in_block = not in_block
                continue
            for target in LINK.findall(line):
                if project.lacks_link(page, target):
                    yield f"{where}: the link {target} leads nowhere"
            pieces = [line.split(" #")[0]] if in_block else CODE.findall(line)
            for piece in pieces:
                for word in re.split(r"[\s,;:=\"'\[\]]+", piece):
                    if PATH.fullmatch(word) and word not in ALLOWED and project.lacks_file(page, word):
                        yield f"{where}: there is no file {word}"
                if not OTHERS.search(piece):
                    for option in OPTION.findall(piece):
                        if option not in project.options and option not in ALLOWED:
                            yield f"{where}: there is no option {option}"
                for setting in SETTING.findall(piece):
                    is_file = setting.rsplit(".", 1)[1] in FILE_ENDINGS
                    if setting.split(".")[0] in project.sections and setting not in project.settings | project.sections | ALLOWED.keys() and not is_file:
                        yield f"{where}: there is no setting {setting}"


def main():
    folder = pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else pathlib.Path(os.path.abspath(__file__)).parents[2]
    lines = list(findings(Project(folder)))
    print("\n".join(lines), end="\n" if lines else "")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())

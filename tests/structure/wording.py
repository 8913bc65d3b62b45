"""Finds words that this project does not use, in comments, messages, help, pages and tests:  wording.py [FOLDER]

Prints FILE:LINE: WORD -> REPLACEMENT for each and exits with 1, or prints nothing. Without FOLDER it reads the project that it lies in."""
import pathlib
import re
import sys

# Pattern (word-bounded, any case) and what to write instead. A group splits each word, so that this list does not contain it.
WORDS = [
    (r"who(ever)", "the caller, the process, the user"),
    (r"what(ever)", "any, regardless of, all that"),
    (r"no(body)", "no process, no caller; or passive voice"),
    (r"some(body)('s)?", "a process, a user; or passive voice"),
    (r"any(body)", "any process, any user"),
    (r"men(d|ds|ded|ding)", "fix, repair"),
    (r"a(new)", "again, from scratch"),
    (r"in (vain)", "without success"),
    (r"to be (had)", "available, found"),
    (r"(is|are|was|were|not|been) had", "is available, is found"),
    (r"be(hind)", "after (in time or order)"),
    (r"(has|have|had) not(?=[.,;:)\"]|$)", "lacks, is missing"),
    (r"patience", "timeout"),
    (r"couriers?", "async queue"),
    (r"errands?", "task"),
    (r"messengers?", "control group"),
    (r"dice", "Rng"),
    (r"StreamGradient", "HiddenStateGradient"),
    (r"inverse[_ ]deviations?", "rstd"),
    (r"GradientSum", "accumulate: false, true"),
    (r"goes_on", "accumulate"),
    (r"open_sublayer", "close_sublayer_backward"),
    (r"step_begun_?", "last_save_step_"),
    (r"to multiply with", "matmul, GEMM"),
    (r"products of bf16", "bf16 matmuls"),
    (r"is another one in each", "varies per"),
    (r"working (type|copy|tensors?|weights|precision)", "compute dtype"),
    (r"nothing of \w+ nothing", "a formula"),
    (r"takes the leavings", "runs at low priority"),
    (r"rank's (mistake|end)", "an exception on one rank"),
    (r"deserves?", "an active verb"),
    (r"been heard", "already handled"),
    (r"meets? memory", "allocates memory"),
    (r"never gave", "an empty stack"),
    (r"their words would", "collectives"),
]

# Words at the start of a comment or a message: a sentence needs a subject and a verb.
FRAGMENT = re.compile(r"(?:\"|//[/!]?<? |# |\"\"\")(Of (?:all ranks|a run|products|each rank|all random choices)\b)")

# File (regular expression), line (regular expression), why it may stay.
ALLOWED = [
    (r"tests/structure/wording\.py", r"", "the list itself"),
    (r"tests/structure/wording_test\.cpp", r"", "tries the list"),
    (r"lib/text/\w+/\w+\.cpp", r"^(?:(?!//)[^\"])*$", "a variable's name: the line has neither a comment nor a string"),
    (r".*", r"be(hind) (a|the|an) (firewall|proxy|NAT|load balancer)", "a place"),
]

ENDINGS = {".h", ".cpp", ".inc", ".cu", ".cuh", ".py", ".sh", ".md", ".json", ".txt", ".cmake", ".conf", ".yaml", ".yml", ".in"}
SKIPPED_FOLDERS = {".git", ".venv", "build", "quickstart", "runs", "__pycache__", "golden", "seeds"}
FORBIDDEN = re.compile("|".join(rf"(?P<w{i}>\b(?:{pattern}))(?!\w)" for i, (pattern, _) in enumerate(WORDS)), re.IGNORECASE)


def files_of(folder):
    for path in sorted(folder.iterdir()):
        if path.is_dir():
            if path.name not in SKIPPED_FOLDERS and not path.is_symlink():
                yield from files_of(path)
        elif path.suffix in ENDINGS:
            yield path


def findings(folder):
    for path in files_of(folder):
        name = path.relative_to(folder).as_posix()
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
            found = [(match.group(), WORDS[int(match.lastgroup[1:])][1]) for match in FORBIDDEN.finditer(line)]
            found += [(match.group(1), "a full sentence") for match in FRAGMENT.finditer(line)]
            if found and not any(re.fullmatch(file, name) and re.search(text, line) for file, text, _ in ALLOWED):
                for word, instead in found:
                    yield f"{name}:{number}: {word} -> {instead}"


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2]
    lines = list(findings(folder))
    print("\n".join(lines), end="\n" if lines else "")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Lets libraries and programs run with an older C library and C++ runtime:  lower_versions.py FOLDER

Changes the ELF files below FOLDER in place. GCC 12 binds std::condition_variable::wait to GLIBCXX_3.4.30, which GCC 11's runtime lacks.
Every libstdc++ also has the function under its old version GLIBCXX_3.4.11, with the same arguments and meaning, so the reference is bound
to that. Then every file is checked: it may need no version above those in NEWEST, which are those of manylinux_2_34. Prints the highest
versions; exits with 1 and names the symbols if a file needs more."""
import pathlib
import sys

from elf_file import ElfFile, is_elf

NEWEST = {"GLIBC": (2, 34), "GLIBCXX": (3, 4, 29), "CXXABI": (1, 3, 13), "GCC": (11, 0, 0)}
LOWERED = {"GLIBCXX_3.4.30": ("GLIBCXX_3.4.11", {"_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE"})}


def lower(elf):
    """Renames the versions in LOWERED of whose symbols all have an older version. Saves the file if it changed."""
    changed = False
    for name, index, entry, at in elf.needed_versions():
        older, symbols = LOWERED.get(name, (None, set()))
        if older is not None and {symbol for symbol, _, _ in elf.symbols_of(index)} <= symbols:
            elf.rename_version(entry, at, older)
            changed = True
    if changed:
        elf.write()


def numbers(text):
    return tuple(int(part) for part in text.split("."))


def written(kind, version):
    return f"{kind}_{'.'.join(map(str, version))}"


def check(elf, highest):
    """Updates `highest`, a dictionary from kinds to versions. Returns a line for each version that is too new."""
    problems = []
    for name, index, _, _ in elf.needed_versions():
        kind, _, text = name.partition("_")
        if kind not in NEWEST:
            continue
        if text[:1].isdigit():
            highest[kind] = max(highest.get(kind, ()), numbers(text))
        if not text[:1].isdigit() or numbers(text) > NEWEST[kind]:  # GLIBC_ABI_DT_RELR and its like are newer
            problems.append(f"{elf.path} needs {name} for {', '.join(sorted(symbol for symbol, _, _ in elf.symbols_of(index)))}")
    return problems


def main():
    if sys.argv[1:2] in (["-h"], ["--help"]) or len(sys.argv) != 2:
        print(__doc__)
        sys.exit(0 if len(sys.argv) == 2 else 2)
    highest, problems, count = {}, [], 0
    for path in sorted(pathlib.Path(sys.argv[1]).rglob("*")):
        if path.is_symlink() or not path.is_file() or not is_elf(path):
            continue
        elf = ElfFile(path)
        lower(elf)
        problems += check(elf, highest)
        count += 1
    if problems:
        sys.exit("lower_versions: " + "\n".join(problems) + f"\nexpected at most: {', '.join(written(*pair) for pair in NEWEST.items())}"
                 "\nadd an older version of the symbol to LOWERED, or build the library without it")
    print(f"lower_versions: {count} files need at most {', '.join(written(*pair) for pair in sorted(highest.items()))}")


if __name__ == "__main__":
    main()

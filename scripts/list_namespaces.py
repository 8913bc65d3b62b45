#!/usr/bin/env python3
"""Lists the namespace names of all languages of MediaWiki:  scripts/list_namespaces.py FOLDER VERSION > lib/text/wiki/namespaces.tsv

FOLDER is languages/messages of a MediaWiki of that version; Debian's package `mediawiki` installs it below /usr/share/mediawiki.
The names and aliases are facts of the wikis' link syntax. Each line of the output has tab-separated fields: the language's code,
the languages whose names it takes over (separated by spaces), and NUMBER=NAME|NAME|... for each namespace.
"""
import argparse
import pathlib
import re

numbers = {
    "MEDIA": -2, "SPECIAL": -1, "TALK": 1, "USER": 2, "USER_TALK": 3, "PROJECT": 4, "PROJECT_TALK": 5, "FILE": 6, "FILE_TALK": 7,
    "MEDIAWIKI": 8, "MEDIAWIKI_TALK": 9, "TEMPLATE": 10, "TEMPLATE_TALK": 11, "HELP": 12, "HELP_TALK": 13, "CATEGORY": 14,
    "CATEGORY_TALK": 15,
}  # fmt: skip
quoted = r"""('(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*")"""


def block(text, variable):
    found = re.search(r"^\$" + variable + r" = \[(.*?)\];\s*$", text, re.DOTALL | re.MULTILINE)
    lines = found.group(1).splitlines() if found else []
    return "\n".join(line for line in lines if not line.strip().startswith(("#", "//")))


def names_of(text):
    pairs = re.findall(r"NS_(\w+)\s*=>\s*" + quoted, block(text, "namespaceNames"))
    pairs += [(n, name) for name, n in re.findall(quoted + r"\s*=>\s*NS_(\w+)", block(text, "namespaceAliases"))]
    for namespace, forms in re.findall(r"NS_(\w+)\s*=>\s*\[(.*?)\]", block(text, "namespaceGenderAliases"), re.DOTALL):
        pairs += [(namespace, name) for name in re.findall(r"=>\s*" + quoted, forms)]
    names = {}
    for namespace, name in pairs:
        name = name[1:-1].replace("\\'", "'").replace("_", " ").strip()
        if namespace not in numbers or "$1" in name or "{{" in name or name in names.get(numbers[namespace], []):
            continue  # $1: the site's own name, which the dump's header gives
        names.setdefault(numbers[namespace], []).append(name)
    return names


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path, metavar="FOLDER")
    parser.add_argument("version", metavar="VERSION")
    given = parser.parse_args()
    folder, version = given.folder, given.version
    print(f"# Namespace names of all languages of MediaWiki {version} (languages/messages), listed by scripts/list_namespaces.py.")
    print("# Fields: language, languages whose names it takes over, NUMBER=NAME|NAME|... for each namespace.")
    for file in sorted(folder.glob("Messages*.php")):
        text = file.read_text(encoding="utf-8")
        names = names_of(text)
        found = re.search(r"^\$fallback = '(.*?)'", text, re.MULTILINE)
        fallbacks = [code.strip() for code in found.group(1).split(",")] if found else []
        if not names and not fallbacks:
            continue
        language = file.stem.removeprefix("Messages").replace("_", "-").lower()
        fields = [f"{number}={'|'.join(names[number])}" for number in sorted(names)]
        print("\t".join([language, " ".join(fallbacks), *fields]))


if __name__ == "__main__":
    main()

"""Extracts dumps of many languages and prints a table: what remains of the markup, how long sentences are, and how many words are kept.

LANGUAGES_DUMPS is a folder of dumps, LANGUAGE.xml or LANGUAGE.xml.bz2 (default: the shared ones; without any, only the small dumps below
are read). LANGUAGES_BEFORE is the bertpretrain_data of an older commit, whose figures then come first.

Each cell has the figures of: the older program, `--lists drop`, `--lists keep`. Smaller is better, except for the recall.
  captions    captions of files that are in the text (four words or more, as often as the plain reading does not have them)
  file names  names of files with their namespace, with which their options ("thumb", "250px") are left as well
  [[          marks of links that are left: [[ and ]]
  table       lines that begin as a line of a table does: {| |- | ! |}
  {{          marks of templates that are left: {{ and }}
  length      the median length of a line, in characters
  recall      the share of the plain reading's words that is in the text; each word counts as often as it occurs

The plain reading is reading_of(): the wikitext without templates, tables, references, files, categories, headings and tags, with list
items. A word is a run of letters and digits; each Chinese character and kana is a word, because these scripts have no spaces."""
import bz2
import collections
import html
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

from interleaved import DATA_PROGRAM, PROJECT

DUMPS = pathlib.Path(os.environ.get("LANGUAGES_DUMPS", PROJECT.parent / "shared/data/wiki_xml/minidumps"))
BEFORE = os.environ.get("LANGUAGES_BEFORE")
SIDES = {"drop": [DATA_PROGRAM, "extract", "--lists", "drop"], "keep": [DATA_PROGRAM, "extract", "--lists", "keep"]}
if BEFORE:
    SIDES = {"before": [BEFORE, "extract"], **SIDES}

# Language: names of the namespaces of files and categories, an alias of the former, two sentences, a list item, a caption.
SMALL = {
    "la": ("Fasciculus", "Categoria", "Imago", "Roma est urbs Italiae.", "Tiberis per urbem fluit.", "Via Appia longa est.",
           "Forum Romanum ab oriente visum"),
    "eo": ("Dosiero", "Kategorio", "Image", "Esperanto estas lingvo.", "Ĝi naskiĝis en 1887.", "La unua libro aperis en Varsovio.",
           "La domo de Zamenhof nun"),
    "tt": ("Файл", "Төркем", "Рәсем", "Казан — Татарстанның башкаласы.", "Ул Идел буенда урнашкан.", "Кабан күле шәһәрдә ята.",
           "Казан Кремле һәм Сөембикә манарасы"),
    "km": ("ឯកសារ", "ចំណាត់ថ្នាក់ក្រុម", "រូបភាព", "ភ្នំពេញជារាជធានីនៃប្រទេសកម្ពុជា។", "ទន្លេសាបហូរកាត់ទីក្រុង។", "វត្តភ្នំជាវត្តចាស់។",
           "រូបថតនៃទីក្រុងភ្នំពេញពីលើមេឃ"),
    "bo": ("File", "Category", "Image", "ལྷ་ས་ནི་བོད་ཀྱི་གྲོང་ཁྱེར་ཡིན།", "པོ་ཏ་ལ་ནི་ལྷ་ས་ན་ཡོད།", "གཙང་པོ་ནི་ཆེན་པོ་རེད།",
           "ལྷ་ས་གྲོང་ཁྱེར་གྱི་པར་རིས་གསར་པ"),
}
NO_PROSE = "ref|math|chem|gallery|timeline|score|syntaxhighlight|source|imagemap|hiero|graph|mapframe"
IMAGE = r"\.(?:jpe?g|png|svg|gif|tiff?|webp|ogg|ogv|oga|webm|pdf|djvu)"
IDEOGRAPHS = "\u3041-\u30ff\u3400-\u9fff"
WORD = re.compile(f"[{IDEOGRAPHS}]|[^\\W_{IDEOGRAPHS}]+")


def words_of(text):
    return WORD.findall(text.lower())


def small_dump(language):
    file, category, alias, first, second, item, caption = SMALL[language]
    text = (f"{{{{Infobox|name=X}}}}\n[[{file}:A.jpg|thumb|250px|{caption}]]\n[[{alias}:B c.png|thumb|left|[[{caption}]]]]\n'''{first}''' "
            f"{second}<ref>{caption}</ref>\n{{|\n|-\n| 1 || 2\n|}}\n== X ==\n* {item}\n[[{category}:{language}]]\n")
    return (f"<mediawiki xml:lang=\"{language}\"><siteinfo><namespaces><namespace key=\"6\">{file}</namespace><namespace key=\"14\">{category}"
            f"</namespace></namespaces></siteinfo><page><title>A</title><ns>0</ns><revision><text>{html.escape(text)}</text></revision></page>"
            "</mediawiki>")


def dumps(folder):
    """Returns {language: file}: the given dumps, and the small ones of other languages, which it writes to the folder."""
    found = {file.name.split(".")[0]: file for file in sorted(DUMPS.glob("*.xml*"))} if DUMPS.is_dir() else {}
    for language in SMALL.keys() - found.keys():
        found[language] = folder / f"{language}.xml"
        found[language].write_text(small_dump(language), encoding="utf-8")
    return dict(sorted(found.items()))


def articles_of(dump):
    """Yields the wikitext of each article."""
    with (bz2.open(dump) if dump.suffix == ".bz2" else dump.open("rb")) as file:
        for _, page in ElementTree.iterparse(file):
            if not page.tag.endswith("page"):
                continue
            fields = {element.tag.rpartition("}")[2]: element.text or "" for element in page.iter()}
            if fields.get("ns", "0") == "0" and "redirect" not in fields:
                yield fields.get("text", "")


def without_balanced(text, begin, end):
    """Removes what lies between the marks, which may be nested; after an opening mark without a closing one, everything."""
    kept, depth, start = [], 0, 0
    for mark in re.finditer(f"({re.escape(begin)})|{re.escape(end)}", text):
        if mark.group(1):
            if depth == 0:
                kept.append(text[start:mark.start()])
            depth += 1
        elif depth > 0:
            depth -= 1
            start = mark.end()
    return "".join(kept) + (text[start:] if depth == 0 else "")


def reading_of(wikitext):
    """Returns the plain reading of an article, and the captions of its files."""
    captions = []

    def label_of(link):
        target, *parts = link.group(1).split("|")
        if ":" not in target.lstrip(":") or not re.search(IMAGE, target, re.I):
            return parts[-1] if parts else target
        captions.extend(parts[-1:])
        return ""

    text = re.sub("<!--.*?-->", "", wikitext, flags=re.S)
    text = re.sub(rf"<({NO_PROSE})\b[^>]*/>", "", text, flags=re.I)
    text = re.sub(rf"<({NO_PROSE})\b[^>]*>.*?</\1\s*>", "", text, flags=re.S | re.I)
    text = without_balanced(without_balanced(text, "{{", "}}"), "{|", "|}")
    text = re.sub(r"^(?:\s*\[\[[^\[\]|:]+:(?:(?!%s)[^\[\]])*\]\])+\s*$" % IMAGE, "", text, flags=re.M | re.I)  # categories, languages
    count = 1
    while count:  # the innermost links first
        text, count = re.subn(r"\[\[([^\[\]]*)\]\]", label_of, text)
    text = re.sub(r"\[(?:https?:)?//\S*\s*([^\]]*)\]", r"\1", text)
    text = re.sub(r"^=+.*=+\s*$|__[A-Z]+__|<[^<>]*>|'{2,}", " ", text, flags=re.M)
    return html.unescape(re.sub(r"^[*#;:]+", "", text, flags=re.M)), [html.unescape(caption) for caption in captions]


def figures_of(text, reading, captions):
    """Returns the figures of one side: {column: number or text}."""
    lines = [line for line in text.splitlines() if line]
    words, expected = collections.Counter(words_of(text)), collections.Counter(words_of(reading))
    joined, joined_reading = " ".join(words_of(text)), " ".join(words_of(reading))
    leaked = [caption for caption in {" ".join(words_of(caption)) for caption in captions if len(words_of(caption)) >= 4}
              if joined.count(caption) > joined_reading.count(caption)]
    return {"captions": len(leaked), "file names": len(re.findall(rf"\w:[^:|\n]*{IMAGE}\b", text, re.I)),
            "`[[`": text.count("[[") + text.count("]]"), "table": sum(bool(re.match(r"\s*(\{\||\||!)", line)) for line in lines),
            "`{{`": text.count("{{") + text.count("}}"), "length": f"{statistics.median(map(len, lines)):.0f}" if lines else "-",
            "recall": f"{(words & expected).total() / max(1, expected.total()):.3f}"}


def extracted(command, dump, output):
    process = subprocess.run([*command, dump, "--output", output, "--threads", "1"], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL,
                             text=True)
    if process.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} {dump}: exit {process.returncode}\n{process.stderr}")
    return output.read_text(encoding="utf-8")


def main():
    totals = collections.defaultdict(collections.Counter)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        print(f"each cell: {', '.join(SIDES)}")
        for row, (language, dump) in enumerate(dumps(folder).items()):
            readings = [reading_of(article) for article in articles_of(dump)]
            reading, captions = "\n".join(text for text, _ in readings), [caption for _, those in readings for caption in those]
            sides = {side: figures_of(extracted(command, dump, folder / f"{language}_{side}.txt"), reading, captions)
                     for side, command in SIDES.items()}
            columns = list(sides["drop"])
            if row == 0:
                print(f"| language | words | {' | '.join(columns)} |\n|{'---|' * (len(columns) + 2)}")
            cells = [", ".join(str(sides[side][column]) for side in SIDES) for column in columns]
            print(f"| {language} | {len(words_of(reading)):,} | {' | '.join(cells)} |", flush=True)
            for side, column in ((side, column) for side in SIDES for column in columns[:5]):
                totals[column][side] += sides[side][column]
    print(f"| all | | {' | '.join(', '.join(str(totals[column][side]) for side in SIDES) for column in columns[:5])} | | |")


if __name__ == "__main__":
    main()

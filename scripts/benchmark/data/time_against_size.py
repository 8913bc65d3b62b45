"""Times `extract`, `shard`, `vocabulary` and `deduplicate` on texts that are meant to be slow, at sizes that double, and fits how the
time grows. Prints a row per text: the command, user CPU seconds at the largest size, and the exponent of the size. The time of a tiny input
is subtracted; each time is the least of two runs with one thread. An exponent above LIMIT is fitted again to texts four times as long, whose
times are less noisy. If that is above LIMIT too, the row is marked, and the exit status is then 1."""
import argparse
import bz2
import concurrent.futures
import functools
import gzip
import html
import json
import math
import os
import pathlib
import random
import resource
import subprocess
import tempfile
import time

from programs import program

DATA_PROGRAM = program("bertpretrain_data")
LIMIT, TIMEOUT = 1.1, 120
SHORTEST = 0.03  # seconds that a fit can use

DUMP = ('<mediawiki xml:lang="en"><siteinfo><namespaces><namespace key="0"/><namespace key="6">File</namespace>'
        '<namespace key="14">Category</namespace></namespaces></siteinfo>')
PAGE = "<page><title>A{}</title><ns>0</ns><id>{}</id><revision><id>1</id><text>{}</text></revision></page>"


def repeated(unit, closing="", before="", after=""):
    """Returns size -> text: `unit` as often as it fits, followed by `closing` as often."""
    def make(size):
        count = max(1, size // len((unit + closing).encode()))
        return before + unit * count + closing * count + after
    return make


def pages_of(escaped):
    """Splits XML text into parts of at most 8 MB, never within a character reference."""
    parts, begin = [], 0
    while begin < len(escaped):
        end = begin + 8_000_000
        reference = escaped.rfind("&", end - 5, end)
        if end < len(escaped) and reference >= 0 and ";" not in escaped[reference:end]:
            end = reference
        parts.append(escaped[begin:end])
        begin = end
    return parts


def in_page(make):
    def write(size):
        texts = pages_of(html.escape(make(size) + "\n\nAa bb cc. Dd ee ff.\n", quote=False))
        return DUMP + "".join(PAGE.format(number, number, part) for number, part in enumerate(texts)) + "</mediawiki>"
    return write


def drawn(alphabet, separator="", longest=1):
    """Returns size -> random words of an alphabet."""
    def make(size):
        draw = random.Random(5)
        blocks, written = [], 0
        while written < size:
            count = min(1000, 1 + (size - written) // (longest + len(separator)))
            words = draw.choices(alphabet, k=count) if longest == 1 else [
                "".join(draw.choices(alphabet, k=draw.randint(1, longest))) for _ in range(count)]
            blocks.append(separator.join(words))
            written += len(blocks[-1].encode()) + len(separator.encode())
        return separator.join(blocks)
    return make


def numbered(form):
    """Returns size -> `form` with the numbers 0, 1, 2 ... in it."""
    def make(size):
        parts, written = [], 0
        while written < size:
            parts.append(form.format(len(parts)))
            written += len(parts[-1].encode())
        return "".join(parts)
    return make


def packed(pack, bytes_each):
    """Returns size -> a file of many small compressed parts."""
    def make(size):
        part = pack(b"One sentence. Another one here.\n"[:bytes_each])
        return part * max(1, size // len(part))
    return make


def json_record(make):
    return lambda size: json.dumps({"text": make(size)}) + "\n"


WIKI = {
    "{{": ("{{", ""), "{{a|": ("{{a|", ""), "{{a|...}}": ("{{a|", "}}"), "{{{a|": ("{{{a|", ""), "{{{a|...}}}": ("{{{a|", "}}}"),
    "}}": ("}}", ""), "{{a}}": ("{{a}} b. ", ""), "{{a|{{b}}": ("{{a|{{b}}", ""), "[[": ("[[", ""), "[[a|": ("[[a|", ""),
    "[[a|...]]": ("[[a|", "]]"), "]]": ("]]", ""), "[[a]]": ("[[a]] ", ""), "[[a|b]]s": ("[[a|b]]s", ""),
    "[[File:...]]": ("[[File:", "]]"), "[[File:a.png|": ("[[File:a.png|", ""), "[[File:a.png|...]]": ("[[File:a.png|thumb|", "]]"),
    "[[Category:": ("[[Category:", ""), "[[Category:...]]": ("[[Category:a", "]]"), "[[:": ("[[:", ""), "[[a]": ("[[a]", ""),
    "[": ("[", ""), "]": ("]", ""), "[http://": ("[http://a ", ""), "[http://a b]": ("[http://a b] ", ""), "http://": ("http://", ""),
    "{|": ("{|", ""), "{|...|}": ("{|\n", "|}\n"), "{|{{": ("{|{{", ""), "table rows": ("|-\n| a || b\n", ""),
    "tables": ("{|\n| a\n|}\n", ""), "|}": ("|}", ""), "{": ("{", ""), "}": ("}", ""), "-{": ("-{", ""), "-{a}-": ("-{a}-", ""),
    "''": ("''", ""), "'''a'''": ("'''a'''", ""), "'": ("'", ""), "''a": ("''a ", ""), "=": ("=", ""), "== a ==": ("== a ==\n", ""),
    "==": ("==\n", ""), "*": ("*", ""), "* a": ("* a\n", ""), "#:": ("#:", ""), ": a": (": a\n", ""), ";": (";a:b\n", ""),
    "<ref>": ("<ref>", ""), "<ref>...</ref>": ("<ref>", "</ref>"), "<ref>a</ref>": ("<ref>a</ref>b ", ""),
    "<ref name=a/>": ("<ref name=a/>", ""), "<ref name=": ("<ref name=", ""), "</ref>": ("</ref>", ""), "<div>": ("<div>", ""),
    "<div>...</div>": ("<div>", "</div>"), "<div": ("<div ", ""), "<": ("<", ""), ">": (">", ""), "</": ("</", ""),
    "<a b='": ("<a b='", ""), "<!--": ("<!--", ""), "<!---->": ("<!--a-->b", ""), "-->": ("-->", ""), "<nowiki>": ("<nowiki>", ""),
    "<nowiki>a</nowiki>": ("<nowiki>a</nowiki> ", ""), "<nowiki>...": ("<nowiki>", "</nowiki>"), "<math>": ("<math>", ""),
    "<math>a</math>": ("<math>a</math>", ""), "<gallery>": ("<gallery>\nFile:a.png|b\n", ""), "<br>": ("<br>", ""),
    "<b><i>": ("<b><i>", "</b></i>"), "<timeline>": ("<timeline>", ""), "<pre>": ("<pre>", "</pre>"), "<small>a": ("<small>a ", ""),
    "&amp;": ("&amp;", ""), "&": ("&", ""), "&#": ("&#", ""), "&#x41;": ("&#x41;", ""), "amp;": ("&amp;amp;", ""),
    "&nbsp;": ("&nbsp;", ""), "__TOC__": ("__TOC__", ""), "_": ("_", ""), "\\n": ("\n", ""), "blanks": (" ", ""),
    "\\n blank": ("\n ", ""), "tabs": ("\t", ""), "a": ("a", ""), "words": ("a ", ""), "sentences": ("Aa bb. ", ""),
    "lines": ("Aa bb.\n", ""), "|": ("|", ""), "(": ("(", ""), "()": ("(,) ", ""), "(...)": ("(", ")"), "«": ("\u00ab", "\u00bb"),
    "{{[[": ("{{[[", ""), "[[{{": ("[[{{", "}}]]"), "[[{{...]]}}": ("[[{{", "]]}}"), "<ref>{{": ("<ref>{{", ""),
    "{{<ref>": ("{{<ref>", "</ref>}}"), "<!--{{": ("<!--{{", "}}"), "[[a|'''": ("[[a|'''", ""), "REDIRECT": ("#REDIRECT [[a]]\n", ""),
    "~~~": ("~~~~", ""), "----": ("----\n", ""), "\x7fUNIQ": ("\x7fUNIQ-", ""),
}
PUNCTUATION = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
PROSE = {
    "letters": repeated("a"), "words": repeated("a "), "sentences": repeated("Aa bb cc. "), "lines": repeated("Aa bb cc.\n"),
    "documents of a sentence": repeated("Aa bb cc.\n\n"), "empty lines": repeated("\n"), "carriage returns": repeated("\r"),
    "blanks": repeated(" ", before="a"), "tabs": repeated("\t", before="a"), "no-break spaces": repeated("\u00a0", before="a"),
    "line separators": repeated("a\u2028"), "NUL": repeated("\0", before="a\n"),
    "blanks, then a letter": repeated(" ", before="a", after="b"), "U+200B": repeated("\u200b", before="a"),
    "U+FEFF": repeated("\ufeff", before="a"), "full stops": repeated("."), "full stops, blanks": repeated(". "),
    "ellipses": repeated("\u2026"), "! ": repeated("! "), "?!": repeated("?!"), "initials": repeated("A. "),
    "initials without blanks": repeated("A."), "Dr.": repeated("Dr. "), "U.S.": repeated("U.S. "), "e.g.": repeated("e.g. "),
    "e.g.e.g.": repeated("e.g."), "No. 5": repeated("No. 5 "), "numbers": repeated("1.5 "), "1.": repeated("1. "),
    "digits": repeated("1"), "1.1.1": repeated("1."), "1,1,1": repeated("1,"), "dates": repeated("12. Mai "), "quotes": repeated('"'),
    ".\"": repeated('."'), ".) ": repeated(".) "), ".\u201d": repeated(".\u201d"), "(a. b) ": repeated("(a. b) "),
    "brackets": repeated("(", ")"), "apostrophes": repeated("'"), "hyphens": repeated("-"), "a-b": repeated("a-"), "a_b": repeated("a_"),
    "a/b": repeated("a/"), "http://": repeated("http://a.b/"), "@": repeated("a@b."), "all punctuation": drawn(PUNCTUATION),
    "punctuation, blanks": drawn(PUNCTUATION, " "), "punctuation and capitals": drawn(PUNCTUATION + "ABab "),
    "stops and blanks": drawn(".!? \"')A1"), "Arabic question marks": repeated("\u061f", after="5"),
    "Arabic question marks, 5": repeated("\u061f5"), "dandas": repeated("\u0964", after="5"), "dandas, blanks": repeated("\u0964 "),
    "Tibetan marks": repeated("\u0f0d "), "Tibetan": repeated("\u0f40\u0f0b\u0f0d "), "Khmer": repeated("\u1780\u17d4"),
    "Myanmar": repeated("\u1000\u104b"), "Ethiopic": repeated("\u1200\u1362"), "Thai": repeated("\u0e01"),
    "Chinese": drawn([chr(c) for c in range(0x4E00, 0x9FFF)]), "Chinese, stops": repeated("\u4e2d\u3002"),
    "Chinese stops": repeated("\u3002"), "Chinese quotes": repeated("\u300c\u4e2d\u3002\u300d"),
    "Japanese": drawn([chr(c) for c in range(0x3041, 0x30FF)]), "Hangul": drawn([chr(c) for c in range(0xAC00, 0xD7A3)]),
    "Hangul jamo": repeated("\u1112\u1161\u11ab"), "leading jamo": repeated("\u1112"), "combining marks": repeated("\u0301"),
    "marks of two classes": repeated("\u0301\u0316", before="a"),
    "marks of falling classes": repeated("\u0345\u0301\u0316\u05b0", before="a"),
    "all combining marks": drawn([chr(c) for c in range(0x300, 0x36F)]), "decomposing": repeated("\ufdfa"),
    "decomposing letters": repeated("\u1e69\u01d6"), "emoji": repeated("\U0001f468\u200d\U0001f469\u200d"), "sigmas": repeated("\u03a3"),
    "sigma, apostrophes": repeated("\u03a3'"), "sigma, then marks": repeated("'", before="A\u03a3"),
    "sigmas and marks": repeated("\u03a3\u0301.:"), "capital I with a dot": repeated("\u0130"),
    "words of 200 letters": repeated("a" * 200 + " "), "random letters": drawn("abcdefghijklmnopqrstuvwxyz"), "two letters": drawn("ab"),
    "random words": drawn("abcdefgh", " ", 9), "random capitals": drawn("ABCdefgh", ". ", 5), "all different words": numbered("w{} "),
    "all different lines": numbered("Line {} here.\n"), "all different stops": numbered("w{}. "),
    "stops within words": numbered("a.b{}. "), "all code points": drawn([chr(c) for c in range(1, 0x30000) if not 0xD800 <= c <= 0xDFFF]),
    "[UNK]": repeated("[UNK]"), "[MASK]": repeated("[MASK] "), "[": repeated("["), "##": repeated("##"),
    "soft hyphens": repeated("\u00ad", before="a"), "underscores": repeated("_"), "private use": repeated("\ue000"),
    "list items": repeated("* a\n"), "ab": repeated("ab"), "abb": repeated("abb"), "surrogate-like bytes": repeated("\ufffd"),
    "wrapped lines": repeated("aa bb\ncc dd. Ee\n"),
}
FILES = {  # name: (size -> text or bytes, name's end)
    "JSONL, one record": (json_record(repeated("Aa bb cc. ")), ".jsonl"),
    "JSONL, escapes": (lambda size: '{"text": "' + "\\u0041" * (size // 6) + '"}\n', ".jsonl"),
    "JSONL, small records": (repeated('{"text": "a"}\n'), ".jsonl"),
    "JSONL, arrays": (lambda size: '{"text": "Aa bb.", "b": ' + "[" * (size // 2) + "]" * (size // 2) + "}\n", ".jsonl"),
    "JSONL, fields": (lambda size: "{" + numbered('"f{}": 1, ')(size) + '"text": "Aa bb."}\n', ".jsonl"),
    "JSONL, empty records": (repeated("{}\n", before='{"text": "Aa."}\n'), ".jsonl"),
    "JSONL, broken": (repeated('{"text": "a\n', before='{"text": "Aa."}\n'), ".jsonl"),
    "JSON, one array": (repeated('{"text": "Aa bb."},\n', before="[", after='{"text": "b"}]'), ".json"), "[[[": (repeated("["), ".json"),
    '{"a":': (repeated('{"a":'), ".json"), "CSV, quotes": (repeated('""', before='text,b\n"', after='",1\n'), ".csv"),
    "CSV, open quote": (repeated("a\n", before='text,b\n"'), ".csv"), "CSV, commas": (repeated(",", before="text,b\n"), ".csv"),
    "CSV, rows": (repeated("a,1\n", before="text,b\n"), ".csv"), "CSV, header": (numbered("c{},"), ".csv"),
    "CSV, quoted rows": (repeated('"a ""b""\nc",1\n', before="text,b\n"), ".csv"),
    "TSV, rows": (repeated("a\t1\n", before="text\tb\n"), ".tsv"), "gzip members": (packed(gzip.compress, 20), ".gz"),
    "empty gzip members": (packed(gzip.compress, 0), ".gz"), "bzip2 streams": (packed(bz2.compress, 20), ".bz2"),
    "empty bzip2 streams": (packed(bz2.compress, 0), ".bz2"),
    "<doc>": (repeated('<doc id="1" url="a" title="b">\nAa bb.\n', "</doc>\n"), ".txt"),
    "<doc> pages": (numbered('<doc id="{0}" url="a" title="b">\nb\n\nAa bb {0}.\n</doc>\n'), ".txt"),
    "<doc> open": (repeated('<doc id="1" url="a" title="b">\n'), ".txt"),
    "HTML": (repeated("<p>Aa bb.", "</p>", before="<html>"), ".html"),
    "UTF-16": (lambda size: ("\ufeff" + "Aa bb. " * (size // 14)).encode("utf-16-le"), ".txt"),
    "dump, pages": (lambda size: DUMP + "".join(PAGE.format(n, n, "Aa bb cc.") for n in range(size // 110)) + "</mediawiki>", ".xml"),
    "dump, revisions": (lambda size: DUMP + "<page><title>A</title><ns>0</ns>" + "<revision><text>Aa bb.</text></revision>" * (size // 43) + "</page></mediawiki>", ".xml"),
    "dump, title": (lambda size: DUMP + PAGE.format("b" * size, 1, "Aa bb.") + "</mediawiki>", ".xml"),
    "dump, attributes": (lambda size: DUMP + "<page " + numbered('a{}="b" ')(size) + "><title>A</title></page></mediawiki>", ".xml"),
    "dump, long attribute": (lambda size: DUMP + '<page a="' + "b" * size + '"><title>A</title></page></mediawiki>', ".xml"),
    "dump, comments": (lambda size: DUMP + "<!--a-->" * (size // 8) + PAGE.format(1, 1, "Aa bb.") + "</mediawiki>", ".xml"),
    "dump, CDATA": (lambda size: DUMP + PAGE.format(1, 1, "<![CDATA[a]]>" * (size // 13)) + "</mediawiki>", ".xml"),
    "dump, namespaces": (lambda size: DUMP.replace("</namespaces>", numbered('<namespace key="{0}">N{0}</namespace>')(size) + "</namespaces>") + PAGE.format(1, 1, "[[N1:a]] Aa.") + "</mediawiki>", ".xml"),
    "dump, <page> within text": (lambda size: DUMP + PAGE.format(1, 1, "&lt;page&gt;&lt;/page&gt;" * (size // 25)) + "</mediawiki>", ".xml"),
}
# Documents, each followed by an empty line.
DOCUMENTS = {
    "equal documents": repeated("Aa bb cc dd ee ff gg. Hh ii jj kk.\n\n"), "many tiny documents": numbered("w{}\n\n"),
    "equal tiny documents": repeated("a\n\n"), "one long document": numbered("w{} "), "one long equal word": repeated("a "),
    "one long word": repeated("a"), "one line of letters": drawn("abcdefgh"),
    "shared beginnings": numbered("The same long beginning of a text is in all of these documents, with ten more words here. End {}.\n\n"),
    "near-duplicates": numbered("a b c d e f g h i j k l m n o p q r s t u v w x y z aa bb cc dd ee ff gg hh ii jj kk ll mm nn oo {}\n\n"),
    "chain of near-duplicates": lambda size: "".join(" ".join(f"w{n + i}" for i in range(40)) + "\n\n" for n in range(size // 240)),
    "slow chain": lambda size: "".join(" ".join(f"w{n // 8 + i}" for i in range(40)) + f" x{n}\n\n" for n in range(size // 240)),
    "words of one letter": drawn("abcdefgh", " "),
    "documents of random words": lambda size: drawn([f"{c}{d} " for c in "abcdefghijkl" for d in "mnopqrstuvwxyz"], "\n\n", 60)(size),
    "equal sentences": numbered("The same sentence. Another same sentence. Number {}.\n\n"),
    "sentences in one document": repeated("Aa bb cc.\n"), "different sentences": numbered("Sentence {} is here.\n"),
    "empty documents": repeated("\n\n"), "punctuation": drawn(PUNCTUATION, " "), "marks": repeated("\u0301"),
    "Chinese": drawn([chr(c) for c in range(0x4E00, 0x9FFF)]), "sigmas": repeated("\u03a3"),
    "sets of one shingle": numbered("a b c d e{}\n\n"),
    "half equal": lambda size: "".join(" ".join(f"w{i}" for i in range(20)) + " " + " ".join(f"v{n}x{i}" for i in range(20)) + "\n\n" for n in range(size // 200)),
    "just below the threshold": lambda size: "".join(" ".join(f"w{i}" for i in range(80)) + " " + " ".join(f"v{n}x{i}" for i in range(14)) + "\n\n" for n in range(size // 380)),
}


def word_pieces():
    """A vocabulary of letters and pieces, among them runs of one letter."""
    letters = [chr(c) for c in range(0x21, 0x7F)] + [chr(c) for c in range(0x370, 0x3FF)]
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"] + letters + ["##" + letter for letter in letters]
    tokens += ["a" * length for length in range(2, 100)] + ["##" + "a" * length for length in range(2, 100)]
    return "\n".join(dict.fromkeys(tokens)) + "\n"


def byte_pairs(pre_tokenizer=None):
    """A tokenizer.json with merges of letters, runs of one letter, and punctuation."""
    characters = [chr(c) for c in range(0x21, 0x7F)] + [chr(c) for c in range(0xA1, 0x100) if c != 0xAD] + [chr(c) for c in range(0x100, 0x144)]
    merges, run = [], "a"
    while len(run) < 4096:
        merges.append((run, run))
        run += run
    merges += [("a", "b"), ("ab", "ab"), ("b", "a"), ("b", "b"), ("aa", "a"), (".", "."), ("..", ".."), ("\u0120", "a"), ("\u0120", "\u0120")]
    tokens = dict.fromkeys(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"] + characters + [left + right for left, right in merges])
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": pre_tokenizer is None}
    added = [{"id": i, "content": t, "single_word": False, "lstrip": t == "[MASK]", "rstrip": False, "normalized": False, "special": True}
             for i, t in enumerate(list(tokens)[:5])]
    return json.dumps({
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": added, "normalizer": {"type": "NFC"},
        "pre_tokenizer": level if pre_tokenizer is None else {"type": "Sequence", "pretokenizers": [pre_tokenizer, level]}, "post_processor": None,
        "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
        "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None, "end_of_word_suffix": None, "fuse_unk": False,
                  "byte_fallback": False, "ignore_merges": False, "vocab": {token: i for i, token in enumerate(tokens)}, "merges": [" ".join(m) for m in merges]}})


def split_step(pattern):
    return {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}


O200K = (r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
         r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
         r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")


def write_tokenizers(folder):
    files = {"WordPiece": ("vocab.txt", word_pieces()), "GPT-2's BPE": ("gpt2.json", byte_pairs()), "GPT-4o's BPE": ("o200k.json", byte_pairs(split_step(O200K)))}
    for name, text in files.values():
        (folder / name).write_text(text, encoding="utf-8", newline="")
    paths = {kind: folder / name for kind, (name, _) in files.items()}
    try:
        import sentencepiece
    except ImportError:
        return paths
    corpus = folder / "corpus"
    corpus.write_text("".join(drawn("aabc.,'", " ", 8)(2000) + "\n" for _ in range(20)), encoding="utf-8")
    sentencepiece.SentencePieceTrainer.train(input=str(corpus), model_prefix=str(folder / "unigram"), vocab_size=60, minloglevel=2,
                                             user_defined_symbols=["[CLS]", "[SEP]", "[MASK]"], pad_id=3, hard_vocab_limit=False)
    return {**paths, "SentencePiece's unigram": folder / "unigram.model"}


def all_texts(tokenizers):
    """Returns [(text's name, command's name, command, size -> text, end of the file's name)]."""
    extract = lambda *options: (lambda source, target: ["extract", source, "--output", target, "--max-bad", 1, *options])
    shard = lambda file, *options: (lambda source, target: ["shard", source, "--output", target, "--vocabulary", file, "--shards", 1, "--held-out-fraction", 0,
                                                            "--duplicate-factor", 1, "--format", "text", "--documents", "empty-lines", "--lines", "sentences", *options])
    vocabulary = lambda *options: (lambda source, target: ["vocabulary", source, "--output", target, "--size", 1000, "--format", "text", *options])
    deduplicate = lambda *options: (lambda source, target: ["deduplicate", source, "--output", target, "--format", "text", "--documents", "empty-lines", *options])
    texts = [(f"wiki {name}", "extract", extract("--format", "wikipedia"), in_page(repeated(*units)), ".xml") for name, units in WIKI.items()]
    texts += [(f"wiki {name}, lists kept, tidy", "extract --lists keep --tidy", extract("--format", "wikipedia", "--lists", "keep", "--tidy"),
               in_page(repeated(*WIKI[name])), ".xml") for name in ("* a", "#:", ";", "()", "(", "(...)", "{{a}}", "*", "{{")]
    texts += [("wiki soup", "extract", extract("--format", "wikipedia"),
               in_page(drawn(["{{", "}}", "[[", "]]", "|", "<ref>", "</ref>", "{|", "|}", "\n", "a", "'''", "<!--", "-->", "=", "*", ":", "File:", "<div>", "</div>", " "])), ".xml")]
    texts += [(name, "extract", extract(), make, end) for name, (make, end) in FILES.items()]
    for name, make in PROSE.items():
        texts.append((name, "extract", extract("--format", "text"), make, ".txt"))
        texts.append((name, "extract --sentences punkt", extract("--format", "text", "--sentences", "punkt", "--lines", "paragraphs"), make, ".txt"))
        for kind, file in tokenizers.items():
            texts.append((name, f"shard, {kind}", shard(file), make, ".txt"))
        texts.append((name, "vocabulary", vocabulary(), make, ".txt"))
        texts.append((name, "vocabulary --model bpe", vocabulary("--model", "bpe"), make, ".txt"))
    for name, make in DOCUMENTS.items():
        texts.append((name, "deduplicate", deduplicate(), make, ".txt"))
        texts.append((name, "deduplicate --sentence-limit", deduplicate("--sentence-limit", 1, "--threshold", 0.5), make, ".txt"))
    return texts


@functools.lru_cache(maxsize=24)
def content_of(make, size):
    """Returns the bytes of a text; several commands use the same ones."""
    content = make(size)
    return content if isinstance(content, bytes) else content.encode()


def limit_time():
    resource.setrlimit(resource.RLIMIT_CPU, (TIMEOUT, TIMEOUT))


def user_seconds(command, source, folder):
    """Returns the user CPU seconds, or None after TIMEOUT of them, and the last line of a refusal: refused texts count too."""
    target = folder / f"output{time.monotonic_ns()}"
    arguments = [DATA_PROGRAM, *map(str, command(source, target)), "--threads", "1", "--quiet"]
    process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, preexec_fn=limit_time)
    message = process.stderr.read().decode(errors="replace")
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    subprocess.run(["rm", "-rf", target], check=True)
    if process.returncode not in (0, 2, 3, 4):
        if process.returncode in (-9, -24):
            return None, "stopped"
        raise SystemExit(f"{' '.join(arguments)}: ended with {process.returncode}: {message}")
    return usage.ru_utime, "" if process.returncode == 0 else message.strip().splitlines()[-1]


def fitted_exponent(points):
    """Returns the slope of log(seconds) over log(bytes), or None where fewer than three times are long enough."""
    logs = [(math.log(size), math.log(seconds)) for size, seconds in points if seconds >= SHORTEST]
    if len(logs) < 3:
        return None
    mean_x, mean_y = (sum(values) / len(logs) for values in zip(*logs))
    return sum((x - mean_x) * (y - mean_y) for x, y in logs) / sum((x - mean_x) ** 2 for x, _ in logs)


def measure(text, sizes, repeats):
    """Returns (name, command's name, seconds at the largest size or None, exponent or None, its message)."""
    name, command_name, command, make, end = text
    points, message = [], ""
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)

        def seconds_of(size):
            source = folder / ("text" + end)
            source.write_bytes(content_of(make, size))
            runs = [user_seconds(command, source, folder) for _ in range(repeats)]
            return None if any(seconds is None for seconds, _ in runs) else min(seconds for seconds, _ in runs), runs[-1][1]

        start, _ = seconds_of(200)
        for size in sizes:
            seconds, message = seconds_of(size)
            if seconds is None:
                break
            points.append((size, max(seconds - start, 1e-6)))
        exponent = fitted_exponent(points[-4:])
        if exponent is not None and exponent > LIMIT:
            longer = [(size, seconds_of(size)[0]) for size in (2 * sizes[-1], 4 * sizes[-1])]
            if all(seconds is not None for _, seconds in longer):
                exponent = fitted_exponent(points[-2:] + [(size, seconds - start) for size, seconds in longer])
    return name, command_name, points[-1][1] if len(points) == len(sizes) else None, exponent, message


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="parts of the names of texts or commands; all when absent")
    parser.add_argument("--smallest", type=int, default=100_000, help="bytes of the smallest text (default: %(default)s)")
    parser.add_argument("--largest", type=int, default=6_400_000, help="bytes of the largest text; sizes double (default: %(default)s)")
    parser.add_argument("--repeats", type=int, default=2, help="runs of each size, of which the shortest counts (default: %(default)s)")
    parser.add_argument("--jobs", type=int, default=1, help="texts that are timed at the same time (default: %(default)s)")
    options = parser.parse_args()
    sizes = [options.smallest]
    while sizes[-1] * 2 <= options.largest:
        sizes.append(sizes[-1] * 2)
    slow = 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        texts = [text for text in all_texts(write_tokenizers(pathlib.Path(folder)))
                 if not options.names or any(part in f"{text[0]} / {text[1]}" for part in options.names)]
        print(f"{'text':32} {'command':28} {'s at ' + str(sizes[-1]):>12} {'exponent':>8}")
        for name, command, seconds, exponent, message in pool.map(lambda text: measure(text, sizes, options.repeats), texts):
            is_slow = seconds is None or (exponent is not None and exponent > LIMIT)
            slow += is_slow
            print(f"{name:32} {command:28} {'stopped' if seconds is None else format(seconds, '.2f'):>12} "
                  f"{'-' if exponent is None else format(exponent, '.2f'):>8} {'SLOW ' if is_slow else ''}{message[:120]}", flush=True)
    print(f"{len(texts)} texts, {slow} of them slow")
    return slow > 0


if __name__ == "__main__":
    raise SystemExit(main())

"""Runs other tokenizers on intentionally difficult texts, for tokenizer_parity_test.cpp.

  tokenizer_oracle.py vocabulary FILE                 every character as a token, and 60,000 pieces of random words
  tokenizer_oracle.py scalars FILE                    every Unicode scalar value alone and between letters
  tokenizer_oracle.py random FILE MEGABYTES           words of many scripts, marks, controls, specials
  tokenizer_oracle.py ids RULES CASING VOCABULARY TEXT FILE     a line of ids per line

Under the rules of google and nvidia the ids come from the plain functions below, which follow this Python's Unicode version;
code points that are not assigned in all versions are then left out of the texts (`--python-unicode`)."""
import os
import random
import sys
import unicodedata

SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
NEVER_ASSIGNED = [0x378, 0xFDD0, 0xFFFF, 0x1FFFE, 0x40000, 0x9ABCD, 0x10FFFF]

# First and last code points of ranges, one script per line. Each random word is drawn from one line.
SCRIPTS = [
    [(0x61, 0x7A)], [(0x41, 0x5A), (0x61, 0x7A)], [(0x30, 0x39)], [(0x21, 0x7E)], [(0x61, 0x7A), (0xC0, 0x24F)],
    [(0x61, 0x7A), (0x300, 0x36F)], [(0x1E00, 0x1EFF)], [(0x391, 0x3C9), (0x3A3, 0x3A3), (0x1F00, 0x1FFF)], [(0x400, 0x52F)],
    [(0x531, 0x58F)], [(0x591, 0x5F4)], [(0x600, 0x6FF), (0x8A0, 0x8FF)], [(0x700, 0x7FF)], [(0x900, 0x9FF)], [(0xA00, 0xBFF)],
    [(0xC00, 0xDFF)], [(0xE00, 0xFFF)], [(0x1000, 0x10FF)], [(0x1100, 0x11FF), (0xAC00, 0xD7A3)], [(0x1200, 0x13FF)],
    [(0x1680, 0x18AF)], [(0x1AB0, 0x1AFF), (0x61, 0x7A)], [(0x1B00, 0x1CFF)], [(0x1DC0, 0x1DFF), (0x3B1, 0x3C9)],
    [(0x2000, 0x206F)], [(0x2070, 0x22FF)], [(0x2C00, 0x2E7F)], [(0x3000, 0x30FF)], [(0x3041, 0x30FF)], [(0x3400, 0x4DBF)],
    [(0x4E00, 0x9FFF)], [(0x4E00, 0x9FFF), (0x3041, 0x30FF)], [(0xA000, 0xABFF)], [(0xF900, 0xFAFF)], [(0xFB00, 0xFE2F)],
    [(0xFF00, 0xFFEF)], [(0x10000, 0x10FFF)], [(0x11000, 0x11FFF)], [(0x16E00, 0x16FFF)], [(0x1D100, 0x1D244)],
    [(0x1D165, 0x1D172), (0x302E, 0x302F), (0x61, 0x63), (0x301, 0x316)], [(0x1D400, 0x1D7FF)], [(0x1E000, 0x1E95F)],
    [(0x11442, 0x11446), (0x1D165, 0x1D166), (0x302E, 0x302E), (0x61, 0x62), (0x1E000, 0x1E02A)],
    [(0x1F300, 0x1FAFF), (0x200D, 0x200D), (0xFE0F, 0xFE0F)], [(0x20000, 0x2A6DF)], [(0x2A700, 0x2FA1F)], [(0xE000, 0xF8FF)],
    [(0x01, 0x1F), (0x7F, 0x9F), (0x61, 0x63)], [(0x3A3, 0x3A3), (0x391, 0x395), (0x27, 0x2E), (0x301, 0x302), (0xAD, 0xAD)],
]
SEPARATORS = [" "] * 60 + ["\n"] * 6 + ["", "", "", ", ", ". ", "-", "\t", "\r", "\u3000", "\u2028", "\u200b", "\u00ad", "\u0085", "\0"]


def is_scalar(c):
    return not 0xD800 <= c <= 0xDFFF and c != 0x0A


def same_in_all_versions(character):
    return unicodedata.category(character) != "Cn" or ord(character) in NEVER_ASSIGNED


def random_words(draw, count):
    words = []
    for _ in range(count):
        script = draw.choice(SCRIPTS)
        length = draw.choice((1, 2, 3, 4, 5, 6, 7, 9, 12)) if draw.random() < 0.995 else draw.randint(90, 210)
        words.append("".join(chr(draw.randint(*draw.choice(script))) for _ in range(length)))
    return words + SPECIALS * (count // 1000)


def write_vocabulary(file):
    tokens = dict.fromkeys(SPECIALS)
    for c in filter(is_scalar, range(0x21, 0x30000)):
        if unicodedata.category(chr(c)) not in ("Cc", "Cf", "Co", "Zs", "Zl", "Zp") and c != 0xFFFD:
            tokens[chr(c)] = tokens["##" + chr(c)] = None
    draw = random.Random(1)
    for word in random_words(draw, 60000):
        begin = draw.randrange(len(word))
        piece = draw.choice((word, word.lower()))[begin:begin + draw.randint(1, 8)]
        if piece and piece.isprintable() and " " not in piece:
            tokens[draw.choice(("", "##")) + piece] = None
    file.write("".join(token + "\n" for token in tokens).encode())


def write_scalars(file, keep):
    characters = [chr(c) for c in filter(is_scalar, range(0x110000)) if keep(chr(c))]
    for begin in range(0, len(characters), 32):
        file.write((" ".join(f"{c} x{c}y" for c in characters[begin:begin + 32]) + "\n").encode())


def write_random(file, megabytes, keep):
    draw = random.Random(2)
    words = [(word if all(map(keep, word)) else "".join(filter(keep, word))).encode() for word in random_words(draw, 150000)]
    separators = [separator.encode() for separator in SEPARATORS if "\r" not in separator]
    written = 0
    while written < megabytes * 1e6:
        text = b"".join(part for pair in zip(draw.choices(words, k=100000), draw.choices(separators, k=100000)) for part in pair)
        written += file.write(text)


class Translation(dict):
    """Caches the result for each character."""

    def __init__(self, rule):
        self.rule = rule

    def __missing__(self, code_point):
        self[code_point] = self.rule(chr(code_point))
        return self[code_point]


def is_chinese(c):
    return any(first <= c <= last for first, last in (
        (0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F), (0x2B740, 0x2B81F), (0x2B820, 0x2CEAF),
        (0xF900, 0xFAFF), (0x2F800, 0x2FA1F)))


def is_punctuation(character):
    c = ord(character)
    return (33 <= c <= 47 or 58 <= c <= 64 or 91 <= c <= 96 or 123 <= c <= 126 or
            unicodedata.category(character).startswith("P"))


class PlainTokenizer:
    """The steps of google-research/bert's tokenization.py and of NVIDIA's, after their published sources."""

    def __init__(self, rules, lowercase, vocabulary):
        control = ("Cc", "Cf") if rules == "google" else ("Cc", "Cf", "Co", "Cs", "Cn")

        def cleaned(character):
            category = unicodedata.category(character)
            if character in "\t\n\r" or category == "Zs":
                return " "
            if character in "\0\ufffd" or category in control:
                return ""
            return f" {character} " if is_chinese(ord(character)) else character
        self.clean = Translation(cleaned)
        self.strip = Translation(lambda c: "" if unicodedata.category(c) == "Mn" else c)
        self.separate = Translation(lambda c: f" {c} " if is_punctuation(c) else c)
        self.lowercase = lowercase
        self.never_split = SPECIALS if rules == "nvidia" else []
        self.longest = 200 if rules == "google" else 100
        with open(vocabulary, encoding="utf-8", newline="\n") as file:
            self.ids = {line.strip(): i for i, line in enumerate(file)}
        self.longest_piece = max(map(len, self.ids))
        self.known = {}

    def words(self, text):
        for word in text.translate(self.clean).split():
            if word in self.never_split:
                yield word
                continue
            if self.lowercase:
                word = unicodedata.normalize("NFD", word.lower()).translate(self.strip)
            yield from word.translate(self.separate).split()

    def pieces(self, word):
        ids, begin = [], 0
        while begin < len(word) <= self.longest:
            mark = "##" if begin else ""
            for end in range(min(len(word), begin + self.longest_piece), begin, -1):
                if mark + word[begin:end] in self.ids:
                    break
            else:
                return [self.ids["[UNK]"]]
            ids.append(self.ids[mark + word[begin:end]])
            begin = end
        return ids if ids else [self.ids["[UNK]"]]

    def encode(self, text):
        ids = []
        for word in self.words(text):
            if word not in self.known:
                self.known[word] = self.pieces(word)
            ids += self.known[word]
        return ids


def write_ids(rules, casing, vocabulary, text, file):
    with open(text, "rb") as source:
        lines = source.read().decode(errors="ignore").removesuffix("\n").split("\n")
    if rules != "huggingface":
        encode = PlainTokenizer(rules, casing == "uncased", vocabulary).encode
        file.writelines((" ".join(map(str, encode(line))) + "\n").encode() for line in lines)
        return
    import tokenizers
    tokenizer = tokenizers.BertWordPieceTokenizer(vocabulary, lowercase=casing == "uncased")._tokenizer
    for begin in range(0, len(lines), 4096):
        for encoding in tokenizer.encode_batch_fast(lines[begin:begin + 4096], add_special_tokens=False):
            file.write((" ".join(map(str, encoding.ids)) + "\n").encode())


def main():
    command, *arguments = [argument for argument in sys.argv[1:] if argument != "--python-unicode"]
    known = same_in_all_versions if "--python-unicode" in sys.argv else lambda character: True
    keep = lambda character: character != "\r" and known(character)  # it ends a line
    try:
        import tokenizers
    except ImportError:
        sys.exit(77)
    with open(arguments[-1 if command == "ids" else 0], "wb") as file:
        if command == "vocabulary":
            write_vocabulary(file)
        elif command == "scalars":
            write_scalars(file, keep)
        elif command == "random":
            write_random(file, float(arguments[1]), keep)
        else:
            write_ids(*arguments[:-1], file)


if __name__ == "__main__":
    main()

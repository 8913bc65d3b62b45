"""Writes random Split steps with what tokenizers makes of them, for split_pattern_parity_test.cpp.

  split_pattern_oracle.py cases SEED ROUNDS FILE    FOREIGN syntax; ROUNDS random expressions, behaviors and texts
  split_pattern_oracle.py scalars FILE              all assigned Unicode scalar values
  split_pattern_oracle.py classes FILE              each class of characters, alone and in brackets, on all assigned Unicode scalar values

A line of FILE is {"steps": [Split, ...], "rows": [{"text": TEXT, "words": [begin, end, ...]}, ...]}, in bytes of UTF-8. "rows" is
null where tokenizers refuses the expression, and TEXT where it is that of `scalars`."""
import json
import random
import sys

import tokenizer_oracle

try:
    from tokenizers import Regex, pre_tokenizers
except ImportError:
    sys.exit(77)

BEHAVIORS = {"Removed": "removed", "Isolated": "isolated", "MergedWithPrevious": "merged_with_previous",
             "MergedWithNext": "merged_with_next", "Contiguous": "contiguous"}
PROPERTIES = ["L", "Lu", "Ll", "Lt", "Lm", "Lo", "M", "N", "Nd", "P", "S", "Z"]
CLASSES = [r"\w", r"\W", r"\s", r"\S", r"\d", r"\D"] + [f"\\{p}{{{sign}{name}}}" for p in "pP" for sign in ("", "^") for name in PROPERTIES]
LITERALS = list("aabbcsStTkKiIfFlLzZ019 _-'!,;:/~&@#%=<>") + ["\u00e9", "\u00df", "\u017f", "\u212a", "\u0301", "\u00b2", "\u4e2d", "\U0001f600"]
ESCAPED = list("\\^$.|?*+()[]{}-'\" /#&~") + ["n", "r", "t", "f", "v", "x41", "x{E9}", "x{4e2d}", "x{1F600}", "x20", "x{73}", "x73"]
# Characters that regular expressions treat in special ways: neighbours of the surrogates and of the ends of UTF-8's lengths, what has
# several cases, what is white space or a word character in some programs only, and what no version of Unicode assigns.
SPECIAL = "\0\x0b\x0c\x1c\x1f\x7f\u0080\u0085\u00a0\u00aa\u00b2\u00b3\u00b5\u00b9\u00ba\u00bc\u00bd\u00be\u00df\u0130\u0131\u0149\u017f" \
          "\u01c5\u01f0\u0300\u0301\u0345\u0378\u03c2\u0660\u07ff\u0800\u1680\u180e\u1e96\u1e9e\u200b\u200c\u200d\u2028\u2029\u202f\u205f\u2060" \
          "\u212a\u2160\u24b6\u3000\u3007\ud7ff\ue000\ufb00\ufb01\ufb02\ufb03\ufb04\ufb05\ufb06\ufdd0\ufe0f\ufeff\ufffd\uffff\U00010000\U0001d7ce" \
          "\U0001f130\U0001fffe\U000e0100\U0010ffff"
# Syntax of oniguruma that published tokenizers do not use.
FOREIGN = ["^", "$", r"\b", r"\B", r"\A", r"\z", r"\G", r"\h", r"\H", r"\R", r"\X", r"\K", r"\1", r"\k<a>", r"\u0041", r"\e", r"\a", r"\cA",
           r"\101", r"\0", "(?<=a)", "(?<!b)", "(?>a+)", "(?<n>a)", "(?i)", "(?m:.)", "(?x: a )", "(?-i:a)", "(?#c)", "(?~ab)", "[[:alpha:]]",
           "[[:^digit:]]", "[a[bc]]", "[a-z&&[^b]]", "[]a]", "[^]", "a+?", "a*?", "a??", "a**", "a{2}+", "a{2}?", "a{,3}", "a{3,1}", "a{", "a{x",
           "(a+)+", "(?:ab)*", "(?:ab){2}", "(?=a)+", "(?!b)?", r"\p{Greek}", r"\p{Letter}", r"\p{Alpha}", r"\pL", r"\p{Zs}", r"\x", r"\x{110000}",
           "[z-a]", r"[\d-z]", r"[a-\d]", "[--a]", "[a-]", "[a-c-e]", "[[]", "[a", "(", ")", "|", "||", "()", "(?:)", "*", "+", "?", "\\", "]", "}",
           "[\\b]", "[\\x00-\\x20]", "[^\\n]", "(?=)", "(?!)", "(?i:\u00e9)", "(?i:ss)", "(?i:s(?:s))", "(?i:s)(?i:s)", "(?i:s(?=s))", "(?i:f{1}i)",
           "(?i:[a-z])", "(?i:\\x61)", "(?i:\\p{Lu})", "(?i:.)", "(?i:st)", "(?i:s\\x{74})", "(?i:(?:s|f)t)", "(?i:k)", "(?i:\\w)"]

# Every scalar value that a version of Unicode assigns or is near one, and some of the others.
SCALARS = "".join(chr(c) for c in range(0x110000) if not 0xD800 <= c <= 0xDFFF and (c < 0x33500 or c >> 9 == 0x700 or c % 997 == 0))


class Expressions:
    """Draws regular expressions, most of them of the syntax that published tokenizers use."""

    def __init__(self, draw):
        self.draw = draw

    def chance(self, probability):
        return self.draw.random() < probability

    def character(self):
        return self.draw.choice(SPECIAL) if self.chance(0.1) else self.draw.choice(LITERALS)

    def bracket(self):
        parts = []
        for _ in range(self.draw.randint(1, 5)):
            kind = self.draw.random()
            if kind < 0.35:
                parts.append(self.character())
            elif kind < 0.55:
                first, last = sorted((self.character(), self.character()))
                parts.append(f"{first}-{last}")
            elif kind < 0.6:
                first = self.draw.choice(self.draw.choice(tokenizer_oracle.SCRIPTS))
                parts.append(f"\\x{{{first[0]:X}}}-\\x{{{first[1]:x}}}")
            elif kind < 0.75:
                parts.append("\\" + self.draw.choice(ESCAPED))
            else:
                parts.append(self.draw.choice(CLASSES))
        return f"[{'^' if self.chance(0.35) else ''}{''.join(parts)}{'-' if self.chance(0.05) else ''}]"

    def atom(self, depth, in_ignored_case):
        kind = self.draw.random()
        if kind < 0.02:
            return self.draw.choice(FOREIGN)
        if in_ignored_case:
            if kind < 0.7 or depth == 0:
                return self.draw.choice("abcsStTkKiIfFlLzZ0'-")
        elif kind < 0.3:
            character = self.character()
            return "\\" + character if character in "\\^$.|?*+()[]{}" else character
        elif kind < 0.45:
            return self.draw.choice(CLASSES)
        elif kind < 0.7 or depth == 0:
            return self.bracket()
        if kind < 0.75:
            return "\\" + self.draw.choice(ESCAPED)
        if kind < 0.78:
            return "."
        if kind < 0.85:
            return f"(?i:{self.alternatives(depth - 1, True)})" if depth > 0 else "x"
        opening = self.draw.choice(("(?:", "(?:", "(", "(?=", "(?!"))
        return f"{opening}{self.alternatives(depth - 1, in_ignored_case)})" if depth > 0 else "y"

    def quantifier(self, atom):
        if self.chance(0.55):
            return ""
        if atom.startswith("(") and not self.chance(0.05):
            return self.draw.choice(("?", ""))
        return self.draw.choice(("?", "*", "+", "?+", "*+", "++", "{2}", "{1,3}", "{2,}", "{0,2}", "{0}", "{1}"))

    def sequence(self, depth, in_ignored_case):
        atoms = (self.atom(depth, in_ignored_case) for _ in range(self.draw.choice((1, 1, 2, 2, 3, 4))))
        return "".join(atom + self.quantifier(atom) for atom in atoms)

    def alternatives(self, depth, in_ignored_case=False):
        return "|".join(self.sequence(depth, in_ignored_case) for _ in range(self.draw.choice((1, 1, 1, 2, 3))))

    def expression(self):
        if self.chance(0.06):
            return self.draw.choice(("", "a", "a|", r"\w+")) + self.draw.choice(FOREIGN) + self.draw.choice(("", "b", "|b", "+"))
        text = self.alternatives(2)
        if self.chance(0.04):  # no longer an expression, or another one
            place = self.draw.randrange(len(text))
            text = text[:place] + self.draw.choice(("", "(", ")", "[", "]", "{", "}", "?", "+", "\\", "^", "|", "-")) + text[place + 1:]
        return text


def random_text(draw, expression):
    """Characters of the expression, of some scripts, special ones, and any."""
    script = draw.choice(tokenizer_oracle.SCRIPTS)
    characters = []
    for _ in range(draw.randint(1, 40)):
        kind = draw.random()
        if kind < 0.45:
            characters.append(draw.choice(expression))
        elif kind < 0.65:
            characters.append(draw.choice("aabsStTkfil  01_.\n\r\t"))
        elif kind < 0.8:
            characters.append(draw.choice(SPECIAL))
        elif kind < 0.93:
            characters.append(chr(draw.randint(*draw.choice(script))))
        else:
            characters.append(chr(draw.choice((draw.randrange(0xD800), draw.randint(0xE000, 0x10FFFF)))))
        if draw.random() < 0.25:
            characters.append(characters[-1])
    return "".join(characters)


def made_by_tokenizers(steps):
    """Returns the pre-tokenizer, or None where tokenizers refuses a step."""
    try:
        return pre_tokenizers.Sequence([
            pre_tokenizers.Split(Regex(step["pattern"]["Regex"]) if "Regex" in step["pattern"] else step["pattern"]["String"],
                                 BEHAVIORS[step["behavior"]], step["invert"]) for step in steps])
    except Exception:  # its own class of exceptions is private
        return None


def words_of(tokenizer, text):
    starts = [0]
    for character in text:
        starts.append(starts[-1] + len(character.encode()))
    words = tokenizer.pre_tokenize_str(text)
    return [starts[place] for _, (begin, end) in words if begin < end for place in (begin, end)]


def write_case(file, steps, texts):
    tokenizer = made_by_tokenizers(steps)
    rows = None if tokenizer is None else [{"text": None if text is SCALARS else text, "words": words_of(tokenizer, text)} for text in texts]
    file.write(json.dumps({"steps": steps, "rows": rows}) + "\n")


def step_of(kind, pattern, behavior, inverted):
    return {"type": "Split", "pattern": {kind: pattern}, "behavior": behavior, "invert": inverted}


def random_texts(draw, steps):
    written = "".join(pattern for step in steps for pattern in step["pattern"].values())
    return [random_text(draw, written or "a") for _ in range(6)]


def write_cases(seed, rounds, file):
    draw = random.Random(seed)
    for foreign in FOREIGN:
        for form in ("{}", "a{}", "{}?", r"\d|(?:{}|b)?{}", "x(?:b|{})?", "(?i:s{}s)"):
            steps = [step_of("Regex", form.replace("{}", foreign), "Isolated", False)]
            write_case(file, steps, random_texts(draw, steps))
    expressions = Expressions(draw)
    for _ in range(rounds):
        steps = []
        for _ in range(draw.choice((1, 1, 1, 1, 1, 2))):
            pattern = expressions.expression()
            kind = "Regex" if draw.random() < 0.95 else "String"
            steps.append(step_of(kind, pattern, draw.choice(list(BEHAVIORS)), draw.random() < 0.4))
        write_case(file, steps, random_texts(draw, steps))


def write_classes(file):
    for one in CLASSES[:6] + [f"\\p{{{name}}}" for name in PROPERTIES] + ["."]:
        for expression in (f"{one}+",) if one == "." else (f"{one}+", f"[{one}]+", f"[^{one}a]+"):
            write_case(file, [step_of("Regex", expression, "Removed", False)], [SCALARS])


def main():
    command, *arguments = sys.argv[1:]
    with open(arguments[-1], "w", encoding="utf-8", newline="") as file:
        if command == "cases":
            write_cases(int(arguments[0]), int(arguments[1]), file)
        elif command == "scalars":
            file.write(SCALARS)
        else:
            write_classes(file)


if __name__ == "__main__":
    main()

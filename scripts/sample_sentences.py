"""Prints short sentences of a text, one per line.

Without --masked: up to 2,000 different ones. With it: at most five, spread over the first 250,
each with its middle word replaced by [MASK], for `bertpretrain predict`. They are lines of 7 to 12 words. A text without such lines, as in
Chinese, has no spaces between words: then they are lines of 8 to 40 characters, and one character is replaced. Only the first million lines
are read. Prints nothing for a text without short lines.
"""

import argparse
import sys
from itertools import islice


def short_lines(file, most):
    """Returns up to `most` different short lines of an open binary file. Lines end at a newline only, as in `embed`."""
    in_words, in_characters = {}, {}  # dicts keep the order
    for line in islice(file, 1_000_000):
        text = line.decode(errors="replace").strip()
        words = text.split()
        if 7 <= len(words) <= 12:
            in_words[text] = True
        elif len(words) == 1 and 8 <= len(text) <= 40 and len(in_characters) < most:
            in_characters[text] = True
        if len(in_words) == most:
            break
    return list(in_words or in_characters)


def masked(line):
    words = line.split()
    if len(words) > 1:
        words[len(words) // 2] = "[MASK]"
        return " ".join(words)
    middle = len(line) // 2
    return line[:middle] + "[MASK]" + line[middle + 1:]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("text", metavar="TEXT", help="a file of text")
    parser.add_argument("--masked", action="store_true", help="mask a word of each line")
    given = parser.parse_args()
    with open(given.text, "rb") as file:
        lines = short_lines(file, 250 if given.masked else 2000)
    if given.masked:
        step = max(1, len(lines) // 5)
        lines = [masked(line) for line in lines[step - 1::step][:5]]
    sys.stdout.buffer.write("".join(f"{line}\n" for line in lines).encode())


if __name__ == "__main__":
    main()

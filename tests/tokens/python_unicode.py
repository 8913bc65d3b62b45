"""Prints this Python's Unicode tables as google-research/bert reads them, a line per code point that is not plain:
HEX<tab>KIND<tab>FORM, where KIND is punctuation, space, dropped or word, and FORM the code points in hex of its lower case, decomposed
(NFD) and without nonspacing marks. Unassigned code points are left out: other versions of Unicode may have assigned them."""
import unicodedata

for c in range(0x110000):
    character = chr(c)
    category = unicodedata.category(character)
    if category in ("Cn", "Cs"):
        continue
    if character in " \t\n\r" or category == "Zs":
        kind = "space"
    elif category in ("Cc", "Cf") or c in (0, 0xFFFD):
        kind = "dropped"
    elif category.startswith("P") or (0x21 <= c < 0x7F and not character.isalnum()):
        kind = "punctuation"
    else:
        kind = "word"
    decomposed = unicodedata.normalize("NFD", character.lower())
    form = " ".join(f"{ord(part):x}" for part in decomposed if unicodedata.category(part) != "Mn")
    print(f"{c:x}\t{kind}\t{form}")

"""NLTK's Punkt on a text file: nltk_punkt.py TEXT FOLDER

Learns parameters from TEXT, one paragraph per line, and writes them to FOLDER as PunktParameters::read expects them.
Prints the sentences of each paragraph as one JSON list per line. Exits with 77 where nltk is not installed.
"""

import json
import pathlib
import sys

try:
    from nltk.tokenize.punkt import PunktSentenceTokenizer, PunktTrainer
except ImportError:
    sys.exit(77)

text = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")
folder = pathlib.Path(sys.argv[2])
parameters = PunktTrainer(text).get_params()


def write(name, lines):
    (folder / name).write_text("".join(line + "\n" for line in sorted(lines)), encoding="utf-8")


write("abbrev_types.txt", parameters.abbrev_types)
write("sent_starters.txt", parameters.sent_starters)
write("collocations.tab", (f"{first}\t{second}" for first, second in parameters.collocations))
write("ortho_context.tab", (f"{word}\t{flags}" for word, flags in parameters.ortho_context.items()))
tokenizer = PunktSentenceTokenizer(parameters)
for paragraph in text.splitlines():
    print(json.dumps([sentence.strip() for sentence in tokenizer.tokenize(paragraph)]))

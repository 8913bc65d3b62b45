"""Compares the rows of `shard --keep-white-space` with the ids of the package tokenizers, for kept_white_space_test.cpp.

  kept_white_space.py make FOLDER                        writes FOLDER/code with files and records, and FOLDER/other.json, a byte-level
                                                         BPE whose words reach over line ends, as those of Llama 3 do
  kept_white_space.py compare FOLDER TOKENIZER SHARDS    prints the number of documents, all of which are in a row of their ids

Exits with 77 if a package is missing."""
import json
import random
import sys
from pathlib import Path

try:
    import h5py
    from tokenizers import Regex, Tokenizer, models, pre_tokenizers, processors, trainers
except ImportError as error:
    print(error, file=sys.stderr)
    sys.exit(77)

LINES = ["def f(x):", "    return x + 1;", "\tif x:\t", "        # caf\u00e9 \u6cb3", "", "", "   ", "};", "\f", "\u3000z", "[MASK]", "    [MASK] [MASK]", " \t[MASK]x"]
CONTROLS = ["a  =  b \x01 \x02"]  # a file with many of them is no text
ENDS = ["", "\n", "\n\n", "  \n \n"]
WORDS = r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def texts_of(folder):
    """Files are read with universal newlines, records as they are."""
    texts = [file.read_text(encoding="utf-8") for file in sorted(Path(folder, "code").glob("*.py"))]
    with open(Path(folder, "code", "records.jsonl"), encoding="utf-8") as records:
        return texts + [json.loads(line)["text"] for line in records]


def make(folder):
    draw = random.Random(6)
    code = Path(folder, "code")
    code.mkdir()

    def text(number, line_end, begin, lines=LINES):
        return line_end.join([begin + f"x{number} = 1"] + draw.choices(lines, k=draw.randrange(12))) + draw.choice(ENDS)
    for number in range(40):
        content = text(number, draw.choice(["\n", "\r\n"]), draw.choice(["", "    "]))
        Path(code, f"{number:02}.py").write_text(content, encoding="utf-8", newline="")
    with open(Path(code, "records.jsonl"), "w", encoding="utf-8") as records:
        for number in range(40, 60):
            content = text(number, draw.choice(["\n", "\r\n", "\r"]), draw.choice(["", "\n\n  "]), LINES + CONTROLS)
            records.write(json.dumps({"text": content}) + "\n")
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Split(Regex(WORDS), "isolated"), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    trainer = trainers.BpeTrainer(vocab_size=400, special_tokens=SPECIAL, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False)
    tokenizer.train_from_iterator(texts_of(folder), trainer)
    tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    tokenizer.save(str(Path(folder, "other.json")))


def documents_of(shard):
    """The ids of each document of packed rows, with the masked tokens restored, without [CLS] and [SEP]."""
    rows = (shard[name][:] for name in ("input_ids", "input_mask", "masked_lm_positions", "masked_lm_ids"))
    for ids, mask, positions, labels in zip(*rows):
        ids[positions[positions != 0]] = labels[positions != 0]
        for number in range(1, mask.max() + 1):
            yield ids[mask == number][1:-1].tolist()


def compare(folder, tokenizer, shards):
    tokenizer = Tokenizer.from_file(tokenizer)
    expected = sorted(tokenizer.encode(text, add_special_tokens=False).ids for text in texts_of(folder))
    found = []
    for file in Path(shards).glob("*.h5"):
        with h5py.File(file) as shard:
            found += documents_of(shard)
    assert sorted(found) == expected, [ids for ids in expected if ids not in found][:1]
    print(len(found))


{"make": make, "compare": compare}[sys.argv[1]](*sys.argv[2:])

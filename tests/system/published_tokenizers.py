"""Makes tokenizers in the shapes of published models, with a text for each, for published_tokenizers_test.cpp.

  published_tokenizers.py FOLDER    FOLDER/NAME.json and FOLDER/NAME.txt (a sentence per line, an empty line after each document),
                                    and prints the names

Exits with 77 if a package is missing."""
import itertools
import json
import random
import sys
from pathlib import Path

try:
    from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
except ImportError as error:
    print(error, file=sys.stderr)
    sys.exit(77)

BERT = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
WORDS = "the river is long and its water cold Fleuve l'eau est froide \u0420\u0435\u043a\u0430 \u0434\u043b\u0438\u043d\u043d\u0430\u044f \u6cb3\u306f\u9577\u3044 42".split()


def finished(tokenizer, cls, sep):
    ids = [(name, tokenizer.token_to_id(name)) for name in (cls, sep)]
    tokenizer.post_processor = processors.TemplateProcessing(single=f"{cls} $A {sep}", pair=f"{cls} $A {sep} $B:1 {sep}:1", special_tokens=ids)
    return tokenizer


def special(*names):
    return [AddedToken(name, normalized=False, special=True) for name in names]


def dnabert():
    """k-mers separated by spaces, as DNABERT's vocab.txt has them."""
    kmers = ["".join(bases) for bases in itertools.product("ATCG", repeat=3)]
    tokenizer = Tokenizer(models.WordLevel({token: id for id, token in enumerate(BERT + kmers)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.add_special_tokens(special(*BERT))
    return finished(tokenizer, "[CLS]", "[SEP]")


def esm():
    """A token per amino acid, with the tokens and ids of ESM-2."""
    names = ["<cls>", "<pad>", "<eos>", "<unk>", *"LAGVSERTIDPKQNFYMHWCXBUZO.-", "<null_1>", "<mask>"]
    tokenizer = Tokenizer(models.WordLevel({token: id for id, token in enumerate(names)}, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Split(Regex(r"[\s\S]"), "isolated")])
    tokenizer.add_special_tokens(special("<cls>", "<pad>", "<eos>", "<unk>", "<mask>"))
    return finished(tokenizer, "<cls>", "<eos>")


def dnabert2(lines):
    tokenizer = Tokenizer(models.BPE(unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.train_from_iterator(lines, trainers.BpeTrainer(vocab_size=300, special_tokens=BERT, show_progress=False))
    return finished(tokenizer, "[CLS]", "[SEP]")


def llama(lines):
    spelled = [f"<0x{byte:02X}>" for byte in range(256)]
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", byte_fallback=True, fuse_unk=True))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("\u2581"), normalizers.Replace(" ", "\u2581")])
    trainer = trainers.BpeTrainer(vocab_size=400, special_tokens=["<unk>", "<s>", "</s>"] + spelled, limit_alphabet=40, show_progress=False)
    tokenizer.train_from_iterator(lines, trainer)
    definition = json.loads(tokenizer.to_str())
    definition["added_tokens"] = definition["added_tokens"][:3]
    tokenizer = Tokenizer.from_str(json.dumps(definition))
    tokenizer.add_special_tokens(special("<pad>", "<mask>"))
    return finished(tokenizer, "<s>", "</s>")


def text_of(draw, sentence):
    return ["".join(sentence(draw) + "\n" for _ in range(4)) for _ in range(60)]


def genome(draw):
    return "".join(draw.choices("ATCG", k=60))


def main(folder):
    draw = random.Random(8)
    texts = {"dnabert": text_of(draw, lambda draw: (lambda bases: " ".join(bases[i:i + 3] for i in range(58)))(genome(draw))),
             "esm": text_of(draw, lambda draw: "".join(draw.choices("LAGVSERTIDPKQNFYMHWCX", k=50))),
             "dnabert2": text_of(draw, genome),
             "llama": text_of(draw, lambda draw: " ".join(draw.choices(WORDS, k=12)))}
    lines = {name: "".join(text).split("\n") for name, text in texts.items()}
    tokenizers = {"dnabert": dnabert(), "esm": esm(), "dnabert2": dnabert2(lines["dnabert2"]), "llama": llama(lines["llama"])}
    for name, tokenizer in tokenizers.items():
        tokenizer.save(str(Path(folder) / (name + ".json")))
        Path(folder, name + ".txt").write_text("\n".join(texts[name]), encoding="utf-8")
        print(name)


main(*sys.argv[1:])

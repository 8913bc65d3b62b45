"""Makes folders of models with the tokenizers of XLM-R and CamemBERT, and runs transformers on them.

  unigram_folders.py make FOLDER       FOLDER/NAME for each variant of folders(), with right.json {"ids": ids of LINES with the special
                                       tokens around them, "pad", "mask", "size"}, and lines.json
  unigram_folders.py model FOLDER      a small random XLM-R with its tokenizer, as transformers saves them
  unigram_folders.py compare FOLDER TEXT VECTORS   prints the largest difference of VECTORS, our means of TEXT's lines, to transformers'
  unigram_folders.py ids FOLDER TEXT FILE          a line of ids per line of TEXT, with the special tokens around them

Exits with 77 if a package is missing."""
import io
import json
import os
import random
import shutil
import sys
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"

import tokenizer_oracle

try:
    import numpy
    import sentencepiece
    import torch
    import transformers
    from transformers import AutoModel, AutoTokenizer, XLMRobertaConfig, XLMRobertaForMaskedLM
except ImportError as error:
    print(error, file=sys.stderr)
    sys.exit(77)

transformers.logging.set_verbosity_error()
TEXTS = ["The river is long, and its water is cold.", "Le fleuve est long et l'eau est froide; \u00e0 No\u00ebl, il g\u00e8le.",
         "\u00dcber den Flu\u00df f\u00fchrt eine gro\u00dfe Br\u00fccke.", "\u0420\u0435\u043a\u0430 \u0434\u043b\u0438\u043d\u043d\u0430\u044f.",
         "\u6cb3\u306f\u9577\u3044\u3002\u6c34\u306f\u51b7\u305f\u3044\u3002", "\u0646\u0647\u0631 \u0637\u0648\u064a\u0644", "\uac15\uc740 \uae38\ub2e4"]
LINES = TEXTS + [
    "", " ", "  two  spaces\tand a tab ", "a <mask> b", "a<mask>b", "<s>a</s> <pad><unk>", "\u2581a\u2581 b", "e\u0301t\u0327\u0301 a\u0301\u0323\u0307",
    "\ufb01ne \uff21\uff22\uff23 \u00b2\u00b3 \u00bd \u2122", "\u1112\u1161\u11ab\u1100\u1173\u11af", "\u0939\u093f\u0928\u094d\u0926\u0940", "\u0e20\u0e32\u0e29\u0e32\u0e44\u0e17\u0e22",
    "\U0001F468\u200D\U0001F469\u200D\U0001F467 \U0001F1E9\U0001F1EA", "soft\u00adhyphen\u200b\ufeff\u00a0nbsp", "control\u0001\u0007\u009f\u0085x", "\u2167 \u33a5 \u3231",
    "<s>NOTUSED a", "x newtok y <x> z", "a" * 300, "\u0600\u0301 \u0130I\u0131", "\u2028line\u2029", "\u00a8\u00b4\u00b8a", "1871 2,340"]


def trained_model():
    words = [word for word in tokenizer_oracle.random_words(random.Random(6), 3000) if max(word) < "\u0250"]
    lines = 30 * TEXTS + [" ".join(words[i:i + 10]) for i in range(0, len(words), 10)]
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(lines), model_writer=model, vocab_size=900, hard_vocab_limit=False,
                                             character_coverage=1.0, num_threads=1, minloglevel=2)
    return model.getvalue()


def saved(folder, kind):
    """Saves what transformers makes of a SentencePiece model in a folder of this model_type. Returns its tokenizer.json."""
    source = folder / "source"
    source.mkdir(parents=True)
    (source / "config.json").write_text(json.dumps({"model_type": kind}))
    (source / "sentencepiece.bpe.model").write_bytes(trained_model())
    AutoTokenizer.from_pretrained(source).save_pretrained(folder / "saved")
    return json.loads((folder / "saved/tokenizer.json").read_text()), json.loads((folder / "saved/tokenizer_config.json").read_text())


def with_steps(definition, **members):
    return json.loads(json.dumps(definition)) | members


def folders(definition, config, kind):
    """Returns {name: (tokenizer.json, tokenizer_config.json or None, further files)}."""
    name = config["tokenizer_class"]
    table = definition["normalizer"]
    converted = with_steps(definition, normalizer={"type": "Sequence", "normalizers": [
        table, {"type": "Strip", "strip_left": False, "strip_right": True},
        {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": "\u2581"}]},
        pre_tokenizer={"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": True})
    earlier = with_steps(definition, pre_tokenizer={"type": "Sequence", "pretokenizers": [
        {"type": "WhitespaceSplit"}, {"type": "Metaspace", "replacement": "\u2581", "str_rep": "\u2581", "add_prefix_space": True}]})
    for token in earlier["added_tokens"]:
        token["lstrip"] = token["content"] == "<mask>"
    around = {"type": "RobertaProcessing", "sep": ["</s>", 2], "cls": ["<s>", 0], "trim_offsets": True, "add_prefix_space": True}
    mask = {"__type": "AddedToken", "content": "<mask>", "lstrip": True, "rstrip": False, "normalized": True, "single_word": False}
    fast = {"tokenizer_class": "PreTrainedTokenizerFast", "mask_token": "<mask>", "pad_token": "<pad>"}
    plain = {"tokenizer_class": name}
    size = len(definition["model"]["vocab"])
    return {
        "as_saved": (definition, config, {}),
        "earlier": (earlier, {"model_max_length": 512}, {}),
        "no_config": (earlier, None, {}),
        "fast_class": (definition, {"tokenizer_class": name + "Fast", "mask_token": mask}, {}),
        "mask_in_map": (definition, plain, {"special_tokens_map.json": {"mask_token": {k: v for k, v in mask.items() if k[0] != "_"}}}),
        "no_added": (with_steps(definition, added_tokens=[]), plain, {}),
        "no_template": (with_steps(definition, post_processor=None), plain, {}),
        "roberta_template": (with_steps(definition, post_processor=around), plain, {}),
        "converted": (converted, plain, {}),
        "converted_obeyed": (converted, fast, {}),
        "obeyed": (definition, fast, {}),
        "without_table": (with_steps(definition, normalizer=None), plain, {}),
        "no_prefix": (definition, plain | {"add_prefix_space": False}, {}),
        "own_cls": (definition, plain | {"cls_token": "<x>", "sep_token": "newtok"}, {}),
        "own_bos": (definition, plain | {"bos_token": "<x>", "eos_token": "newtok"}, {}),
        "further": (definition, plain | {"additional_special_tokens": ["<x>"]}, {}),
        "further_as_well": (definition, plain | {"extra_special_tokens": ["<x>", "newtok"]}, {}),
        "decoder": (definition, plain | {"added_tokens_decoder": {str(size): {"content": "newtok", "single_word": True}}}, {}),
        "added_file": (definition, plain, {"added_tokens.json": {"newtok": size}}),
    }


def make(folder):
    (folder / "lines.json").write_text(json.dumps(LINES))
    for kind in ("xlm-roberta", "camembert"):
        definition, config = saved(folder / ("of_" + kind), kind)
        for name, (tokenizer_json, tokenizer_config, further) in folders(definition, config, kind).items():
            place = folder / f"{kind}_{name}"
            place.mkdir()
            (place / "config.json").write_text(json.dumps({"model_type": kind}))
            (place / "tokenizer.json").write_text(json.dumps(tokenizer_json))
            for file, content in ({} if tokenizer_config is None else {"tokenizer_config.json": tokenizer_config} | further).items():
                (place / file).write_text(json.dumps(content))
            theirs = AutoTokenizer.from_pretrained(place)
            (place / "right.json").write_text(json.dumps({"ids": theirs(LINES)["input_ids"], "pad": theirs.pad_token_id,
                                                          "mask": theirs.mask_token_id, "size": len(theirs)}))
        shutil.move(folder / ("of_" + kind) / "source", folder / f"unsaved_{kind}")
        shutil.rmtree(folder / ("of_" + kind))


def model(folder):
    saved(folder, "xlm-roberta")
    tokenizer = AutoTokenizer.from_pretrained(folder / "saved")
    torch.manual_seed(9)
    config = XLMRobertaConfig(vocab_size=len(tokenizer), hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64,
                              max_position_embeddings=66, type_vocab_size=1, layer_norm_eps=1e-5)
    XLMRobertaForMaskedLM(config).save_pretrained(folder / "saved")


@torch.inference_mode()
def compare(folder, text, vectors):
    tokenizer, weights, theirs = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder).eval(), []
    for line in Path(text).read_text().splitlines():
        theirs.append(weights(**tokenizer(line, return_tensors="pt")).last_hidden_state[0].mean(0).numpy())
    print(json.dumps(float(numpy.abs(numpy.load(vectors) - numpy.stack(theirs)).max())))


def ids(folder, text, file):
    lines = Path(text).read_text().removesuffix("\n").split("\n")
    Path(file).write_text("".join(" ".join(map(str, line)) + "\n" for line in AutoTokenizer.from_pretrained(folder)(lines)["input_ids"]))


if __name__ == "__main__":
    torch.set_num_threads(1)
    {"make": make, "model": model, "compare": compare, "ids": ids}[sys.argv[1]](*map(Path, sys.argv[2:]))

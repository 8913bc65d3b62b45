"""Saves tiny random models of RoBERTa's class with their results, and computes those of an export.

Usage: roberta_oracle.py make FOLDER, which fills FOLDER/NAME with a model and right.pt for each name below, gives roberta and xlm-roberta
tokenizers as transformers saves them, and writes texts.json {"lines": [...], "ids": {NAME: [[...], ...]}}; or roberta_oracle.py compare EXPORT RIGHT, which prints {result: largest difference} of the exported model from right.pt. Exits with 77 if a package is missing.
"""

import json
import os
import sys
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"

import torch

try:
    import transformers
    from tokenizers import AddedToken, Tokenizer, models, pre_tokenizers, processors, trainers
    from transformers import AutoModel, AutoModelForMaskedLM, CamembertConfig, RobertaConfig, XLMRobertaConfig
except ImportError as error:
    print(error, file=sys.stderr)
    sys.exit(77)

LONGEST, PAD = 38, 1
LINES = ["The river is long, and its water is cold.", "", " A city of the <mask>", "In 1871 the town had 2,340 people;  its mill stood.", "na\u00efve"]
SPECIAL = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
SHAPE = {"vocab_size": 320, "hidden_size": 40, "num_hidden_layers": 2, "num_attention_heads": 5, "intermediate_size": 72,
         "max_position_embeddings": LONGEST + 2, "layer_norm_eps": 1e-5}
MODELS = {
    "roberta": ("RobertaForMaskedLM", RobertaConfig(type_vocab_size=1, **SHAPE), {}),
    "xlm-roberta": ("XLMRobertaForMaskedLM", XLMRobertaConfig(type_vocab_size=1, **SHAPE), {}),
    "camembert": ("CamembertForMaskedLM", CamembertConfig(type_vocab_size=1, **SHAPE), {}),
    "two_types": ("RobertaForMaskedLM", RobertaConfig(type_vocab_size=2, **SHAPE), {}),
    "encoder": ("RobertaModel", RobertaConfig(type_vocab_size=1, **SHAPE), {}),
    "encoder_without_pooler": ("XLMRobertaModel", XLMRobertaConfig(type_vocab_size=1, **SHAPE), {"add_pooling_layer": False}),
}


def padded(rows, value):
    return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=value)


def results_of(model, rows):
    """Returns fp32 results of each real token, and the pooler's of each row."""
    ids, mask = padded(rows, PAD), padded([torch.ones_like(row) for row in rows], 0)
    with torch.inference_mode():
        out = model.eval()(input_ids=ids, attention_mask=mask, output_hidden_states=True)
    results = {"hidden": out.hidden_states[-1][mask.bool()]}
    if "logits" in out:
        results["mlm"] = out.logits[mask.bool()]
    if out.get("pooler_output") is not None:
        results["pooled"] = out.pooler_output
    return results


def save_tokenizer(folder, kind, model, splitter, trainer):
    """Trains a tokenizer and saves it as transformers' class does."""
    tokenizer = Tokenizer(model)
    tokenizer.pre_tokenizer = splitter
    tokenizer.train_from_iterator(LINES, trainer)
    tokenizer.add_special_tokens([AddedToken(name, lstrip=name == "<mask>") for name in SPECIAL])
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), add_prefix_space=False)
    tokenizer.save(str(folder / "tokenizer.json"))
    loaded = getattr(transformers, kind).from_pretrained(folder)
    loaded.save_pretrained(folder)
    return loaded(LINES)["input_ids"]


def make(folder):
    for seed, (name, (kind, config, options)) in enumerate(MODELS.items()):
        torch.manual_seed(seed)
        model = getattr(transformers, kind)(config, **options)
        with torch.no_grad():
            for parameter in model.parameters():  # also biases, norms, and the rows of the padding token, which are not to be read
                parameter.add_(torch.randn_like(parameter) * 0.1)
        model.save_pretrained(folder / name)
        rows = [torch.randint(5, SHAPE["vocab_size"], (length,)) for length in (LONGEST, 1, 7, 20)]
        right = {"ids": torch.cat(rows).float(), "lengths": torch.tensor([len(row) for row in rows]).float()}
        torch.save(right | results_of(model, rows), folder / name / "right.pt")
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    ids = {"roberta": save_tokenizer(
        folder / "roberta", "RobertaTokenizer", models.BPE(), pre_tokenizers.ByteLevel(add_prefix_space=False),
        trainers.BpeTrainer(vocab_size=SHAPE["vocab_size"], special_tokens=SPECIAL, initial_alphabet=alphabet))}
    ids["xlm-roberta"] = save_tokenizer(folder / "xlm-roberta", "XLMRobertaTokenizer", models.Unigram(), pre_tokenizers.Metaspace(),
                                        trainers.UnigramTrainer(vocab_size=100, special_tokens=SPECIAL, unk_token="<unk>"))
    (folder / "texts.json").write_text(json.dumps({"lines": LINES, "ids": ids}))


def compare(export, right_file):
    right = torch.load(right_file, weights_only=True)
    of_class = AutoModelForMaskedLM if "mlm" in right else AutoModel
    options = {} if "mlm" in right or "pooled" in right else {"add_pooling_layer": False}
    model, loading = of_class.from_pretrained(export, output_loading_info=True, **options)
    assert not any(loading[kind] for kind in ("missing_keys", "unexpected_keys", "mismatched_keys")), loading
    assert type(model).__name__ == ("BertForMaskedLM" if "mlm" in right else "BertModel"), type(model)
    results = results_of(model, list(right["ids"].long().split(right["lengths"].long().tolist())))
    print(json.dumps({name: (values - right[name]).abs().max().item() for name, values in results.items()}))


if __name__ == "__main__":
    torch.set_num_threads(1)
    {"make": make, "compare": compare}[sys.argv[1]](*map(Path, sys.argv[2:]))

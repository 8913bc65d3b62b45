"""Compares what exported files compute with the results of the model from which they were made.

Usage: exported_models.py FOLDER. The folder contains texts.json {"lines": [...], "ids": [[...], ...]}, the model's results as raw
fp32 (hidden.f32, pooled.f32, mlm.f32: a row per token; nsp.f32), and the exports to compare: any of hf, state_dict, nvidia and
torchscript. Prints {export: {result: largest difference}}. Exits with 77 if a package is missing.
"""

import json
import os
import sys
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"

import torch

try:
    from transformers import AutoConfig, AutoModelForPreTraining, AutoTokenizer
except ImportError as error:
    print(error, file=sys.stderr)
    sys.exit(77)

RESULTS = ("hidden", "pooled", "mlm", "nsp")


def padded(texts):
    rows = [torch.tensor(ids) for ids in texts]
    pad = lambda tensors: torch.nn.utils.rnn.pad_sequence(tensors, batch_first=True)
    return pad(rows), pad([torch.ones_like(row) for row in rows])


def through_hf(model):
    def compute(ids, mask):
        out = model.eval()(input_ids=ids, attention_mask=mask, output_hidden_states=True)
        base = model.bert(input_ids=ids, attention_mask=mask)
        return base.last_hidden_state, base.pooler_output, out.prediction_logits, out.seq_relationship_logits

    return compute


def hf(folder):
    model, loading = AutoModelForPreTraining.from_pretrained(folder / "hf", output_loading_info=True)
    assert not any(loading[kind] for kind in ("missing_keys", "unexpected_keys", "mismatched_keys")), loading
    return through_hf(model)


def empty_hf_model(folder):
    return AutoModelForPreTraining.from_config(AutoConfig.from_pretrained(folder / "hf"))


def state_dict(folder):
    model = empty_hf_model(folder)
    model.load_state_dict(torch.load(folder / "state_dict", weights_only=True), strict=True)
    return through_hf(model)


def nvidia(folder):
    checkpoint = torch.load(folder / "nvidia", weights_only=True)
    assert list(checkpoint) == ["model", "epoch", "files"]
    renamed = {name.replace("dense_act", "dense"): tensor for name, tensor in checkpoint["model"].items()}
    assert sum("dense_act" in name for name in checkpoint["model"]) == 2 * (2 + empty_hf_model(folder).config.num_hidden_layers)
    model = empty_hf_model(folder)
    missing = model.load_state_dict(renamed, strict=False)
    assert missing.missing_keys in ([], ["cls.predictions.decoder.bias"]) and not missing.unexpected_keys, missing
    return through_hf(model)


def torchscript(folder):
    extra = {"config.json": "", "vocab.txt": ""}
    module = torch.jit.load(folder / "torchscript", _extra_files=extra)
    assert json.loads(extra["config.json"])["hidden_size"] > 0 and b"[MASK]" in extra["vocab.txt"]

    def compute(ids, mask):
        hidden, pooled = module(ids, mask)
        assert torch.equal(module.pool(hidden), pooled)
        return hidden, pooled, *module.pretraining(ids, attention_mask=mask)

    return compute


def check_tokenizer(folder, texts):
    tokenizer = AutoTokenizer.from_pretrained(folder / "hf")
    assert tokenizer(texts["lines"])["input_ids"] == texts["ids"], "another tokenizer"


def main(folder):
    torch.set_num_threads(1)
    texts = json.loads((folder / "texts.json").read_text())
    ids, mask = padded(texts["ids"])
    ours = {name: torch.frombuffer(bytearray((folder / f"{name}.f32").read_bytes()), dtype=torch.float32) for name in RESULTS}
    differences = {}
    for export in (hf, state_dict, nvidia, torchscript):
        if not (folder / export.__name__).exists():
            continue
        with torch.inference_mode():
            theirs = dict(zip(RESULTS, export(folder)(ids, mask)))
        for name in ("hidden", "mlm"):
            theirs[name] = theirs[name][mask.bool()]
        differences[export.__name__] = {name: (theirs[name].flatten() - ours[name]).abs().max().item() for name in RESULTS}
    if (folder / "hf").exists():
        check_tokenizer(folder, texts)
    print(json.dumps(differences))


if __name__ == "__main__":
    main(Path(sys.argv[1]))

"""Computes the held-out loss of a checkpoint with Hugging Face's model, in one batch.

Usage: hf_evaluation.py MODEL SHARD. MODEL is one of our checkpoints or a folder for from_pretrained. Prints one JSON object with the keys
of `bertpretrain evaluate --json`. Exits with 77 if a package is missing.
"""

import json
import math
import sys
from pathlib import Path

import torch

try:
    import h5py
    from transformers import BertConfig, BertForPreTraining
except ImportError as error:
    print(error, file=sys.stderr)
    sys.exit(77)


def hf_batch(shard):
    """Returns all rows of an open shard as the arguments of BertForPreTraining, or of BertForMaskedLM where they have no label of
    next sentences. Positions without a label have -100."""
    tensors = {name: torch.from_numpy(shard[name][:]).long() for name in shard}
    labels = torch.full_like(tensors["input_ids"], -100)
    for row, (positions, ids) in enumerate(zip(tensors["masked_lm_positions"], tensors["masked_lm_ids"])):
        listed = int((positions != 0).sum())
        labels[row, positions[:listed]] = ids[:listed]
    batch = {
        "input_ids": tensors["input_ids"],
        "attention_mask": tensors["input_mask"],
        "token_type_ids": tensors["segment_ids"],
        "labels": labels,
    }
    if "next_sentence_labels" in tensors:
        batch["next_sentence_label"] = tensors["next_sentence_labels"].flatten()
    return batch


def model_of(folder):
    if (folder / "config.json").exists():
        return BertForPreTraining.from_pretrained(folder)
    settings = json.loads((folder / "settings.json").read_text())
    model = BertForPreTraining(BertConfig(**settings["model"]))
    model.load_state_dict(torch.load(folder / "model.pt", weights_only=True), strict=True)
    return model


def main(checkpoint, shard):
    torch.set_num_threads(1)
    model = model_of(Path(checkpoint)).eval()
    with h5py.File(shard) as rows:
        batch = hf_batch(rows)
    with torch.no_grad():
        output = model(**batch)
    labels, next_sentence_label = batch["labels"], batch["next_sentence_label"]
    asked = labels != -100
    nsp_loss = torch.nn.functional.cross_entropy(output.seq_relationship_logits, next_sentence_label).item()
    mlm_loss = output.loss.item() - nsp_loss
    guesses = output.prediction_logits.argmax(-1)
    print(json.dumps({
        "mlm_loss": mlm_loss,
        "mlm_accuracy": (guesses[asked] == labels[asked]).float().mean().item(),
        "perplexity": math.exp(mlm_loss),
        "nsp_loss": nsp_loss,
        "nsp_accuracy": (output.seq_relationship_logits.argmax(-1) == next_sentence_label).float().mean().item(),
        "sequences": len(labels),
    }))


if __name__ == "__main__":
    main(*sys.argv[1:3])

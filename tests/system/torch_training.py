"""Trains as `bertpretrain train` does, with only PyTorch and Hugging Face's model, on a shard that is one global batch.

Usage: torch_training.py CHECKPOINT SHARD STEPS. CHECKPOINT holds the initial weights and the settings.
Prints one JSON object per step: loss, mlm_loss, nsp_loss (if the run learns next sentences), grad_norm. Exits with 77 if a package is missing.
"""

import json
import sys
from pathlib import Path

import torch

try:
    import h5py
    from transformers import BertConfig, BertForMaskedLM, BertForPreTraining
except ImportError as error:
    print(error, file=sys.stderr)
    sys.exit(77)

from hf_evaluation import hf_batch


def learning_rate(schedule, peak, step):
    """The schedule warmup_linear: linearly up to the peak within warmup_ratio of the steps, then linearly down to 0 at the last one."""
    progress, warmup = step / schedule["total_steps"], schedule["warmup_ratio"]
    return peak * (progress / warmup if progress < warmup else (1 - progress) / (1 - warmup))


def main(checkpoint, shard, steps):
    torch.manual_seed(0)
    torch.set_num_threads(1)
    settings = json.loads((Path(checkpoint) / "settings.json").read_text())
    next_sentence = settings["data"]["objective"] == "mlm_nsp"
    model = (BertForPreTraining if next_sentence else BertForMaskedLM)(BertConfig(**settings["model"]))
    model.load_state_dict(torch.load(Path(checkpoint) / "model.pt", weights_only=True), strict=True)
    optimizer_settings, schedule = settings["optimizer"], settings["schedule"] | {"total_steps": steps}
    exempt = [p for name, p in model.named_parameters() if name.endswith("bias") or "LayerNorm" in name]
    decayed = [p for p in model.parameters() if not any(p is q for q in exempt)]
    groups = [{"params": decayed, "weight_decay": optimizer_settings["weight_decay"]}, {"params": exempt, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, betas=tuple(optimizer_settings["betas"]), eps=optimizer_settings["eps"])
    with h5py.File(shard) as rows:
        batch = hf_batch(rows)
    labels, next_sentence_label = batch.pop("labels"), batch.pop("next_sentence_label", None)

    model.train()
    for step in range(1, steps + 1):
        output = model(**batch)
        logits_BSV = output.prediction_logits if next_sentence else output.logits
        losses = {"mlm_loss": torch.nn.functional.cross_entropy(logits_BSV.flatten(0, 1), labels.flatten(), ignore_index=-100)}
        if next_sentence:
            losses["nsp_loss"] = torch.nn.functional.cross_entropy(output.seq_relationship_logits, next_sentence_label)
        loss = sum(losses.values())
        optimizer.zero_grad()
        loss.backward()
        grad_norm = torch.nn.utils.clip_grad_norm_(model.parameters(), optimizer_settings["max_grad_norm"])
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(schedule, optimizer_settings["learning_rate"], step)
        optimizer.step()
        measured = {"loss": loss, **losses, "grad_norm": grad_norm}
        print(json.dumps({name: value.item() for name, value in measured.items()}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))

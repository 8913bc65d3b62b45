"""Trains Hugging Face's BERT or ModernBERT in fp32 with plain PyTorch on the samples of one of our runs, in the same order, with the same schedule.

Usage: hf_training.py START ORDER SHARDS HELD_OUT OUTPUT STEPS. START is one of our checkpoints with the initial weights and the run's
settings; ORDER lists "FILE ROW" per sample; HELD_OUT is a shard. Writes OUTPUT/metrics.jsonl: "mlm_loss" of every step, and
"held_out_mlm_loss" at the steps where the run evaluates. A second call resumes from OUTPUT/state.pt.
"""

import json
import os
import sys
from pathlib import Path

import h5py
import numpy
import torch
import torch.nn.functional as F
from transformers import BertConfig, BertForMaskedLM, BertForPreTraining, ModernBertConfig, ModernBertForMaskedLM

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tests/system"))
from hf_evaluation import hf_batch
from torch_training import learning_rate


def losses(model, batch):
    """Returns MLM loss, NSP loss (0 for a model without that head) and the number of masked positions. The MLM head runs on masked
    positions only, which gives the same loss as all positions with ignored labels, in fewer matmuls."""
    labels = batch["labels"]
    if isinstance(model, ModernBertForMaskedLM):
        asked = labels != -100
        hidden = model.model(batch["input_ids"], batch["attention_mask"]).last_hidden_state[asked]
        return F.cross_entropy(model.decoder(model.head(hidden)), labels[asked]), torch.zeros(()), int(asked.sum())
    encoded = model.bert(batch["input_ids"], batch["attention_mask"], batch["token_type_ids"])
    asked = labels != -100
    hidden = encoded.last_hidden_state[asked]
    if isinstance(model, BertForMaskedLM):
        return F.cross_entropy(model.cls(hidden), labels[asked]), torch.zeros(()), int(asked.sum())
    logits, seq_relationship = model.cls(hidden, encoded.pooler_output)
    return F.cross_entropy(logits, labels[asked]), F.cross_entropy(seq_relationship, batch["next_sentence_label"]), int(asked.sum())


def rows_of(shard):
    with h5py.File(shard) as file:
        rows = {name: file[name][:] for name in file}
    assert rows["input_mask"].max() == 1, f"{shard}: packed rows, whose documents attend to themselves alone"
    return rows


def batch_of(shards, places):
    """Returns the rows named by "FILE ROW" lines as one batch."""
    rows = [(shards[name], int(row)) for name, row in (place.split() for place in places)]
    return hf_batch({key: numpy.stack([shard[key][row] for shard, row in rows]) for key in rows[0][0]})


@torch.no_grad()
def held_out_loss(model, rows, count):
    model.eval()
    total = masked = 0
    for first in range(0, count, 32):
        mlm, _, asked = losses(model, hf_batch({key: values[first:min(first + 32, count)] for key, values in rows.items()}))
        total, masked = total + mlm.item() * asked, masked + asked
    model.train()
    return total / masked


def new_optimizer(model, settings):
    exempt = [p for p in model.parameters() if p.dim() == 1]
    decayed = [p for p in model.parameters() if not any(p is q for q in exempt)]
    groups = [{"params": decayed, "weight_decay": settings["weight_decay"]}, {"params": exempt, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, betas=tuple(settings["betas"]), eps=settings["eps"])


def new_model(settings):
    fields = dict(settings["model"])
    kind = fields.pop("model_type", "bert")
    if kind == "modernbert":
        assert fields.pop("attention_output_dropout") == fields["attention_dropout"], "transformers has one field for both"
        return ModernBertForMaskedLM(ModernBertConfig(**fields, pad_token_id=0, bos_token_id=None, eos_token_id=None,
                                                      cls_token_id=None, sep_token_id=None))
    return (BertForMaskedLM if settings["data"].get("objective") == "mlm" else BertForPreTraining)(BertConfig(**fields))


def save(state, file):
    torch.save(state, f"{file}.partial")
    os.replace(f"{file}.partial", file)


def main(start, order, shard_folder, held_out, output, steps):
    torch.manual_seed(0)
    settings = json.loads((start / "settings.json").read_text())
    model = new_model(settings).train()
    model.load_state_dict(torch.load(start / "model.pt", weights_only=True), strict=True)
    optimizer = new_optimizer(model, settings["optimizer"])
    schedule = settings["schedule"] | {"total_steps": steps}
    size = settings["batch"]["micro_batch_size"] * settings["batch"]["gradient_accumulation_steps"]
    places = order.read_text().splitlines()
    shards = {file.name: rows_of(file) for file in shard_folder.glob("*training*.h5")}
    held_out_rows = rows_of(held_out)
    count = min(settings["evaluation"]["max_sequences"], len(held_out_rows["input_ids"]))
    output.mkdir(parents=True, exist_ok=True)
    done, measured = 0, []
    if (output / "state.pt").exists():
        state = torch.load(output / "state.pt", weights_only=True)
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        torch.set_rng_state(state["random"])
        done, measured = state["step"], state["measured"]
    for step in range(done + 1, steps + 1):
        mlm, nsp, _ = losses(model, batch_of(shards, places[(step - 1) * size:step * size]))
        optimizer.zero_grad()
        (mlm + nsp).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), settings["optimizer"]["max_grad_norm"])
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(schedule, settings["optimizer"]["learning_rate"], step)
        optimizer.step()
        measured.append({"step": step, "mlm_loss": mlm.item()})
        if step % settings["evaluation"]["every_steps"] == 0 or step == steps:
            measured[-1]["held_out_mlm_loss"] = held_out_loss(model, held_out_rows, count)
            print(f"step {step}: held-out mlm_loss {measured[-1]['held_out_mlm_loss']:.4f}", file=sys.stderr, flush=True)
            save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "random": torch.get_rng_state(), "step": step,
                  "measured": measured}, output / "state.pt")
    (output / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in measured))


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:6]), int(sys.argv[6]))

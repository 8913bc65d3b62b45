"""Computes reference results for random ModernBERTs and ragged batches, by transformers' class and by plain autograd.

Usage: modernbert_oracle.py FOLDER. Writes one .pt file per case: config.json as transformers saves it, the weights (fp32), the
batch without padding, and the results in float64 (stored as fp32). Exits with 77 if the package transformers is missing.
"""

import sys
from pathlib import Path

import torch
import torch.nn.functional as F

try:
    from transformers import ModernBertConfig, ModernBertForMaskedLM
except ImportError as error:
    print(error, file=sys.stderr)
    sys.exit(77)

BASE = {"vocab_size": 259, "hidden_size": 64, "intermediate_size": 72, "num_hidden_layers": 4, "num_attention_heads": 2,
        "max_position_embeddings": 8192, "pad_token_id": 0, "bos_token_id": 1, "cls_token_id": 1, "eos_token_id": 2,
        "sep_token_id": 2, "attention_dropout": 0.0}
THETAS = {"rope_parameters": {"full_attention": {"rope_type": "default", "rope_theta": 160000.0},
                              "sliding_attention": {"rope_type": "default", "rope_theta": 160000.0}}}
CASES = {
    "window_16": ({"local_attention": 16}, [1, 8, 9, 17, 18, 40], 2),
    "window_128": ({}, [64, 65, 129, 130, 3], 2),
    "silu_equal_thetas": ({"hidden_activation": "silu", "local_attention": 16, **THETAS}, [33, 70], 1),
    "all_global": ({"num_hidden_layers": 3, "layer_types": ["full_attention"] * 3}, [5, 50], 1),
    "every_second": ({"num_hidden_layers": 3, "local_attention": 8,
                      "layer_types": ["full_attention", "sliding_attention", "full_attention"]}, [5, 50], 1),
    "length_1024": ({}, [1024, 7], 1),
    "length_8192": ({"num_hidden_layers": 2, "hidden_size": 32, "intermediate_size": 32}, [8192], 1),
}


def rotated(x, theta):
    """x: heads x S x D. Angles are rounded to fp32, as transformers' are."""
    size = x.shape[-1]
    frequency = 1.0 / (theta ** (torch.arange(0, size, 2, dtype=torch.int64).float() / size))
    angle = torch.arange(x.shape[1]).float()[:, None] * frequency
    cosine, sine = angle.double().cos(), angle.double().sin()
    low, high = x.chunk(2, -1)
    return torch.cat([low * cosine - high * sine, high * cosine + low * sine], -1)


def plain_modernbert(w, config, batch):
    """ModernBERT as a formula in float64, one sequence at a time. Returns the logits at the masked rows."""
    hidden, heads, eps = config.hidden_size, config.num_attention_heads, config.norm_eps
    act = F.silu if config.hidden_activation == "silu" else F.gelu
    norm = lambda name, x: F.layer_norm(x, (hidden,), w[name + ".weight"], None, eps)
    outputs = []
    for start, end in zip(batch["starts"], batch["starts"][1:]):
        x = norm("model.embeddings.norm", w["model.embeddings.tok_embeddings.weight"][batch["input_ids"][start:end]])
        for i, kind in enumerate(config.layer_types):
            name = f"model.layers.{i}"
            y = x if i == 0 else norm(f"{name}.attn_norm", x)
            q, k, v = F.linear(y, w[f"{name}.attn.Wqkv.weight"]).view(len(x), 3, heads, hidden // heads).permute(1, 2, 0, 3)
            theta = config.rope_parameters[kind]["rope_theta"]
            scores = rotated(q, theta) @ rotated(k, theta).transpose(1, 2) / (hidden // heads) ** 0.5
            if kind == "sliding_attention":
                place = torch.arange(len(x))
                scores = scores.masked_fill((place[:, None] - place).abs() > config.local_attention // 2, -torch.inf)
            context = (scores.softmax(-1) @ v).transpose(0, 1).reshape(len(x), hidden)
            x = x + F.linear(context, w[f"{name}.attn.Wo.weight"])
            a, b = F.linear(norm(f"{name}.mlp_norm", x), w[f"{name}.mlp.Wi.weight"]).chunk(2, -1)
            x = x + F.linear(act(a) * b, w[f"{name}.mlp.Wo.weight"])
        outputs.append(norm("model.final_norm", x))
    read = torch.cat(outputs)[batch["masked_rows"]]
    transformed = norm("head.norm", F.gelu(F.linear(read, w["head.dense.weight"])))
    return F.linear(transformed, w["model.embeddings.tok_embeddings.weight"], w["decoder.bias"])


class AllSequences(torch.nn.Module):
    """transformers' model on each sequence alone, as its padded rows are arbitrary."""

    def __init__(self, model):
        super().__init__()
        self.inner = model

    def forward(self, batch):
        logits = [self.inner(input_ids=batch["input_ids"][None, start:end]).logits[0]
                  for start, end in zip(batch["starts"], batch["starts"][1:])]
        return torch.cat(logits)[batch["masked_rows"]]


def random_weights(shapes, generator):
    """Random matrices and vectors, so that all parameters affect the results."""
    weights = {}
    for name, shape in shapes.items():
        numbers = torch.randn(shape, generator=generator)
        if len(shape) > 1:
            weights[name] = numbers * (1.0 if "embeddings" in name else shape[1] ** -0.5)
        else:
            weights[name] = 0.1 * numbers if name.endswith("bias") else 1 + 0.2 * numbers
    return weights


def random_batch(config, lengths, generator):
    starts = [0]
    for length in lengths:
        starts.append(starts[-1] + length)
    masked = [start + place for start, length in zip(starts, lengths)
              for place in torch.randperm(length, generator=generator)[: max(1, length * 3 // 10)].sort().values.tolist()]
    number = lambda count: torch.randint(1, config.vocab_size, (count,), generator=generator)
    return {"starts": starts, "input_ids": number(starts[-1]), "masked_rows": torch.tensor(masked),
            "masked_labels": number(len(masked))}


def results(weights, compute, batch):
    leaves = {name: tensor.detach().double().requires_grad_() for name, tensor in weights.items()}
    logits = compute(leaves)
    loss = F.cross_entropy(logits, batch["masked_labels"])
    loss.backward()
    found = {"mlm_loss": loss, "mlm_logits": logits} | {"d." + name: leaf.grad for name, leaf in leaves.items()}
    return {name: tensor.detach().double() for name, tensor in found.items()}


def write_case(folder, name, changes, lengths, seed):
    generator = torch.Generator().manual_seed(seed)
    config = ModernBertConfig(**{**BASE, **changes}, attn_implementation="sdpa")
    model = ModernBertForMaskedLM(config).double().eval()
    shapes = {key: list(tensor.shape) for key, tensor in model.state_dict().items() if key != "decoder.weight"}
    weights, batch = random_weights(shapes, generator), random_batch(config, lengths, generator)
    if max(lengths) <= 1024:
        right = results(weights, lambda leaves: plain_modernbert(leaves, config, batch), batch)
    through = AllSequences(model)
    tied = lambda leaves: {f"inner.{key}": leaf for key, leaf in leaves.items()} | {
        "inner.decoder.weight": leaves["model.embeddings.tok_embeddings.weight"]}
    hf = results(weights, lambda leaves: torch.func.functional_call(through, tied(leaves), (batch,)), batch)
    if max(lengths) > 1024:
        right = hf
    for key in right:  # transformers rotates in fp32, also a float64 model
        error = ((right[key] - hf[key]).norm() / right[key].norm()).item()
        assert error < 3e-6, (name, key, error)
    torch.save({"config": config.to_json_string(use_diff=False), "names": list(shapes), "weights": weights, "batch": batch,
                "right": {key: tensor.float() for key, tensor in right.items()}}, folder / f"{name}_{seed}.pt")


def main():
    folder = Path(sys.argv[1])
    torch.set_num_threads(1)  # more threads only slow down such small models
    for name, (changes, lengths, seeds) in CASES.items():
        for seed in range(seeds):
            write_case(folder, name, changes, lengths, seed)


if __name__ == "__main__":
    main()

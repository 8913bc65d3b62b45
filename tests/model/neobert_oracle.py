"""Saves tiny random NeoBERTs in their authors' form, with results and gradients computed by autograd in float64.

Usage: neobert_oracle.py FOLDER, which fills FOLDER/NAME with config.json, model.safetensors and right.pt for each case. right.pt has
the batch, mlm_loss, mlm_logits, hidden (of all tokens) and "d." + name for each tensor. Exits with 77 if a package is missing.
"""

import json
import sys
from pathlib import Path

import torch
import torch.nn.functional as F

try:
    from safetensors.torch import save_file
except ImportError as error:
    print(error, file=sys.stderr)
    sys.exit(77)

CASES = {"heads_of_8": ({"num_attention_heads": 5, "hidden_size": 40, "intermediate_size": 108, "num_hidden_layers": 2}, [1, 7, 38, 20]),
         "heads_of_32": ({"num_attention_heads": 2, "hidden_size": 64, "intermediate_size": 100, "num_hidden_layers": 3}, [70, 129]),
         "encoder": ({"num_attention_heads": 4, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 1}, [9, 3])}


def shapes_of(config):
    H, V = config["hidden_size"], config["vocab_size"]
    F_ = 8 * -(-int(2 * config["intermediate_size"] / 3) // 8)
    shapes = {"model.encoder.weight": (V, H)}
    for i in range(config["num_hidden_layers"]):
        shapes |= {f"model.transformer_encoder.{i}.{name}.weight": shape for name, shape in
                   {"qkv": (3 * H, H), "wo": (H, H), "ffn.w12": (2 * F_, H), "ffn.w3": (H, F_), "attention_norm": (H,), "ffn_norm": (H,)}.items()}
    return shapes | {"model.layer_norm.weight": (H,), "decoder.weight": (V, H), "decoder.bias": (V,)}


def rotated(x):
    """x: S x N x D. Features 2 j and 2 j + 1 are the parts of a complex number; angles are rounded to fp32."""
    S, N, D = x.shape
    angle = torch.outer(torch.arange(S).float(), 1.0 / (10000.0 ** (torch.arange(0, D, 2).float() / D))).double()
    turn = torch.polar(torch.ones_like(angle), angle)[:, None]
    return torch.view_as_real(torch.view_as_complex(x.reshape(S, N, D // 2, 2)) * turn).flatten(2)


def encode(w, config, ids):
    """The encoder's output for one sequence, S x H."""
    H, N, eps = config["hidden_size"], config["num_attention_heads"], config["norm_eps"]
    norm = lambda name, x: F.rms_norm(x, (H,), w[name + ".weight"], eps)
    x = w["model.encoder.weight"][ids]
    for i in range(config["num_hidden_layers"]):
        name = f"model.transformer_encoder.{i}"
        qkv = F.linear(norm(f"{name}.attention_norm", x), w[f"{name}.qkv.weight"]).view(len(x), N, 3 * H // N)
        q, k, v = qkv.chunk(3, -1)
        q, k, v = (part.transpose(0, 1) for part in (rotated(q), rotated(k), v))
        context = (q @ k.transpose(1, 2) / (H // N) ** 0.5).softmax(-1) @ v
        x = x + F.linear(context.transpose(0, 1).reshape(len(x), H), w[f"{name}.wo.weight"])
        a, b = F.linear(norm(f"{name}.ffn_norm", x), w[f"{name}.ffn.w12.weight"]).chunk(2, -1)
        x = x + F.linear(F.silu(a) * b, w[f"{name}.ffn.w3.weight"])
    return norm("model.layer_norm", x)


def write_case(folder, changes, lengths, has_head):
    generator = torch.Generator().manual_seed(len(lengths))
    config = {"architectures": ["NeoBERTLMHead" if has_head else "NeoBERT"], "model_type": "neobert", "vocab_size": 211, "max_length": 130,
              "norm_eps": 1e-5, "auto_map": {"AutoModel": "model.NeoBERT"}, "dim_head": 8, "kwargs": {"classifier_init_range": 0.02}} | changes
    weights = {}
    for name, shape in shapes_of(config).items():
        numbers = torch.randn(shape, generator=generator)
        scale = 0.1 if len(shape) == 1 else 1.0 if "encoder.weight" in name else shape[1] ** -0.5
        weights[name] = scale * numbers + (1.0 if "norm" in name else 0.0)
    ids = torch.randint(1, config["vocab_size"], (sum(lengths),), generator=generator)
    rows = torch.arange(0, sum(lengths), 3)
    labels = torch.randint(1, config["vocab_size"], (len(rows),), generator=generator)
    leaves = {name: tensor.double().requires_grad_() for name, tensor in weights.items()}
    hidden = torch.cat([encode(leaves, config, part) for part in ids.split(lengths)])
    logits = F.linear(hidden[rows], leaves["decoder.weight"], leaves["decoder.bias"])
    loss = F.cross_entropy(logits, labels)
    loss.backward()
    right = {"ids": ids, "lengths": torch.tensor(lengths), "masked_rows": rows, "masked_labels": labels}
    right = {name: tensor.float() for name, tensor in right.items()} | {"hidden": hidden.detach().float()}
    if has_head:
        right |= {"mlm_loss": loss.detach().float()[None], "mlm_logits": logits.detach().float()}
        right |= {"d." + name: leaf.grad.float() for name, leaf in leaves.items()}
    else:  # the class of the encoder alone has no "model." in its names
        weights = {name.removeprefix("model."): tensor for name, tensor in weights.items() if not name.startswith("decoder")}
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(config))
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    torch.save(right, folder / "right.pt")


if __name__ == "__main__":
    torch.set_num_threads(1)
    for case, (changes, lengths) in CASES.items():
        write_case(Path(sys.argv[1]) / case, changes, lengths, has_head=case != "encoder")

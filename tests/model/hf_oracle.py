"""Computes reference results for random models and ragged batches, by Hugging Face's models and by plain autograd.

Usage: hf_oracle.py FOLDER. Writes one .pt file per case: the configuration, the weights (fp32), the batch without padding,
the results in float64 (stored as fp32), and the norms of the errors of PyTorch's bf16 autocast. Exits with 77 if the package
transformers is missing.
"""

import sys
from pathlib import Path

import torch
import torch.nn.functional as F

try:
    from transformers import (BertConfig, BertForMaskedLM, BertForPreTraining, MegatronBertConfig, MegatronBertForMaskedLM,
                              MegatronBertForPreTraining)
except ImportError as error:
    print(error, file=sys.stderr)
    sys.exit(77)

ALIASES = {"cls.predictions.decoder.weight", "cls.predictions.decoder.bias"}
SMALL = {"hidden_size": 128, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 512, "vocab_size": 1003}
LARGER = {"hidden_size": 256, "num_hidden_layers": 4, "num_attention_heads": 4, "intermediate_size": 1024, "vocab_size": 1024}


def spans_of(batch):
    """Yields each sequence's start and end, and the lengths of the spans within which its tokens attend to each other."""
    spans = list(batch["attention_lengths"])
    for start, end in zip(batch["starts"], batch["starts"][1:]):
        count = next(n for n in range(1, len(spans) + 1) if sum(spans[:n]) == end - start)
        yield start, end, spans[:count]
        del spans[:count]


def plain_bert(w, config, batch):
    """BERT as a formula, in the weights' dtype, one sequence at a time without padding.

    The embedding enters the residual stream, except with pre_ln_zero_residual, where only layer 0's attention reads it.
    Returns the logits at masked positions, and those of the next sentence if the weights have that head.
    """
    placement, heads, eps = config["norm_placement"], config["num_attention_heads"], config["layer_norm_eps"]
    hidden = config["hidden_size"]
    approximate = "none" if config["hidden_act"] == "gelu" else "tanh"
    linear = lambda name, x: F.linear(x, w[name + ".weight"], w[name + ".bias"])
    norm = lambda name, x: F.layer_norm(x, (hidden,), w[name + ".weight"], w[name + ".bias"], eps)
    words, positions, types = (w[f"bert.embeddings.{kind}_embeddings.weight"] for kind in ("word", "position", "token_type"))

    def attended(name, x):
        return torch.cat([attended_span(name, part) for part in x.split(spans)])

    def attended_span(name, x):
        split = lambda y: y.view(len(x), heads, hidden // heads).transpose(0, 1)
        q, k, v = (split(linear(f"{name}.attention.self.{part}", x)) for part in ("query", "key", "value"))
        context = torch.softmax(q @ k.transpose(1, 2) / (hidden // heads) ** 0.5, -1) @ v
        return linear(f"{name}.attention.output.dense", context.transpose(0, 1).reshape(len(x), hidden))

    def fed_forward(name, x):
        return linear(f"{name}.output.dense", F.gelu(linear(f"{name}.intermediate.dense", x), approximate=approximate))

    outputs = []
    for start, end, spans in spans_of(batch):
        ids = batch["input_ids"][start:end]
        h = words[ids] + types[batch["token_type_ids"][start:end]] + positions[: end - start]
        names = [f"bert.encoder.layer.{i}" for i in range(config["num_hidden_layers"])]
        if placement == "pre_ln":
            for name in names:
                h = h + attended(name, norm(f"{name}.attention.ln", h))
                h = h + fed_forward(name, norm(f"{name}.ln", h))
            h = norm("bert.encoder.ln", h)
        elif placement == "pre_ln_zero_residual":
            h, r = norm("bert.embeddings.LayerNorm", h), 0
            for name in names:
                r = r + attended(name, h)
                h = norm(f"{name}.attention.output.LayerNorm", r)
                r = r + fed_forward(name, h)
                h = norm(f"{name}.output.LayerNorm", r)
        else:
            h = norm("bert.embeddings.LayerNorm", h)
            for name in names:
                h = norm(f"{name}.attention.output.LayerNorm", h + attended(name, h))
                h = norm(f"{name}.output.LayerNorm", h + fed_forward(name, h))
        outputs.append(h)
    sequence = torch.cat(outputs)
    transformed = F.gelu(linear("cls.predictions.transform.dense", sequence[batch["masked_rows"]]), approximate=approximate)
    decoded = F.linear(norm("cls.predictions.transform.LayerNorm", transformed), words, w["cls.predictions.bias"])
    if "bert.pooler.dense.weight" not in w:
        return [decoded]
    pooled = torch.tanh(linear("bert.pooler.dense", sequence[batch["starts"][:-1]]))
    return [decoded, linear("cls.seq_relationship", pooled)]


def hf_model(config, next_sentence):
    own = {key: value for key, value in config.items() if key != "norm_placement"}
    if config["norm_placement"] == "pre_ln":
        model_class = MegatronBertForPreTraining if next_sentence else MegatronBertForMaskedLM
        return model_class(MegatronBertConfig(**own, attn_implementation="eager")).eval()
    model_class = BertForPreTraining if next_sentence else BertForMaskedLM
    return model_class(BertConfig(**own, attn_implementation="eager")).eval()


def hf_logits(model, batch):
    """The logits of HF's model, which needs a padded batch."""
    sequences = list(spans_of(batch))
    longest = max(end - start for start, end, _ in sequences)
    ids, types, mask = (torch.zeros(len(sequences), longest, dtype=torch.long) for _ in range(3))
    document = torch.full((len(sequences), longest), -1)
    row_of = torch.zeros(batch["starts"][-1], dtype=torch.long)
    for b, (start, end, spans) in enumerate(sequences):
        ids[b, : end - start] = batch["input_ids"][start:end]
        types[b, : end - start] = batch["token_type_ids"][start:end]
        mask[b, : end - start] = 1
        document[b, : end - start] = torch.arange(len(spans)).repeat_interleave(torch.tensor(spans))
        row_of[start:end] = b * longest + torch.arange(end - start)
    if len(batch["attention_lengths"]) > len(sequences):  # tokens see only those of their own document
        same_document = document.unsqueeze(1) == document.unsqueeze(2)
        dtype = next(iter(model.parameters())).dtype
        mask = torch.zeros(same_document.shape, dtype=dtype).masked_fill(~same_document, torch.finfo(dtype).min).unsqueeze(1)
    out = model(input_ids=ids, token_type_ids=types, attention_mask=mask)
    at_masked = lambda logits_BSV: logits_BSV.flatten(0, 1)[row_of[batch["masked_rows"]]]
    if "logits" in out:
        return [at_masked(out.logits)]
    return [at_masked(out.prediction_logits), out.seq_relationship_logits]


def losses_of(logits, batch):
    return [F.cross_entropy(of_head, labels) for of_head, labels in zip(logits, (batch["masked_labels"], batch["next_sentence_labels"]))]


def random_weights(shapes, spread, generator):
    """Random matrices and vectors, so that all parameters affect the results."""
    weights = {}
    for name, shape in shapes.items():
        numbers = torch.randn(shape, generator=generator)
        is_norm_weight = len(shape) == 1 and name.endswith("weight")
        weights[name] = 1 + 0.2 * numbers if is_norm_weight else (0.1 if len(shape) == 1 else spread) * numbers
    return weights


def random_batch(config, generator, divided):
    number = lambda low, high, count: torch.randint(low, high, (count,), generator=generator)
    lengths = [5, *number(5, 65, 5).tolist(), 64]
    starts = [0]
    for length in lengths:
        starts.append(starts[-1] + length)
    masked = [start + place for start, length in zip(starts, lengths)
              for place in torch.randperm(length, generator=generator)[: max(1, length * 15 // 100)].sort().values.tolist()]
    vocabulary = config["vocab_size"]
    attention_lengths = [part for n in lengths for part in ((n // 4, n // 2, n - n // 4 - n // 2) if n > 8 else (n,))]
    return {
        "starts": starts,
        "attention_lengths": attention_lengths if divided else lengths,
        "input_ids": number(1, vocabulary, starts[-1]),  # 0 is HF's padding_idx, for which HF computes no gradient
        "token_type_ids": torch.cat([(torch.arange(n) > n // 2).long() for n in lengths]),
        "position_ids": torch.cat([torch.arange(n) for n in lengths]),
        "masked_rows": torch.tensor(masked),
        "masked_labels": number(1, vocabulary, len(masked)),
        "next_sentence_labels": number(0, 2, len(lengths)),
    }


def results(weights, compute, batch, dtype, autocast=False):
    """Returns losses, logits, and gradients by parameter name."""
    leaves = {name: tensor.detach().to(dtype).requires_grad_() for name, tensor in weights.items()}
    with torch.autocast("cpu", torch.bfloat16, enabled=autocast):
        logits = compute(leaves)
        losses = losses_of(logits, batch)
    sum(losses).backward()
    found = dict(zip(("mlm_loss", "nsp_loss"), losses)) | dict(zip(("mlm_logits", "nsp_logits"), logits))
    found |= {"d." + name: leaf.grad for name, leaf in leaves.items()}
    return {name: tensor.detach().double() for name, tensor in found.items()}


def through_hf(model, batch):
    def compute(leaves):
        tied = {"cls.predictions.decoder.weight": leaves["bert.embeddings.word_embeddings.weight"],
                "cls.predictions.decoder.bias": leaves["cls.predictions.bias"]}
        model_in_type = model.to(next(iter(leaves.values())).dtype)
        return torch.func.functional_call(model_in_type, {**leaves, **tied}, (), {"run": batch})

    return compute


class Runner(torch.nn.Module):
    """Lets functional_call call hf_logits."""

    def __init__(self, model):
        super().__init__()
        self.bert, self.cls, self.model = model.bert, model.cls, [model]

    def forward(self, run):
        return hf_logits(self.model[0], run)


def relative_error(found, right):
    return ((found - right).norm() / right.norm()).item()


def write_case(folder, name, config, seed, spread, next_sentence=True, divided=False):
    generator = torch.Generator().manual_seed(seed)
    model = hf_model(config, next_sentence)
    shapes = {key: list(tensor.shape) for key, tensor in model.state_dict().items() if key not in ALIASES}
    weights, batch = random_weights(shapes, spread, generator), random_batch(config, generator, divided)
    compute = lambda leaves: plain_bert(leaves, config, batch)
    right = results(weights, compute, batch, torch.float64)
    if config["norm_placement"] != "pre_ln_zero_residual":  # HF has no such model
        compute = through_hf(Runner(model), batch)
        hf = results(weights, compute, batch, torch.float64)
        for key in right:  # HF and the formula must agree; the gradient of a key bias is only noise
            assert key.endswith("key.bias") or relative_error(right[key], hf[key]) < 1e-9, (name, key)
        right = hf
    autocast = results(weights, compute, batch, torch.float32, autocast=True)
    torch.save({
        "config": config,
        "next_sentence": next_sentence,
        "names": list(shapes),
        "weights": weights,
        "batch": batch,
        "right": {key: tensor.float() for key, tensor in right.items()},
        "autocast_error": {key: (autocast[key] - right[key]).norm().item() for key in right},
    }, folder / f"{name}_{seed}.pt")


def main():
    folder = Path(sys.argv[1])
    torch.manual_seed(0)
    torch.set_num_threads(1)  # more threads only slow down such small models
    base = {"max_position_embeddings": 64, "type_vocab_size": 2, "hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0,
            "layer_norm_eps": 1e-12, "initializer_range": 0.02}
    for placement, small_seeds, larger_seeds in (("post_ln", 6, 3), ("pre_ln", 6, 3), ("pre_ln_zero_residual", 6, 3)):
        # With small weights the zero residual's rows grow alike, and fp32, PyTorch's too, loses what tells them apart.
        spread = 0.1 if placement == "pre_ln_zero_residual" else 0.05
        for size, sizes, seeds in (("2x128", SMALL, small_seeds), ("4x256", LARGER, larger_seeds)):
            for number, act in enumerate(("gelu", "gelu_pytorch_tanh")):
                config = {**base, **sizes, "hidden_act": act, "norm_placement": placement}
                for seed in range(number * seeds, (number + 1) * seeds):
                    write_case(folder, f"{placement}_{size}", config, seed, spread)
        config = {**base, **SMALL, "hidden_act": "gelu", "norm_placement": placement}
        for seed in range(3):
            write_case(folder, f"{placement}_masked_words_alone", config, seed, spread, next_sentence=False)
            write_case(folder, f"{placement}_block_diagonal", config, seed, spread, next_sentence=False, divided=True)


if __name__ == "__main__":
    main()

"""Makes a small random model of a family, and trains one with plain PyTorch as `bertpretrain train` does from its folder.

Usage: imported_training.py make SHARD PART FOLDER...      writes PART: 16 rows of SHARD, and a model of each FOLDER's name
       imported_training.py train PART STEPS FOLDER RUN...   trains FOLDER with the settings in RUN/settings.json, and writes the
                                                             loss of each step to RUN/theirs
Exits with 77 if a package is missing.
"""

import json
import sys
from pathlib import Path

import torch

try:
    import h5py
    import transformers
    from safetensors.torch import load_file, save_file
    from transformers import AutoModelForMaskedLM
except ImportError as error:
    print(error, file=sys.stderr)
    sys.exit(77)

sys.path.append(str(Path(__file__).resolve().parents[1] / "model"))
import neobert_oracle
from hf_evaluation import hf_batch
from torch_training import learning_rate

FAMILIES = {"bert": "Bert", "roberta": "Roberta", "xlm-roberta": "XLMRoberta", "camembert": "Camembert", "modernbert": "ModernBert"}
SHAPE = {"vocab_size": 800, "hidden_size": 64, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 96}
PADDING_OF_ROBERTA = 1


class NeoBert(torch.nn.Module):
    """neobert_oracle.py's formula in float64, on rows with padding."""

    def __init__(self, folder):
        super().__init__()
        self.shape = json.loads((Path(folder) / "config.json").read_text())
        weights = load_file(Path(folder) / "model.safetensors")
        self.weights = torch.nn.ParameterDict({name.replace(".", "/"): tensor.double() for name, tensor in weights.items()})

    def forward(self, input_ids, attention_mask):
        weights = {name.replace("/", "."): tensor for name, tensor in self.weights.items()}
        hidden_BSH = torch.zeros(*input_ids.shape, self.shape["hidden_size"], dtype=torch.double)
        for row, (ids, length) in enumerate(zip(input_ids, attention_mask.sum(1))):
            hidden_BSH[row, :length] = neobert_oracle.encode(weights, self.shape, ids[:length])
        logits_BSV = torch.nn.functional.linear(hidden_BSH, weights["decoder.weight"], weights["decoder.bias"])
        return transformers.modeling_outputs.MaskedLMOutput(logits=logits_BSV)


def make_neobert(folder):
    config = {"architectures": ["NeoBERTLMHead"], "model_type": "neobert", "max_length": 64, "norm_eps": 1e-5, **SHAPE}
    weights = {name: 0.05 * torch.randn(shape) + ("norm" in name) for name, shape in neobert_oracle.shapes_of(config).items()}
    Path(folder).mkdir()
    (Path(folder) / "config.json").write_text(json.dumps(config))
    save_file(weights, Path(folder) / "model.safetensors", {"format": "pt"})


def make_of_transformers(family, folder):
    dropout = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    fields = {"bert": dropout | {"max_position_embeddings": 64, "hidden_act": "gelu_new"},
              "modernbert": {"max_position_embeddings": 64, "local_attention": 16, "attention_dropout": 0.0, "pad_token_id": 0,
                             "bos_token_id": None, "eos_token_id": None, "cls_token_id": None, "sep_token_id": None}}
    robertas = dropout | {"max_position_embeddings": 66, "type_vocab_size": 1, "layer_norm_eps": 1e-5}
    name = FAMILIES[family]
    config = getattr(transformers, name + "Config")(**SHAPE, **fields.get(family, robertas))
    getattr(transformers, name + "ForMaskedLM")(config).save_pretrained(folder)


def make(shard, part, *folders):
    for folder in folders:
        torch.manual_seed(5)
        family = Path(folder).name
        make_neobert(folder) if family == "neobert" else make_of_transformers(family, folder)
    with h5py.File(shard) as whole, h5py.File(part, "w") as chosen:
        # The gradient of RoBERTa's padding row is always zero in PyTorch, and that token is another one in these shards.
        rows = (whole["input_ids"][:] != PADDING_OF_ROBERTA).all(1).nonzero()[0][:16]
        assert len(rows) == 16
        for key in whole:
            chosen[key] = whole[key][:][rows]


def train(part, steps, folder, run):
    torch.manual_seed(0)
    settings = json.loads((Path(run) / "settings.json").read_text())
    schedule, asked = settings["schedule"], settings["optimizer"]
    is_neobert = json.loads((Path(folder) / "config.json").read_text())["model_type"] == "neobert"
    model = NeoBert(folder) if is_neobert else AutoModelForMaskedLM.from_pretrained(folder, dtype=torch.float32)
    parameters = list(model.parameters())
    groups = [{"params": [p for p in parameters if p.dim() > 1], "weight_decay": asked["weight_decay"]},
              {"params": [p for p in parameters if p.dim() == 1], "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, betas=tuple(asked["betas"]), eps=asked["eps"])
    with h5py.File(part) as rows:
        batch = hf_batch(rows)
    labels = batch["labels"]
    inputs = {"input_ids": batch["input_ids"], "attention_mask": batch["attention_mask"]}
    if hasattr(model, "roberta"):
        inputs["position_ids"] = (torch.arange(labels.shape[1]) + PADDING_OF_ROBERTA + 1).expand_as(labels)
    model.train()
    losses = []
    for step in range(1, steps + 1):
        logits_BSV = model(**inputs).logits
        loss = torch.nn.functional.cross_entropy(logits_BSV.flatten(0, 1), labels.flatten(), ignore_index=-100)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(parameters, asked["max_grad_norm"])
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(schedule, asked["learning_rate"], step)
        optimizer.step()
        losses.append(loss.item())
    (Path(run) / "theirs").write_text("\n".join(map(repr, losses)))


if __name__ == "__main__":
    torch.set_num_threads(1)
    if sys.argv[1] == "make":
        make(*sys.argv[2:])
    else:
        for folder, run in zip(sys.argv[4::2], sys.argv[5::2]):
            train(sys.argv[2], int(sys.argv[3]), folder, run)

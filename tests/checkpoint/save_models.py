"""Saves one randomly initialized BERT in the format of each supported program, and the values expected when it is read.

usage: save_models.py FOLDER
"""

import collections
import json
import pathlib
import sys

import torch
from safetensors.torch import save_file
from transformers import BertConfig, BertForPreTraining, BertModel

folder = pathlib.Path(sys.argv[1])
torch.manual_seed(5)
config = BertConfig(vocab_size=50, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32,
                    max_position_embeddings=24)
model = BertForPreTraining(config)
with torch.no_grad():
    for parameter in model.parameters():  # biases too, so that none can be taken for another
        parameter.add_(torch.randn_like(parameter) * 0.02)
state = {name: tensor.detach().clone() for name, tensor in model.state_dict().items()}
state["cls.predictions.decoder.weight"] = state["bert.embeddings.word_embeddings.weight"]
state["cls.predictions.decoder.bias"] = state["cls.predictions.bias"]
plain = {name: tensor for name, tensor in state.items() if "decoder" not in name}
torch.save(plain, folder / "expected.pt")
torch.save({name: tensor.half().float() for name, tensor in plain.items()}, folder / "expected_half.pt")
torch.save({name: tensor.bfloat16().float() for name, tensor in plain.items()}, folder / "expected_bfloat16.pt")

model.save_pretrained(folder / "hf")
model.save_pretrained(folder / "hf_shards", max_shard_size="8KB")
assert (folder / "hf_shards/model.safetensors.index.json").exists()
(folder / "hf_bin").mkdir()
torch.save(collections.OrderedDict(state), folder / "hf_bin/pytorch_model.bin")
(folder / "hf_bin_shards").mkdir()
names, files = list(state), ["pytorch_model-00001-of-00002.bin", "pytorch_model-00002-of-00002.bin"]
for file, part in zip(files, (names[: len(names) // 2], names[len(names) // 2 :])):
    torch.save({name: state[name].clone() for name in part}, folder / "hf_bin_shards" / file)
where = {name: files[0] if i < len(names) // 2 else files[1] for i, name in enumerate(names)}
(folder / "hf_bin_shards/pytorch_model.bin.index.json").write_text(json.dumps({"metadata": {}, "weight_map": where}))
save_file({name: tensor.half() for name, tensor in plain.items()}, folder / "half.safetensors")
save_file({name: tensor.double() for name, tensor in plain.items()}, folder / "double.safetensors")
torch.save({"state_dict": {name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): tensor
                           for name, tensor in state.items()}}, folder / "tensorflow.bin")


def nvidia(name):
    for dense in ("intermediate.dense.", "pooler.dense.", "transform.dense."):
        name = name.replace(dense, dense[:-1] + "_act.")
    return name


ours = {nvidia(name): tensor for name, tensor in state.items() if name != "cls.predictions.decoder.bias"}
optimizer = torch.optim.AdamW(model.parameters())
model(torch.ones(1, 4, dtype=torch.long)).prediction_logits.sum().backward()
optimizer.step()
(folder / "nvidia").mkdir()
for step in (9, 200, 1600):
    torch.save({"model": ours if step == 1600 else {}, "optimizer": optimizer.state_dict(), "master params": list(model.parameters()),
                "files": [2, "a_training_0.hdf5"], "epoch": 1, "data_loader": None}, folder / f"nvidia/ckpt_{step}.pt")
(folder / "deepspeed/3400").mkdir(parents=True)
(folder / "deepspeed/latest").write_text("3400\n")
torch.save({"module": {"module." + name: tensor.bfloat16() for name, tensor in ours.items()}, "buffer_names": [], "optimizer": None,
            "param_shapes": [collections.OrderedDict((name, tensor.shape) for name, tensor in ours.items())],
            "sparse_tensor_module_names": set(), "skipped_steps": 0, "global_steps": 3400, "ds_config": {"zero": {"stage": 1}},
            "ds_version": "0.9", "files": ["a.hdf5"], "epoch": 0}, folder / "deepspeed/3400/mp_rank_00_model_states.pt")


def renamed(change):
    return {change(name): tensor for name, tensor in state.items()}


(folder / "wrapped").mkdir()
for name, content in {
    "compiled": renamed(lambda name: "_orig_mod." + name),
    "compiled_data_parallel": renamed(lambda name: "_orig_mod.module." + name),
    "fabric": renamed(lambda name: "_forward_module." + name),
    "fully_sharded": renamed(lambda name: "_fsdp_wrapped_module." + name.replace("layer.1.", "layer.1._fsdp_wrapped_module.")),
    "checkpointed_layers": renamed(lambda name: name.replace("layer.0.", "layer.0._checkpoint_wrapped_module.")),
    "compiled_layers": renamed(lambda name: name.replace("layer.1.", "layer.1._orig_mod.")),
    "lightning": {"state_dict": renamed(lambda name: "model." + name), "epoch": 3, "pytorch-lightning_version": "2.0", "hyper_parameters": {}},
    "composer": {"state": {"model": renamed(lambda name: "model." + name), "optimizers": {"AdamW": {"state": {}}}}, "rng": [(1, 2)]},
    "deep": {"a": {"b": {"c": renamed(lambda name: "net.inner." + name)}}},
    "tutorial": {"epoch": 5, "model_state_dict": state, "optimizer_state_dict": optimizer.state_dict(), "loss": torch.tensor(0.4)},
    "average_beside": {"model": state, "ema": {name: tensor + 1 for name, tensor in state.items()}},
    "numbers_beside": state | {"loss": torch.tensor(0.4), "epoch": 3, "name": "x"},
    "counter": {"model": state, "scheduler": {"milestones": collections.Counter({2: 1})}, "device": torch.device("cuda", 0)},
}.items():
    torch.save(content, folder / f"wrapped/{name}.pt")
save_file({"bert_model." + name: tensor.clone() for name, tensor in plain.items()}, folder / "wrapped/prefix.safetensors")
queries = {"query." + name: tensor for name, tensor in plain.items()}
torch.save(queries | {"document." + name: tensor for name, tensor in plain.items()}, folder / "two.pt")
torch.save({"net_a": plain, "net_b": plain}, folder / "two_dicts.pt")
parts = {part: {name.removeprefix(part + "."): tensor for name, tensor in plain.items() if name.startswith(part)} for part in ("bert", "cls")}
torch.save(parts, folder / "parts.pt")
torch.save({"step": 3, "net": {"parts": parts}}, folder / "deep_parts.pt")
torch.save({"model": plain, "queue": {"weight": torch.zeros(2, 2)}}, folder / "beside.pt")
torch.save({name.replace("bert.", "electra.", 1): tensor for name, tensor in plain.items() if name.startswith("bert.")}, folder / "electra.pt")
torch.save({"decoder": {"weight": torch.zeros(2, 2)}}, folder / "no_words.pt")
wrong = plain["bert.embeddings.LayerNorm.bias"].clone()
for name, value in {"nan": float("nan"), "infinite": float("-inf"), "beyond_fp32": 1e300}.items():
    wrong = wrong.double()
    wrong[3] = value
    torch.save(plain | {"bert.embeddings.LayerNorm.bias": wrong}, folder / f"{name}.pt")
tied = state["cls.predictions.bias"].clone()
tied[2] = float("nan")
torch.save(state | {"cls.predictions.bias": tied, "cls.predictions.decoder.bias": tied.clone()}, folder / "tied_nan.pt")
torch.save(plain | {"bert.pooler.dense.weight": torch.ones(16, 16, dtype=torch.int8)}, folder / "int8.pt")

encoder = BertModel(config)
encoder.load_state_dict({name.removeprefix("bert."): tensor for name, tensor in plain.items() if name.startswith("bert.")})
encoder.save_pretrained(folder / "encoder")
torch.save(state | {"bert.embeddings.position_ids": torch.arange(24)[None]}, folder / "old_hf.bin")
torch.save(state | {"cls.predictions.decoder.weight": state["bert.embeddings.word_embeddings.weight"] + 1}, folder / "untied.bin")
torch.save(state | {"classifier.weight": torch.zeros(2, 16)}, folder / "classifier.bin")
torch.save({"optimizer": optimizer.state_dict(), "epoch": 3}, folder / "no_model.pt")
torch.save([state["cls.predictions.bias"]], folder / "list.pt")
torch.save(torch.zeros(3), folder / "tensor.pt")
torch.save(model, folder / "object.pt")
torch.save(state, folder / "before_1_6.bin", _use_new_zipfile_serialization=False)
save_file({"a": torch.zeros(3)}, folder / "other.safetensors")
whole = (folder / "hf/model.safetensors").read_bytes()
(folder / "cut.safetensors").write_bytes(whole[:-100])
(folder / "long.safetensors").write_bytes(whole + b"x")
(folder / "header.safetensors").write_bytes((10**15).to_bytes(8, "little") + whole[8:])
(folder / "cut.bin").write_bytes((folder / "hf_bin/pytorch_model.bin").read_bytes()[:-100])
(folder / "empty.pt").write_bytes(b"")
for name, change in {"climbing": lambda index: index["weight_map"].update({"x": "../hf/model.safetensors"}),
                     "lacking": lambda index: index["weight_map"].pop(sorted(index["weight_map"])[0]),
                     "promising": lambda index: index["weight_map"].update({"x": sorted(index["weight_map"].values())[0]}),
                     "absent": lambda index: index["weight_map"].update({"x": "none.safetensors"})}.items():
    index = json.loads((folder / "hf_shards/model.safetensors.index.json").read_text())
    change(index)
    (folder / f"hf_shards/{name}.index.json").write_text(json.dumps(index))
(folder / "parallel").mkdir()
for rank in range(2):
    torch.save({"module": ours}, folder / f"parallel/mp_rank_0{rank}_model_states.pt")

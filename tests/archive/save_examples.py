"""Saves .pt files as Python users do, and their content as JSON, for the tests of PtReader.

usage: save_examples.py FOLDER
"""

import collections
import json
import os
import pathlib
import pickle
import sys
import tarfile

import torch

folder = pathlib.Path(sys.argv[1])
torch.manual_seed(1)


def describe(value):
    """Returns the value as JSON: a tensor as its dtype, shape and flat list of numbers."""
    if isinstance(value, torch.Tensor):
        return {"dtype": str(value.dtype).removeprefix("torch."), "shape": list(value.shape),
                "values": value.detach().cpu().double().flatten().tolist()}
    if isinstance(value, dict):
        return {"dict": [[key, describe(item)] for key, item in value.items()]}
    if isinstance(value, (list, tuple)):
        return {"list": [describe(item) for item in value]}
    return {"value": value}


def save(name, value):
    torch.save(value, folder / f"{name}.pt")
    (folder / f"{name}.json").write_text(json.dumps(describe(value)))


numbers = torch.tensor([-3.0, -1.5, 0.0, 0.1, 1.0, 2.0, 100.0, 5.0])
types = [torch.float32, torch.float16, torch.bfloat16, torch.float64, torch.int64, torch.int32, torch.int16, torch.int8,
         torch.uint8, torch.bool]
save("types", {str(t): (numbers.abs() if t == torch.uint8 else numbers).to(t) for t in types})
save("halves", torch.cat([torch.arange(0, 31744, 97, dtype=torch.int16), torch.arange(-32768, -1024, 89, dtype=torch.int16)]).view(torch.float16))

base = torch.arange(24.0)
cube = base.view(2, 3, 4)
save("views", {"base": base, "slice": base[5:9], "every_third": base[1::3], "transposed": cube.permute(2, 0, 1), "row": cube[1],
               "column": cube[:, :, 2], "expanded": torch.tensor([7.0]).expand(3, 2), "number": torch.tensor(3.5, dtype=torch.float64),
               "empty": torch.empty(0, 3), "parameter": torch.nn.Parameter(cube.clone()), "parameter_view": torch.nn.Parameter(base[3:5])})
save("values", {"none": None, "yes": True, "no": False, "small": 7, "byte": 200, "word": 60000, "negative": -5, "long": -(2**62),
                "longest": -(2**63), "two_to_40": 2**40, "real": -1.25, "text": "naïve café", 3: "integer key", -1: [],
                "list": [1, [2, "three"]], "tuple": (1, 2, 3, 4, 5), "pair": (1, (2,)), "size": base.view(4, 6).size(), "nothing": {},
                "many": {f"key {i}": i for i in range(300)}})

model = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.LayerNorm(3), torch.nn.Linear(3, 4))
model[2].weight = torch.nn.Parameter(torch.randn(4, 3))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for _ in range(2):
    model(torch.randn(5, 4)).square().sum().backward()
    optimizer.step()
save("state_dict", model.state_dict())
save("training", {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 3,
                  "nested": collections.OrderedDict(a=collections.OrderedDict(b=torch.ones(2)))})

# Values that JSON cannot hold. compare_copies.py compares them after our reader and writer have copied them.
scheduler = torch.optim.lr_scheduler.LinearLR(optimizer)
torch.save({"integers": [2**63 - 1, -(2**63), 2**63, 2**64, -(2**64), 2**70 + 1, -(2**70), 2**2000, 255, 256, -1, -129, 65536],
            "reals": [float("inf"), -float("inf"), float("nan"), -0.0, 5e-324, 1.7976931348623157e308, 0.1],
            "texts": ["", "\0", "naïve 漢字 🙂", "x" * 70000, "\U0010ffff"], "tuples": [(), (1,), (1, 2), (1, (2, (3, [4])))],
            "sets": [set(), {7}], "size": torch.Size([2, 3]), "scheduler": scheduler.state_dict(),
            "amsgrad": torch.optim.AdamW(model.parameters(), lr=1e-3, amsgrad=True).state_dict(), "keys": {0: 1, -5: 2, "": 3}},
           folder / "numbers.pt")


class OfXla:
    """Is saved like a tensor of torch_xla."""

    def __reduce_ex__(self, protocol):
        return torch._utils._rebuild_device_tensor_from_cpu_tensor, (torch.arange(4.0), torch.float32, "cpu", True)


plain_tag = torch.serialization.location_tag
devices = {}
for place in ("cuda:3", "hpu", "xla:0", "mps"):
    torch.serialization.location_tag = lambda storage, place=place: place
    torch.save({"weight": torch.arange(6.0).view(2, 3).t()}, folder / f"device_{place.split(':')[0]}.pt")
torch.serialization.location_tag = plain_tag
torch.save({"weight": OfXla()}, folder / "device_tensor.pt")
torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "master params": list(model.parameters()),
            "files": [3, "a.hdf5", "b.hdf5"], "epoch": 2, "data_loader": None}, folder / "ckpt_200.pt")

shared = torch.ones(6, 2)
save("shared", {"decoder": shared, "embedding": shared, "again": shared.t()})

# The format before PyTorch 1.6; the storages' keys are addresses there.
content = {"model": model.state_dict(), "shared": [shared, shared.t()], "half": base.half(), "empty": torch.empty(0, 3), "step": 7}
torch.save(content, folder / "before_1_6.pt", _use_new_zipfile_serialization=False)
(folder / "before_1_6.json").write_text(json.dumps(describe(content)))

# Values that torch.load accepts with weights_only=True: those that no reader of weights needs are None.
with_attribute = torch.nn.Parameter(base[:3].clone())
with_attribute.owner = "me"
beside = {"counter": (collections.Counter({2: 1, 5: 3}), {2: 1, 5: 3}), "device": (torch.device("cuda", 1), None),
          "dtype": (torch.bfloat16, None), "bytes": (bytearray(b"abc"), None), "complex": (2 + 1j, None), "raw": (b"abc", None),
          "meta": (torch.empty(3, device="meta"), None), "attribute": (with_attribute, base[:3]),
          "keys": ({(1, 2): 3, None: 4, "a": 5, 2.5: 6}, {"a": 5})}
torch.save({name: value for name, (value, _) in beside.items()}, folder / "beside.pt")
torch.load(folder / "beside.pt", weights_only=True)
(folder / "beside.json").write_text(json.dumps(describe({name: expected for name, (_, expected) in beside.items()})))

# Files that must be refused, naming the reason.
torch.save({"weight": torch.quantize_per_tensor(base, 0.1, 0, torch.qint8)}, folder / "quantized.pt")
torch.jit.save(torch.jit.script(torch.nn.Linear(2, 2)), folder / "script.pt")
torch.save({"model": base, "loader": torch.utils.data.DataLoader([1, 2])}, folder / "object.pt")


class Attack:
    def __reduce__(self):
        return os.system, ("touch " + str(folder / "attacked"),)


torch.save({"model": Attack()}, folder / "attack.pt")
torch.save(torch.zeros(2, dtype=torch.complex64), folder / "complex.pt")
cycle = {}
cycle["itself"] = cycle
torch.save(cycle, folder / "cycle.pt")
repeated = ["x" * 100]
for _ in range(40):
    repeated = [repeated, repeated]
torch.save(repeated, folder / "repeated.pt")
with tarfile.open(folder / "oldest.pt", "w") as tar:
    tar.add(__file__, arcname="storages")

"""Sets every weight of the last LayerNorm in a checkpoint to VALUE, and fixes its checksums.  Usage: spoil_weights.py FOLDER VALUE"""
import json
import pathlib
import sys
import zlib

import torch

folder, value = pathlib.Path(sys.argv[1]), float(sys.argv[2])
weights = torch.load(folder / "model.pt", weights_only=True)
name = [name for name in weights if name.endswith("output.LayerNorm.weight")][-1]
weights[name].fill_(value)
torch.save(weights, folder / "model.pt")
content = (folder / "model.pt").read_bytes()
complete = json.loads((folder / "COMPLETE.json").read_text())
complete["files"]["model.pt"] = {"bytes": len(content), "crc32": zlib.crc32(content)}
(folder / "COMPLETE.json").write_text(json.dumps(complete))

"""Sets a checkpoint's moments to zero, marks its updates as skipped, and fixes its checksums.  Usage: skip_updates.py FOLDER"""
import json
import pathlib
import sys
import zlib

import torch

folder = pathlib.Path(sys.argv[1])


def zero(value):
    if isinstance(value, torch.Tensor):
        value.zero_()
    elif isinstance(value, dict):
        for part in value.values():
            zero(part)


moments = torch.load(folder / "optimizer.pt", weights_only=True)
zero(moments)
torch.save(moments, folder / "optimizer.pt")
progress = json.loads((folder / "training_state.json").read_text())
progress["skipped_updates"] = progress["step"]
(folder / "training_state.json").write_text(json.dumps(progress))
complete = json.loads((folder / "COMPLETE.json").read_text())
for name in ("optimizer.pt", "training_state.json"):
    content = (folder / name).read_bytes()
    complete["files"][name] = {"bytes": len(content), "crc32": zlib.crc32(content)}
(folder / "COMPLETE.json").write_text(json.dumps(complete))

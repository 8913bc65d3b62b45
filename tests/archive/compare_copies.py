"""Compares .pt files with their copies bit for bit; prints what differs and fails.

usage: compare_copies.py ORIGINALS COPIES
"""

import pathlib
import struct
import sys

import torch

originals, copies = map(pathlib.Path, sys.argv[1:])


def compare(original, copy, path):
    """Types, values, order and bits must be equal; an OrderedDict becomes a dict, a Parameter a tensor, a set a list."""
    if isinstance(original, torch.Tensor):
        assert type(copy) is torch.Tensor and copy.device.type == "cpu", path
        assert (original.dtype, original.shape, original.stride()) == (copy.dtype, copy.shape, copy.stride()), path
        assert original.storage_offset() == copy.storage_offset(), path
        bits = [bytes(tensor.detach().untyped_storage()) for tensor in (original, copy)]
        assert bits[0] == bits[1], path
        storages.setdefault(original.untyped_storage().data_ptr(), copy.untyped_storage().data_ptr())
        assert storages[original.untyped_storage().data_ptr()] == copy.untyped_storage().data_ptr() or not bits[0], path
    elif isinstance(original, dict):
        assert type(copy) is dict and list(original) == list(copy), path
        for key in original:
            compare(original[key], copy[key], f"{path}.{key}")
    elif isinstance(original, (list, tuple, set)):
        kind = tuple if isinstance(original, tuple) else list
        assert type(copy) is kind and len(copy) == len(original), path
        for i, (a, b) in enumerate(zip(original, copy)):
            compare(a, b, f"{path}.{i}")
    elif isinstance(original, float):
        assert type(copy) is float and struct.pack("d", original) == struct.pack("d", copy), path
    else:
        assert type(copy) is type(original) and copy == original, path


for file in sorted(copies.iterdir()):
    for mmap in (False, True):
        storages = {}
        compare(torch.load(originals / file.name, weights_only=False, map_location="cpu"),
                torch.load(file, weights_only=True, mmap=mmap), file.name)
    print(file.name)

"""Times the attention of libtorch with heads of size 64: FlashAttention-2 over sequences without padding (with dropout, within a window,
in a deterministic order) and cuDNN's. Writes FILE (JSON) after each measurement.  Usage: attention_rates.py FILE cuda|cpu"""
import contextlib
import functools
import sys

import torch
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

from timed_windows import first_line, median_milliseconds, save

SIZE, DROPOUT, WINDOW = 64, 0.1, 64
SHAPES = ((384, 128, 16), (96, 512, 16), (128, 1024, 12), (16, 8192, 12))  # sequences, tokens, heads
TINY_SHAPES = ((2, 32, 2), (1, 64, 2))
SECONDS = {"cuda": 0.05, "cpu": 0.002}


def flash_calls(shape, device, dropout, window):
    """Returns the forward pass and the backward pass of FlashAttention-2 as calls."""
    sequences, tokens, heads = shape
    qkv = torch.randn(sequences * tokens, 3, heads, SIZE, device=device, dtype=torch.bfloat16).unbind(1)
    bounds = torch.arange(0, sequences * tokens + 1, tokens, device=device, dtype=torch.int32)
    lengths = (bounds, bounds, tokens, tokens, dropout, False)
    sides = {} if window is None else {"window_size_left": window, "window_size_right": window}
    forward = functools.partial(torch.ops.aten._flash_attention_forward, *qkv, *lengths, False, **sides)
    out, logsumexp, seed, offset, _ = forward()
    backward = functools.partial(torch.ops.aten._flash_attention_backward, torch.randn_like(out), *qkv, out, logsumexp, *lengths, seed,
                                 offset, **sides)
    return forward, backward


def sdpa_calls(shape, device, dropout):
    """Returns both passes of PyTorch's attention as calls. The caller chooses the backend."""
    sequences, tokens, heads = shape
    qkv = [torch.randn(sequences, tokens, heads, SIZE, device=device, dtype=torch.bfloat16).transpose(1, 2).requires_grad_()
           for _ in range(3)]
    forward = functools.partial(F.scaled_dot_product_attention, *qkv, dropout_p=dropout)
    out = forward()
    return forward, functools.partial(torch.autograd.grad, out, qkv, torch.randn_like(out), retain_graph=True)


def time_passes(row, device, calls):
    """Adds the milliseconds of both passes to the row, or the reason why they could not be timed."""
    try:
        forward, backward = calls()
        row["forward_milliseconds"] = median_milliseconds(forward, device, SECONDS[device])
        row["backward_milliseconds"] = median_milliseconds(backward, device, SECONDS[device])
        if row["kernels"] == "FlashAttention-2":
            torch.use_deterministic_algorithms(True)  # changes its backward pass only
            row["deterministic_backward_milliseconds"] = median_milliseconds(backward, device, SECONDS[device])
    except Exception as error:  # this GPU or PyTorch lacks it
        row["error"] = first_line(error)
    finally:
        torch.use_deterministic_algorithms(False)


def cases(shape, device):
    """Yields (kernels, dropout, window, function that returns the calls)."""
    if device == "cpu":
        yield "PyTorch's own choice", 0.0, None, functools.partial(sdpa_calls, shape, device, 0.0)
        return
    for dropout in (0.0, DROPOUT):
        yield "FlashAttention-2", dropout, None, functools.partial(flash_calls, shape, device, dropout, None)
        yield "cuDNN", dropout, None, functools.partial(sdpa_calls, shape, device, dropout)
    if shape[1] > 2 * WINDOW + 1:
        yield "FlashAttention-2", 0.0, WINDOW, functools.partial(flash_calls, shape, device, 0.0, WINDOW)


def main(file, device):
    # Otherwise PyTorch fills all new tensors in deterministic mode, which would be timed too.
    torch.utils.deterministic.fill_uninitialized_memory = False
    found = {"torch": torch.__version__, "rows": []}
    for shape in SHAPES if device == "cuda" else TINY_SHAPES:
        sequences, tokens, heads = shape
        for kernels, dropout, window, calls in cases(shape, device):
            keys = tokens if window is None else min(tokens, 2 * window + 1)
            row = {"shape": shape, "kernels": kernels, "dropout": dropout, "window": window,
                   "forward_flops": 4.0 * sequences * tokens * keys * heads * SIZE}
            with sdpa_kernel(SDPBackend.CUDNN_ATTENTION) if kernels == "cuDNN" else contextlib.nullcontext():
                time_passes(row, device, calls)
            found["rows"].append(row)
            save(file, found)
        print(*shape, "done", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])

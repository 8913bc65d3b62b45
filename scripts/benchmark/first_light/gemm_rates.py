"""Times the twelve GEMMs of an encoder layer in bf16 and in fp8 (torch._scaled_mm), and the rate of a large GEMM that is repeated for
seconds. The data are random, because a GPU's power and thus its clock depend on them. Writes FILE (JSON) after each measurement.
Usage: gemm_rates.py FILE cuda|cpu"""
import functools
import statistics
import subprocess
import sys

import torch

from timed_windows import first_line, host_milliseconds, median_milliseconds, save, window_milliseconds

E4M3, E5M2, BF16, FP32 = torch.float8_e4m3fn, torch.float8_e5m2, torch.bfloat16, torch.float32
QUERIES = ("clocks.sm", "power.draw", "temperature.gpu")
BLOCK = 128


def layer(hidden, into_feed_forward, from_feed_forward):
    """Returns {linear layer: (inputs, outputs)}. A gated feed-forward part has twice as many outputs as its second layer has inputs."""
    return {"qkv": (hidden, 3 * hidden), "out": (hidden, hidden), "up": (hidden, into_feed_forward), "down": (from_feed_forward, hidden)}


MODELS = {  # name: (tokens of a pass, linear layers)
    "BERT-Large": (49152, layer(1024, 4096, 4096)),
    "BERT 1.5B": (49152, layer(1600, 6400, 6400)),
    "ModernBERT-base": (131072, layer(768, 2304, 1152)),
}
TINY_MODELS = {"tiny": (64, layer(32, 64, 64)), "tiny, gated": (64, layer(32, 96, 48))}


def append_driver_facts(facts, device):
    """Appends {query: value} of the first GPU; {} without an answer from nvidia-smi."""
    command, lines = ["nvidia-smi", f"--query-gpu={','.join(QUERIES)}", "--format=csv,noheader"], []
    if device == "cuda":
        try:
            lines = subprocess.run(command, capture_output=True, text=True, timeout=5).stdout.splitlines()
        except (OSError, subprocess.TimeoutExpired):
            pass
    facts.append(dict(zip(QUERIES, map(str.strip, lines[0].split(",")))) if lines else {})


def scaled(a, b, fast, out, scales=None):
    """Returns a call of the fp8 GEMM a b. Without scales, one for each tensor."""
    one = torch.ones((), device=a.device)
    return functools.partial(torch._scaled_mm, a, b, *(scales or (one, one)), out_dtype=out, use_fast_accum=fast)


def sustained_rates(device):
    """Returns, in bf16 and in fp8, the rates of a large GEMM by windows of about 100 ms, after a second of the same work."""
    side, window, windows = (8192, 0.1, 30) if device == "cuda" else (256, 0.005, 3)
    a, b = (torch.randn(side, side, device=device, dtype=BF16) for _ in range(2))
    calls = {"bf16": (functools.partial(torch.mm, a, b, out=torch.empty_like(a)), windows),
             "fp8": (scaled(a.to(E4M3), b.to(E4M3).t(), True, BF16), windows // 3)}
    rates = {"side": side}
    for name, (call, count) in calls.items():
        facts = []
        try:
            window_milliseconds(call, device, window, count // 3)
            measured = window_milliseconds(call, device, window, count, functools.partial(append_driver_facts, facts, device))
        except Exception as error:  # this GPU or PyTorch lacks it
            rates[name] = {"error": first_line(error)}
            continue
        tflops = [2e-9 * side**3 / one for one in measured]
        rates[name] = {"best_tflops": max(tflops), "median_tflops": statistics.median(tflops), "last_tflops": tflops[-1],
                       "driver": facts[0]}
    return rates


def operands(kind, tokens, inputs, outputs, device):
    """Returns the matrices of out = left right, with the strides that they have in training."""
    x, weight, gradient = ((tokens, inputs), (outputs, inputs), (tokens, outputs))
    left, right = {"forward": (x, weight), "dgrad": (gradient, weight), "wgrad": (gradient, x)}[kind]
    left, right = (torch.randn(shape, device=device, dtype=BF16) for shape in (left, right))
    return left.t() if kind == "wgrad" else left, right.t() if kind == "forward" else right


def variants(kind, left, right, device):
    """Yields (name, call) for each way to compute left right. The left matrix of dgrad and wgrad is a gradient: e5m2."""
    out = FP32 if kind == "wgrad" else BF16
    yield "bf16", functools.partial(torch.mm, left, right, **({"out_dtype": FP32} if out is FP32 and device == "cuda" else {}))
    a, b = left.contiguous(), right.t().contiguous()  # Hopper's fp8 GEMM needs both with the inner dimension contiguous
    a8, b8, ones = a.to(E4M3 if kind == "forward" else E5M2), b.to(E4M3).t(), functools.partial(torch.ones, device=device)
    yield "fast", scaled(a8, b8, True, out)
    yield "exact", scaled(a8, b8, False, out)
    yield "rowwise", scaled(a8, b8, True, BF16, (ones(a.shape[0], 1), ones(1, b.shape[0])))
    blocks = -(-a.shape[1] // BLOCK)
    yield "1x128", scaled(a.to(E4M3), b8, False, BF16, (ones(blocks, a.shape[0]).t(), ones(blocks, b.shape[0])))


def time_model(name, tokens, layers, device, found, file):
    window = 0.045 if device == "cuda" else 0.002
    for layer_name, (inputs, outputs) in layers.items():
        for kind in ("forward", "dgrad", "wgrad"):
            left, right = operands(kind, tokens, inputs, outputs, device)
            flops = 2.0 * tokens * inputs * outputs
            for variant, call in variants(kind, left, right, device):
                row = {"model": name, "layer": layer_name, "kind": kind, "variant": variant, "flops": flops,
                       "shape": [left.shape[0], right.shape[1], left.shape[1]]}
                try:
                    row["milliseconds"] = median_milliseconds(call, device, window)
                    row["host_milliseconds"] = host_milliseconds(call, device)
                except Exception as error:
                    row["error"] = first_line(error)
                found["rows"].append(row)
                save(file, found)


def main(file, device):
    torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False  # as our program
    found = {"torch": torch.__version__, "rows": []}
    found["sustained"] = sustained_rates(device)
    save(file, found)
    for name, (tokens, layers) in (MODELS if device == "cuda" else TINY_MODELS).items():
        time_model(name, tokens, layers, device, found, file)
        print(name, "done", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])

"""Stage `device`: prints facts about the device, its bf16 GEMM rate on random data, and its copy rate."""
import json
import sys

from programs import can_import

from .stage import FAILED, PASSED, UNAVAILABLE, Result, block, table


def run(stage):
    if not can_import("torch"):
        return Result(UNAVAILABLE, f"{sys.executable} cannot import PyTorch, which this stage needs to measure the device")
    done = stage.run_python("first_light/device_facts.py", stage.device)
    if done.code != 0:
        return Result(done.status, "PyTorch could not use the device", {}, block(done.tail()))
    facts = json.loads(done.output)
    gemm, copy = facts["gemm_flops_per_second"] / 1e12, facts["copy_bytes_per_second"] / 1e9
    rows = [(key.replace("_", " "), f"{value:.4g}" if isinstance(value, float) else value)
            for key, value in facts.items() if not isinstance(value, dict)]
    rows += [(f"{key} {when}", value) for when, part in (("at rest", "driver"), ("during GEMMs", "during_gemm"))
             for key, value in facts.get(part, {}).items()]
    summary = f"{facts['name']}: bf16 GEMM of {facts['gemm_side']}: {gemm:.1f} TFLOP/s, copy {copy:.0f} GB/s (read + written)"
    return Result(PASSED if gemm > 0 else FAILED, summary, facts, table(("fact", "value"), rows))

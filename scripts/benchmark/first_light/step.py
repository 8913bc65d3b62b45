"""Stages `step` and `step512`: device_step.py, with fewer rounds. Sides that compile come last."""
from programs import can_import

from .stage import FAILED, PASSED, TIMED_OUT, Result, block, read_json, table

SIDES = ["ours", "ours-real-lengths", "hf", "strongest", "strongest-real-lengths", "hf-compile"]


def options(stage, length, sides):
    if not stage.on_gpu:
        return ["--size", "tiny", "--micro-batch", 2, "--accumulation", 2, "--steps", 1, "--rounds", 1, "--threads", 2,
                "--sides", *[side for side in sides if "compile" not in side and "strongest" not in side]]
    micro_batch, accumulation, at_once = (16, 24, [96]) if length == 128 else (8, 12, [24])
    return ["--micro-batch", micro_batch, "--accumulation", accumulation, "--steps", 5, "--rounds", 2 if stage.remaining() > 180 else 1,
            "--compile", "layers", "--strongest-micro-batches", *at_once, "--sides", *sides]


def run(stage, length):
    file = stage.folder / "device_step.json"
    file.unlink(missing_ok=True)
    needs = {"ours": (), "hf": ("torch", "transformers"), "strongest": ("torch",)}
    possible = [side for side in SIDES if can_import(*needs[side.split("-")[0]])]
    done = stage.run_python("device_step.py", "--device", stage.device, "--length", length, "--json", file,
                            "--side-limit", round(stage.remaining() / 2), *options(stage, length, possible))
    found = read_json(file)
    sides = found.get("sides", {})
    rows = []
    for side, one in sides.items():
        share, flops = one.get("share_of_roof"), one.get("model_tflops")
        rows.append((side, f"{one['sequences_per_second']:.1f}", f"{flops:.4g}" if flops else "", f"{share:.3f}" if share else "",
                     f"{one['device_bytes'] / 2**30:.1f}", one.get("micro_batch", ""), f"{one.get('first_side_is_faster_by', 0):.2f}")
                    if "sequences_per_second" in one else (side, "failed", "", "", "", "", one["error"].strip().splitlines()[-1]))
    text = table(("side", "sequences/s", "TFLOP/s of the model", "share of the GEMM rate", "GiB", "sequences per pass",
                  "ours / it"), rows) + block((done.output + "\n" + done.tail(30)) if done.code != 0 else done.output)
    timed = {side: one for side, one in sides.items() if "sequences_per_second" in one}
    left_out = [side for side in SIDES if side not in possible]
    summary = ", ".join(f"{side} {one['sequences_per_second']:.1f} seq/s" + (f" ({one['share_of_roof']:.3f})" if one.get("share_of_roof")
                        else "") for side, one in timed.items())
    if left_out:
        summary += f"; left out, because this Python lacks their packages: {', '.join(left_out)}"
    status = PASSED if done.code == 0 else TIMED_OUT if done.code is None else FAILED
    return Result(status, summary or "no side was timed", found, text)


def run_128(stage):
    return run(stage, 128)


def run_512(stage):
    return run(stage, 512)

"""Stages that run device_step.py with fewer rounds: of BERT-Large, and of ModernBERT. Sides that compile come last."""
from programs import can_import

from .stage import Result, block, read_json, table

NARROW = ["ours-bf16-residual", "ours-fp8", "ours-fp8-bf16-residual"]
OTHERS = [*NARROW, "ours-real-lengths", "hf", "strongest", "strongest-real-lengths", "hf-compile"]
SIDES = ["ours", "ours-unmerged", "ours-unmerged-early", *OTHERS]
LONG_SIDES = ["ours", "ours-warpgroup", *OTHERS]
MODERN_SIDES = ["ours", "ours-warpgroup", *NARROW, "hf-flash", "strongest"]


def rounds(stage):
    return "--rounds", 2 if stage.remaining() > 180 else 1


def options(stage, length, sides):
    if not stage.on_gpu:
        return ["--size", "tiny", "--length", length, "--micro-batch", 2, "--accumulation", 2, "--steps", 1, "--rounds", 1,
                "--threads", 2, "--sides", *[side for side in sides if "compile" not in side and "strongest" not in side]]
    micro_batch, accumulation, at_once = (16, 24, [96, 384]) if length == 128 else (8, 12, [24, 96])
    return ["--length", length, "--micro-batch", micro_batch, "--accumulation", accumulation, "--steps", 5, *rounds(stage),
            "--compile", "layers", "--strongest-micro-batches", *at_once, "--sides", *sides]


def modern_options(stage, size, length, sides, micro_batch, at_once):
    """Returns options for ModernBERT with 8 micro-batches per step. `at_once` are the sequences per pass that strongest tries."""
    if not stage.on_gpu:
        return ["--size", "modernbert_tiny", "--length", 256, "--micro-batch", 2, "--accumulation", 2, "--steps", 1, "--rounds", 1,
                "--threads", 2, "--compile", "layers", "--strongest-micro-batches", 4,
                "--sides", *[side for side in sides if "compile" not in side]]
    return ["--size", size, "--length", length, "--micro-batch", micro_batch, "--accumulation", 8, "--steps", 4, *rounds(stage),
            "--compile", "layers", "--strongest-micro-batches", *at_once, "--sides", *sides]


def row(side, one):
    if "sequences_per_second" not in one:
        return side, "failed", "", "", "", "", "", one["error"].strip().splitlines()[-1]
    share, flops = one["share_of_roof"], one["model_tflops"]
    return (side, f"{one['sequences_per_second']:.1f}", f"{one['tokens_per_second']:.0f}", f"{flops:.4g}" if flops else "",
            f"{share:.3f}" if share else "", f"{one['device_bytes'] / 2**30:.1f}", one.get("micro_batch", ""),
            f"{one.get('first_side_is_faster_by', 0):.2f}")


def summary_of(sides, left_out):
    rates = []
    for side, one in sides.items():
        if "sequences_per_second" in one:
            share = f" ({one['share_of_roof']:.3f})" if one["share_of_roof"] else ""
            rates.append(f"{side} {one['sequences_per_second']:.1f} seq/s{share}")
    summary = ", ".join(rates) or "no side was timed"
    return summary + (f"; skipped, because this Python lacks their packages: {', '.join(left_out)}" if left_out else "")


def run(stage, all_sides, options_of):
    """Runs device_step.py with the options that `options_of` returns for the sides that this Python can run."""
    file = stage.folder / "device_step.json"
    file.unlink(missing_ok=True)
    needs = {"ours": (), "hf": ("torch", "transformers"), "strongest": ("torch",)}
    possible = [side for side in all_sides if can_import(*needs[side.split("-")[0]])]
    done = stage.run_python("device_step.py", "--device", stage.device, "--json", file, "--side-limit", round(stage.remaining() / 2),
                            *options_of(possible))
    found = read_json(file)
    sides = found.get("sides", {})
    titles = ("side", "sequences/s", "tokens/s", "TFLOP/s of the model", "share of the GEMM rate", "GiB", "sequences per pass", "ours / it")
    text = table(titles, [row(side, one) for side, one in sides.items()])
    text += block(done.output if done.code == 0 else done.output + "\n" + done.tail(30))
    return Result(done.status, summary_of(sides, [side for side in all_sides if side not in possible]), found, text)


def run_128(stage):
    return run(stage, SIDES, lambda sides: options(stage, 128, sides))


def run_512(stage):
    return run(stage, LONG_SIDES, lambda sides: options(stage, 512, sides))


def run_modernbert_1024(stage):
    """131,072 tokens per step, as in the other two stages of ModernBERT."""
    return run(stage, [*MODERN_SIDES, "hf-compile"], lambda sides: modern_options(stage, "modernbert_base", 1024, sides, 16, [32, 64]))


def run_modernbert_8192(stage):
    return run(stage, MODERN_SIDES, lambda sides: modern_options(stage, "modernbert_base", 8192, sides, 2, [4, 8]))


def run_modernbert_large(stage):
    return run(stage, MODERN_SIDES, lambda sides: modern_options(stage, "modernbert_large", 1024, sides, 16, [32]))

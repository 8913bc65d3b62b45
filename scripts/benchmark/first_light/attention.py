"""Stage `attention`: attention_rates.py, the times of libtorch's FlashAttention-2 and of cuDNN's attention. Stage `modern_parts` times ours."""
import sys

from programs import can_import

from .stage import FAILED, PASSED, UNAVAILABLE, Result, block, read_json, table

BACKWARD = 2.5  # a backward pass has five GEMMs where the forward pass has two
TITLES = ("sequences x tokens x heads", "kernels", "dropout", "window, each side", "forward, ms", "TFLOP/s", "backward, ms", "TFLOP/s",
          "deterministic backward, ms", "TFLOP/s")
PASSES = (("forward", 1.0), ("backward", BACKWARD), ("deterministic_backward", BACKWARD))


def cells(row):
    """Returns ms and TFLOP/s of each pass that was timed."""
    for name, factor in PASSES:
        milliseconds = row.get(f"{name}_milliseconds")
        yield from (f"{milliseconds:.3f}", f"{1e-9 * factor * row['forward_flops'] / milliseconds:.3g}") if milliseconds else ("", "")


def rate(row):
    """Returns TFLOP/s of forward and backward pass together."""
    return 1e-9 * (1 + BACKWARD) * row["forward_flops"] / (row["forward_milliseconds"] + row["backward_milliseconds"])


def run(stage):
    if not can_import("torch"):
        return Result(UNAVAILABLE, f"{sys.executable} cannot import PyTorch, which this stage times")
    file = stage.folder / "attention_rates.json"
    file.unlink(missing_ok=True)
    done = stage.run_python("first_light/attention_rates.py", file, stage.device)
    found = read_json(file)
    rows = found.get("rows", [])
    text = table(TITLES, [("x".join(map(str, row["shape"])), row["kernels"], row["dropout"], row["window"] or "", *cells(row))
                          for row in rows])
    text += "\n" + table(("sequences x tokens x heads", "kernels", "dropout", "why it was not timed"),
                         [("x".join(map(str, row["shape"])), row["kernels"], row["dropout"], row["error"].replace("|", "/"))
                          for row in rows if "error" in row])
    timed = [row for row in rows if "backward_milliseconds" in row]
    rates = [f"{row['shape'][1]} tokens: {row['kernels']} {rate(row):.3g}" for row in timed if row["dropout"] == 0 and not row["window"]]
    summary = f"TFLOP/s without dropout, both passes: {', '.join(rates)}" if rates else "nothing was timed"
    status = FAILED if done.status == PASSED and not timed else done.status
    return Result(status, summary, found, text + ("" if done.code == 0 else block(done.tail())))

"""Stages `sweep` and `memory`: the rate of our step by the number of sequences per pass, and its memory against `plan`'s estimate."""
from .stage import FAILED, PASSED, TIMED_OUT, Result, block, read_json, table

GIB = 2**30


def measure(stage, steps, passes):
    """Returns {sequences per pass, or auto: its numbers}, and the finished command."""
    file = stage.folder / "passes.json"
    file.unlink(missing_ok=True)
    shape = ("large", 16, 24) if stage.on_gpu else ("tiny", 2, 4)
    done = stage.run_python("first_light/time_passes.py", file, stage.device, *shape, steps, round(stage.remaining() / 2), *passes)
    return read_json(file), done


def result(found, done, summary, data):
    status = TIMED_OUT if done.code is None else PASSED if done.code == 0 and all("error" not in one for one in found.values()) else FAILED
    rows = []
    for name, one in found.items():
        if "error" in one:
            rows.append((name, one["error"].splitlines()[-1], "", "", ""))
            continue
        plan = one["planned_bytes"]
        rows.append((name, f"{one['sequences_per_second']:.1f}", f"{one['bytes'] / GIB:.2f}", f"{plan / GIB:.2f}" if plan else "",
                     f"{plan / one['bytes'] - 1:+.1%}" if plan and one["bytes"] else ""))
    text = table(("sequences per pass", "sequences/s", "GiB measured", "GiB planned", "error"), rows)
    return Result(status, summary, {"passes": found, **data}, text + ("" if done.code == 0 else block(done.tail())))


def run_sweep(stage):
    found, done = measure(stage, 3, (0, 16, 32, 64, 96, 192, 384) if stage.on_gpu else (0, 2, 4, 8))
    rates = {name: one["sequences_per_second"] for name, one in found.items() if "error" not in one}
    if not rates:
        return result(found, done, "nothing was timed", {})
    best = max(rates, key=rates.get)
    summary = f"best: {best} sequences per pass, {rates[best]:.1f} seq/s"
    if "auto" in rates:
        summary += f"; auto {rates['auto'] / rates[best]:.3f} of it"
    smallest = next((name for name in rates if name != "auto"), None)
    if smallest:
        summary += f"; {smallest} {rates[smallest] / rates[best]:.3f} of it"
    return result(found, done, summary, {"best": best})


def run_memory(stage):
    found, done = measure(stage, 6, (16, 96) if stage.on_gpu else (2, 8))
    errors = {name: one["planned_bytes"] / one["bytes"] - 1 for name, one in found.items() if one.get("planned_bytes") and one.get("bytes")}
    summary = ", ".join(f"{name} per pass: planned {error:+.1%}" for name, error in errors.items()) or "nothing was measured"
    return result(found, done, summary, {"errors": errors})

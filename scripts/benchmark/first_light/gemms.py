"""Stage `gemms`: gemm_rates.py, the GEMMs of an encoder layer in bf16 and in fp8, with the rate that the device sustains."""
import sys

from programs import can_import

from .stage import FAILED, PASSED, UNAVAILABLE, Result, block, read_json, table

KINDS = ("forward", "dgrad", "wgrad")
RECIPES = {  # name: the variant of gemm_rates.py for forward, dgrad and wgrad
    "bf16": ("bf16", "bf16", "bf16"),
    "fp8, fast accumulation": ("fast", "fast", "fast"),
    "fp8, exact gradients": ("fast", "exact", "exact"),  # Transformer Engine's default
    "fp8, exact": ("exact", "exact", "exact"),
    "fp8, a scale per row": ("rowwise", "rowwise", "rowwise"),
    "fp8, a scale per 1x128": ("1x128", "1x128", "1x128"),
}
TITLES = ("model", "recipe", "GEMMs", "ms per layer", "TFLOP/s", "share of the sustained bf16 rate", "times as fast as bf16", *KINDS)


def ratio(rows, bf16):
    """Returns how many times as fast as in bf16 these GEMMs are together, or None without rows."""
    return sum(bf16[key] for key, _ in rows) / sum(one["milliseconds"] for _, one in rows) if rows else None


def of_recipe(timed, bf16, variants):
    """Returns the numbers of a layer by one recipe, over the GEMMs that were timed with it and in bf16."""
    chosen = dict(zip(KINDS, variants))
    rows = [((one["layer"], one["kind"]), one) for one in timed if one["variant"] == chosen[one["kind"]]]
    rows = [(key, one) for key, one in rows if key in bf16]
    if not rows:
        return None
    milliseconds = sum(one["milliseconds"] for _, one in rows)
    return {"gemms": len(rows), "milliseconds": milliseconds, "tflops": 1e-9 * sum(one["flops"] for _, one in rows) / milliseconds,
            "ratio": ratio(rows, bf16), "ratios": {kind: ratio([row for row in rows if row[0][1] == kind], bf16) for kind in KINDS}}


def summarize(rows):
    """Returns {model: {recipe: numbers}}."""
    found = {}
    for model in dict.fromkeys(row["model"] for row in rows):
        timed = [row for row in rows if row["model"] == model and "milliseconds" in row]
        bf16 = {(one["layer"], one["kind"]): one["milliseconds"] for one in timed if one["variant"] == "bf16"}
        recipes = {name: of_recipe(timed, bf16, variants) for name, variants in RECIPES.items()}
        found[model] = {name: numbers for name, numbers in recipes.items() if numbers}
    return found


def recipe_table(models, sustained):
    def cells(numbers):
        ratios = [numbers["ratio"], *numbers["ratios"].values()]
        return (numbers["gemms"], f"{numbers['milliseconds']:.3f}", f"{numbers['tflops']:.4g}",
                f"{numbers['tflops'] / sustained:.3f}" if sustained else "", *("" if one is None else f"{one:.2f}" for one in ratios))
    return table(TITLES, [(model, name, *cells(numbers)) for model, recipes in models.items() for name, numbers in recipes.items()])


def gemm_table(rows):
    """TFLOP/s of each GEMM by variant."""
    names, gemms = list(dict.fromkeys(row["variant"] for row in rows)), {}
    for row in rows:
        key = row["model"], row["layer"], row["kind"], "x".join(map(str, row["shape"]))
        rate = f"{1e-9 * row['flops'] / row['milliseconds']:.4g}" if "milliseconds" in row else "not supported"
        gemms.setdefault(key, {})[row["variant"]] = rate
    return table(("model", "layer", "GEMM", "M x N x K", *names),
                 [(*key, *(one.get(name, "") for name in names)) for key, one in gemms.items()])


def sustained_table(sustained):
    rows = []
    for name, one in sustained.items():
        if isinstance(one, dict):
            numbers = (one["error"], "", "", "") if "error" in one else (
                *(f"{one[key]:.4g}" for key in ("median_tflops", "best_tflops", "last_tflops")), ", ".join(one["driver"].values()))
            rows.append((name, *numbers))
    return table((f"GEMM of {sustained.get('side', '')}, repeated", "TFLOP/s, median of the windows", "best window", "last window",
                  "clock, power, temperature"), rows)


def errors_table(rows):
    errors = dict.fromkeys((row["variant"], row["error"]) for row in rows if "error" in row)
    return table(("variant", "why it was not timed"), [(name, text.replace("|", "/")) for name, text in errors])


def host_note(rows):
    """Returns a sentence about the GEMMs that the host may have slowed down."""
    slow = [row for row in rows if row.get("host_milliseconds", 0) > 0.8 * row.get("milliseconds", 1)]
    names = ", ".join(f"{row['model']} {row['layer']} {row['kind']} {row['variant']}" for row in slow)
    return f"The host needs more than 0.8 of the GEMM's own time to queue it, and may limit its rate: {names}.\n" if slow else ""


def run(stage):
    if not can_import("torch"):
        return Result(UNAVAILABLE, f"{sys.executable} cannot import PyTorch, which this stage times")
    file = stage.folder / "gemm_rates.json"
    file.unlink(missing_ok=True)
    done = stage.run_python("first_light/gemm_rates.py", file, stage.device)
    found = read_json(file)
    rows, sustained = found.get("rows", []), found.get("sustained", {})
    rate = sustained.get("bf16", {}).get("median_tflops")
    models = summarize(rows)
    parts = [f"{model} {numbers['ratio']:.2f}" for model, recipes in models.items() for name, numbers in recipes.items()
             if name == "fp8, fast accumulation"]
    summary = f"sustained bf16 rate {rate:.4g} TFLOP/s" if rate else "no rate was measured"
    summary += f"; a layer's GEMMs in fp8, times as fast as in bf16: {', '.join(parts)}" if parts else "; fp8 was not timed"
    complete = bool(models) and all(recipes.get("bf16", {}).get("gemms") == 12 for recipes in models.values())
    text = "\n".join((sustained_table(sustained), recipe_table(models, rate), gemm_table(rows), errors_table(rows),
                      host_note(rows) if stage.on_gpu else ""))
    status = FAILED if done.status == PASSED and not complete else done.status
    return Result(status, summary, {**found, "models": models}, text + ("" if done.code == 0 else block(done.tail())))

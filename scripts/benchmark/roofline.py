"""Times the parts of our training step: measures the processor's peak rate, every matmul and every fused operation by itself, in turns,
and compares their sum with a real step. Prints tables, draws a chart. Called by roofline.sh."""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile

from programs import program, program_environment
from training_runs import MODERN_SIZES, MODERN_VOCABULARY, PREDICTIONS, SIZES, experiment, masked_positions, run_ours, sample_rows, write_shard

COLORS = {"products": "#1f77b4", "attention": "#ff7f0e", "LayerNorm": "#2ca02c", "GELU": "#9467bd", "rotation": "#17becf", "update": "#8c564b",
          "embeddings": "#e377c2", "loss": "#bcbd22", "rest": "#7f7f7f"}


def real_step(arguments):
    """Returns the median seconds of a step of one micro-batch, run as in step.sh and device_step.sh."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_shard(folder, sample_rows(arguments.micro_batch, 0.0, arguments.length,
                                        predictions=masked_positions(arguments.size, arguments.length)))
        settings = experiment(arguments.size, arguments.micro_batch, folder, arguments.length)
        settings["training"]["device"] = arguments.device
        config = folder / "experiment.json"
        config.write_text(json.dumps(settings))
        return statistics.median(run_ours(config, folder, arguments.steps, arguments.threads)["seconds"])


def shape_of(arguments):
    """Returns the shape of a pass, as time_parts reads it."""
    shape = {"device": arguments.device, "rounds": arguments.rounds, "sequences": arguments.micro_batch, "length": arguments.length,
             "masked": masked_positions(arguments.size, arguments.length)}
    if arguments.size in MODERN_SIZES:
        layers, hidden, heads, intermediate, global_every = MODERN_SIZES[arguments.size]
        shape |= {"vocabulary": MODERN_VOCABULARY, "global_every": global_every}
    else:
        layers, hidden, heads = SIZES[arguments.size]
        intermediate = 4 * hidden
    return shape | {"layers": layers, "hidden": hidden, "heads": heads, "intermediate": intermediate}


def timed_parts(arguments):
    return json.loads(subprocess.run([program("time_parts"), json.dumps(shape_of(arguments))], check=True, stdout=subprocess.PIPE, text=True,
                                     env=program_environment(OMP_NUM_THREADS=str(arguments.threads))).stdout)


def print_roofs(timed):
    print("multiply-add                   before     after   TFLOP/s")
    for name, before in timed["roofs_before"].items():
        after = timed["roofs_after"][name]
        print(f"  {name:24} {before / 1e12:10.3f} {after / 1e12:9.3f}" if before else f"  {name:24}          - not supported by this processor")
    return max(max(timed["roofs_before"].values()), max(timed["roofs_after"].values()))


def print_candidates(timed, roof):
    print("\nmatmuls, GFLOP/s (the same operands, in turns)      ours   oneDNN      MKL    ours / best   ours / roof")
    for row in timed["candidates"]:
        rate = {side: row["flops"] / row[side] / 1e9 for side in ("ours", "oneDNN", "MKL")}
        best = max(rate["oneDNN"], rate["MKL"])
        print(f"  {row['name']:44} {rate['ours']:9.1f} {rate['oneDNN']:8.1f} {rate['MKL']:8.1f} {rate['ours'] / best:14.2f} "
              f"{rate['ours'] * 1e9 / roof:13.2f}")


def print_parts(parts, step, roof):
    print("\npart                                            calls   ms each   ms a step   share      rate")
    for part in sorted(parts, key=lambda p: -p["calls"] * p["seconds"]):
        rate = (f"{part['flops'] / part['seconds'] / 1e9:7.1f} GFLOP/s" if part["flops"] else
                f"{part['bytes'] / part['seconds'] / 1e9:7.1f} GB/s")
        in_step = part["calls"] * part["seconds"]
        print(f"  {part['name']:44} {part['calls']:6.0f} {part['seconds'] * 1e3:9.2f} {in_step * 1e3:11.1f}  {in_step / step:6.1%}   {rate}")


def print_undisturbed(products, roof):
    """Prints how fast those matmuls were that were timed while no other process computed on the same physical cores."""
    calls = [part["undisturbed_calls"] for part in products]
    if not any(calls):
        return
    timed = [part for part in products if part["undisturbed_calls"]]
    flops = sum(part["calls"] * part["flops"] for part in timed)
    seconds = sum(part["calls"] * part["undisturbed_seconds"] for part in timed)
    print(f"undisturbed by neighbours on the same physical cores: {flops / seconds / 1e9:.1f} GFLOP/s, {flops / seconds / roof:.3f} of the "
          f"roof, by {len(timed)} of {len(products)} matmuls, each timed {min(filter(None, calls))} to {max(calls)} times then")


def groups_of(parts, step):
    groups = {}
    for part in parts:
        groups[part["group"]] = groups.get(part["group"], 0) + part["calls"] * part["seconds"]
    groups["rest"] = step - sum(groups.values())
    return dict(sorted(groups.items(), key=lambda g: -g[1]))


def picture(groups, step, title):
    """Returns an SVG chart with one bar per group and its share of the step."""
    width, bar = 900, 620
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{70 + 22 * len(groups)}" font-family="sans-serif" '
           f'font-size="13"><rect width="100%" height="100%" fill="white"/><text x="10" y="20">{title}</text>']
    at = 10.0
    for row, (name, seconds) in enumerate(groups.items()):
        length = max(0.0, seconds / step * bar)
        y, color = 56 + 22 * row, COLORS.get(name, "black")
        out.append(f'<rect x="{at:.1f}" y="{y}" width="{max(length, 1):.1f}" height="16" fill="{color}"/>'
                   f'<text x="{bar + 30}" y="{y + 13}">{name}: {seconds * 1e3:.0f} ms, {seconds / step:.1%}</text>')
        at += length
    out.append(f'<text x="10" y="44" fill="#555">a step of {step * 1e3:.0f} ms</text></svg>')
    return "\n".join(out)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", choices=["small", "base", "large", "1.5b", *MODERN_SIZES], default="large")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--micro-batch", type=int, default=16, help="sequences computed at once")
    parser.add_argument("--length", type=int, default=128, help="tokens per sequence; with a BERT 128 or 512")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--picture", type=pathlib.Path, help="writes the chart (SVG) to this file")
    parser.add_argument("--json", type=pathlib.Path, help="writes the times to this file, those of the parts before the last real step")
    arguments = parser.parse_args()
    if arguments.size in SIZES and arguments.length not in PREDICTIONS:
        parser.error(f"--length {arguments.length}: expected 128 or 512 with --size {arguments.size}")
    step_before = real_step(arguments)
    timed = timed_parts(arguments)
    if arguments.json:
        arguments.json.write_text(json.dumps({"step_seconds": step_before, **timed}))
    step = statistics.mean([step_before, real_step(arguments)])
    if arguments.json:
        arguments.json.write_text(json.dumps({"step_seconds": step, **timed}))
    title = f"{arguments.size}, {arguments.micro_batch} x {arguments.length}, bf16, " + (
        "a GPU" if arguments.device == "cuda" else f"{timed['threads']} threads")
    print(f"{title}, medians of {arguments.rounds} rounds; a step takes {step * 1e3:.0f} ms")
    roof = print_roofs(timed)
    if "candidates" in timed:
        print_candidates(timed, roof)
    print_parts(timed["parts"], step, roof)
    groups = groups_of(timed["parts"], step)
    products = [part for part in timed["parts"] if part["group"] == "products"]
    flops = sum(part["calls"] * part["flops"] for part in products)
    in_products = sum(part["calls"] * part["seconds"] for part in products)
    update = {part["name"]: part["bytes"] / part["seconds"] for part in timed["parts"] if part["group"] == "update"}
    copy = next(rate for name, rate in update.items() if name.startswith("copy"))
    print("\n" + "\n".join(f"  {name:12} {seconds * 1e3:9.1f} ms  {seconds / step:6.1%}" for name, seconds in groups.items()))
    print(f"\nmatmuls: {flops / in_products / 1e9:.1f} GFLOP/s, {flops / in_products / roof:.3f} of the roof; "
          f"the step: {flops / step / 1e9:.1f} GFLOP/s of matmuls, {flops / step / roof:.3f} of the roof; "
          f"AdamW: {update['AdamW'] / copy:.2f} of copy bandwidth ({copy / 1e9:.1f} GB/s)")
    print_undisturbed(products, roof)
    if arguments.picture:
        arguments.picture.write_text(picture(groups, step, f"{title}: the parts of a training step"))


if __name__ == "__main__":
    main()

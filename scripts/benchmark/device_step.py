"""Times our training step on a GPU and PyTorch's, A B A B in one run: bf16, AdamW, 16 x 24 sequences per step on all sides; BERT with
dropout 0.1, ModernBERT without dropout. Prints rates, ratios, TFLOP/s of model FLOPs and their share of the measured GEMM rate. Called by
device_step.sh."""
import argparse
import json
import pathlib
import statistics
import sys
import tempfile

from torch_process import TorchProcess
from training_runs import MODERN_SIZES, PREDICTIONS, SIZES, SideFailed, experiment, masked_positions, run_ours, sample_rows, write_shard

# name: (implementation, with padding). ours-unmerged computes each micro-batch by itself; see also SETTINGS. hf uses SDPA; hf-flash is Hugging Face's
# ModernBERT with libtorch's flash kernel, which supports the window of local layers.
SIDES = {
    "ours": ("ours", False), "ours-real-lengths": ("ours", True), "ours-bf16-residual": ("ours", False),
    "ours-fp8": ("ours", False), "ours-fp8-bf16-residual": ("ours", False), "ours-warpgroup": ("ours", False),
    "ours-unmerged": ("ours", False), "ours-unmerged-early": ("ours", False),
    "hf": ("hf", False), "hf-compile": ("hf-compile", False), "hf-real-lengths": ("hf", True),
    "hf-flash": ("hf-flash", False), "hf-flash-compile": ("hf-flash-compile", False),
    "strongest": ("strongest", False), "strongest-real-lengths": ("strongest", True)}
# what sides set under "training": those that round more, other kernels, and other launches
SETTINGS = {"ours-bf16-residual": {"residual_dtype": "bf16"}, "ours-fp8": {"fp8_matmuls": True},
            "ours-fp8-bf16-residual": {"fp8_matmuls": True, "residual_dtype": "bf16"}, "ours-warpgroup": {"gpu_kernels": "warpgroup"},
            "ours-unmerged-early": {"early_launches": True}}
CHECKED = ("strongest", "hf-flash", "hf-flash-compile")  # implementations that are compared with Hugging Face's model before they are timed


class Contest:
    """The input data, and for each side its results: seconds of its steps, memory, micro-batch, or why it failed."""

    def __init__(self, arguments, folder, torch):
        self.arguments, self.folder, self.torch = arguments, folder, torch
        self.sequences = arguments.micro_batch * arguments.accumulation
        self.sides, self.records, self.roof, self.checked, self.tokens = {}, {}, None, False, {}
        for padded in (False, True):
            shards = folder / str(padded)
            shards.mkdir()
            rows = sample_rows(self.sequences, arguments.padding * padded, arguments.length,
                               predictions=masked_positions(arguments.size, arguments.length))
            write_shard(shards, rows)
            self.tokens[padded] = sum(map(sum, rows["input_mask"])) / self.sequences  # of a sequence, without padding

    def ours(self, side, padded):
        settings = experiment(self.arguments.size, self.arguments.micro_batch, self.folder / str(padded), self.arguments.length)
        settings["batch"]["gradient_accumulation_steps"] = self.arguments.accumulation
        if side.startswith("ours-unmerged"):
            settings["batch"]["device_micro_batch"] = self.arguments.micro_batch
        settings["training"] |= SETTINGS.get(side, {})
        settings["training"]["device"] = self.arguments.device
        file = self.folder / f"{side}.json"
        file.write_text(json.dumps(settings))
        result = run_ours(file, self.folder, self.arguments.steps, self.arguments.threads, limit=self.arguments.side_limit)
        fell_back = [line for line in result["log"].splitlines() if 'by "warpgroups"' in line]
        if fell_back:  # or the usual kernels would be timed under another name
            raise SideFailed(fell_back[0])
        self.records[side] = result["records"]
        return {"seconds": result["seconds"], "device_bytes": max(record["memory_bytes"] for record in result["records"])}

    def theirs(self, side, way, padded):
        arguments = self.arguments
        return self.torch.ask({"way": way, "side": side, "size": arguments.size, "device": arguments.device, "places": arguments.length,
                               "micro_batch": arguments.micro_batch, "accumulation": arguments.accumulation, "steps": arguments.steps,
                               "padding": arguments.padding * padded, "compile": arguments.compile,
                               "micro_batches": arguments.strongest_micro_batches}, arguments.side_limit)

    def check_peers(self):
        """Compares `strongest` and, of a ModernBERT, `hf-flash` with Hugging Face's model. Raises SideFailed if they differ."""
        task = {"way": "check", "size": self.arguments.size, "device": self.arguments.device}
        known = self.torch.ask(task, self.arguments.side_limit)
        difference, of_kernels = known["difference"], known["kernel_difference"]
        if difference is None:
            print("strongest was not compared with Hugging Face's model: transformers is not installed", flush=True)
        else:
            print(f"strongest differs from Hugging Face's model by {difference:.1e} in loss and gradient (fp32)", flush=True)
            if not difference <= 1e-5:
                raise SideFailed(f"the strongest PyTorch step differs from Hugging Face's by {difference:.1e}; expected: at most 1e-5")
        if of_kernels is not None:
            print(f"attention on the GPU (bf16) differs from the CPU's (fp32) by {of_kernels:.1e}", flush=True)
            if not of_kernels <= 0.02:
                raise SideFailed(f"attention on the GPU differs from the CPU's by {of_kernels:.1e}; expected: at most 0.02")
        self.checked = True

    def run(self, side):
        """Runs a side once. A side that fails is skipped in later rounds, and its error is kept."""
        whose, padded = SIDES[side]
        known = self.sides.setdefault(side, {"seconds": []})
        if "error" in known:
            return
        try:
            if whose in CHECKED and not self.checked:
                self.check_peers()
            result = self.ours(side, padded) if whose == "ours" else self.theirs(side, whose, padded)
        except SideFailed as failed:
            known["error"] = str(failed)
            print(f"{side}: {failed}", file=sys.stderr, flush=True)
            return
        rate = self.sequences / statistics.median(result["seconds"])
        print(f"{side:24} {rate:9.2f} seq/s {rate * self.tokens[padded]:12.0f} tokens/s", flush=True)
        self.sides[side] = {**result, "seconds": known["seconds"] + result["seconds"]}

    def measure_roof(self):
        """Measures the device's GEMM rate in FLOP/s. It stays unknown if PyTorch cannot be imported."""
        try:
            self.roof = self.torch.ask({"way": "roof", "device": self.arguments.device})["flops_per_second"]
            print(f"roof: {self.roof / 1e12:.1f} TFLOP/s, PyTorch's GEMM of two bf16 matrices", flush=True)
        except SideFailed as failed:
            print(f"roof: {failed}", file=sys.stderr, flush=True)

    def results(self):
        """Returns {side: its numbers}: sequences_per_second and the values derived from it only for sides that were timed."""
        results, first = {}, self.arguments.sides[0]
        for side, known in self.sides.items():
            results[side] = dict(known)
            if not known["seconds"]:
                continue
            rate = self.sequences / statistics.median(known["seconds"])
            own = next((self.records[name] for name in self.records if SIDES[name][1] == SIDES[side][1]), None)
            flops = per_sequence(own, "model_tflops") * rate if own else None
            results[side] |= {"sequences_per_second": rate, "tokens_per_second": rate * self.tokens[SIDES[side][1]], "model_tflops": flops,
                              "share_of_roof": 1e12 * flops / self.roof if flops and self.roof else None}
            if "sequences_per_second" in results.get(first, {}):
                results[side]["first_side_is_faster_by"] = results[first]["sequences_per_second"] / rate
        return results


def per_sequence(records, name):
    """Returns the median over the steps of a quantity per sequence, from its rate per second."""
    return statistics.median(record[f"{name}_per_second"] / record["sequences_per_second"] for record in records)


def report(contest, arguments):
    results, first, unknown = contest.results(), arguments.sides[0], float("nan")
    for side, result in results.items():
        if "sequences_per_second" not in result:
            print(f"failed   {side:24} {result['error'].strip().splitlines()[-1]}")
            continue
        merged = f", {result['micro_batch']} at once" if "micro_batch" in result else ""
        print(f"median   {side:24} {result['sequences_per_second']:9.2f} seq/s {result['tokens_per_second']:12.0f} tokens/s  "
              f"{result['model_tflops'] or unknown:7.1f} TFLOP/s of the model ({result['share_of_roof'] or unknown:.2f} of the roof), "
              f"{result['device_bytes'] / 2**30:6.1f} GiB{merged}   {first} / it: {result.get('first_side_is_faster_by', unknown):.2f}x")
    if {"ours", "ours-real-lengths"} <= contest.records.keys():
        padding = 1 - per_sequence(contest.records["ours-real-lengths"], "tokens") / arguments.length
        rates = [results[side]["sequences_per_second"] for side in ("ours-real-lengths", "ours")]
        print(f"unpadding is worth {rates[0] / rates[1]:.3f}x at {padding:.1%} of padding "
              f"(goal: {1 + 0.7 * padding / (1 - padding):.3f}x)")


def parsed_arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", choices=[*SIZES, *MODERN_SIZES], default="large")
    parser.add_argument("--length", type=int, default=128, help="tokens per sequence; with a BERT 128 or 512")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda", help="cpu: only checks that the sides run")
    parser.add_argument("--sides", nargs="+", choices=SIDES,
                        help="by default ours, ours-real-lengths, hf, hf-compile, strongest and, of a ModernBERT, hf-flash")
    parser.add_argument("--micro-batch", type=int, default=16)
    parser.add_argument("--accumulation", type=int, default=24)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--padding", type=float, default=0.1, help="mean share of padding on the sides with real lengths")
    parser.add_argument("--compile", choices=("whole", "layers"), default="whole",
                        help="what torch.compile compiles: the whole model, or layer by layer, which takes seconds instead of minutes")
    parser.add_argument("--strongest-micro-batches", nargs="+", type=int, metavar="N",
                        help="sequences per pass that strongest tries; when not given, all that divide a step evenly")
    parser.add_argument("--side-limit", type=float, default=3600, metavar="SECONDS", help="a side fails if one run of it takes longer")
    parser.add_argument("--json", type=pathlib.Path, help="writes the results to this file after every run of a side")
    arguments = parser.parse_args()
    is_modern = arguments.size in MODERN_SIZES
    flash = ["hf-flash"] if is_modern else []
    arguments.sides = arguments.sides or ["ours", "ours-real-lengths", "hf", *flash, "hf-compile", "strongest"]
    if not is_modern and any("flash" in side for side in arguments.sides):
        parser.error(f"--sides hf-flash: only for sizes of ModernBERT, not for {arguments.size}")
    if not is_modern and arguments.length not in PREDICTIONS:
        parser.error(f"--length {arguments.length}: expected 128 or 512 with --size {arguments.size}")
    return arguments


def main():
    arguments = parsed_arguments()
    torch = TorchProcess()
    with tempfile.TemporaryDirectory() as name:
        contest = Contest(arguments, pathlib.Path(name), torch)
        contest.measure_roof()
        for _ in range(arguments.rounds):
            for side in arguments.sides:
                contest.run(side)
                if arguments.json:
                    arguments.json.write_text(json.dumps({"roof_flops_per_second": contest.roof, "sides": contest.results()}, indent=1))
    torch.close()
    report(contest, arguments)
    dropout = "no dropout" if arguments.size in MODERN_SIZES else "dropout 0.1"
    print(f"at {arguments.size}, {dropout}, {arguments.micro_batch} x {arguments.accumulation} x {arguments.length}, medians of "
          f"{arguments.rounds} rounds of {arguments.steps} steps on {arguments.device}")
    sys.exit(any("error" in side for side in contest.sides.values()))


if __name__ == "__main__":
    main()

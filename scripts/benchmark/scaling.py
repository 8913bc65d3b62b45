"""Times one and two ranks, one thread each, on the same two cores: our program (ZeRO-1), and PyTorch's DistributedDataParallel with
ZeroRedundancyOptimizer on Hugging Face's BERT, A B A B in one run. bf16, dropout 0.1, AdamW. Called by scaling.sh."""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

from interleaved import interleave
from training_step import SIZES, WARM_UP, experiment, run_ours, sample_rows, write_shard


def run_distributed_peer(arguments, ranks, threads=1):
    """Returns the seconds of PyTorch's steps on so many ranks. `arguments` has size, micro_batch, accumulation and steps."""
    torchrun = pathlib.Path(sys.executable).parent / "torchrun"
    command = [torchrun, "--standalone", "--nproc_per_node", str(ranks), "scripts/benchmark/hf_distributed_step.py",
               arguments.size, str(arguments.micro_batch), str(arguments.accumulation), str(arguments.steps), str(threads)]
    result = subprocess.run(command, capture_output=True, text=True, env=dict(os.environ, OMP_NUM_THREADS=str(threads)))
    if result.returncode != 0:
        sys.exit(f"the peer failed:\n{result.stderr[-3000:]}")
    return json.loads(result.stdout.splitlines()[-1])["seconds"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", choices=SIZES, default="base")
    parser.add_argument("--micro-batch", type=int, default=16)
    parser.add_argument("--accumulation", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=2)
    arguments = parser.parse_args()
    per_rank = arguments.micro_batch * arguments.accumulation
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_shard(folder, sample_rows(2 * per_rank, 0.0))
        config = folder / "experiment.json"
        settings = experiment(arguments.size, arguments.micro_batch, folder)
        settings["batch"]["gradient_accumulation_steps"] = arguments.accumulation
        config.write_text(json.dumps(settings))

        def timed(side, ranks, run):
            seconds = run()
            print(f"{side:8} {ranks} rank(s) {ranks * per_rank / statistics.median(seconds):8.3f} seq/s", flush=True)
            return seconds

        def ours(ranks):
            options = ["--local-ranks", str(ranks)] if ranks > 1 else []
            return timed("ours", ranks, lambda: run_ours(config, folder, arguments.steps, 1, options)["seconds"])

        def peer(ranks):
            return timed("pytorch", ranks, lambda: run_distributed_peer(arguments, ranks))

        sides = interleave({"ours 1": lambda: ours(1), "pytorch 1": lambda: peer(1), "ours 2": lambda: ours(2),
                            "pytorch 2": lambda: peer(2)}, arguments.rounds, warm_up=0)
    rate = {side: int(side[-1]) * per_rank / statistics.median(seconds) for side, seconds in sides.items()}
    for side in ("ours", "pytorch"):
        print(f"median   {side:8} 1 rank {rate[side + ' 1']:7.3f}, 2 ranks {rate[side + ' 2']:7.3f} seq/s, "
              f"efficiency {rate[side + ' 2'] / (2 * rate[side + ' 1']):.3f}")
    print(f"ratio    {rate['ours 2'] / rate['pytorch 2']:.2f}x at 2 ranks, {rate['ours 1'] / rate['pytorch 1']:.2f}x at 1, "
          f"{arguments.size}, {arguments.micro_batch} x {arguments.accumulation} per rank, one thread each")


if __name__ == "__main__":
    main()

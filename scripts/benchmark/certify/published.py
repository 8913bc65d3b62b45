"""Part 5: the loss of a run of configs/bert_large_phase1.json beside the published curve."""

import csv

from lines import line, not_run
from programs import PROJECT, bertpretrain

WHAT, BOUND = "BERT-Large, phase 1: loss beside NVIDIA's published curve", 0.3
REFERENCE = PROJECT / "configs/bert_large_phase1_loss.csv"


def lines_of_part(options):
    if options.run is None:
        return [not_run(WHAT, "needs the folder of such a run: --run DIR")]
    printed = bertpretrain("report", options.run, "--reference", REFERENCE, "--svg", options.output / "published")
    # A row has the curve's name, step, loss, the run's loss and the difference.
    rows = [text.split() for text in printed.splitlines() if text.startswith(REFERENCE.stem)]
    with REFERENCE.open() as file:
        points = sum(1 for row in csv.reader(file) if row and row[0].isdigit())
    if not rows:
        return [not_run(WHAT, "the run has not reached the first point, step 50")]
    # The steep fall comes some hundred steps earlier or later from seed to seed, so only the part after it has a bound.
    late = [abs(float(row[-1])) for row in rows if int(row[1]) >= 1500]
    found = f"{len(rows)} of {points} points; last: step {rows[-1][1]}, {rows[-1][3]} against {rows[-1][2]}"
    return [line(WHAT, found, f"within {BOUND} from step 1,500 on", max(late) <= BOUND) if late else not_run(WHAT, found)]

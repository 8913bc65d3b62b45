"""Writes the same records in every format that `shard` reads.

Usage: write_records.py FOLDER COUNT. Writes FOLDER/records.jsonl, .csv, .parquet, .jsonl.gz and .csv.zst; each record has a text,
some with line breaks, quotes and nothing, and an id. Exits with 77 if a package is missing.
"""

import csv
import gzip
import json
import sys
from pathlib import Path

try:
    import pyarrow
    import pyarrow.parquet
except ImportError as error:
    print(error, file=sys.stderr)
    sys.exit(77)

TEXTS = ["The sun is a star.", "", "Water freezes\nat zero degrees,\n\nand boils at a hundred.", 'A "quoted" word, and a tab: end',
         "  na\u00efve CAF\u00c9 \u4e2d\u6587 \U0001f600  ", "the river " * 40, "It \\n is not a line break."]


def main(folder, count):
    rows = [{"id": f"item {i:05d}", "text": TEXTS[i % len(TEXTS)] + (f" {i}" if i % len(TEXTS) != 1 else ""), "price": i}
            for i in range(count)]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "records.jsonl").write_text(lines)
    with gzip.open(folder / "records.jsonl.gz", "wt") as out:
        out.write(lines)
    with open(folder / "records.csv", "w", newline="") as out:
        writer = csv.DictWriter(out, ["id", "text", "price"])
        writer.writeheader()
        writer.writerows(rows)
    table = pyarrow.Table.from_pylist(rows)
    pyarrow.parquet.write_table(table, folder / "records.parquet")
    pyarrow.CompressedOutputStream(pyarrow.OSFile(str(folder / "records.csv.zst"), "wb"), "zstd").write(
        (folder / "records.csv").read_bytes())


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))

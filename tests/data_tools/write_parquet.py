"""Writes Parquet files for parquet_test.cpp by pyarrow:  write_parquet.py JSONL FOLDER
The documents of JSONL (fields id and text) in several types, compressions and encodings; then files that cannot be used."""
import json
import sys

import pyarrow
from pyarrow import parquet

jsonl, folder = sys.argv[1:]
rows = [json.loads(line) for line in open(jsonl, encoding="utf-8")]
ids = pyarrow.array([row["id"] for row in rows], pyarrow.int64())
texts = [row["text"] for row in rows]


def write(name, text, id=ids, **options):
    parquet.write_table(pyarrow.table({"id": id, "other": [[1, 2]] * len(id), "text": text}), f"{folder}/{name}", **options)


string = pyarrow.array(texts)
write("plain", string, compression="none", use_dictionary=False, row_group_size=7)
write("snappy", string, compression="snappy", data_page_size=200, write_batch_size=3)
write("zstd", pyarrow.array(texts, pyarrow.large_string()), compression="zstd", row_group_size=11, data_page_version="2.0")
write("gzip", string.dictionary_encode(), compression="gzip", id=ids.cast(pyarrow.string()))
write("delta", string, compression="lz4", use_dictionary=False, column_encoding={"text": "DELTA_BYTE_ARRAY"},
      id=ids.cast(pyarrow.int32()))
write("checked", pyarrow.array(texts, pyarrow.binary()), use_dictionary=False, compression="none", write_page_checksum=True,
      id=ids.cast(pyarrow.uint64()))

write("null", pyarrow.array([None if i == 41 else text for i, text in enumerate(texts)]), row_group_size=10)
write("latin", pyarrow.array([b"K\xe4se is here." if i == 5 else text.encode() for i, text in enumerate(texts)], pyarrow.binary()))
write("large", pyarrow.array([("Aa bb. " * 10_000_000)[:(64 << 20) + 1] if i == 7 else text for i, text in enumerate(texts)]))
parquet.write_table(pyarrow.table({"text": pyarrow.array([], pyarrow.string())}), f"{folder}/empty")
parquet.write_table(pyarrow.table({"id": ids, "body": string}), f"{folder}/body")
parquet.write_table(pyarrow.table({"text": ids}), f"{folder}/numbers")
parquet.write_table(pyarrow.table({"meta": [{"of": {"text": text}, "n": 1} for text in texts], "id": ids}), f"{folder}/structs", row_group_size=7)
halves = pyarrow.array([dict(zip(("title", "body"), text.split("\n"))) for text in texts],
                       pyarrow.struct({name: pyarrow.string() for name in ("title", "body", "none")}))
parquet.write_table(pyarrow.table({"product": halves, "id": ids}), f"{folder}/halves")
parquet.write_table(pyarrow.table({"meta": [None if i == 41 else {"text": None if i == 50 else text} for i, text in enumerate(texts)]}),
                    f"{folder}/null_structs")
parquet.write_table(pyarrow.table({"text": [["a"], ["b"]]}), f"{folder}/lists")

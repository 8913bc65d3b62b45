"""Makes shards that are damaged in many ways.

Usage: bad_shards.py SHARDS FOLDER. Makes FOLDER/NAME for each kind of damage, without a manifest, because its checks would come first.
Exits with 77 without h5py.
"""

import shutil
import sys
from pathlib import Path

try:
    import h5py
except ImportError as error:
    print(error, file=sys.stderr)
    sys.exit(77)

source, target = Path(sys.argv[1]), Path(sys.argv[2])


def spoilt(name, with_manifest=False):
    """Copies the shards, and returns the file to damage."""
    shutil.copytree(source, target / name)
    if not with_manifest:
        (target / name / "manifest.json").unlink()
    return target / name / "sample_training_0000.h5"


def set_value(name, dataset, place, value):
    with h5py.File(spoilt(name), "r+") as shard:
        shard[dataset][place] = value


def replace(name, dataset, change):
    with h5py.File(spoilt(name), "r+") as shard:
        values = change(shard[dataset][:])
        del shard[dataset]
        shard[dataset] = values


set_value("id_too_large", "input_ids", (3, 5), 800)
set_value("id_negative", "input_ids", (3, 5), -1)
set_value("label_id_too_large", "masked_lm_ids", (4, 0), 2000000000)
set_value("mask_with_a_hole", "input_mask", (3, 5), 0)
set_value("no_token", "input_mask", (3, slice(None)), 0)
set_value("position_beyond", "masked_lm_positions", (3, 0), 64)
set_value("segment_of_two", "segment_ids", (3, 5), 2)
set_value("label_of_two", "next_sentence_labels", 3, 2)
replace("floats", "input_ids", lambda values: values.astype("f4"))
replace("a_row_less", "next_sentence_labels", lambda values: values[:-1])
replace("one_axis", "input_ids", lambda values: values.reshape(-1))
with h5py.File(spoilt("dataset_missing"), "r+") as shard:
    del shard["segment_ids"]

for name, with_manifest in (("cut_short", False), ("cut_short_listed", True)):
    file = spoilt(name, with_manifest)
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
for name, with_manifest in (("text", False), ("text_listed", True)):
    spoilt(name, with_manifest).write_text("not a shard\n")
spoilt("empty").write_bytes(b"")
content = bytearray(spoilt("byte_flipped", True).read_bytes())
content[len(content) // 2] ^= 255
(target / "byte_flipped" / "sample_training_0000.h5").write_bytes(content)
spoilt("no_held_out").with_name("sample_test_0000.h5").unlink()
(spoilt("manifest_newer").parent / "manifest.json").write_text('{"format_version": 9}')
(spoilt("manifest_damaged").parent / "manifest.json").write_text('{"format_ver')
with (spoilt("other_vocabulary", True).parent / "vocab.txt").open("a") as vocabulary:
    vocabulary.write("zzzz\n")
with h5py.File(spoilt("held_out_id").with_name("sample_test_0000.h5"), "r+") as shard:
    shard["input_ids"][3, 5] = 800

#pragma once
// Builds a folder of shards from documents.

#include "shards/build/shard_build.h"

namespace bertpretrain {

/// Writes the tokenizer's file, the shards and, last, manifest.json. The files' bytes depend on the texts, the vocabulary
/// and the settings, not on the number of threads. Memory: 32 MiB, 32 bytes per article, and per thread the tokens of `group_mib`
/// of text (about the size of the text, twice that while reading) plus 20 bytes per sample and per piece that best_fit packs.
/// Disk: a temporary file of about the text's size in the output folder, and another one if the inputs are not yet sentence text
/// (sentence_text.h).
///
/// With `samples.compatible_with`, reproduces a reference script's shards value for value. TEXT.txt then becomes TEXT.hdf5
/// (TEXT_training.hdf5 if the name contains neither "training" nor "test"), each with the same seed, and `name`, `shards`,
/// `held_out_shards` and the held-out fraction are ignored. Memory: a text and its samples, about three times the text's size
/// (at duplicate factor 5).
/// @throws ConfigError for invalid settings, and if the folder already contains shards
/// @throws DataError if a file cannot be read or written, and before anything is written if more than `most_unknown` of the
/// tokens of a sample of the text are unknown
ShardBuildReport build_shards(const ShardBuildSettings& settings);

}  // namespace bertpretrain

#pragma once
// Builds a folder of shards from text files.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "shards/manifest.h"

namespace bertpretrain {

struct ShardBuildSettings {
    std::vector<std::filesystem::path> texts;  ///< one sentence per line, an empty line after each article
    std::filesystem::path vocabulary;
    std::filesystem::path output;
    std::string name = "wikicorpus_en";  ///< files are NAME_training_0000.h5 and NAME_test_0000.h5
    SampleSettings samples;
    std::int64_t shards = 256;                    ///< training shards
    std::optional<std::int64_t> held_out_shards;  ///< not set: as many as training shards
    std::size_t threads = 0;                      ///< 0: one per core
    bool overwrite = false;                       ///< replace the shards and manifest in the output folder
};

struct ShardBuildReport {
    Manifest manifest;
    std::size_t articles = 0;
    std::uint64_t text_bytes = 0;
    double seconds = 0;
};

/// Writes vocab.txt, the shards and, last, manifest.json. The files' bytes depend on the texts, the vocabulary and the
/// settings, not on the number of threads.
/// Memory: 32 MiB, 16 bytes per article, and per thread the tokens of `group_mib` of text (about the size of the text, twice
/// that while reading) plus 20 bytes per sample. Disk: a temporary file of about the text's size in the output folder.
///
/// With `samples.compatible_with`, reproduces a reference script's shards value for value. TEXT.txt then becomes TEXT.hdf5
/// (TEXT_training.hdf5 if the name contains neither "training" nor "test"), each with the same seed, and `name`, `shards`,
/// `held_out_shards` and the held-out fraction are ignored. Memory: a text and its samples, about three times the text's size
/// (at duplicate factor 5).
/// @throws ConfigError for invalid settings, and if the folder already contains shards
/// @throws DataError if a file cannot be read or written
ShardBuildReport build_shards(const ShardBuildSettings& settings);

}  // namespace bertpretrain

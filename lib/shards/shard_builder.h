#pragma once
// Text to a folder of shards.

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
    std::optional<std::int64_t> held_out_shards;  ///< as many as training shards when not set
    std::size_t threads = 0;                      ///< 0: as many as there are cores
    bool overwrite = false;                       ///< replace a folder's shards and manifest
};

struct ShardBuildReport {
    Manifest manifest;
    std::size_t articles = 0;
    std::uint64_t text_bytes = 0;
    double seconds = 0;
};

/// Makes the folder: vocab.txt, the shards, and at the end manifest.json. The files' bytes depend on the texts, the
/// vocabulary and the settings, not on the number of threads.
/// Memory: 32 MiB, 16 bytes per article, and per thread a group of `group_mib` of text as tokens (about its text's size, twice
/// while it is read) and 20 bytes per sample of it. Disk: a temporary file of about the text's size in the output folder. With
/// `samples.compatible_with` a reference script's shards instead, value by value: TEXT.txt becomes TEXT.hdf5 (TEXT_training.hdf5
/// where the name says neither "training" nor "test"), all from the same seed; `name`, `shards`, `held_out_shards` and the
/// held-out fraction mean nothing then. A text and its samples are in memory, about three times its size (at five duplicates).
/// @throws ConfigError for settings that cannot work, also when the folder holds shards already
/// @throws DataError when a file cannot be read or written
ShardBuildReport build_shards(const ShardBuildSettings& settings);

}  // namespace bertpretrain

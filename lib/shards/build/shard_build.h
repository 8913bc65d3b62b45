#pragma once
// What a build of shards is asked for, and what it reports.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "shards/build/build_part.h"
#include "shards/manifest.h"
#include "text/formats/input_settings.h"

namespace bertpretrain {

struct ShardBuildSettings {
    std::vector<std::filesystem::path> texts;  ///< files, folders of them, or "-"
    InputSettings reading = {};                ///< how they are read; not used with `compatible_with`
    std::filesystem::path vocabulary;
    std::filesystem::path output;
    std::string name = "corpus";  ///< files are NAME_training_0000.h5 and NAME_test_0000.h5
    SampleSettings samples;
    std::optional<std::int64_t> shards;           ///< training shards; not set: default_shards()
    std::optional<std::int64_t> held_out_shards;  ///< not set: as many as training shards
    double most_unknown = 1;                      ///< share of a text's tokens that may be unknown; not with `compatible_with`
    std::size_t threads = 0;                      ///< 0: one per core
    bool overwrite = false;                       ///< replace the shards and manifest in the output folder
    BuildPart part = {};                          ///< the shards that are made
};

struct ShardBuildReport {
    Manifest manifest;
    std::size_t articles = 0;
    std::uint64_t text_bytes = 0;
    double seconds = 0;
};

}  // namespace bertpretrain

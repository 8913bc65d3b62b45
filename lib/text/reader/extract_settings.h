#pragma once
// What extract() is asked for.

#include <cstdint>
#include <filesystem>
#include <vector>

#include "core/threads/threads.h"
#include "text/formats/input_settings.h"

namespace bertpretrain {

struct ExtractSettings {
    std::vector<std::filesystem::path> inputs;  ///< files, folders of files, or "-"; read in this order
    std::filesystem::path output;
    InputSettings reading = {};
    std::int64_t minimum_sentences = 1;  ///< documents with fewer sentences are left out
    std::size_t threads = available_cores();
    double save_seconds = 10;  ///< between two records of how far it is (continued_text.h)
};

}  // namespace bertpretrain

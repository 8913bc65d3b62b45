#pragma once
// The format of torch.save before PyTorch 1.6: pickles one after the other, then the bytes of the storages.

#include <cstddef>
#include <span>
#include <string>
#include <unordered_map>

#include "archive/pickle_refusal.h"
#include "archive/pt_value.h"

namespace bertpretrain {

struct PtStream {
    PtValue root;
    std::unordered_map<std::string, std::span<const std::byte>> storages;  ///< by key; parts of the file's bytes
};

/// Whether a file of this content has the format.
bool is_pt_stream(std::span<const std::byte> file);

/// Reads the tree and finds the storages. Never reads outside `file`.
/// @throws PickleRefusal for a file that is damaged, big-endian or holds what unpickle() refuses
PtStream read_pt_stream(std::span<const std::byte> file);

}  // namespace bertpretrain

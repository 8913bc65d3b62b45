#pragma once
// Reads Python's pickles as data: runs no code and looks up no class.

#include <cstddef>
#include <span>
#include <vector>

#include "archive/pickle_refusal.h"
#include "archive/pt_value.h"

namespace bertpretrain {

inline constexpr std::size_t largest_pickle = std::size_t{16} << 20;  ///< bytes; checkpoints have smaller ones

/// Returns the tree in a data.pkl of torch.save. Supports dict, OrderedDict, Counter, list, tuple, torch.Size, tensors,
/// Parameters, None, bool, integers, floats, strings, and sets, which become lists. Of what else torch.load accepts with
/// weights_only=True, devices, dtypes, bytes, complex numbers and tensors without data become None. Drops attributes set on an
/// OrderedDict (a state_dict's _metadata) or a tensor, and a dict's entries whose keys are neither strings nor integers. Every
/// tensor in the result fits into the number of elements that its storage declares. Never reads outside `pickle`. Takes at most
/// about 64 MiB of memory, and time in proportion to the pickle's length.
/// @throws PickleRefusal naming the unsupported class ("module.name") or opcode, or describing what is malformed
PtValue unpickle(std::span<const std::byte> pickle);

struct Unpickled {
    PtValue tree;
    std::vector<PtTensor> storages;  ///< all that the pickle names, each as a tensor without a shape, several times if named so
    std::size_t bytes = 0;           ///< of the pickle
};

/// Reads the first of several pickles, one after the other. @throws PickleRefusal like unpickle()
Unpickled unpickle_first(std::span<const std::byte> pickles);

}  // namespace bertpretrain

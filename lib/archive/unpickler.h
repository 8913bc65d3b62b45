#pragma once
// Reads Python's pickles as data: runs no code and looks up no class.

#include <cstddef>
#include <span>
#include <stdexcept>

#include "archive/pt_value.h"

namespace bertpretrain {

/// The reason why a pickle is rejected, without the file's name.
struct PickleRefusal : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Returns the tree in a data.pkl of torch.save. Supports dict, OrderedDict, list, tuple, torch.Size, tensors, Parameters, None,
/// bool, integers, floats, strings, and sets, which become lists. Drops attributes set on an OrderedDict (a state_dict's
/// _metadata). Every tensor in the result fits into the number of elements that its storage declares. Never reads outside
/// `pickle`. Takes at most about 64 MiB of memory, and time in proportion to the pickle's length.
/// @throws PickleRefusal naming the unsupported class ("module.name") or opcode, or describing what is malformed
PtValue unpickle(std::span<const std::byte> pickle);

}  // namespace bertpretrain

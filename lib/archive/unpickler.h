#pragma once
// Reads Python's pickles as data: no code is run, no class is looked up.

#include <cstddef>
#include <span>
#include <stdexcept>

#include "archive/pt_value.h"

namespace bertpretrain {

/// Why a pickle is not read, without the file's name.
struct PickleRefusal : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// The tree in a data.pkl of torch.save. Known are dict, OrderedDict, list, tuple, torch.Size, tensors, Parameters, None,
/// bool, integers, floats and strings, and sets, which become lists; attributes set on an OrderedDict (a state_dict's _metadata)
/// are dropped. A shape that a tensor has was found to fit the number of elements its storage declares.
/// @throws PickleRefusal; it names any other class ("module.name") or instruction, and what is odd.
/// Never reads outside `pickle`; takes some 64 MiB at most, and time by the pickle's length.
PtValue unpickle(std::span<const std::byte> pickle);

}  // namespace bertpretrain

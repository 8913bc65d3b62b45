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
/// bool, 64-bit integers, floats and strings; attributes set on an OrderedDict (a state_dict's _metadata) are dropped.
/// A shape that a tensor has was found to fit the number of elements its storage declares.
/// @throws PickleRefusal; it names any other class ("module.name") or instruction, and what is odd.
/// Never reads outside `pickle`; time and memory are bounded by its length times a constant.
PtValue unpickle(std::span<const std::byte> pickle);

}  // namespace bertpretrain

#pragma once
// Recognizes errors that mean that a device ran out of memory.

#include <exception>

namespace bertpretrain {

/// True for torch's OutOfMemoryError and for allocation failures of CUDA and its libraries. The latter have other types and are
/// recognized by their text: cuBLAS, for example, allocates its handle and workspace without torch. False for all other errors,
/// including faults of the device.
bool means_out_of_memory(const std::exception& error);

}  // namespace bertpretrain

#pragma once
// Whether an error means that a device had too little memory.

#include <exception>

namespace bertpretrain {

/// True for torch's OutOfMemoryError, and for the errors of CUDA and its libraries when they cannot allocate. These have other
/// types and are known by their text only: cuBLAS, for one, allocates its handle and workspace without torch. False for all
/// other errors, a fault of the device included.
bool means_out_of_memory(const std::exception& error);

}  // namespace bertpretrain

#pragma once
// Checks that a device computes correctly, and measures how fast.

#include <cstdint>
#include <string>
#include <vector>

#include <c10/core/Device.h>

namespace bertpretrain {

/// The result of one operation, repeated several times.
struct CheckedOperation {
    std::string name;
    std::int64_t repetitions = 0;
    std::int64_t wrong = 0;   ///< repetitions whose result differed from the expected one in any bit
    std::string first_wrong;  ///< first error: repetition, element, found and expected value; empty: none
    double rate = 0;          ///< of the fastest repetition, in `unit`
    std::string unit;         ///< "TFLOP/s" or "GB/s"
};

/// Runs matmuls in fp32 and bf16, a sum, random numbers and copies, each `repetitions` times, to find devices that fail
/// intermittently too. The operands of matmuls and sum are small integers, so every order of summation gives the same exact
/// result, which is computed beforehand with integers.
std::vector<CheckedOperation> check_device(at::Device device, std::int64_t repetitions);

/// Blocks until all work queued on the device is done; returns at once for a CPU.
void synchronize(at::Device device);

}  // namespace bertpretrain

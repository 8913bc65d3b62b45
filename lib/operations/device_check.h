#pragma once
// Whether a device computes right, and how fast.

#include <cstdint>
#include <string>
#include <vector>

#include <c10/core/Device.h>

namespace bertpretrain {

/// One operation, done again and again.
struct CheckedOperation {
    std::string name;
    std::int64_t repetitions = 0;
    std::int64_t wrong = 0;   ///< repetitions with an answer that was not the known one to the bit
    std::string first_wrong;  ///< which repetition and element, found and expected; empty when all were right
    double rate = 0;          ///< of the fastest repetition, in `unit`
    std::string unit;         ///< "TFLOP/s" or "GB/s"
};

/// Matrix products in fp32 and bf16, a sum, random numbers and copies, each `repetitions` times, so that a device that fails
/// now and then is found too. The operands are small whole numbers: every order of summation gives the same exact answer, which
/// a loop over integers has found before.
std::vector<CheckedOperation> check_device(at::Device device, std::int64_t repetitions);

/// Returns when all work queued on the device is done; on a CPU, at once.
void synchronize(at::Device device);

}  // namespace bertpretrain

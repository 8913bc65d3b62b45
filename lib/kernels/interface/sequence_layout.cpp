#include "kernels/interface/sequence_layout.h"

#include <algorithm>
#include <cstddef>

#include <ATen/ops/tensor.h>

#include "core/error.h"

namespace bertpretrain {

SequenceLayout host_layout(std::span<const std::int64_t> lengths_B, std::span<const std::int64_t> samples_B) {
    check(lengths_B.size() == samples_B.size(), lengths_B.size(), " lengths for ", samples_B.size(), " samples");
    SequenceLayout layout;
    layout.samples_B.assign(samples_B.begin(), samples_B.end());
    layout.starts_B1.reserve(lengths_B.size() + 1);
    for (const std::int64_t length : lengths_B) {
        layout.starts_B1.push_back(layout.starts_B1.back() + length);
        layout.longest = std::max(layout.longest, length);
    }
    return layout;
}

SequenceLayout sequence_layout(std::span<const std::int64_t> lengths_B, std::span<const std::int64_t> samples_B,
                               at::Device device) {
    SequenceLayout layout = host_layout(lengths_B, samples_B);
    layout.device_starts_B1 = at::tensor(layout.starts_B1, at::kLong).to(device);
    layout.device_samples_B = at::tensor(layout.samples_B, at::kLong).to(device);
    return layout;
}

}  // namespace bertpretrain

#pragma once
// A world that counts its operations.

#include "support/forwarding_world.h"

namespace bertpretrain::testing {

class CountingWorld final : public ForwardingWorld {
public:
    using ForwardingWorld::ForwardingWorld;
    std::unique_ptr<Pending> reduce_scatter(const at::Tensor& input, const at::Tensor& output) override {
        ++reduced;
        return ForwardingWorld::reduce_scatter(input, output);
    }
    std::unique_ptr<Pending> all_gather(const at::Tensor& input, const at::Tensor& output) override {
        ++gathered;
        return ForwardingWorld::all_gather(input, output);
    }
    std::vector<std::string> all_gather(std::string_view own) override {
        ++messages;
        return ForwardingWorld::all_gather(own);
    }
    using World::all_gather;

    int reduced = 0, gathered = 0;  ///< tensors
    int messages = 0;               ///< gathered from all ranks
};

}  // namespace bertpretrain::testing

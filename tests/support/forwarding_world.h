#pragma once
// A world whose operations are those of another one, as a base of worlds that change or record some of them.

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parallel/world.h"

namespace bertpretrain::testing {

class ForwardingWorld : public World {
public:
    explicit ForwardingWorld(World& world) : world_(world) {}
    std::int64_t rank() const override { return world_.rank(); }
    std::int64_t size() const override { return world_.size(); }
    bool communicates() const override { return world_.communicates(); }
    std::unique_ptr<Pending> reduce_scatter(const at::Tensor& input, const at::Tensor& output) override {
        return world_.reduce_scatter(input, output);
    }
    std::unique_ptr<Pending> all_gather(const at::Tensor& input, const at::Tensor& output) override {
        return world_.all_gather(input, output);
    }
    std::unique_ptr<Pending> all_reduce(const at::Tensor& tensor) override { return world_.all_reduce(tensor); }
    std::vector<std::string> all_gather(std::string_view own) override { return world_.all_gather(own); }
    std::vector<std::string> gather_at_first(std::string_view own) override { return world_.gather_at_first(own); }
    void broadcast_from_first(std::span<std::byte> bytes) override { world_.broadcast_from_first(bytes); }
    std::unique_ptr<ControlGroup> connect_again(const std::string& name) override { return world_.connect_again(name); }

private:
    World& world_;
};

}  // namespace bertpretrain::testing

// Any number of ranks may have written a checkpoint, and any of them may see it now: each gets its own part back.

#include "train/start/restore_optimizer.h"

#include <filesystem>
#include <fstream>

#include <ATen/ATen.h>

#include "checkpoint/example_state.h"
#include "core/error.h"
#include "model/bert/parameters.h"
#include "model/small_model.h"
#include "support/run_ranks.h"
#include "train/save/save_together.h"
#include "train/save/snapshot.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

ParameterLayout layout_for(std::int64_t ranks) { return {parameters_of(odd_config("post_ln")).layout_order, 20'000, ranks}; }

float value_of(std::size_t set, std::size_t parameter, std::int64_t element) {
    return static_cast<float>(set) + static_cast<float>(parameter) * 0.01F + static_cast<float>(element) * 1e-5F;
}

struct Rank {
    Rank(World& world, std::int64_t zero_stage)
        : layout(layout_for(world.size())),
          optimizer(OptimizerConfig(), layout, zero_stage == 0 ? std::nullopt : std::optional(world.rank())) {}

    /// Calls visit(value in the state, value it should have) for every element that this rank owns.
    template <class Visit>
    void each(const Visit& visit) {
        std::size_t set = 0;
        for (at::Tensor* slice : {&optimizer.state().master, &optimizer.state().exp_avg, &optimizer.state().exp_avg_sq}) {
            for (const OwnedRun& run : optimizer.owned_runs())
                for (std::int64_t i = 0; i < run.elements; ++i)
                    visit(slice->data_ptr<float>()[run.in_slice + i], value_of(set, run.parameter, run.in_parameter + i));
            ++set;
        }
    }

    ParameterLayout layout;
    ShardedOptimizer optimizer;
};

/// A checkpoint of step 5 by `ranks` ranks, copied first or straight from the optimizer.
void save(const std::filesystem::path& folder, std::int64_t ranks, std::int64_t zero_stage, bool copied) {
    run_ranks(ranks, [&](World& world) {
        Rank rank(world, zero_stage);
        rank.each([](float& value, float wanted) { value = wanted; });
        SnapshotBuffers buffers(rank.layout, at::kCPU);
        Snapshot snapshot = copied
                                ? buffers.copy(as_model(odd_config("post_ln")), rank.layout, world.rank(), rank.optimizer.state())
                                : see_state(as_model(odd_config("post_ln")), rank.layout, world.rank(), rank.optimizer.state());
        if (copied) rank.each([](float& value, float) { value = -1; });  // training goes on
        snapshot.state.step = 5;
        save_together(world, CheckpointStore(folder), snapshot.state, std::vector<bool>(static_cast<std::size_t>(ranks), true));
    });
}

}  // namespace

TEST_CASE("a checkpoint is the same from any writer, copied or not, and comes back on any number of ranks") {
    const TemporaryFolder run;
    const auto path = [&](std::int64_t ranks, std::int64_t stage, bool copied) {
        return run / (std::to_string(ranks) + std::to_string(stage) + std::to_string(copied));
    };
    save(path(1, 1, false), 1, 1, false);
    const std::string model = read_text(path(1, 1, false) / "step_00000005/model.pt");
    const std::string moments = read_text(path(1, 1, false) / "step_00000005/optimizer.pt");
    for (const std::int64_t ranks : {1, 2, 3})
        for (const std::int64_t stage : {0, 1})
            for (const bool copied : {false, true}) {
                CAPTURE(ranks, stage, copied);
                save(path(ranks, stage, copied), ranks, stage, copied);
                CHECK((read_text(path(ranks, stage, copied) / "step_00000005/model.pt") == model));
                CHECK((read_text(path(ranks, stage, copied) / "step_00000005/optimizer.pt") == moments));
            }
    const CheckpointReader reader(path(2, 1, true) / "step_00000005");
    for (const std::int64_t ranks : {1, 3, 4})
        for (const std::int64_t stage : {0, 1})
            for (const bool all_see : {true, false})
                run_ranks(ranks, [&](World& world) {
                    Rank rank(world, stage);
                    restore_optimizer(world, all_see || world.rank() == 0 ? &reader : nullptr, rank.layout, rank.optimizer);
                    std::int64_t wrong = 0;
                    rank.each([&](float& value, float wanted) { wrong += value == wanted ? 0 : 1; });
                    check(wrong == 0, wrong, " values are not what was saved");
                });
}

TEST_CASE("a checkpoint of another model is every rank's refusal, also of those that do not see it") {
    const TemporaryFolder run;
    save(run / "checkpoints", 1, 1, false);
    const CheckpointReader reader(run / "checkpoints/step_00000005");
    run_ranks(3, [&](World& world) {
        BertConfig larger = odd_config("post_ln");
        larger.num_hidden_layers = 3;
        const ParameterLayout layout(parameters_of(larger).layout_order, 20'000, 3);
        ShardedOptimizer optimizer(OptimizerConfig(), layout, world.rank());
        std::string words;
        try {
            restore_optimizer(world, world.rank() == 0 ? &reader : nullptr, layout, optimizer);
        } catch (const Error& error) { words = error.what(); }
        check(words.find("has no tensor \"bert.encoder.layer.2.") != words.npos, words);
    });
}

TEST_CASE("a rank whose host sees other bytes under the checkpoint's name ends the start with the tensor's name and the ranks") {
    const TemporaryFolder run;
    const std::int64_t stage = GENERATE(0, 1);
    save(run / "true", 1, 1, false);
    std::filesystem::copy(run / "true", run / "stale", std::filesystem::copy_options::recursive);
    const CheckpointReader first(run / "true/step_00000005");
    std::string moments = read_text(run / "stale/step_00000005/optimizer.pt");
    const ParameterLayout layout = layout_for(1);
    for (const PlacedParameter& placed : layout.parameters()) {
        std::vector<float> values(static_cast<std::size_t>(placed.spec.elements()));
        first.read_moment("exp_avg_sq", placed.spec.name, 0, values.data(), placed.spec.elements());
        const std::string bytes(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
        REQUIRE(moments.find(bytes) != std::string::npos);
        moments.replace(moments.find(bytes), bytes.size(), bytes.size(), '\x3e');
    }
    std::ofstream(run / "stale/step_00000005/optimizer.pt", std::ios::binary) << moments;
    const CheckpointReader other(run / "stale/step_00000005", CheckpointReader::Verify::sizes);
    run_ranks(3, [&](World& world) {
        Rank rank(world, stage);
        std::string words;
        try {
            restore_optimizer(world, world.rank() == 0 ? &first : &other, rank.layout, rank.optimizer);
        } catch (const Error& error) { words = error.what(); }
        check(words.find("after loading, exp_avg_sq of parameter ") != words.npos, words);
        check(words.find(stage == 0 ? " on rank 1 differs" : " differs from the checkpoint") != words.npos, words);
    });
}

TEST_CASE("weights that differ between ranks after loading end the run with the parameter's name and the rank") {
    run_ranks(3, [](World& world) {
        const FlatParameters parameters(layout_for(3), at::kBFloat16, at::kCPU);
        parameters.compute_weights().fill_(1);
        parameters.fp32().fill_(1);
        refuse_different_weights(world, parameters);
        const std::string name = "bert.encoder.layer.1.output.dense.weight";
        if (world.rank() == 2) parameters.weight(name).view(-1)[17] = 1.0078125;  // the next number of bf16
        std::string words;
        try {
            refuse_different_weights(world, parameters);
        } catch (const DistributedError& error) { words = error.what(); }
        check(words.find(name + " of rank 2") != words.npos, words);
    });
}

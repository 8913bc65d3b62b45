#pragma once
// A small training state, whole or as the part of one of several ranks.

#include <algorithm>
#include <string>
#include <vector>

#include "checkpoint/checkpoint_store.h"
#include "checkpoint/training_state.h"
#include "support/catch.h"
#include "support/command.h"

namespace bertpretrain::testing {

/// Matches a message that contains `part`, by the matcher's name in Catch2 version 2 or 3.
inline auto Says(const std::string& part) {
#if __has_include(<catch2/catch_all.hpp>)
    return Catch::Matchers::ContainsSubstring(part);
#else
    return Catch::Matchers::Contains(part);
#endif
}

inline const std::string words = "bert.embeddings.word_embeddings.weight";

/// Returns element `index` of tensor number `tensor` in set number `set` of the example.
inline float example_value(int set, std::size_t tensor, std::size_t index) {
    return static_cast<float>(set * 1000) + static_cast<float>(tensor * 100) + static_cast<float>(index) * 0.25F;
}

/// A state and the memory of its pieces.
struct ExampleState {
    TrainingState state;
    std::vector<std::vector<float>> memory;
};

/// Returns the part of the example that `rank` of `world` holds. The flattened sets are split at uneven positions inside tensors.
inline ExampleState example_state(std::int64_t step, std::size_t rank = 0, std::size_t world = 1) {
    ExampleState example;
    const std::vector<TensorDescription> tensors{
        {words, {30, 4}}, {"cls.predictions.bias", {30}}, {"bert.pooler.dense.weight", {4, 4}}};
    const auto fill = [&](int set, TensorSet& out) {
        out.tensors = tensors;
        for (std::size_t t = 0; t < tensors.size(); ++t) {
            std::size_t count = 1;
            for (const std::int64_t size : tensors[t].shape) count *= static_cast<std::size_t>(size);
            const auto cut = [&](std::size_t r) { return r == world ? count : count * r * r / (world * world); };
            std::vector<float> values;
            for (std::size_t i = cut(rank); i < cut(rank + 1); ++i) values.push_back(example_value(set, t, i));
            example.memory.push_back(values);
            out.pieces.push_back({t, static_cast<std::int64_t>(cut(rank)), example.memory.back().data(),
                                  static_cast<std::int64_t>(values.size())});
        }
    };
    example.memory.reserve(9);
    example.state.step = step;
    fill(0, example.state.parameters);
    fill(1, example.state.moments["exp_avg"]);
    fill(2, example.state.moments["exp_avg_sq"]);
    example.state.aliases = {{"cls.predictions.decoder.weight", words}, {"cls.predictions.decoder.bias", "cls.predictions.bias"}};
    example.state.progress = {{"samples", step * 65536}, {"elapsed_seconds", 1.5}};
    example.state.settings = {{"about", "an example"}, {"model", {{"hidden_size", 4}}}};
    return example;
}

inline std::vector<std::string> names_in(const std::filesystem::path& folder) {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
}

}  // namespace bertpretrain::testing

#pragma once
// One setting of every type and rule.

#include "config/field.h"

namespace bertpretrain {

struct SampleBatchConfig {
    std::int64_t micro_batch_size = 16;
    double temperature = 1;
    std::optional<std::int64_t> threads;
    std::int64_t rows = 0;

    static void describe(auto& self, auto&& field) {
        field("micro_batch_size", self.micro_batch_size, at_least(1), "Sequences in one pass.", Resume::may_change);
        field("temperature", self.temperature, above(0), "What it divides by.");
        field("threads", self.threads, between(1, 64), "Workers.", Resume::may_change);
        field("rows", self.rows, or_auto(at_least(2)), "2 rows or more; auto: as many as there are words.");
    }
};

struct SampleOptimizerConfig {
    std::string name = "adamw";
    double learning_rate = 4e-4;
    std::vector<double> betas = {0.9, 0.999};
    bool fused = false;

    static void describe(auto& self, auto&& field) {
        field("name", self.name, renamed_choice("adam", "adamw", one_of({"adamw", "lamb", "lans"})), "How weights are updated.");
        field("learning_rate", self.learning_rate, between(0, 1), "Peak learning rate.", Resume::may_change);
        field("betas", self.betas, between(0, 1), "Decay of the moments.");
        field("fused", self.fused, renamed("one_kernel", any), "One kernel for all.");
    }
};

struct SampleConfig {
    std::string about;
    std::uint64_t seed = 12345;
    std::optional<std::string> init_from;
    std::vector<std::string> shards;
    SampleBatchConfig batch;
    SampleOptimizerConfig optimizer;

    static void describe(auto& self, auto&& field) {
        field("about", self.about, any, "What this run is for.", Resume::may_change);
        field("seed", self.seed, any, "Where all randomness begins.");
        field("init_from", self.init_from, any, "A checkpoint to start from.");
        field("shards", self.shards, required(any), "Where the samples are.");
        field("batch", self.batch, any, "How many sequences make one step.");
        field("optimizer", self.optimizer, any, "Learning rate and weight update.");
    }
};

}  // namespace bertpretrain

#pragma once
// The settings of the production loop, which scripts/pipeline.sh runs.

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "config/field.h"
#include "config/known_names.h"

namespace bertpretrain {

struct PipelineData {
    std::optional<std::string> training_shards;
    std::optional<std::string> command;
    std::optional<std::string> text_folder;
    std::vector<std::string> shard_options;

    static void describe(auto& self, auto&& field) {
        field("training_shards", self.training_shards, any,
              "Folder of shards, or its address in an object store: every generation trains on what is there when it begins.");
        field(
            "command", self.command, any,
            "A shell command that makes the shards of one generation, for example by copying them. It writes them to $1, a "
            "folder that it creates. After an interruption it runs again with the same $1. If there is nothing new, it makes no "
            "folder: the round then ends with exit code 0.");
        field("text_folder", self.text_folder, any,
              "Folder where new texts arrive. Each generation makes shards of the files that no model before it was trained on. "
              "Files whose names begin with a dot are ignored: write to such a name, then rename the file. If there is nothing "
              "new, or the new files hold no document, the round ends with exit code 0.");
        field("shard_options", self.shard_options, any,
              "With text_folder: options of `bertpretrain_data shard`, such as [\"--vocabulary\", \"vocab.txt\"].");
    }
};

struct PipelineTraining {
    std::vector<std::string> set;

    static void describe(auto& self, auto&& field) {
        field("set", self.set, any,
              "Settings of the experiment that every generation changes: [\"schedule.total_steps=1000\"]. The pipeline itself "
              "sets data.training_shards, data.held_out_shards and initialization.init_from.");
    }
};

struct PipelineEvaluation {
    std::string held_out_shards;
    double tolerance = 0;
    std::string after_refusal = "stop";

    static void describe(auto& self, auto&& field) {
        field("held_out_shards", self.held_out_shards,
              required(any, "name the folder whose held-out shards measure every generation"),
              "Folder of shards. Its held-out shards measure every generation, so keep it.");
        field("tolerance", self.tolerance, between(0, 1e6),
              "Refuse a generation whose held-out mlm_loss is more than this share above the current one's: 0.01 is 1 %.");
        field(
            "after_refusal", self.after_refusal, one_of({"stop", "train_again"}),
            "What the next round does after a generation was refused. stop: it ends with exit code 6 until a person has removed "
            "the link `next`. train_again: it sets the refused generation aside (the link `refused`) and trains a new one from "
            "the current model.");
    }
};

struct PipelineExport {
    std::vector<std::string> formats{"hf", "torchscript"};

    static void describe(auto& self, auto&& field) {
        field("formats", self.formats, one_of({"hf", "sentence-transformers", "nvidia", "state_dict", "torchscript"}),
              "The formats in which each generation is exported; each becomes a file or folder of that name. []: none.");
    }
};

struct PipelineEmbedding {
    std::optional<std::string> text;
    std::string vectors = "mean";

    static void describe(auto& self, auto&& field) {
        field("text", self.text, any,
              "File with a text per line, or a folder or address of such files, which each generation embeds (vectors.npy). "
              "JSONL and tables need the field \"text\". null: none.");
        field("vectors", self.vectors, one_of({"mean", "cls", "pooled"}),
              "The vector of a line. mean: the mean over all tokens. cls: the first token's. pooled: the pooler's output.");
    }
};

struct PipelineConfig {
    std::string about;
    std::string experiment;
    std::string models;
    std::int64_t ranks = 1;
    PipelineData data;
    PipelineTraining training;
    PipelineEvaluation evaluation;
    PipelineExport exports;
    PipelineEmbedding embedding;

    static void describe(auto& self, auto&& field) {
        const Resume may_change = Resume::may_change;
        field("about", self.about, any, "A description for people; the program does not use it.", may_change);
        field("experiment", self.experiment, required(any, "name the experiment file by which a generation trains"),
              "The experiment file by which each generation trains.", may_change);
        field("models", self.models, required(any, "name the folder of all generations"),
              "Folder of the generations 0001, 0002, ... `current` links to the newest that was accepted, `next` to the one in "
              "progress.",
              may_change);
        field("ranks", self.ranks, between(1, 4096),
              "Processes on this host. A launcher that starts the training on several hosts has its own number; evaluation and "
              "embedding use this one on the first host.",
              may_change);
        field("data", self.data, any, "The data of a new generation: exactly one of its first three settings.", may_change);
        field("training", self.training, any, "How a generation is trained, besides its experiment.", may_change);
        field("evaluation", self.evaluation, any, "When a generation is refused.", may_change);
        field("export", self.exports, any, "What is exported.", may_change);
        field("embedding", self.embedding, any, "What is embedded.", may_change);
    }

    /// The names that these settings had when they were shell assignments; for advice on unknown names only.
    static std::span<const ForeignName> foreign_names();
};

/// Reads a pipeline's file and checks all settings, also those of its experiment.
/// @throws ConfigError that lists everything that is wrong, or says how to translate a file of shell assignments
PipelineConfig load_pipeline(const std::filesystem::path& file);

/// Checks that evaluation.held_out_shards and embedding.text are there, unless they are addresses.
/// @param file named in messages  @throws ConfigError that lists what is missing
void check_pipeline_paths(const PipelineConfig& pipeline, const std::filesystem::path& file);

}  // namespace bertpretrain

#pragma once
// A production loop (scripts/pipeline.sh) in a folder of its own, for the tests of its rounds.

#include <filesystem>
#include <string>

#include <nlohmann/json.hpp>

#include "core/concat.h"
#include "support/command.h"
#include "system/small_run.h"

namespace bertpretrain::testing {

/// A pipeline of small_experiment() in a folder of its own: its models, experiment, texts and settings.
class Loop {
public:
    explicit Loop(const nlohmann::json& experiment = nlohmann::json::object()) {
        write_experiment(folder, experiment);
        write_text(folder / "texts.txt", "one text\nand another\n");
    }

    /// Writes the settings, changed by a JSON merge patch, and returns the command of a round.
    std::string command(const nlohmann::json& patch, const std::string& environment = "", const std::string& options = "") const {
        nlohmann::json settings = {{"experiment", (folder / "experiment.json").string()},
                                   {"models", models().string()},
                                   {"data", {{"training_shards", sample_data().shards.string()}}},
                                   {"evaluation", {{"held_out_shards", sample_data().shards.string()}}},
                                   {"embedding", {{"text", (folder / "texts.txt").string()}}}};
        settings.merge_patch(patch);
        write_text(folder / "pipeline.json", settings.dump());
        return concat("env OMP_NUM_THREADS=1 RUN_UNTIL_DONE_PAUSE_SECONDS=0 BERTPRETRAIN=", train_program, " ", environment,
                      " scripts/pipeline.sh ", (folder / "pipeline.json").string(), " ", options);
    }
    CommandResult round(const nlohmann::json& patch = nlohmann::json::object(), const std::string& environment = "",
                        const std::string& options = "") const {
        return run_command(command(patch, environment, options));
    }
    std::filesystem::path models() const { return folder / "models"; }
    std::filesystem::path leads_to(const std::string& link) const { return std::filesystem::read_symlink(models() / link); }
    bool has_next() const { return std::filesystem::is_symlink(models() / "next"); }

    TemporaryFolder folder;
};

/// A run of a part of a second.
inline const nlohmann::json short_run = {{"schedule", {{"total_steps", 8}}}, {"evaluation", {{"every_steps", 0}}}};

/// Settings of a loop in which one of "data", "training" and so on is changed.
inline nlohmann::json with(const std::string& section, const nlohmann::json& settings) { return {{section, settings}}; }

}  // namespace bertpretrain::testing

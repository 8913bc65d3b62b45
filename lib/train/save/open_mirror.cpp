#include "train/save/open_mirror.h"

#include <string>

#include <nlohmann/json.hpp>

#include "checkpoint/checkpoint_files.h"
#include "config/read.h"
#include "core/error.h"
#include "core/files/files.h"
#include "core/output/log.h"
#include "plan/training_phases.h"

namespace bertpretrain {
namespace {

void refuse_other_settings(CheckpointMirror& mirror, const ExperimentConfig& settings) {
    if (mirror.steps().empty()) return;
    const std::int64_t step = mirror.steps().back();
    std::string differences;
    try {
        const std::string text = mirror.read(step, settings_file);
        const auto saved =
            read_config<ExperimentConfig>(nlohmann::json::parse(text), concat(mirror.url().text(), "/", settings_file));
        for (const Difference& difference : fixed_differences(saved, settings))
            if (!difference.path.starts_with("batch."))
                differences +=
                    concat("\n  ", difference.path, ": ", difference.value_a, " in the mirror, ", difference.value_b, " now");
    } catch (const CheckpointError&) {  // damaged: choose_checkpoint() reports it
    } catch (const nlohmann::json::exception&) {}
    if (!differences.empty())
        throw ConfigError(concat("checkpoint.mirror = \"", mirror.url().text(), "\": is the mirror of another run: its settings ",
                                 "differ (step ", step, ")", differences, "\n  do: give each run a mirror of its own"));
}

/// Returns a run's id; empty if the file has been changed by hand.
std::string run_id_in(const std::filesystem::path& file) {
    const std::string text = read_file(file), id = text.substr(0, text.find('\n'));
    return id.find_first_not_of("0123456789abcdef") == id.npos ? id : "";
}

}  // namespace

std::shared_ptr<CheckpointMirror> open_mirror(const ExperimentConfig& settings, const CheckpointStore& store,
                                              const std::filesystem::path& id) {
    if (!settings.checkpoint.mirror) return nullptr;
    auto mirror = std::make_shared<CheckpointMirror>(parse_object_url(*settings.checkpoint.mirror, "checkpoint.mirror"));
    const bool is_needed = store.all().empty();
    mirror->set_run_id(run_id_in(id));
    try {
        mirror->open();
    } catch (const Error& error) {
        if (is_needed) throw;
        log_warning(concat(error.what(), "\n  checkpoint.mirror is not used at this start; uploads will try again"));
        return mirror;
    }
    if (!is_needed) {
        mirror->require_same_run(store.folder());
        return mirror;
    }
    refuse_other_settings(*mirror, settings);
    if (const std::string earlier = mirror->run_id(); !earlier.empty()) {
        write_atomically(id, earlier + "\n");
        mirror->set_run_id(earlier);
    }
    return mirror;
}

}  // namespace bertpretrain

#include "plan/training_phases.h"

#include <algorithm>
#include <set>
#include <sstream>

#include <nlohmann/json.hpp>

#include "config/override.h"
#include "config/read.h"
#include "config/refusals.h"
#include "core/error.h"
#include "core/strings.h"
#include "telemetry/run_paths.h"

namespace bertpretrain {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// An entry of `phases` as it was read.
struct Patch {
    std::string place;  ///< "phases[1]"
    std::string name;
    json settings;  ///< without the name
};

std::string checked_name(const json& entry, const std::string& where) {
    const auto name = entry.is_object() ? entry.find("name") : entry.end();
    if (name == entry.end())
        throw ConfigError(concat(where, ": must be a section in { } with a \"name\" and the settings that change"));
    constexpr std::size_t longest = 40;
    const std::string text = name->is_string() ? name->get<std::string>() : "";
    if (text.empty() || text.size() > longest || text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_-") != text.npos)
        throw ConfigError(concat(where, ".name = ", name->dump(-1, ' ', true, json::error_handler_t::replace), ": must be 1 to ",
                                 longest, " of the characters a-z, 0-9, _ and -"));
    return text;
}

std::vector<Patch> patches_of(const json& phases, const std::string& file) {
    if (!phases.is_array() || phases.empty() || phases.size() > most_phases)
        throw ConfigError(concat(file, ": phases: must be a list of 1 to ", most_phases, " phases"));
    std::vector<Patch> patches;
    std::set<std::string> taken;
    for (std::size_t i = 0; i < phases.size(); ++i) {
        const std::string place = concat("phases[", i, "]");
        Patch patch{place, checked_name(phases[i], concat(file, ": ", place)), phases[i]};
        patch.settings.erase("name");
        if (!taken.insert(patch.name).second)
            throw ConfigError(concat(file, ": ", place, ".name = \"", patch.name, "\": another phase has this name"));
        patches.push_back(std::move(patch));
    }
    return patches;
}

/// A null in a merge patch removes a setting, also one that does not exist.
void refuse_unknown_nulls(const json& patch, const std::string& file, const std::string& place, const std::string& section = "") {
    for (const auto& [key, value] : patch.items()) {
        const std::string path = section + key;
        if (value.is_object()) refuse_unknown_nulls(value, file, place, path + ".");
        if (!value.is_null()) continue;
        const std::vector<Setting> all = list_all_settings<ExperimentConfig>();
        if (std::ranges::any_of(all, [&](const Setting& setting) { return setting.path == path; })) continue;
        const std::string of = section.empty() ? "" : section.substr(0, section.size() - 1);
        throw ConfigError(
            concat(file, ": ", place, ".", path, ": no such setting; ", known_names<ExperimentConfig>().advice(of, key)));
    }
}

std::string names_of(const std::vector<Patch>& patches) {
    std::vector<std::string> all;
    for (const Patch& patch : patches) all.push_back(patch.name);
    return join(all);
}

/// Takes "phases=..." out of the overrides. @returns what follows the "=" of the last one
std::optional<std::string> taken_choice(std::vector<std::string>& overrides) {
    std::optional<std::string> choice;
    std::erase_if(overrides, [&](const std::string& given) {
        const std::string_view begin = "phases=";
        if (given.starts_with(begin)) choice = given.substr(begin.size());
        return given.starts_with(begin);
    });
    return choice;
}

/// Keeps the phases that --set phases=NAME,NAME names, in the file's order; none of them for null.
std::vector<Patch> kept_phases(std::vector<Patch> patches, const std::string& choice) {
    if (choice == "null") return {};
    std::set<std::string> kept;
    std::istringstream list(choice);
    for (std::string name; std::getline(list, name, ',');) kept.insert(name);
    for (const std::string& name : kept)
        if (std::ranges::find(patches, name, &Patch::name) == patches.end())
            throw ConfigError(concat("--set phases=", choice, ": no phase is called \"", name, "\", expected some of ",
                                     names_of(patches), ", or null for a run without phases"));
    if (kept.empty()) throw ConfigError(concat("--set phases=: expected some of ", names_of(patches), ", or null"));
    std::erase_if(patches, [&](const Patch& patch) { return !kept.contains(patch.name); });
    return patches;
}

/// Overrides for all phases, and those that name a phase, without "phases.NAME.".
struct SplitOverrides {
    std::vector<std::string> for_all;
    std::vector<std::vector<std::string>> for_phase;
};

SplitOverrides split(const std::vector<std::string>& overrides, const std::vector<Patch>& patches) {
    const auto renamed = renamed_settings<ExperimentConfig>();
    SplitOverrides all{{}, std::vector<std::vector<std::string>>(patches.size())};
    for (const std::string& given : overrides) {
        const std::string path = given.substr(0, given.find('='));
        if (const std::string_view begin = "phases."; given.starts_with(begin)) {
            const std::size_t dot = path.find('.', begin.size());
            const std::string name = path.substr(begin.size(), dot == path.npos ? dot : dot - begin.size());
            const auto found = std::ranges::find(patches, name, &Patch::name);
            if (found == patches.end() || dot == path.npos)
                throw ConfigError(
                    concat("--set ", given, ": expected phases.NAME.section.key=value, with a NAME of: ", names_of(patches)));
            all.for_phase[static_cast<std::size_t>(found - patches.begin())].push_back(given.substr(dot + 1));
            continue;
        }
        std::vector<std::string> own;
        const auto current = renamed.find(path);
        for (const Patch& patch : patches)
            if (value_at(patch.settings, current == renamed.end() ? path : current->second) != nullptr) own.push_back(patch.name);
        if (!own.empty())
            throw ConfigError(concat("--set ", given, ": these phases have values of their own for it: ", join(own),
                                     "\n  do: name the phase, as --set phases.", own.front(), ".", given));
        all.for_all.push_back(given);
    }
    return all;
}

/// A model whose parameters can be listed where the shards decide the size of the vocabulary.
ModelConfig with_rows(ModelConfig model, const DataConfig& data) {
    if (shape_of(model).vocab_size == 0) set_vocab_size(model, 8);
    set_next_sentence(model, data.objective == Objective::mlm_nsp);
    return model;
}

bool have_the_same_tensors(const ExperimentConfig& a, const ExperimentConfig& b) {
    const auto shapes = [](const ExperimentConfig& of) {
        std::vector<std::pair<std::string, std::vector<std::int64_t>>> all;
        for (const ParameterSpec& spec : parameters_of(with_rows(of.model, of.data)).checkpoint_order)
            all.emplace_back(spec.name, spec.shape);
        return all;
    };
    return shapes(a) == shapes(b);
}

/// Lets a phase begin with the weights and moments of the one before.
void follow(RequestedExperiment& requested, const TrainingPhase& before) {
    const ExperimentConfig& earlier = before.experiment.settings;
    ExperimentConfig& phase = requested.settings;
    const auto may_change = arithmetic_settings(phase.model);
    std::vector<std::string> arithmetic, others;
    for (const Difference& difference : compare_configs(earlier, phase)) {
        const std::string name = difference.path.substr(difference.path.find('.') + 1);
        const bool is_of_model = difference.path == "model." + name;
        if (is_of_model && std::ranges::find(may_change, name) != may_change.end()) arithmetic.push_back(name);
        else if (is_of_model || difference.path == "data.objective") others.push_back(difference.path);
    }
    if (!have_the_same_tensors(earlier, phase))
        throw ConfigError(concat("the model's tensors differ from those of phase ", before.name, ", by ", join(others),
                                 "\n  do: leave these out of the phases; a phase may change: ",
                                 join(std::vector<std::string>(may_change.begin(), may_change.end()))));
    phase.initialization = {.init_from = before.folder.string(), .init_moments = true, .init_changes = arithmetic};
    for (const char* name : {"init_from", "init_moments", "init_changes"})
        requested.origins[concat("initialization.", name)] = Origin::file;
}

RequestedExperiment request(const Patch& patch, std::size_t number, const json& rest, const std::vector<std::string>& for_all,
                            const std::vector<std::string>& for_phase, const std::string& file) {
    refuse_unknown_nulls(patch.settings, file, patch.place);
    json changes = patch.settings;
    apply_overrides(changes, for_phase, renamed_settings<ExperimentConfig>());
    if (number > 0 && changes.contains("initialization"))
        throw ConfigError(concat(file, ": ", patch.place,
                                 ".initialization: this phase begins with the weights and moments of the ",
                                 "phase before it\n  do: leave it out, or start from other weights in a file of its own"));
    json settings = rest;
    settings.merge_patch(patch.settings);
    std::vector<std::string> overrides = for_all;
    overrides.insert(overrides.end(), for_phase.begin(), for_phase.end());
    const auto place = [&](const std::string& path) {
        return concat(file, ": ", value_at(patch.settings, path) != nullptr ? patch.place + "." : "", path);
    };
    RequestedExperiment experiment = request_experiment(std::move(settings), file, overrides, place);
    if (value_at(changes, "training.seed") == nullptr) experiment.settings.training.seed += number;
    experiment.origins.try_emplace("training.seed", Origin::file);
    return experiment;
}

/// The message without the kind of error before it.
std::string message_of(const ConfigError& error) {
    const std::string kind = "config error: ", message = error.what();
    return message.starts_with(kind) ? message.substr(kind.size()) : message;
}

}  // namespace

std::vector<TrainingPhase> request_phases(const fs::path& file, const std::vector<std::string>& all_overrides,
                                          const fs::path& run) {
    json rest = load_settings(file);
    std::vector<std::string> overrides = all_overrides;
    const std::optional<std::string> choice = taken_choice(overrides);
    std::vector<Patch> patches;
    if (rest.is_object() && rest.contains("phases")) {
        patches = patches_of(rest["phases"], file.string());
        rest.erase("phases");
        if (choice) patches = kept_phases(std::move(patches), *choice);
    } else if (choice && *choice != "null")
        throw ConfigError(concat("--set phases=", *choice, ": ", file.string(), " has no phases"));
    if (patches.empty()) return {{"", run, request_experiment(std::move(rest), file.string(), overrides)}};
    const SplitOverrides given = split(overrides, patches);
    std::vector<TrainingPhase> phases;
    Refusals refusals;
    for (std::size_t i = 0; i < patches.size(); ++i)
        refusals.attempt([&] {
            const std::string name = patches[i].name;
            try {
                TrainingPhase phase{name, RunPaths(run).phase(i + 1, name),
                                    request(patches[i], i, rest, given.for_all, given.for_phase[i], file.string())};
                ExperimentConfig& settings = phase.experiment.settings;
                if (i > 0 && phases.size() == i) follow(phase.experiment, phases.back());
                if (settings.checkpoint.mirror) settings.checkpoint.mirror->append("/").append(phase.folder.filename().string());
                phases.push_back(std::move(phase));
            } catch (const ConfigError& error) { throw ConfigError(concat("phase ", name, ": ", message_of(error))); }
        });
    refusals.throw_if_any();
    return phases;
}

std::string title_of(const TrainingPhase& phase) { return phase.name.empty() ? "" : "phase " + phase.name; }

std::vector<Difference> fixed_differences(const ExperimentConfig& saved, const ExperimentConfig& now) {
    std::vector<Difference> differences = compare_configs(saved, now);
    const auto& a = saved.initialization.init_from;
    const auto& b = now.initialization.init_from;
    const bool is_moved =
        a && b && is_phase_of_run(*a) && is_phase_of_run(*b) && fs::path(*a).filename() == fs::path(*b).filename();
    std::erase_if(differences, [&](const Difference& difference) {
        return difference.may_change || (is_moved && difference.path == "initialization.init_from");
    });
    return differences;
}

}  // namespace bertpretrain

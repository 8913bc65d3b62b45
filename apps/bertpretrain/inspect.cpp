// bertpretrain inspect PATH [--tensors] [--json] [--verify] [--lineage]

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <numeric>
#include <string>

#include "commands.h"

#include "archive/printable.h"
#include "checkpoint/checkpoint_files.h"
#include "checkpoint/checkpoint_health.h"
#include "checkpoint/checkpoint_reader.h"
#include "checkpoint/lineage_check.h"
#include "checkpoint/training_progress.h"
#include "checkpoint/weight_files.h"
#include "config/read.h"
#include "config/write.h"
#include "core/error.h"
#include "core/files/files.h"
#include "core/output/displayable.h"
#include "core/output/table.h"
#include "core/strings.h"
#include "plan/experiment_config.h"
#include "shards/manifest.h"
#include "telemetry/run_paths.h"

namespace bertpretrain {
namespace {

struct InspectArguments {
    std::string path;
    bool verify = false, tensors = false, json = false, lineage = false;
};

/// Prints every checkpoint with its state. @throws CheckpointError that lists the damage, if there is any
void verify_checkpoints(const std::vector<std::filesystem::path>& folders) {
    Table table({"checkpoint", "bytes checked", "state"});
    std::vector<std::string> damages;
    for (const std::filesystem::path& folder : folders) {
        const CheckpointHealth health = examine_checkpoint(folder);
        table.add({folder.string(), with_thousands(static_cast<std::int64_t>(health.bytes)),
                   health.damage.empty() ? "whole" : "damaged"});
        if (!health.damage.empty()) damages.push_back(health.damage);
    }
    std::cout << table.text() << std::flush;
    if (!damages.empty())
        throw CheckpointError(concat(damages.size(), " of ", folders.size(), " checkpoints are damaged\n", join(damages, "\n")));
}

/// Returns a short text for a value that is not a tensor; "" for a list or dict with elements.
std::string leaf_text(const PtValue& value) {
    if (const auto* number = value.integer()) return std::to_string(*number);
    if (const auto* number = value.real()) return concat(*number);
    if (const auto* text = value.text()) return concat("\"", printable(*text, 60), "\"");
    if (const auto* truth = std::get_if<bool>(&value.content)) return *truth ? "true" : "false";
    if (std::holds_alternative<std::monostate>(value.content)) return "none";
    if (const auto* number = std::get_if<PtBigInteger>(&value.content))
        return concat("an integer of ", number->bytes.size(), " bytes");
    const bool is_empty = value.list() != nullptr ? value.list()->empty() : value.dict() != nullptr && value.dict()->empty();
    return is_empty ? "empty" : "";
}

/// Adds every leaf below a value to the table; of long lists the first items only.
void add_leaves(Table& table, const std::string& path, const PtValue& value) {
    constexpr std::size_t most_items = 8;
    const auto below = [&](const std::string& key) { return path.empty() ? key : path + "." + key; };
    if (const PtTensor* tensor = value.tensor())
        return table.add({path, std::string(dtype_name(tensor->dtype)), shape_text(tensor->shape)});
    if (const std::string text = leaf_text(value); !text.empty()) return table.add({path, "", text});
    if (const PtList* list = value.list()) {
        for (std::size_t i = 0; i < std::min(list->size(), most_items); ++i)
            add_leaves(table, below(std::to_string(i)), (*list)[i]);
        if (list->size() > most_items) table.add({below("..."), "", concat(list->size(), " in all")});
    }
    if (const PtDict* dict = value.dict())
        for (const auto& [key, item] : *dict) {
            const auto* name = std::get_if<std::string>(&key);
            add_leaves(table, below(name != nullptr ? printable(*name, 200) : std::to_string(std::get<std::int64_t>(key))), item);
        }
}

nlohmann::ordered_json tensor_json(const std::string& name, std::string_view type, const auto& shape) {
    return {{"name", printable(name, 200)}, {"type", type}, {"shape", shape}};
}

/// JSON of ASCII characters only, in which no text of a file can control a terminal.
std::string safe_json(const nlohmann::ordered_json& json) {
    std::string text = json.dump(2, ' ', /*ensure_ascii=*/true, nlohmann::json::error_handler_t::replace) + "\n";
    for (std::size_t at = 0; (at = text.find('\x7f', at)) != std::string::npos;) text.replace(at, 1, "\\u007f");
    return text;
}

void print_checkpoint_json(const CheckpointReader& reader) {
    nlohmann::ordered_json out{{"checkpoint", reader.folder().string()},
                               {"step", reader.step()},
                               {"moments", reader.moment_names()},
                               {"progress", reader.progress()},
                               {"settings", reader.settings()}};
    for (const TensorDescription& tensor : reader.parameters())
        out["tensors"].push_back(tensor_json(tensor.name, "float32", tensor.shape));
    std::cout << safe_json(out) << std::flush;
}

/// The settings of a checkpoint; nothing if this version cannot read them.
std::optional<ExperimentConfig> settings_of(const CheckpointReader& reader) {
    try {
        return read_config<ExperimentConfig>(reader.settings(), (reader.folder() / settings_file).string());
    } catch (const ConfigError&) { return std::nullopt; }
}

/// The files of a folder with their sizes.
std::string files_text(const std::filesystem::path& folder) {
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
        if (entry.is_regular_file())
            files.push_back(concat(entry.path().filename().string(), " ", bytes_text(entry.file_size())));
    std::sort(files.begin(), files.end());
    return join(files);
}

/// Prints the sources of a mixture, and each change of their shares.
void print_sources(const TrainingProgress& progress, const WeightedPaths& sources, const auto& line) {
    if (progress.mixture.empty() || progress.mixture.front().shares.size() != sources.paths.size()) return;
    const Mixture mixture(progress.mixture);
    const std::vector<std::int64_t> counts = mixture.counts(progress.samples);
    for (std::size_t i = 0; i < counts.size(); ++i)
        line("source", concat(sources.paths[i].path, ": ", with_thousands(counts[i]), " samples"));
    for (const MixturePart& part : mixture.parts()) {
        const auto sum = static_cast<double>(std::accumulate(part.shares.begin(), part.shares.end(), std::int64_t{0}));
        std::vector<std::string> shares;
        for (const std::int64_t share : part.shares) shares.push_back(concat(100 * static_cast<double>(share) / sum, " %"));
        line("shares", concat(join(shares), " from sample ", with_thousands(part.first_sample), " on"));
    }
}

void print_checkpoint(const CheckpointReader& reader, bool with_tensors) {
    const auto progress = TrainingProgress::read(reader.progress(), reader.folder() / progress_file);
    const std::optional<ExperimentConfig> settings = settings_of(reader);
    const auto parameters = reader.parameters();
    std::int64_t elements = 0;
    for (const TensorDescription& tensor : parameters) {
        std::int64_t of_tensor = 1;
        for (const std::int64_t size : tensor.shape) of_tensor *= size;
        elements += of_tensor;
    }
    const auto line = [](std::string_view name, const std::string& text) {
        std::cout << name << std::string(12 - name.size(), ' ') << displayable(text) << "\n";
    };
    line("checkpoint", reader.folder().string());
    line("step", settings ? concat(reader.step(), " of ", settings->schedule.total_steps) : concat(reader.step()));
    line("samples", concat(with_thousands(progress.samples), ", ", progress.global_batch_sequences, " per step, on ",
                           progress.world_size, " rank(s)"));
    if (settings) print_sources(progress, settings->data.training_shards, line);
    if (progress.held_out_mlm_loss) line("held out", concat("MLM loss ", fixed(*progress.held_out_mlm_loss, 4)));
    if (settings) line("model", summary_of(settings->model));
    line("parameters", concat(with_thousands(elements), " in ", parameters.size(), " tensors, fp32"));
    line("optimizer",
         concat(settings ? concat(name_of(settings->optimizer.name), ", moments ") : "moments ", join(reader.moment_names())));
    line("files", files_text(reader.folder()));
    if (settings) std::cout << "\n" << displayable(settings_table(*settings), "\n");
    if (!with_tensors) std::cout << "\n--tensors lists the tensors, --json prints everything\n";
    Table table({"tensor", "type", "shape"});
    for (const TensorDescription& tensor : parameters)
        table.add({printable(tensor.name, 200), "float32", shape_text(tensor.shape)});
    if (with_tensors) std::cout << "\n" << table.text();
    std::cout << std::flush;
}

void print_weights_json(const FoundWeights& found) {
    nlohmann::ordered_json out{{"what", found.what}};
    for (const std::filesystem::path& file : found.files)
        out["files"].push_back({{"path", file.string()}, {"bytes", std::filesystem::file_size(file)}});
    const WeightFiles files(found, PtReader::Checksums::never);
    for (const StoredTensor& tensor : files.tensors())
        out["tensors"].push_back(tensor_json(tensor.name, dtype_name(tensor.dtype), tensor.shape));
    std::cout << safe_json(out) << std::flush;
}

void print_weights(const FoundWeights& found) {
    std::cout << displayable(found.what) << "\n";
    for (const std::filesystem::path& file : found.files)
        std::cout << displayable(file.string()) << "  " << bytes_text(std::filesystem::file_size(file)) << "\n";
    Table table({"entry", "type", "shape or value"});
    if (found.kind == FoundWeights::Kind::pt && found.files.size() == 1) {
        add_leaves(table, "", PtReader(found.files.front(), PtReader::Checksums::never).root());
    } else {
        const WeightFiles files(found, PtReader::Checksums::never);
        for (const StoredTensor& tensor : files.tensors())
            table.add({printable(tensor.name, 200), std::string(dtype_name(tensor.dtype)), shape_text(tensor.shape)});
    }
    std::cout << "\n" << table.text() << std::flush;
}

void verify_weights(const FoundWeights& found) {
    if (found.kind == FoundWeights::Kind::pt)
        for (const std::filesystem::path& file : found.files) PtReader(file).verify();
    if (found.kind == FoundWeights::Kind::safetensors || found.index) const WeightFiles fits_together(found);
    for (const std::filesystem::path& file : found.files)
        std::cout << displayable(file.string())
                  << (found.kind == FoundWeights::Kind::pt ? ": every record matches its CRC-32\n"
                                                           : ": the header matches the size (the format has no checksums)\n");
    std::cout << std::flush;
}

/// Prints every file that a lineage names. @throws DataError that lists the files that differ, if there are any
void print_lineage(const std::filesystem::path& path, bool as_json) {
    Table table({"part", "file", "state"});
    auto files = nlohmann::ordered_json::array();
    std::vector<std::string> different;
    for (const LineageFinding& finding : check_lineage(path)) {
        const std::string state(name_of(finding.state));
        table.add({finding.part, displayable(finding.file), state});
        files.push_back({{"part", finding.part}, {"file", finding.file}, {"state", state}});
        if (finding.state == LineageFinding::State::different) different.push_back(displayable(finding.file));
    }
    std::cout << (as_json ? safe_json({{"lineage", path.string()}, {"files", files}}) : table.text()) << std::flush;
    if (!different.empty())
        throw DataError(concat(path.string(), ": ", different.size(), " files differ from the lineage: ", join(different),
                               "\n  do: restore the files that were used, or do not rely on this lineage"));
}

/// @throws ConfigError when the path leads to shards
void refuse_shards(const std::filesystem::path& path) {
    std::vector<std::filesystem::path> files = {path};
    if (std::filesystem::is_directory(path)) files = list_files(path, {".h5", ".hdf5"});
    if (std::ranges::none_of(files, [](const auto& file) { return shard_kind(file).has_value(); })) return;
    const std::string name = displayable(path.string());
    throw ConfigError(concat(name, ": ", std::filesystem::is_directory(path) ? "is a folder of shards" : "is a shard",
                             ", expected a checkpoint or a file of weights\n  do: run `bertpretrain_data check ",
                             std::filesystem::is_directory(path) ? name : displayable(path.parent_path().string()),
                             "`, which reports what shards contain, or `bertpretrain_data show ", name,
                             "`, which prints their rows"));
}

void inspect(const InspectArguments& arguments) {
    refuse_shards(arguments.path);
    require_no_phases(arguments.path);
    const auto steps = step_folders(arguments.path);
    if (arguments.lineage)
        return print_lineage(steps.empty() ? std::filesystem::path(arguments.path) : steps.back(), arguments.json);
    if (!steps.empty()) {
        if (arguments.verify) return verify_checkpoints(steps);
        const CheckpointReader reader(steps.back(), CheckpointReader::Verify::sizes);
        return arguments.json ? print_checkpoint_json(reader) : print_checkpoint(reader, arguments.tensors);
    }
    const FoundWeights found = find_weights(arguments.path);
    if (arguments.verify) verify_weights(found);
    else if (arguments.json) print_weights_json(found);
    else print_weights(found);
}

}  // namespace

void add_inspect_command(CLI::App& app) {
    const auto arguments = std::make_shared<InspectArguments>();
    CLI::App* command = app.add_subcommand("inspect", "Summarises a checkpoint or any file of weights");
    command
        ->add_option(
            "path", arguments->path,
            "A checkpoint's folder, a run's folder (its newest checkpoint), a .pt, .bin or .safetensors file, or a folder "
            "that Hugging Face, DeepSpeed or NVIDIA's scripts wrote")
        ->required();
    CLI::Option* verify = command->add_flag("--verify", arguments->verify,
                                            "Read everything and compare all checksums, for a run those of all its checkpoints. "
                                            "Exit code 4 if anything is damaged");
    command->add_flag("--tensors", arguments->tensors, "List the tensors of a checkpoint too");
    command->add_flag("--json", arguments->json, "Print everything as one JSON object")->excludes(verify);
    command
        ->add_flag(
            "--lineage", arguments->lineage,
            "Compare the checkpoint, its data and the earlier checkpoints with the digests in lineage.json, as far as the files "
            "are found; also for what export wrote. Exit code 3 if a file differs")
        ->excludes(verify);
    command->callback([arguments] { inspect(*arguments); });
}

}  // namespace bertpretrain

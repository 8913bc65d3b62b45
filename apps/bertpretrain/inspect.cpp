// bertpretrain inspect PATH [--verify]

#include <filesystem>
#include <iostream>
#include <memory>
#include <string>

#include "commands.h"

#include "archive/printable.h"
#include "checkpoint/checkpoint_health.h"
#include "checkpoint/checkpoint_reader.h"
#include "checkpoint/weight_files.h"
#include "core/displayable.h"
#include "core/error.h"
#include "core/strings.h"
#include "core/table.h"

namespace bertpretrain {
namespace {

struct InspectArguments {
    std::string path;
    bool verify = false;
};

/// Every checkpoint, with what is wrong with it. @throws CheckpointError when anything is
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
    if (!damages.empty()) throw CheckpointError(concat("not everything is whole\n", join(damages, "\n")));
}

/// A leaf that is no tensor, as short as it can be recognised; empty for one that goes on below.
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

/// Adds every leaf below a value; of long lists the first.
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

/// JSON in one line; its text comes from the checkpoint, so control characters beyond ASCII are possible.
std::string json_line(const nlohmann::json& json) {
    return displayable(json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

void show_checkpoint(const std::filesystem::path& folder) {
    const CheckpointReader reader(folder, CheckpointReader::Verify::sizes);
    std::cout << "checkpoint  " << displayable(folder.string()) << "\nstep        " << reader.step() << "\nmoments     "
              << join(reader.moment_names()) << "\nprogress    " << json_line(reader.progress()) << "\nsettings    "
              << json_line(reader.settings()) << "\n\n";
    Table table({"tensor", "type", "shape"});
    for (const TensorDescription& tensor : reader.parameters()) table.add({tensor.name, "float32", shape_text(tensor.shape)});
    std::cout << table.text() << std::flush;
}

void show_weights(const FoundWeights& found) {
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
                  << (found.kind == FoundWeights::Kind::pt ? ": every record has its CRC-32\n"
                                                           : ": its header fits its size (the format has no checksums)\n");
    std::cout << std::flush;
}

void inspect(const InspectArguments& arguments) {
    const auto steps = step_folders(arguments.path);
    if (!steps.empty()) {
        if (arguments.verify) verify_checkpoints(steps);
        else show_checkpoint(steps.back());
        return;
    }
    const FoundWeights found = find_weights(arguments.path);
    if (arguments.verify) verify_weights(found);
    else show_weights(found);
}

}  // namespace

void add_inspect_command(CLI::App& app) {
    const auto arguments = std::make_shared<InspectArguments>();
    CLI::App* command = app.add_subcommand("inspect", "Shows what a checkpoint or any file of weights holds");
    command
        ->add_option("path", arguments->path,
                     "A step's folder, a run (its newest checkpoint), a .pt, .bin or .safetensors file, or a folder of Hugging "
                     "Face, DeepSpeed or NVIDIA")
        ->required();
    command->add_flag("--verify", arguments->verify,
                      "Read everything and compare all checksums, of a run in all its checkpoints; exit 4 on damage");
    command->callback([arguments] { inspect(*arguments); });
}

}  // namespace bertpretrain

#include "checkpoint/checkpoint_reader.h"

#include <set>
#include <utility>

#include "checkpoint/checkpoint_files.h"
#include "checkpoint/checkpoint_store.h"
#include "core/error.h"
#include "core/strings.h"
#include "tokens/vocabulary/vocabulary_file.h"

namespace bertpretrain {
namespace fs = std::filesystem;

namespace {

std::int64_t verified_step(const fs::path& folder, CheckpointReader::Verify verify) {
    const CompleteMark mark = read_mark(folder);
    if (verify == CheckpointReader::Verify::contents) check_contents(folder, mark);
    else check_sizes(folder, mark);
    return mark.step;
}

/// Returns the tensors of a dict {name: tensor}, in the dict's order.
std::vector<std::pair<std::string, PtTensor>> tensors_of(const PtReader& file, const PtValue* value) {
    const auto refuse = [&] {
        throw CheckpointError(
            concat(file.file().string(), ": does not have the layout of this program's checkpoints: expected a dict of tensors"));
    };
    if (value == nullptr || value->dict() == nullptr) refuse();
    std::vector<std::pair<std::string, PtTensor>> tensors;
    for (const auto& [key, item] : *value->dict()) {
        const auto* name = std::get_if<std::string>(&key);
        if (name == nullptr || item.tensor() == nullptr) refuse();
        tensors.emplace_back(*name, *item.tensor());
    }
    return tensors;
}

std::optional<std::uint32_t> crc32_in(const PtReader& file, const std::map<std::string, PtTensor, std::less<>>& tensors,
                                      const std::string& name, std::int64_t elements) {
    const auto found = tensors.find(name);
    if (found == tensors.end() || found->second.dtype != DType::f32 || found->second.elements() != elements) return std::nullopt;
    return file.crc32(found->second);
}

}  // namespace

CheckpointReader::CheckpointReader(const fs::path& folder, Verify verify)
    : folder_(folder),
      step_(verified_step(folder, verify)),
      model_(folder / model_file, PtReader::Checksums::never),
      optimizer_(folder / optimizer_file, PtReader::Checksums::never),
      progress_(read_json(folder / progress_file)),
      settings_(read_json(folder / settings_file)) {
    if (const auto named = step_of_folder_name(folder.filename().string()); named && *named != step_)
        throw CheckpointError(concat((folder / complete_file).string(), ": damaged: its step is ", step_,
                                     ", but its folder is that of step ", *named));
    std::set<std::string> storages;
    for (auto& [name, tensor] : tensors_of(model_, &model_.root())) {
        if (storages.insert(tensor.storage).second) parameters_.push_back({name, tensor.shape});
        parameter_tensors_.emplace(name, std::move(tensor));
    }
    const PtValue* state = optimizer_.root().find("state");
    if (state == nullptr || state->dict() == nullptr)
        throw CheckpointError(
            concat(optimizer_.file().string(), ": does not have the layout of this program's checkpoints: no \"state\""));
    for (const auto& [key, tensors] : *state->dict())
        if (const auto* moment = std::get_if<std::string>(&key))
            for (auto& [name, tensor] : tensors_of(optimizer_, &tensors))
                moment_tensors_[*moment].emplace(name, std::move(tensor));
}

std::optional<fs::path> CheckpointReader::vocabulary() const {
    const fs::path file = tokenizer_in_folder(folder_);
    return file.empty() ? std::nullopt : std::optional(file);
}

std::vector<std::string> CheckpointReader::moment_names() const {
    std::vector<std::string> names;
    for (const auto& [moment, tensors] : moment_tensors_) names.push_back(moment);
    return names;
}

void CheckpointReader::read_parameter(const std::string& name, std::int64_t first_element, float* into,
                                      std::int64_t elements) const {
    read(model_, parameter_tensors_, name, first_element, into, elements);
}

void CheckpointReader::read_moment(const std::string& moment, const std::string& name, std::int64_t first_element, float* into,
                                   std::int64_t elements) const {
    const auto found = moment_tensors_.find(moment);
    if (found == moment_tensors_.end())
        throw CheckpointError(
            concat(optimizer_.file().string(), ": has no moment \"", moment, "\"; it has ", join(moment_names())));
    read(optimizer_, found->second, name, first_element, into, elements);
}

std::optional<std::uint32_t> CheckpointReader::parameter_crc32(const std::string& name, std::int64_t elements) const {
    return crc32_in(model_, parameter_tensors_, name, elements);
}

std::optional<std::uint32_t> CheckpointReader::moment_crc32(const std::string& moment, const std::string& name,
                                                            std::int64_t elements) const {
    const auto found = moment_tensors_.find(moment);
    return found == moment_tensors_.end() ? std::nullopt : crc32_in(optimizer_, found->second, name, elements);
}

void CheckpointReader::read(const PtReader& file, const Tensors& tensors, const std::string& name, std::int64_t first_element,
                            float* into, std::int64_t elements) const {
    const auto found = tensors.find(name);
    if (found == tensors.end()) {
        std::vector<std::string> known;
        for (const auto& [other, tensor] : tensors) known.push_back(other);
        const auto nearest = nearest_name(name, known);
        throw CheckpointError(concat(file.file().string(), ": has no tensor \"", name, "\"",
                                     nearest ? "; the nearest name in it is \"" + *nearest + "\"" : ""));
    }
    const std::int64_t there = found->second.elements();
    if (first_element < 0 || elements < 0 || first_element > there || elements > there - first_element)
        throw CheckpointError(concat(file.file().string(), ": tensor \"", name, "\" has ", there, " elements, expected at least ",
                                     first_element, " + ", elements));
    file.read_as_float(found->second, first_element, elements, into);
}

}  // namespace bertpretrain

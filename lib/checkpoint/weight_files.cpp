#include "checkpoint/weight_files.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <utility>

#include <nlohmann/json.hpp>

#include "archive/printable.h"
#include "checkpoint/checkpoint_files.h"
#include "core/error.h"
#include "core/strings.h"
#include "model/architecture.h"

namespace bertpretrain {
namespace fs = std::filesystem;

namespace {

std::string key_text(const PtKey& key) {
    const auto* text = std::get_if<std::string>(&key);
    return text != nullptr ? *text : std::to_string(std::get<std::int64_t>(key));
}

bool holds_tensors(const PtValue& value) {
    const PtDict* dict = value.dict();
    return dict != nullptr &&
           std::any_of(dict->begin(), dict->end(), [](const PtEntry& entry) { return entry.value.tensor() != nullptr; });
}

/// A dict with tensors in a .pt, and the keys that lead to it.
struct Section {
    std::vector<std::string> keys;
    const PtValue* dict = nullptr;
    bool has_words = false;  ///< whether it holds a word embedding, as a model does
};

void add_sections(const PtValue& value, const std::vector<std::string>& keys, std::vector<Section>& sections) {
    if (value.dict() == nullptr) return;
    if (holds_tensors(value)) {
        std::vector<std::string> names;
        for (const PtEntry& entry : *value.dict())
            if (entry.value.tensor() != nullptr) names.push_back(key_text(entry.key));
        sections.push_back({keys, &value, are_of_a_model(names)});
    }
    for (const auto& [key, below] : *value.dict()) {
        std::vector<std::string> longer = keys;
        longer.push_back(key_text(key));
        add_sections(below, longer, sections);
    }
}

/// Keys that trainers use for the whole model.
constexpr std::array<std::string_view, 4> usual_keys{"model", "module", "state_dict", "model_state_dict"};

/// Returns the place of the section among those of equal depth: usual_keys come first, in this order.
std::size_t place_of(const Section& section) {
    if (section.keys.empty()) return usual_keys.size();
    return static_cast<std::size_t>(std::ranges::find(usual_keys, section.keys.back()) - usual_keys.begin());
}

/// The dicts with a model's tensors, each with what begins their names, and the key under which all of them are.
struct StateDict {
    std::string section;
    std::vector<std::pair<std::string, const PtValue*>> parts;
};

/// Returns the parts of the model of which `chosen` is one: {"bert": {...}, "cls": {...}} are two parts, but what is beside a
/// dict whose key trainers use for the whole model is none.
StateDict with_siblings(const Section& chosen, const std::vector<Section>& sections) {
    StateDict found{join(chosen.keys, "."), {{"", chosen.dict}}};
    if (chosen.keys.empty() || place_of(chosen) < usual_keys.size()) return found;
    const std::vector<std::string> above(chosen.keys.begin(), chosen.keys.end() - 1);
    std::vector<std::pair<std::string, const PtValue*>> parts;
    for (const Section& section : sections)
        if (section.keys.size() == chosen.keys.size() && std::equal(above.begin(), above.end(), section.keys.begin()))
            parts.emplace_back(section.keys.back() + ".", section.dict);
    return parts.size() < 2 ? found : StateDict{join(above, "."), std::move(parts)};
}

/// Returns the dict of a model's tensors in a .pt: the dict with a word embedding and its parts, else one under a key that
/// trainers use, or the root.
StateDict state_dict_of(const PtReader& reader) {
    const PtValue& root = reader.root();
    std::vector<Section> sections;
    add_sections(root, {}, sections);
    const std::vector<Section> all = sections;
    const bool has_words = std::ranges::any_of(sections, &Section::has_words);
    std::erase_if(sections, [&](const Section& section) {
        const bool is_usual = section.keys.empty() || (section.keys.size() == 1 && place_of(section) < usual_keys.size());
        return has_words ? !section.has_words : !is_usual;
    });
    const auto rank = [](const Section& section) { return std::pair(section.keys.size(), place_of(section)); };
    std::ranges::stable_sort(sections, std::less<>(), rank);
    if (!has_words) std::ranges::stable_sort(sections, std::less<>(), place_of);
    if (sections.size() > 1 && has_words && rank(sections[0]) == rank(sections[1]))
        throw CheckpointError(concat(reader.file().string(), ": holds several models, under ",
                                     printable(join(sections[0].keys, ".")), " and ", printable(join(sections[1].keys, ".")),
                                     "\n  do: in Python, save the one that you want alone"));
    if (!sections.empty()) return with_siblings(sections.front(), all);
    std::vector<std::string> keys;
    if (root.dict() != nullptr)
        for (const auto& [key, value] : *root.dict()) keys.push_back(concat("\"", printable(key_text(key)), "\""));
    throw CheckpointError(concat(reader.file().string(), ": contains no dict of tensors with a model's weights",
                                 keys.empty() ? "" : "; it has " + printable(join(keys), 500)));
}

}  // namespace

std::int64_t StoredTensor::elements() const {
    std::int64_t count = 1;
    for (const std::int64_t size : shape) count *= size;
    return count;
}

WeightFiles::WeightFiles(FoundWeights found, PtReader::Checksums checksums) : found_(std::move(found)) {
    for (const fs::path& file : found_.files) {
        if (found_.kind == FoundWeights::Kind::safetensors) {
            safetensors_.push_back(std::make_unique<SafetensorsReader>(file));
            add_safetensors(*safetensors_.back());
        } else {
            pt_.push_back(std::make_unique<PtReader>(file, checksums));
            add_pt(*pt_.back());
        }
    }
    if (found_.index) check_index();
}

void WeightFiles::add_pt(const PtReader& reader) {
    const StateDict found = state_dict_of(reader);
    section_ = found.section;
    for (const auto& [prefix, dict] : found.parts)
        for (const auto& [key, value] : *dict->dict()) {
            const PtTensor* tensor = value.tensor();
            if (tensor == nullptr) other_entries_.push_back(prefix + key_text(key));
            else tensors_.push_back({prefix + key_text(key), tensor->dtype, tensor->shape, pt_.size() - 1, *tensor});
        }
}

void WeightFiles::add_safetensors(const SafetensorsReader& reader) {
    for (const SafetensorsEntry& entry : reader.tensors())
        tensors_.push_back({entry.name, entry.dtype, entry.shape, safetensors_.size() - 1, {}});
}

/// Checks that the index and its shards name the same tensors, each in exactly one file.
void WeightFiles::check_index() const {
    std::map<std::string, fs::path> listed;
    const nlohmann::json json = read_json(*found_.index);
    for (const auto& [name, file] : json.at("weight_map").items()) listed[name] = file.get<std::string>();
    const auto refuse = [&](const std::string& tensor, const auto&... what) {
        throw CheckpointError(concat(found_.index->string(), ": tensor \"", printable(tensor, 300), "\" ", what...));
    };
    for (const StoredTensor& tensor : tensors_) {
        const auto entry = listed.find(tensor.name);
        const fs::path file = found_.files[tensor.file].filename();
        if (entry == listed.end()) refuse(tensor.name, "is in ", file.string(), ", but is not listed or is stored twice");
        if (entry->second != file)
            refuse(tensor.name, "is listed in ", printable(entry->second.string()), ", but is in ", file.string());
        listed.erase(entry);
    }
    if (!listed.empty()) refuse(listed.begin()->first, "is listed, but is not in ", printable(listed.begin()->second.string()));
}

void WeightFiles::read_as_float(const StoredTensor& tensor, std::int64_t first, std::int64_t count, float* into) const {
    if (!pt_.empty()) return pt_[tensor.file]->read_as_float(tensor.view, first, count, into);
    const SafetensorsReader& reader = *safetensors_[tensor.file];
    reader.read_as_float(*reader.find(tensor.name), first, count, into);
}

void WeightFiles::verify() const {
    for (const auto& reader : pt_) reader->verify();
}

}  // namespace bertpretrain

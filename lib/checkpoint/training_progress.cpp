#include "checkpoint/training_progress.h"

#include <algorithm>
#include <string_view>

#include "checkpoint/checkpoint_files.h"
#include "core/error.h"

namespace bertpretrain {
namespace {

constexpr const char* smoothed_key = "smoothed_mlm_loss";

/// Reads the members of a JSON object and checks their types and ranges.
class Members {
public:
    Members(const nlohmann::json& members, const std::filesystem::path& file) : json_(members), file_(file) {
        if (!members.is_object()) throw CheckpointError(concat(file.string(), ": damaged: it is not a JSON object"));
    }

    /// Returns null where the member is absent.
    const nlohmann::json* find(const char* key) const {
        const auto found = json_.find(key);
        return found == json_.end() ? nullptr : &*found;
    }

    /// Reads an integer of at least `least`. This and the readers below leave `value` unchanged where the member is absent.
    void whole(const char* key, std::int64_t least, auto& value) const {
        const nlohmann::json* found = find(key);
        if (found == nullptr) return;
        const bool fits = !found->is_number_unsigned() || found->get<std::uint64_t>() <= INT64_MAX;
        if (!found->is_number_integer() || !fits || found->get<std::int64_t>() < least)
            refuse(key, *found, concat("an integer of at least ", least));
        value = found->get<std::int64_t>();
    }
    void text(const char* key, std::string& value) const {
        const nlohmann::json* found = find(key);
        if (found == nullptr) return;
        if (!found->is_string()) refuse(key, *found, "a string");
        value = found->get<std::string>();
    }
    void object(const char* key, nlohmann::json& value) const {
        const nlohmann::json* found = find(key);
        if (found == nullptr) return;
        if (!found->is_object()) refuse(key, *found, "an object");
        value = *found;
    }
    void numbers(const char* key, std::vector<double>& value) const {
        const nlohmann::json* found = find(key);
        if (found == nullptr) return;
        const bool is_list = found->is_array() && std::all_of(found->begin(), found->end(), [](const nlohmann::json& one) {
                                 return one.is_number() && one.get<double>() >= 0;
                             });
        if (!is_list) refuse(key, *found, "a list of numbers of at least 0");
        value = found->get<std::vector<double>>();
    }
    void require(const char* key) const {
        if (find(key) == nullptr) throw CheckpointError(concat(file_.string(), ": damaged: it has no \"", key, "\""));
    }

    [[noreturn]] void refuse(const char* key, const nlohmann::json& found, std::string_view expected) const {
        throw CheckpointError(concat(
            file_.string(), ": damaged: \"", key, "\" is ", found.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace),
            ", expected ", expected, "\n  do: restore an undamaged copy, or resume from another step with --resume STEP"));
    }

private:
    const nlohmann::json& json_;
    const std::filesystem::path& file_;
};

std::vector<MixturePart> read_mixture(const Members& members, const nlohmann::json& found) {
    try {
        std::vector<MixturePart> parts;
        for (const nlohmann::json& part : found)
            parts.push_back({part.at("first_sample").get<std::int64_t>(), part.at("shares").get<std::vector<std::int64_t>>()});
        return Mixture(std::move(parts)).parts();
    } catch (const std::exception&) {
        members.refuse("mixture", found, "a list of {\"first_sample\", \"shares\"} whose first begins at sample 0");
    }
}

SmoothedLoss read_smoothed(const Members& members, const char* key, const nlohmann::json& found) {
    const auto value = found.is_object() ? found.find("value") : found.end();
    const auto steps = found.is_object() ? found.find("steps") : found.end();
    const bool is_whole = value != found.end() && value->is_number() && steps != found.end() && steps->is_number_unsigned();
    if (!is_whole || steps->get<std::uint64_t>() > INT64_MAX) members.refuse(key, found, "{\"value\", \"steps\"}");
    return {value->get<double>(), steps->get<std::int64_t>()};
}

}  // namespace

nlohmann::json TrainingProgress::to_json() const {
    nlohmann::json json = {{"format_version", 1},
                           {"step", step},
                           {"samples", samples},
                           {"global_batch_sequences", global_batch_sequences},
                           {"world_size", world_size},
                           {"data_fingerprint", data_fingerprint},
                           {"resume", resume},
                           {"step_evaluated", step_evaluated},
                           {"updates_before", updates_before},
                           {"skipped_updates", skipped_updates},
                           {"skipped_updates_in_a_row", skipped_updates_in_a_row}};
    if (held_out_mlm_loss) json[held_out_loss_key] = *held_out_mlm_loss;
    if (mlm_loss) json[smoothed_key] = {{"value", mlm_loss->value}, {"steps", mlm_loss->steps}};
    if (agreed_step) json["agreed_step"] = *agreed_step;
    if (!casing.empty()) json["casing"] = casing;
    if (!kernels.empty()) json["kernels"] = kernels;
    if (device_micro_batch) json["device_micro_batch"] = *device_micro_batch;
    for (const MixturePart& part : mixture)
        json["mixture"].push_back({{"first_sample", part.first_sample}, {"shares", part.shares}});
    if (!cpu_products.is_null()) json["cpu_products"] = cpu_products;
    if (!gpu_kernels.is_null()) json["gpu_kernels"] = gpu_kernels;
    if (!fp8_magnitudes.empty()) json["fp8_magnitudes"] = fp8_magnitudes;
    return json;
}

TrainingProgress TrainingProgress::read(const nlohmann::json& json, const std::filesystem::path& file) {
    const Members members(json, file);
    for (const char* needed : {"step", "global_batch_sequences", "data_fingerprint"}) members.require(needed);
    TrainingProgress progress;
    members.whole("step", 0, progress.step);
    members.whole("samples", 0, progress.samples);
    members.whole("global_batch_sequences", 1, progress.global_batch_sequences);
    members.whole("world_size", 1, progress.world_size);
    members.text("data_fingerprint", progress.data_fingerprint);
    members.text("resume", progress.resume);
    progress.step_evaluated = progress.step;
    members.whole("step_evaluated", -1, progress.step_evaluated);
    members.whole("updates_before", 0, progress.updates_before);
    members.whole("skipped_updates", 0, progress.skipped_updates);
    members.whole("skipped_updates_in_a_row", 0, progress.skipped_updates_in_a_row);
    members.whole("device_micro_batch", 1, progress.device_micro_batch);
    members.whole("agreed_step", 0, progress.agreed_step);
    members.text("casing", progress.casing);
    if (!progress.casing.empty() && progress.casing != "cased" && progress.casing != "uncased")
        members.refuse("casing", progress.casing, "\"cased\" or \"uncased\"");
    members.text("kernels", progress.kernels);
    if (const auto* loss = members.find(held_out_loss_key)) {
        if (!loss->is_number()) members.refuse(held_out_loss_key, *loss, "a number");
        progress.held_out_mlm_loss = loss->get<double>();
    }
    if (const auto* smoothed = members.find(smoothed_key)) progress.mlm_loss = read_smoothed(members, smoothed_key, *smoothed);
    if (const auto* parts = members.find("mixture")) progress.mixture = read_mixture(members, *parts);
    members.object("cpu_products", progress.cpu_products);
    members.object("gpu_kernels", progress.gpu_kernels);
    members.numbers("fp8_magnitudes", progress.fp8_magnitudes);
    return progress;
}

}  // namespace bertpretrain

#include "train/start/kernel_choice.h"

#include <cmath>
#include <set>

#include "core/error.h"
#include "core/output/log.h"
#include "core/strings.h"
#include "kernels/kernels_in_use.h"
#include "model/architecture.h"
#include "parallel/together.h"
#include "telemetry/nvml.h"

namespace bertpretrain {
namespace {

/// Returns a name such as "cuda:0 (NVIDIA H100 80GB HBM3)".
std::string device_text(at::Device device) {
    const std::optional<GpuHealth> health = device.is_cpu() ? std::nullopt : gpu_health(device.index());
    return health ? concat(device.str(), " (", health->name, ")") : device.str();
}

void warn_of(const std::vector<ProofRow>& rows, const std::string& who, const KernelChoice& choice) {
    for (const ProofRow& row : rows)
        if (row.verdict != Verdict::correct)
            log_warning(concat("GPU kernels: ", row.operation, " by \"", row.kernels, "\" on ", who, ": ", complaint_of(row),
                               ". This run uses \"", choice.at(row.operation), "\" instead"));
}

void warn_of_others(const KernelChoice& kept, const KernelChoice& choice) {
    for (const auto& [operation, kernels] : kept) {
        const auto now = choice.find(operation);
        if (now != choice.end() && now->second != kernels)
            log_warning(concat("GPU kernels: ", operation, " was computed by \"", kernels,
                               "\" up to this checkpoint and is computed by \"", now->second,
                               "\" from here on: the run continues, but not bit for bit"));
    }
}

/// Chooses kernels that are correct on every rank: rank 0's choice if possible, else the first such set.
KernelChoice agree(ControlGroup& ranks, const Proof& proof) {
    nlohmann::json own = {{"choice", proof.choice()}, {"correct", nlohmann::json::array()}};
    for (const ProofRow& row : proof.rows)
        if (row.verdict == Verdict::correct) own["correct"].push_back({row.operation, row.kernels});
    std::set<std::pair<std::string, std::string>> not_everywhere;
    KernelChoice choice;
    for (const std::string& text : ranks.all_gather_texts(own.dump())) {
        const auto of_rank = nlohmann::json::parse(text);
        if (choice.empty()) choice = of_rank.at("choice").get<KernelChoice>();
        const auto correct = of_rank.at("correct").get<std::set<std::pair<std::string, std::string>>>();
        for (const ProofRow& row : proof.rows)
            if (correct.count({row.operation, row.kernels}) == 0) not_everywhere.insert({row.operation, row.kernels});
    }
    for (auto& [operation, kernels] : choice) {
        if (not_everywhere.count({operation, kernels}) == 0) continue;
        for (const ProofRow& row : proof.rows)
            if (row.operation == operation && not_everywhere.count({operation, row.kernels}) == 0) {
                kernels = row.kernels;
                break;
            }
    }
    return choice;
}

std::set<std::string> names_in(const KernelChoice& choice) {
    std::set<std::string> names;
    for (const auto& [operation, kernels] : choice) names.insert(kernels);
    return names;
}

/// @throws NumbersError when one of the program's own kernels is wrong
void require_own(const Proof& proof, const std::string& own, const std::string& device) {
    for (const ProofRow& row : proof.rows)
        if (row.kernels == own && row.verdict != Verdict::correct)
            throw NumbersError(concat("training.gpu_kernels = \"fused\": ", row.operation, " on ", device, ": ",
                                      complaint_of(row), "\n  do: set it to \"auto\" or \"reference\""));
}

}  // namespace

ProofShape proof_shape(const RunPlan& plan) {
    ProofShape shape = proof_shape(shape_of(plan.settings.model), plan.settings.data.sequence_length, plan.compute.dtype);
    shape.residual_dtype = plan.compute.residual_dtype;
    shape.fp8_matmuls = plan.settings.training.fp8_matmuls;
    return shape;
}

ChosenKernels choose_kernels(ControlGroup& ranks, const RunPlan& plan, at::Device device) {
    const KernelChoice& kept = plan.compute.kept_kernels;
    const nlohmann::json kept_json = kept.empty() ? nlohmann::json(nullptr) : nlohmann::json(kept);
    const auto wanted = static_cast<KernelPolicy>(
        std::stoi(ranks.text_of_first(std::to_string(static_cast<int>(plan.settings.training.gpu_kernels)))));
    KernelChoice preferred = wanted == KernelPolicy::automatic || wanted == KernelPolicy::warpgroup ? kept : KernelChoice{};
    if (wanted == KernelPolicy::warpgroup) preferred["attention"] = kernels_of_warpgroups;
    if (device.is_cuda() && cuda_module() != nullptr) cuda_module()->launch_early(plan.settings.training.early_launches);
    const std::vector<KernelSet> sets = available_kernels(device, names_in(preferred));
    const bool has_choice = !sets.empty() || !device.is_cpu();
    Proof proof;
    together(ranks, [&] {
        if (wanted == KernelPolicy::fused && sets.empty() && has_choice)
            throw ConfigError(concat("training.gpu_kernels = \"fused\": this program has no kernels for ", device_text(device),
                                     "\n  do: set it to \"auto\", or see the warning above"));
        if (wanted == KernelPolicy::reference || sets.empty()) return;
        proof = prove_kernels(device, sets, {proof_shape(plan), wanted != KernelPolicy::fused, preferred});
        if (wanted == KernelPolicy::fused) require_own(proof, sets.front().name, device_text(device));
    });
    const KernelChoice choice = agree(ranks, proof);
    if (wanted == KernelPolicy::reference && has_choice) {
        use_kernels(device.type(), plain_kernels());
        return {kept_json, nullptr, "plain ATen, set by training.gpu_kernels"};
    }
    if (proof.rows.empty()) return {kept_json, nullptr, ""};
    warn_of(proof.rows, concat(ranks.size() > 1 ? concat("rank ", ranks.rank(), ", ") : "", device_text(device)), choice);
    if (ranks.rank() == 0 && wanted != KernelPolicy::fused) warn_of_others(kept, choice);
    use_kernels(device.type(), chosen_kernels(sets, choice));
    return {choice, json_of(proof.rows), summary_of(proof)};
}

std::string summary_of(const Proof& proof) {
    std::set<std::string> operations, fell_back;
    for (const ProofRow& row : proof.rows) {
        operations.insert(row.operation);
        if (row.verdict != Verdict::correct) fell_back.insert(row.operation);
    }
    return concat(operations.size() - fell_back.size(), " proven, ", fell_back.size(), " fell back, ", fixed(proof.seconds, 1),
                  " s");
}

nlohmann::json json_of(const std::vector<ProofRow>& rows) {
    nlohmann::json all = nlohmann::json::array();
    for (const ProofRow& row : rows)
        all.push_back({{"operation", row.operation},
                       {"kernels", row.kernels},
                       {"correct", row.verdict == Verdict::correct},
                       {"used", row.used},
                       {"dropout_compared", row.whole},
                       {"error", std::isfinite(row.error) ? nlohmann::json(row.error) : nlohmann::json(nullptr)},
                       {"bound", row.bound},
                       {"microseconds", row.microseconds},
                       {"detail", row.verdict == Verdict::correct ? "" : complaint_of(row)}});
    return all;
}

}  // namespace bertpretrain

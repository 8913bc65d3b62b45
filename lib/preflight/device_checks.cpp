#include "preflight/device_checks.h"

#include "core/median.h"
#include "core/strings.h"
#include "telemetry/nvml.h"
#include "train/start/kernel_choice.h"

namespace bertpretrain {

std::string judge_operations(const std::vector<CheckedOperation>& operations, std::int64_t repetitions) {
    std::vector<std::string> wrong;
    for (const CheckedOperation& operation : operations)
        if (operation.wrong > 0)
            wrong.push_back(
                concat(operation.name, ": ", operation.wrong, " of ", operation.repetitions, " wrong; ", operation.first_wrong));
    if (!wrong.empty())
        throw NumbersError(concat("this device computes wrong results:\n  ", join(wrong, "\n  "), "\n  do: take this host out"));
    return concat(operations.size(), " operations, each ", repetitions, " times, all correct");
}

std::string judge_gpu(at::Device device) {
    const std::optional<GpuHealth> health = gpu_health(device.index());
    if (!health) return "not checked: NVIDIA's management library (NVML) was not found";
    if (health->uncorrected_errors.value_or(0) > 0)
        throw NumbersError(concat(health->text(), "\n  do: take this host out, or reset the GPU"));
    return health->text();
}

std::string describe_proof(const Proof& proof) {
    std::string found = summary_of(proof);
    for (const ProofRow& row : proof.rows)
        if (row.verdict != Verdict::correct)
            found += concat("\n", row.operation, " by \"", row.kernels, "\" ", complaint_of(row));
    return found;
}

std::vector<OperationRates> gather_rates(ControlGroup& ranks, const std::vector<CheckedOperation>& operations) {
    const auto count = static_cast<std::int64_t>(operations.size());
    const std::int64_t most = ranks.agree_on_largest(count), fewest = -ranks.agree_on_largest(-count);
    if (fewest != most || most == 0) return {};
    std::vector<double> own;
    for (const CheckedOperation& operation : operations) own.push_back(operation.rate);
    const std::vector<double> all = ranks.all_gather(std::span<const double>(own));
    std::vector<OperationRates> rates;
    for (std::size_t i = 0; i < operations.size(); ++i) {
        rates.push_back({operations[i].name, operations[i].unit, {}});
        for (std::size_t at = i; at < all.size(); at += operations.size()) rates.back().of_rank.push_back(all[at]);
    }
    return rates;
}

void report_slow_ranks(Findings& findings, const std::vector<OperationRates>& rates, double share) {
    for (const OperationRates& operation : rates)
        for (const std::size_t slow : slow_ranks(operation.of_rank, share)) {
            const auto rank = static_cast<std::int64_t>(slow);
            findings.add(
                {"speed", rank, findings.host(rank), ExitCode::distributed,
                 concat(operation.name, ": ", fixed(operation.of_rank[slow], 3), " ", operation.unit, ", less than ", share,
                        " of the ranks' ", name_of_middle(operation.of_rank.size()), " ", fixed(median(operation.of_rank), 3),
                        "\n  do: check what else runs on that host; in every step all ranks wait for the slowest")});
        }
}

}  // namespace bertpretrain

#include "preflight/preflight_report.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "core/median.h"
#include "core/output/table.h"
#include "core/strings.h"
#include "train/start/kernel_choice.h"

namespace bertpretrain {
namespace {

/// A row per operation: the slowest rank, the median (of two ranks: the mean) and the fastest rank.
std::string rates_text(const PreflightResult& result) {
    Table table(
        {"operation", "unit", "slowest", "of rank", "on host", std::string(name_of_middle(result.hosts.size())), "fastest"});
    for (const OperationRates& operation : result.rates) {
        const std::vector<double>& rates = operation.of_rank;
        const auto slowest = std::min_element(rates.begin(), rates.end());
        const std::int64_t rank = slowest - rates.begin();
        table.add({operation.name, operation.unit, fixed(*slowest, 3), std::to_string(rank),
                   result.hosts[static_cast<std::size_t>(rank)], fixed(median(rates), 3),
                   fixed(*std::max_element(rates.begin(), rates.end()), 3)});
    }
    return table.text();
}

}  // namespace

std::string report_text(const PreflightResult& result) {
    const ExitCode code = exit_code_of(result.findings);
    return concat(rates_text(result), "\n", result.proof.rows.empty() ? "" : proof_table(result.proof.rows) + "\n",
                  nccl_tests_text(result.collectives), "\n", findings_text(result.findings), "preflight: ",
                  code == ExitCode::done ? "ready to train" : concat("not ready (exit code ", static_cast<int>(code), ")"), "\n");
}

nlohmann::ordered_json report_json(const PreflightResult& result, std::int64_t ranks) {
    nlohmann::ordered_json out = {{"exit_code", static_cast<int>(exit_code_of(result.findings))}, {"ranks", ranks}};
    for (const Finding& finding : result.findings) out["findings"].push_back(json_of(finding));
    for (const OperationRates& operation : result.rates)
        out["operations"].push_back({{"name", operation.name}, {"unit", operation.unit}, {"rate_of_rank", operation.of_rank}});
    if (!result.proof.rows.empty()) out["kernels"] = json_of(result.proof.rows);
    for (const CollectiveTable& table : result.collectives) out["collectives"].push_back(json_of(table));
    if (const std::optional<DryRun>& run = result.dry_run)
        out["dry_run"] = {{"steps", run->steps},
                          {"step_seconds", run->step_seconds},
                          {"sequences_per_second", run->sequences_per_second},
                          {"data_wait_share", run->data_wait_share},
                          {"held_out_mlm_loss", run->held_out_mlm_loss},
                          {"checkpoint_bytes", run->checkpoint_bytes},
                          {"burn_in_seconds", run->burn_in_seconds}};
    return out;
}

}  // namespace bertpretrain

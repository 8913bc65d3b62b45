#include "train/start/matmul_choice.h"

#include "core/concat.h"
#include "core/output/log.h"
#include "operations/measure_matmul_libraries.h"
#include "parallel/together.h"
#include "plan/kept_choices.h"

namespace bertpretrain {
namespace {

/// A library that was chosen and that this process lacks; empty: it has all.
std::string lacking(const MatmulLibraries& chosen) {
    for (const auto& [shape, library] : chosen)
        if (!has(library)) return std::string(name_of(library));
    return "";
}

}  // namespace

void choose_matmul_libraries(ControlGroup& ranks, RunPlan& plan) {
    ComputePlan& compute = plan.compute;
    // Rank 0 also decides whether there is a choice: ranks on different processors must agree on the messages they exchange.
    nlohmann::json decided;
    together(ranks, [&] {
        if (ranks.rank() != 0 || !compute.chooses_matmul) return;
        if (!compute.matmul) {
            compute.matmul =
                measure_matmul_libraries(plan.settings.model, plan.full_sequences_of_pass() * plan.settings.data.sequence_length);
            plan.decide("training.cpu_matmul", matmul_text(*compute.matmul), Origin::automatic, "measured");
        }
        decided = to_json(*compute.matmul);
    });
    const auto chosen = nlohmann::json::parse(ranks.text_of_first(decided.dump()));
    compute.matmul.reset();
    if (chosen.is_null()) return;
    compute.matmul = read_matmul_libraries(chosen);
    if (const std::string absent = lacking(*compute.matmul); !absent.empty())
        log_warning(concat("rank ", ranks.rank(), ": training.cpu_matmul: \"", absent, "\" is not available here, \"",
                           name_of(default_matmul_library()), "\" is used instead, so results differ in the last bits"));
    use_matmul_libraries(*compute.matmul);
}

}  // namespace bertpretrain

// The findings of a self-proof as a choice of kernels and as text.
#include <cstdio>
#include <map>

#include "core/concat.h"
#include "core/output/table.h"
#include "core/strings.h"
#include "kernels/self_proof.h"
#include "kernels/self_proof_cases.h"

namespace bertpretrain {
namespace {

std::string error_text(double error) {
    char text[32];
    std::snprintf(text, sizeof text, "%.1e", error);
    return text;
}

/// @param used  the kernels that the operation uses
std::string verdict_text(const ProofRow& row, const std::string& used) {
    if (row.verdict != Verdict::correct) return concat(complaint_of(row), "; \"", used, "\" is used instead");
    return concat(row.used ? "used" : "correct, not used", row.whole ? "" : "; it draws its own dropout masks, not compared");
}

}  // namespace

KernelChoice Proof::choice() const {
    KernelChoice choice;
    for (const ProofRow& row : rows)
        if (row.used) choice[row.operation] = row.kernels;
    return choice;
}

bool Proof::is_correct(std::string_view operation, std::string_view kernels) const {
    for (const ProofRow& row : rows)
        if (row.operation == operation && row.kernels == kernels) return row.verdict == Verdict::correct;
    return false;
}

KernelSet chosen_kernels(const std::vector<KernelSet>& sets, const KernelChoice& choice) {
    KernelSet chosen = sets.front();
    for (const ProofOperation& operation : proof_operations()) {
        const auto of_operation = choice.find(operation.name);
        if (of_operation == choice.end()) continue;  // all sets have the same kernels for it
        const KernelSet* from = &sets.back();
        for (const KernelSet& set : sets)
            if (set.name == of_operation->second) from = &set;
        operation.take(chosen, *from);
    }
    return chosen;
}

std::string proof_table(const std::vector<ProofRow>& rows) {
    Table table({"operation", "kernels", "error", "bound", "microseconds", "verdict"});
    std::map<std::string, std::string> used;  // by operation
    for (const ProofRow& row : rows)
        if (row.used) used[row.operation] = row.kernels;
    for (const ProofRow& row : rows)
        table.add({row.operation, row.kernels, error_text(row.error), error_text(row.bound),
                   row.microseconds > 0 ? fixed(row.microseconds, 1) : "-", verdict_text(row, used[row.operation])});
    return table.text();
}

std::string complaint_of(const ProofRow& row) {
    if (row.verdict == Verdict::failed) return "failed: " + row.detail;
    return concat("wrong: ", row.detail, " differs by ", error_text(row.error), "; rounding explains at most ",
                  error_text(row.bound));
}

}  // namespace bertpretrain

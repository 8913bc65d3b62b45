#include "inference/proven_kernels.h"

#include "core/error.h"
#include "core/log.h"
#include "kernels/self_proof.h"
#include "model/proof_shape.h"

namespace bertpretrain {

void use_proven_kernels(const BertConfig& model, std::int64_t longest_sequence, at::ScalarType compute_dtype, at::Device device) {
    const std::vector<KernelSet> sets = available_kernels(device);
    if (sets.empty()) return;
    const Proof proof = prove_kernels(device, sets, {proof_shape(model, longest_sequence, compute_dtype), /*times=*/false, {}});
    const KernelChoice choice = proof.choice();
    for (const ProofRow& row : proof.rows)
        if (row.verdict != Verdict::correct)
            log_warning(concat("GPU kernels: ", row.operation, " by \"", row.kernels, "\" on ", device.str(), ": ",
                               complaint_of(row), ". \"", choice.at(row.operation), "\" is used instead"));
    use_kernels(device.type(), chosen_kernels(sets, choice));
}

}  // namespace bertpretrain

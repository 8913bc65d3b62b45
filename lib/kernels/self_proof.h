#pragma once
// A device proves its kernels before it trains: every operation by every set of kernels that is available there against the
// reference on the same device, and against the clock.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/self_proof_cases.h"

namespace bertpretrain {

enum class Verdict {
    correct,  ///< within the bound everywhere
    wrong,
    failed,  ///< threw, or is not supported here
};

/// One operation by one set of kernels.
struct ProofRow {
    std::string operation, kernels;
    Verdict verdict = Verdict::correct;
    bool used = false;
    bool whole = true;        ///< whether all cases apply to these kernels; not where attention's dropout is a library's own
    double error = 0;         ///< relative, of the result that is nearest to its bound or farthest past it
    double bound = 0;         ///< that result's
    double microseconds = 0;  ///< of forward and backward; 0: not timed
    std::string detail = {};  ///< of wrong: which result; of failed: the message
};

/// Whose kernels an operation takes: {operation: name of a set}.
using KernelChoice = std::map<std::string, std::string>;

struct ProofRequest {
    ProofShape shape;
    bool times = true;  ///< whether a set that is clearly faster than the ones before it is preferred to them
    KernelChoice kept;  ///< whose kernels are preferred, if they are correct; nothing is timed where this is not empty
};

struct Proof {
    std::vector<ProofRow> rows;
    double seconds = 0;

    KernelChoice choice() const;
    /// Whether the operation by these kernels is correct; false where it was not tried.
    bool is_correct(std::string_view operation, std::string_view kernels) const;
};

/// Runs what the sets have in different ways, and chooses for each operation: what is kept, else the first set that is correct,
/// or one after it that takes less than half of its time and has no other dropout. Takes about a second on a GPU; what is not
/// timed after two seconds stays untimed. Leaves the kernels in use as they are, and no memory in torch's allocator on GPUs.
/// @param sets available_kernels(): the reference is the last
/// @throws NumbersError when a kernel has left the device in a state in which nothing runs any more
Proof prove_kernels(at::Device device, const std::vector<KernelSet>& sets, const ProofRequest& request);

/// The chosen kernels as one set. Where the choice names no set that there is, the reference's.
KernelSet chosen_kernels(const std::vector<KernelSet>& sets, const KernelChoice& choice);

/// One line per row: operation, kernels, verdict, error, bound, microseconds.
std::string proof_table(const std::vector<ProofRow>& rows);

/// "wrong: the context differs by 0.013, at most 0.01 is rounding", "failed: MESSAGE".
std::string complaint_of(const ProofRow& row);

}  // namespace bertpretrain

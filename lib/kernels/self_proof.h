#pragma once
// The self-proof: before training, each operation of every kernel set available on the device is compared with the reference
// on the same device, and timed.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/proof_operation.h"

namespace bertpretrain {

enum class Verdict {
    correct,  ///< all errors are within their bounds
    wrong,
    failed,  ///< threw an exception, or is not supported here
};

/// The finding about one operation of one kernel set.
struct ProofRow {
    std::string operation, kernels;
    Verdict verdict = Verdict::correct;
    bool used = false;
    bool whole = true;        ///< false if a case was skipped because attention draws its own dropout masks
    double error = 0;         ///< relative, of the result with the largest error / bound
    double bound = 0;         ///< the bound that belongs to `error`
    double microseconds = 0;  ///< forward and backward together; 0: not timed
    std::string detail = {};  ///< wrong: the name of the wrong result; failed: the exception's message
};

/// The kernel set chosen for each operation: {operation: name of the set}.
using KernelChoice = std::map<std::string, std::string>;

struct ProofRequest {
    ProofShape shape;
    bool times = true;  ///< whether a set that is clearly faster than the sets before it is preferred to them
    KernelChoice kept;  ///< an earlier choice, preferred if correct; if not empty, nothing is timed
};

struct Proof {
    std::vector<ProofRow> rows;
    double seconds = 0;

    KernelChoice choice() const;
    /// Whether this set's kernels for the operation are correct; false if they were not tested.
    bool is_correct(std::string_view operation, std::string_view kernels) const;
};

/// Runs the operations for which the sets differ, and chooses a set for each: the one in `kept`, else the first correct set, or
/// a later one that takes less than half of its time and does not replace counter-based dropout by its own. Takes about a second
/// on a GPU; operations not yet timed after two seconds are not timed. Does not change the kernels in use, and releases torch's
/// cached memory on GPUs.
/// @param sets as from available_kernels(): the reference is last
/// @throws NumbersError if a kernel left the device unable to run any further kernels
Proof prove_kernels(at::Device device, const std::vector<KernelSet>& sets, const ProofRequest& request);

/// Returns the chosen kernels as one set. Operations whose choice names an unknown set use the reference.
KernelSet chosen_kernels(const std::vector<KernelSet>& sets, const KernelChoice& choice);

/// Returns a table with one line per row: operation, kernels, error, bound, microseconds, verdict. The verdict on kernels that
/// are wrong or failed names those that are used instead.
std::string proof_table(const std::vector<ProofRow>& rows);

/// "wrong: the context differs by 0.013; rounding explains at most 0.01", "failed: MESSAGE".
std::string complaint_of(const ProofRow& row);

}  // namespace bertpretrain

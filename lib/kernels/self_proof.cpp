#include "kernels/self_proof.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include <ATen/ATen.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include "core/clock.h"
#include "core/error.h"
#include "core/strings.h"
#include "kernels/self_proof_cases.h"

namespace bertpretrain {
namespace {

constexpr double clearly_faster = 0.5;                            // fraction of the time of the set chosen otherwise
constexpr double seconds_for_timing = 2, seconds_per_set = 0.02;  // bounds the whole self-proof to three seconds
constexpr double element_share = 16;  // bound of an element, as a multiple of the tensor's; relative to |element| + mean
constexpr double infinite = std::numeric_limits<double>::infinity();

void synchronize(at::Device device) {
    if (!device.is_cpu()) c10::impl::VirtualGuardImpl(device.type()).synchronizeDevice(device.index());
}

double number(const at::Tensor& scalar) { return scalar.item<double>(); }

/// The larger of the whole tensor's relative error and its worst element's error / element_share; infinite if shapes or dtypes
/// differ.
double error_of(const at::Tensor& found, const at::Tensor& expected) {
    if (found.defined() != expected.defined()) return infinite;
    if (!found.defined() || (found.numel() == 0 && expected.numel() == 0)) return 0;
    if (found.sizes() != expected.sizes() || found.scalar_type() != expected.scalar_type()) return infinite;
    const at::Tensor right = expected.to(at::kDouble), difference = (found.to(at::kDouble) - right).abs();
    const double norm = number(right.norm()), mean = norm / std::sqrt(static_cast<double>(right.numel()));
    const double whole = number(difference.norm()) / (norm > 0 ? norm : 1);
    const double worst = number((difference / (right.abs() + (mean > 0 ? mean : 1))).amax());
    const double error = std::max(whole, worst / element_share);
    return std::isfinite(error) ? error : infinite;
}

/// Returns error / bound: above 1, the result is wrong.
double share_of_bound(double error, double bound) { return error == 0 ? 0 : bound > 0 ? error / bound : infinite; }

/// Compares results with the reference's and records the worst one in `row`.
void compare(const std::vector<ProofResult>& found, const std::vector<ProofResult>& expected, const std::string& of_case,
             ProofRow& row) {
    for (std::size_t i = 0; i < expected.size(); ++i) {
        const double error = error_of(found.at(i).value, expected[i].value), bound = expected[i].bound;
        if (!row.detail.empty() && share_of_bound(error, bound) <= share_of_bound(row.error, row.bound)) continue;
        row.error = error;
        row.bound = bound;
        row.detail = concat(expected[i].name, of_case.empty() ? "" : " ", of_case);
    }
    if (share_of_bound(row.error, row.bound) > 1) row.verdict = Verdict::wrong;
}

/// Throws if the device no longer works: after an out-of-bounds access by a kernel, every later CUDA call of the process fails.
void require_usable(at::Device device, const ProofRow& row) {
    try {
        at::zeros({1}, at::TensorOptions(device)).add_(1).item<float>();
    } catch (const std::exception&) {
        throw NumbersError(concat(device.str(), " no longer runs kernels after ", row.operation, " with the kernels \"",
                                  row.kernels, "\": ", row.detail, "\n  do: set training.gpu_kernels to \"reference\""));
    }
}

/// Returns the time once the device and its GEMM library have been initialized, which a run has to wait for anyway.
double seconds_after_start(at::Device device) {
    const at::Tensor one = at::ones({8, 8}, at::TensorOptions(device));
    at::mm(one, one);
    synchronize(device);
    return seconds_now();
}

/// Returns a set's results for a case. Waits for the device, so that an asynchronous error is attributed to this set.
std::vector<ProofResult> results_of(const ProofComputation& compute, const KernelSet& set, at::Device device) {
    std::vector<ProofResult> results = compute(set);
    synchronize(device);
    return results;
}

std::string message_of(const std::exception& error) {
    const auto* const of_torch = dynamic_cast<const c10::Error*>(&error);
    return first_line(of_torch != nullptr ? of_torch->what_without_backtrace() : error.what());
}

class SelfProof {
public:
    SelfProof(at::Device device, const std::vector<KernelSet>& sets, const ProofRequest& request)
        : device_(device), sets_(sets), request_(request) {
        const std::int64_t longest = request.shape.longest_sequence;
        for (const std::int64_t length : {longest, 3 * longest / 5, std::int64_t{0}, std::int64_t{1}, 2 * longest / 5})
            ragged_.push_back(length);
        // On a CPU, timing is unimportant, so the timed inputs are small.
        const std::int64_t tokens = device.is_cpu() ? longest : 4096;
        for (std::int64_t all = 0; all < tokens; all += timed_.back())
            timed_.push_back(timed_.size() % 2 == 0 ? longest : longest - longest / 4);
    }

    Proof run() {
        for (const ProofOperation& operation : proof_operations()) prove(operation);
        if (!device_.is_cpu()) c10::getDeviceAllocator(device_.type())->emptyCache();
        proof_.seconds = seconds_now() - began_;
        return std::move(proof_);
    }

private:
    void prove(const ProofOperation& operation) {
        const std::vector<const KernelSet*> ways = different_ways(operation);
        if (ways.size() < 2) return;
        std::vector<ProofRow> rows;
        for (const KernelSet* way : ways) rows.push_back({operation.name, way->name});
        std::vector<ProofCase> cases = operation.cases;
        std::erase_if(cases, [&](const ProofCase& one) { return one.is_of && !one.is_of(request_.shape); });
        if (cases.empty()) return;
        for (const ProofCase& one : cases) check(one, ways, rows);
        if (request_.times && request_.kept.empty()) time(cases.front(), ways, rows);
        choose(rows);
        proof_.rows.insert(proof_.rows.end(), rows.begin(), rows.end());
    }

    /// The sets that compute the operation in different ways; the reference is last.
    std::vector<const KernelSet*> different_ways(const ProofOperation& operation) const {
        std::vector<const KernelSet*> ways;
        for (const KernelSet& set : sets_) {
            const auto same = [&](const KernelSet* other) { return operation.same(*other, set); };
            const bool is_reference = &set == &sets_.back();
            if (is_reference) std::erase_if(ways, same);
            if (is_reference || std::none_of(ways.begin(), ways.end(), same)) ways.push_back(&set);
        }
        return ways;
    }

    void check(const ProofCase& one, const std::vector<const KernelSet*>& ways, std::vector<ProofRow>& rows) {
        const ProofComputation compute = one.prepare(device_, request_.shape, ragged_);
        const std::vector<ProofResult> expected = results_of(compute, *ways.back(), device_);
        for (std::size_t i = 0; i + 1 < ways.size(); ++i) {
            ProofRow& row = rows[i];
            if (row.verdict != Verdict::correct) continue;
            if (one.applies && !one.applies(*ways[i], request_.shape)) {
                row.whole = false;
                continue;
            }
            try {
                compare(results_of(compute, *ways[i], device_), expected, one.name, row);
            } catch (const std::exception& error) {
                row.verdict = Verdict::failed;
                row.detail = message_of(error);
                require_usable(device_, row);
            }
        }
    }

    void time(const ProofCase& one, const std::vector<const KernelSet*>& ways, std::vector<ProofRow>& rows) {
        if (seconds_now() - began_ > seconds_for_timing) return;
        const ProofComputation compute = one.prepare(device_, request_.shape, timed_);
        for (std::size_t i = 0; i < ways.size(); ++i) {
            if (rows[i].verdict != Verdict::correct) continue;
            try {
                rows[i].microseconds = 1e6 * fastest_run(compute, *ways[i]);
            } catch (const std::exception& error) {
                rows[i].verdict = Verdict::failed;
                rows[i].detail = message_of(error);
                require_usable(device_, rows[i]);
            }
        }
    }

    double fastest_run(const ProofComputation& compute, const KernelSet& set) const {
        double fastest = infinite;
        const double began = seconds_now();
        do {
            const double begin = seconds_now();
            results_of(compute, set, device_);
            fastest = std::min(fastest, seconds_now() - begin);
        } while (seconds_now() - began < seconds_per_set);
        return fastest;
    }

    static bool is_better(const ProofRow& row, const ProofRow& than) {
        const bool timed = row.microseconds > 0 && than.microseconds > 0;
        return timed && row.microseconds < clearly_faster * than.microseconds && (row.whole || !than.whole);
    }

    void choose(std::vector<ProofRow>& rows) const {
        ProofRow* used = nullptr;
        for (ProofRow& row : rows) {
            if (row.verdict != Verdict::correct) continue;
            if (used == nullptr || is_better(row, *used)) used = &row;
        }
        const auto kept = request_.kept.find(rows.front().operation);
        for (ProofRow& row : rows)
            if (kept != request_.kept.end() && row.kernels == kept->second && row.verdict == Verdict::correct) used = &row;
        used->used = true;  // the reference is always correct
    }

    at::Device device_;
    const std::vector<KernelSet>& sets_;
    const ProofRequest& request_;
    std::vector<std::int64_t> ragged_, timed_;
    double began_ = seconds_after_start(device_);
    Proof proof_;
};

}  // namespace

Proof prove_kernels(at::Device device, const std::vector<KernelSet>& sets, const ProofRequest& request) {
    return SelfProof(device, sets, request).run();
}

}  // namespace bertpretrain

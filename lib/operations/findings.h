#pragma once
// Collects the results of machine checks from all ranks.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "core/error.h"
#include "parallel/control_group.h"

namespace bertpretrain {

struct Finding {
    std::string check;  ///< "device", "transport", "collectives", ...
    std::int64_t rank = 0;
    std::string host;
    std::optional<ExitCode> failure;  ///< nullopt: the check passed
    std::string detail;               ///< the result; a failure may have several lines
};

/// Gathers the ranks' findings. A failed check does not stop the others.
class Findings {
public:
    explicit Findings(ControlGroup& ranks);

    /// Runs a check on every rank; all ranks call it together. @returns whether it passed on every rank
    /// @param examine returns the detail, throws an Error when the check fails, and must not communicate
    bool examine(const std::string& check, const std::function<std::string()>& examine);
    /// Like examine(), but runs the check on rank 0 only, for shared resources.
    bool examine_on_first(const std::string& check, const std::function<std::string()>& examine);
    /// Adds a finding that all ranks know already; each rank must add the same.
    void add(Finding finding) { all_.push_back(std::move(finding)); }
    /// Returns the host name of a rank.
    const std::string& host(std::int64_t rank) const { return hosts_[static_cast<std::size_t>(rank)]; }

    const std::vector<std::string>& hosts() const { return hosts_; }

    const std::vector<Finding>& all() const { return all_; }

private:
    void add(const std::string& check, std::int64_t rank, const std::string& outcome);

    ControlGroup& ranks_;
    std::vector<std::string> hosts_;
    std::vector<Finding> all_;
};

/// Returns the exit code of the first failure; ExitCode::done without failures.
ExitCode exit_code_of(const std::vector<Finding>& findings);

/// Returns one line per check and rank; consecutive ranks with the same finding share a line.
std::string findings_text(const std::vector<Finding>& findings);

/// Returns the finding in the format of --json.
nlohmann::ordered_json json_of(const Finding& finding);

/// Returns what median() is of the rates of so many ranks: "median", or "mean" of two.
std::string_view name_of_middle(std::size_t ranks);

/// Returns the ranks that are slower than the others.
/// @param rates by rank; larger is faster @param share of the median below which a rank counts as slow
std::vector<std::size_t> slow_ranks(const std::vector<double>& rates, double share);

}  // namespace bertpretrain

#pragma once
// What a check of the machines has found, on every rank.

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
    std::optional<ExitCode> failure;  ///< none: all is well
    std::string detail;               ///< what was found; several lines where a failure has them
};

/// Gathers what the ranks find. One rank's failure ends no other check.
class Findings {
public:
    explicit Findings(ControlGroup& ranks);

    /// All ranks together: runs the check, which must not communicate. @returns whether it went well on every rank
    /// @param examine gives the detail, and throws an Error where the check fails
    bool examine(const std::string& check, const std::function<std::string()>& examine);
    /// The same on rank 0 alone, for what the ranks share.
    bool examine_on_first(const std::string& check, const std::function<std::string()>& examine);
    /// What is known already, on all ranks alike.
    void add(Finding finding) { all_.push_back(std::move(finding)); }
    /// Rank r's host.
    const std::string& host(std::int64_t rank) const { return hosts_[static_cast<std::size_t>(rank)]; }

    const std::vector<Finding>& all() const { return all_; }
    /// Of the first failure; done when there is none.
    ExitCode exit_code() const;
    /// One line per check and rank; ranks that found the same share one.
    std::string text() const;

private:
    void add(const std::string& check, std::int64_t rank, const std::string& outcome);

    ControlGroup& ranks_;
    std::vector<std::string> hosts_;
    std::vector<Finding> all_;
};

/// As in --json.
nlohmann::ordered_json json_of(const Finding& finding);

/// Which ranks lag behind the others.
/// @param rates of the ranks, larger is faster @param share of the median below which a rank is slow
std::vector<std::size_t> slow_ranks(const std::vector<double>& rates, double share);

}  // namespace bertpretrain

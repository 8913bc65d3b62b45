#include "operations/findings.h"

#include <nlohmann/json.hpp>

#include "core/host_name.h"
#include "core/median.h"
#include "core/strings.h"

namespace bertpretrain {
namespace {

/// Runs a check and returns its result as JSON: an exit code and a text.
std::string outcome(const std::function<std::string()>& examine) {
    nlohmann::json outcome;
    try {
        outcome = {{"code", 0}, {"detail", examine()}};
    } catch (const Error& error) {
        outcome = {{"code", static_cast<int>(error.code())}, {"detail", error.what()}};
    } catch (const std::exception& error) {
        outcome = {{"code", static_cast<int>(ExitCode::bug)}, {"detail", first_line(error.what())}};
    }
    return outcome.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) text.replace(at, from.size(), to);
    return text;
}

}  // namespace

Findings::Findings(ControlGroup& ranks) : ranks_(ranks), hosts_(ranks.all_gather_texts(host_name())) {}

bool Findings::examine(const std::string& check, const std::function<std::string()>& examine) {
    bool well = true;
    std::int64_t rank = 0;
    for (const std::string& of_rank : ranks_.all_gather_texts(outcome(examine))) {
        add(check, rank, of_rank);
        well = well && !all_.back().failure;
        ++rank;
    }
    return well;
}

bool Findings::examine_on_first(const std::string& check, const std::function<std::string()>& examine) {
    add(check, 0, ranks_.text_of_first(ranks_.rank() == 0 ? outcome(examine) : std::string()));
    return !all_.back().failure;
}

void Findings::add(const std::string& check, std::int64_t rank, const std::string& outcome) {
    const auto found = nlohmann::json::parse(outcome);
    const auto code = static_cast<ExitCode>(found.at("code").get<int>());
    all_.push_back({check, rank, host(rank), code == ExitCode::done ? std::nullopt : std::optional(code),
                    found.at("detail").get<std::string>()});
}

ExitCode exit_code_of(const std::vector<Finding>& findings) {
    for (const Finding& finding : findings)
        if (finding.failure) return *finding.failure;
    return ExitCode::done;
}

std::string findings_text(const std::vector<Finding>& findings) {
    std::string text;
    for (std::size_t first = 0, end = 0; first < findings.size(); first = end) {
        const Finding& finding = findings[first];
        const auto alike = [&](const Finding& other) {
            return other.check == finding.check && other.detail == finding.detail && other.failure == finding.failure;
        };
        end = first + 1;
        while (end < findings.size() && alike(findings[end])) ++end;
        const std::string ranks = end - first > 1 ? concat("ranks ", finding.rank, "-", findings[end - 1].rank)
                                                  : concat("rank ", finding.rank, " on ", finding.host);
        text += concat(finding.failure ? "FAILED  " : "ok      ", finding.check, ", ", ranks, ": ",
                       replaced(finding.detail, "\n", "\n          "), "\n");
    }
    return text;
}

nlohmann::ordered_json json_of(const Finding& finding) {
    return {{"check", finding.check},
            {"rank", finding.rank},
            {"host", finding.host},
            {"ok", !finding.failure},
            {"exit_code", finding.failure ? static_cast<int>(*finding.failure) : 0},
            {"detail", finding.detail}};
}

std::string_view name_of_middle(std::size_t ranks) { return ranks == 2 ? "mean" : "median"; }

std::vector<std::size_t> slow_ranks(const std::vector<double>& rates, double share) {
    const double middle = median(rates);
    std::vector<std::size_t> slow;
    for (std::size_t r = 0; r < rates.size(); ++r)
        if (rates[r] < share * middle) slow.push_back(r);
    return slow;
}

}  // namespace bertpretrain

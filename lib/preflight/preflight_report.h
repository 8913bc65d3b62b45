#pragma once
// A preflight's result for people and for programs.

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "preflight/preflight.h"

namespace bertpretrain {

/// Returns the table of rates, that of kernels, nccl-tests' tables, the findings, and a last line with the verdict.
std::string report_text(const PreflightResult& result);

/// Returns the same for --json. @param ranks of the job
nlohmann::ordered_json report_json(const PreflightResult& result, std::int64_t ranks);

}  // namespace bertpretrain

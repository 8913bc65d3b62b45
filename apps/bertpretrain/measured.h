#pragma once
// What `evaluate` measured, as tables and JSON.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "inference/labelled_texts.h"
#include "inference/probe.h"
#include "telemetry/step_record.h"

namespace bertpretrain {

/// One measured checkpoint.
struct Measured {
    std::string name;
    std::int64_t step = 0;
    std::optional<EvaluationRecord> record;  ///< with --shards
    std::optional<ProbeResult> probe;        ///< with --probe
};

/// @param task the labelled texts of --probe; empty without it
nlohmann::ordered_json json_of(const Measured& measured, const LabelledTexts& task);
/// Returns a row per measure.
std::string one_as_table(const Measured& measured, const LabelledTexts& task);
/// Returns a row per checkpoint, of which there is at least one; all have the same measures.
std::string curve_as_table(const std::vector<Measured>& curve);
/// Returns the most important measures in a few words.
std::string summary(const Measured& measured);

}  // namespace bertpretrain

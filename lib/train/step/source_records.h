#pragma once
// What a run's records say about the sources of its text.

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "batches/batch_loader.h"
#include "plan/run_plan.h"
#include "telemetry/step_record.h"
#include "train/step/train_step.h"

namespace bertpretrain {

/// Adds to an event the samples of an epoch; with several sources, those of each, with names and shares.
void add_sources(nlohmann::ordered_json& details, const DataPlan& data, const BatchLoader& loader);

/// Returns the losses of a step's sources, without those that have no sample in it. Empty with one source.
/// @param names of the sources  @param whole the record of the step, without its sources
std::vector<SourceRecord> source_records(const std::vector<SourceSums>& sums, const std::vector<std::string>& names,
                                         const BatchLoader& loader, const StepRecord& whole);

/// The first rows of a step, and how many there are: a step may have tens of thousands.
inline void add_rows(nlohmann::ordered_json& details, const auto& rows_by_file) {
    constexpr std::size_t most_rows = 20;
    std::size_t all = 0, named = 0;
    for (const auto& [file, rows] : rows_by_file) {
        all += rows.size();
        for (std::size_t i = 0; i < rows.size() && named < most_rows; ++i, ++named)
            details["rows"][file.string()].push_back(rows[i]);
    }
    details["rows_in_all"] = all;
}

}  // namespace bertpretrain

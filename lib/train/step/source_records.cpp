#include "train/step/source_records.h"

#include <cstddef>

namespace bertpretrain {

void add_sources(nlohmann::ordered_json& details, const DataPlan& data, const BatchLoader& loader) {
    const std::vector<std::int64_t>& rows = loader.rows_of_sources();
    if (rows.size() == 1) details["samples_per_epoch"] = rows.front();
    else
        for (std::size_t i = 0; i < rows.size(); ++i)
            details["sources"].push_back(
                {{"name", data.source_names[i]}, {"share", data.shares[i]}, {"samples_per_epoch", rows[i]}});
}

std::vector<SourceRecord> source_records(const std::vector<SourceSums>& sums, const std::vector<std::string>& names,
                                         const BatchLoader& loader, const StepRecord& whole) {
    std::vector<SourceRecord> records;
    if (sums.empty()) return records;
    const std::vector<std::int64_t> counts = loader.mixture().counts(whole.samples);
    for (std::size_t i = 0; i < sums.size(); ++i) {
        if (sums[i].sequences == 0) continue;
        SourceRecord& record = records.emplace_back();
        record.name = names[i];
        record.sequences = static_cast<std::int64_t>(sums[i].sequences);
        record.mlm_loss = sums[i].mlm_loss / sums[i].masked;
        record.mlm_accuracy = sums[i].mlm_correct / sums[i].masked;
        record.next_sentence = whole.next_sentence;
        record.nsp_loss = sums[i].nsp_loss / sums[i].sequences;
        record.samples = counts[i];
        record.epochs = static_cast<double>(counts[i]) / static_cast<double>(loader.rows_of_sources()[i]);
    }
    return records;
}

}  // namespace bertpretrain

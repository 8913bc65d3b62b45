#include "batches/shard_samples.h"

#include <algorithm>
#include <set>

#include "core/error.h"
#include "core/strings.h"

namespace bertpretrain {
namespace {

/// @returns rows checked
std::int64_t check_some_bands(const ShardFile& shard, const RowFormat& format, std::size_t threads) {
    const std::int64_t bands = (shard.rows + shard.band_rows - 1) / shard.band_rows;
    std::int64_t checked = 0;
    for (const std::int64_t band : std::set<std::int64_t>{0, bands / 2, std::max<std::int64_t>(bands - 1, 0)}) {
        const std::int64_t first = band * shard.band_rows, count = std::min(shard.band_rows, shard.rows - first);
        checked += read_checked_rows(shard, first, count, format, threads).rows;
    }
    return checked;
}

}  // namespace

SampledShards sample_shards(const std::vector<std::filesystem::path>& files, const RowFormat& format, std::int64_t rank,
                            std::int64_t ranks, std::size_t threads) {
    SampledShards sampled;
    std::vector<std::string> problems;
    for (auto i = static_cast<std::size_t>(rank); i < files.size(); i += static_cast<std::size_t>(ranks)) {
        try {
            sampled.rows += check_some_bands(survey_shards({files[i]}, format, threads).front(), format, threads);
            ++sampled.files;
        } catch (const DataError& error) { problems.emplace_back(error.what()); }
    }
    if (problems.size() == 1) throw DataError(problems.front().substr(std::string_view("data error: ").size()));
    if (!problems.empty()) throw DataError(concat(problems.size(), " shards are bad:\n  ", join(problems, "\n  ")));
    return sampled;
}

}  // namespace bertpretrain

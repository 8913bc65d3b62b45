// Prints the rows that a run reads, in the run's order, one "FILE ROW" per sample, so that another program can train on the same
// rows:
//   print_sample_order SHARDS SEQUENCE_LENGTH SEED SAMPLES
#include <iostream>
#include <string>

#include "batches/sample_order.h"
#include "batches/shard_files.h"
#include "core/output/guard.h"
#include "shards/manifest.h"
#include "shards/check/shard_probe.h"

using namespace bertpretrain;

int main(int argc, char** argv) {
    if (const auto answered = answer_probe(argc, argv)) return *answered;
    if (argc != 5) return 2;
    return run_guarded([&] {
        const std::int64_t length = std::stoll(argv[2]);
        const RowFormat format{.sequence_length = length,
                               .max_position_embeddings = length,
                               .vocab_size = std::int64_t{1} << 24,
                               .needs_labels = false};
        std::vector<OrderedShard> shards;
        for (const ShardFile& shard : survey_shards(find_shards(argv[1], ShardKind::training), format))
            shards.push_back({shard.file.filename().string(), shard.rows, shard.band_rows, shard.crc32});
        SampleOrder order(shards, std::stoull(argv[3]));
        for (std::int64_t number = 0; number < std::stoll(argv[4]); ++number) {
            const SamplePlace place = order.locate(number);
            std::cout << shards[static_cast<std::size_t>(place.band.shard)].name << " " << place.row_in_shard() << "\n";
        }
        return 0;
    });
}

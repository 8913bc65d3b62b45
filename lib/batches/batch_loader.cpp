#include "batches/batch_loader.h"

#include <chrono>
#include <cstddef>

#include "core/error.h"

namespace bertpretrain {

BatchLoader::BatchLoader(const TrainingSources& sources, const BatchLoaderSettings& settings)
    : copier_(settings.device),
      source_(sources, settings),
      batch_sizes_(settings.batch_sizes),
      rows_per_epoch_(source_.rows_per_epoch()),
      rows_of_sources_(source_.rows_of_sources()),
      fingerprint_(source_.fingerprint()),
      prefetcher_([this](std::int64_t step, const std::stop_token& stop) { return source_.make(step, stop); },
                  static_cast<std::size_t>(settings.prefetch_steps), 1) {}

GlobalBatch BatchLoader::next() {
    const auto begin = std::chrono::steady_clock::now();
    GlobalBatch batch = prefetcher_.next();
    batch.data_wait_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    for (MicroBatch& micro_batch : batch.micro_batches) micro_batch = copier_.copy(std::move(micro_batch));
    if (batch.cross_check) batch.cross_check->micro_batch = copier_.copy(std::move(batch.cross_check->micro_batch));
    return batch;
}

MicroBatch BatchLoader::first_micro_batch(std::int64_t step, std::int64_t rank) {
    MicroBatch made;
    prefetcher_.restart(prefetcher_.position(), [&] { made = source_.first_micro_batch(step, rank); });
    return copier_.copy(std::move(made));
}

void BatchLoader::seek(std::int64_t step) {
    check(step >= 1, "step ", step);
    prefetcher_.seek(step);
}

void BatchLoader::set_micro_batch_size(std::int64_t sequences) {
    check(sequences >= 1, "micro-batches of ", sequences);
    prefetcher_.restart(prefetcher_.position(), [&] { source_.set_micro_batch_size(sequences); });
}

}  // namespace bertpretrain

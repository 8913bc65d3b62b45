#include "batches/step_source.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>

#include "batches/build_batch.h"
#include "batches/source_parts.h"
#include "core/error.h"
#include "core/output/log.h"
#include "core/strings.h"

namespace bertpretrain {
namespace {

const BatchLoaderSettings& checked(const BatchLoaderSettings& settings) {
    const std::int64_t sequences = settings.batch_sizes.smallest(), world_size = settings.world_size;
    check(settings.micro_batch_size > 0 && sequences > 0, sequences, " sequences in micro-batches of ",
          settings.micro_batch_size);
    check(settings.rank >= 0 && settings.rank < world_size, "rank ", settings.rank, " of ", world_size);
    check(settings.prefetch_steps > 0, settings.prefetch_steps, " steps built ahead");
    require_sequence_per_rank(settings.batch_sizes, world_size);
    return settings;
}

/// @param needed by the shards of one window  @throws ConfigError when the cache may not hold them
void require_room(const BatchLoaderSettings& settings, std::uint64_t needed) {
    if (!settings.cache || needed <= settings.cache->limit_bytes()) return;
    throw ConfigError(concat("data.cache_gib: the cache may hold ", bytes_text(settings.cache->limit_bytes()),
                             ", but the shards of one window of samples have up to ", bytes_text(needed),
                             "\n  do: raise data.cache_gib, best to the size of all training shards"));
}

std::vector<SourceReader> open_sources(const TrainingSources& sources, const BatchLoaderSettings& settings) {
    check(sources.files.size() == sources.mixture.sources(), sources.files.size(), " lists of files for ",
          sources.mixture.sources(), " sources");
    std::uint64_t needed = 0;  // at least: what can be known before the cache fetches or evicts a shard
    for (const auto& files : sources.files) needed += SourceReader::least_cache_bytes_needed(files, settings);
    require_room(settings, needed);
    std::vector<SourceReader> readers;
    for (std::size_t source = 0; source < sources.files.size(); ++source)
        readers.emplace_back(sources.files[source], settings, source);
    return readers;
}

/// "fingerprint" for one source; "mixture of 2 sources: [fingerprint] [fingerprint]".
std::string joined(const std::vector<std::string>& fingerprints) {
    if (fingerprints.size() == 1) return fingerprints.front();
    std::string text = concat("mixture of ", fingerprints.size(), " sources:");
    for (const std::string& fingerprint : fingerprints) text += concat(" [", fingerprint, "]");
    return text;
}

}  // namespace

StepSource::StepSource(const TrainingSources& sources, const BatchLoaderSettings& settings)
    : settings_(checked(settings)), mixture_(sources.mixture), readers_(open_sources(sources, settings_)) {
    if (!settings_.cache) return;
    std::uint64_t needed = 0, all = 0;
    for (const SourceReader& reader : readers_) {
        needed += reader.cache_bytes_needed();
        all += reader.remote_bytes();
    }
    require_room(settings_, needed);
    if (all > settings_.cache->limit_bytes() && settings_.rank == 0)
        log_warning(concat("data.cache_gib: the cache may hold ", bytes_text(settings_.cache->limit_bytes()),
                           ", less than all training shards (", bytes_text(all),
                           "): a shard is fetched whole again each time that samples of it are needed after its eviction, and "
                           "training waits where the network is too slow",
                           "\n  do: raise data.cache_gib if the disk allows it"));
}

bool StepSource::await_shards(const std::vector<Sample>& samples, const std::stop_token& stop) {
    if (!settings_.cache) return true;
    constexpr std::int64_t many = 1'000'000'000;
    const std::vector<std::int64_t> rates = mixture_.counts(many);
    for (std::size_t source = 0; source < readers_.size(); ++source) {
        std::vector<const SamplePlace*> places;
        std::int64_t first = -1;
        for (const Sample& sample : samples) {
            if (sample.source != source) continue;
            if (first < 0) first = mixture_.locate(sample.number).number;
            places.push_back(&sample.place);
        }
        const double rate = static_cast<double>(std::max<std::int64_t>(1, rates[source])) / static_cast<double>(many);
        if (!readers_[source].await_shards(first, places, rate, stop)) return false;
    }
    return true;
}

std::vector<StepSource::Sample> StepSource::samples_of(std::int64_t step, std::int64_t rank, const std::stop_token& stop) {
    const std::int64_t sequences = settings_.batch_sizes.of(step), first = settings_.batch_sizes.samples_before(step);
    const std::int64_t ranks = settings_.world_size;
    std::vector<Sample> samples(static_cast<std::size_t>(sequences));
    for (std::int64_t i = 0; i < sequences; ++i) {
        const std::int64_t number = first + i;
        const Mixture::Place place = mixture_.locate(number);
        samples[static_cast<std::size_t>(i)] = {number, place.source, readers_[place.source].locate(place.number)};
    }
    if (!await_shards(samples, stop)) return {};
    if (ranks == 1) return samples;
    // A step may span two windows. Each rank takes the same share of both, so that it needs the same bands in all steps. The
    // windows of several sources are shared alike.
    std::sort(samples.begin(), samples.end(), [](const Sample& a, const Sample& b) {
        return std::tuple(a.place.share_before, a.source, a.place.band_number, a.number) <
               std::tuple(b.place.share_before, b.source, b.place.band_number, b.number);
    });
    std::vector<Sample> part = part_of(rank, samples);
    std::sort(part.begin(), part.end(), [](const Sample& a, const Sample& b) { return a.number < b.number; });
    return part;
}

std::vector<StepSource::Sample> StepSource::part_of(std::int64_t rank, const std::vector<Sample>& by_band) {
    std::vector<std::int64_t> tokens_before(1, 0);
    for (const Sample& sample : by_band)
        tokens_before.push_back(tokens_before.back() + readers_[sample.source].tokens_of(sample.place));
    const std::int64_t ranks = settings_.world_size, count = std::ssize(by_band);
    std::int64_t begin = 0, end = 0;
    for (std::int64_t part = 0; part <= rank; ++part) {
        const std::int64_t twice = 2 * (tokens_before.back() * (part + 1) / ranks);
        const auto cut = std::partition_point(tokens_before.begin(), tokens_before.end() - 1, [&](const std::int64_t& before) {
            return before + *(&before + 1) < twice;  // whether the sample's middle lies before the cut
        });
        begin = end;
        end =
            std::clamp<std::int64_t>(cut - tokens_before.begin(), begin + 1, count - (ranks - part - 1));  // one sample at least
    }
    return {by_band.begin() + begin, by_band.begin() + end};
}

std::vector<UnpaddedSamples> StepSource::read(const std::vector<Sample>& samples, const std::stop_token& stop) {
    std::vector<UnpaddedSamples> read(samples.size());
    const DynamicMasking* const masking = settings_.masking ? &*settings_.masking : nullptr;
    // In the order of bands, a step reads no band twice, even if the cache cannot hold all of them.
    std::vector<std::size_t> by_band(samples.size());
    std::iota(by_band.begin(), by_band.end(), std::size_t{0});
    std::stable_sort(by_band.begin(), by_band.end(), [&](std::size_t a, std::size_t b) {
        return std::tuple(samples[a].source, samples[a].place.band_number) <
               std::tuple(samples[b].source, samples[b].place.band_number);
    });
    for (auto begin = by_band.begin(); begin != by_band.end();) {
        SourceReader& reader = readers_[samples[*begin].source];
        const auto end =
            std::find_if(begin, by_band.end(), [&](std::size_t i) { return samples[i].source != samples[*begin].source; });
        std::vector<const SamplePlace*> places;
        for (const std::size_t i : std::span(begin, end)) places.push_back(&samples[i].place);
        reader.read_ahead(places, stop);
        for (const std::size_t i : std::span(begin, end)) {
            if (stop.stop_requested()) return read;
            read[i] = reader.sample_at(samples[i].place, samples[i].number, masking);
        }
        begin = end;
    }
    return read;
}

void StepSource::forget_before(const std::vector<Sample>& samples) {
    std::vector<bool> has_forgotten(readers_.size());
    for (const Sample& sample : samples) {
        if (has_forgotten[sample.source]) continue;
        readers_[sample.source].forget_before(sample.place);
        has_forgotten[sample.source] = true;
    }
}

void StepSource::look_ahead(std::int64_t samples_until_now, const std::stop_token& stop) {
    const std::vector<std::int64_t> counts = mixture_.counts(samples_until_now);
    for (std::size_t source = 0; source < readers_.size(); ++source)
        if (counts[source] > 0) readers_[source].look_ahead(counts[source] - 1, stop);
}

MicroBatch StepSource::micro_batch(std::span<const Sample> samples, std::span<UnpaddedSamples> read) const {
    std::vector<std::size_t> by_source(samples.size()), sources_B;
    std::iota(by_source.begin(), by_source.end(), std::size_t{0});
    std::stable_sort(by_source.begin(), by_source.end(),
                     [&](std::size_t a, std::size_t b) { return samples[a].source < samples[b].source; });
    std::vector<UnpaddedSamples> samples_B;
    for (const std::size_t i : by_source) {
        samples_B.push_back(std::move(read[i]));
        sources_B.push_back(samples[i].source);
    }
    MicroBatch made = build_batch(samples_B, settings_.device);
    if (readers_.size() > 1) made.source_parts = source_parts(samples_B, sources_B);
    return made;
}

MicroBatch StepSource::first_sequences(std::vector<Sample> samples, std::int64_t count, const std::stop_token& stop) {
    samples.resize(std::min(samples.size(), static_cast<std::size_t>(count)));
    std::vector<UnpaddedSamples> read = this->read(samples, stop);
    if (stop.stop_requested()) return {};
    return micro_batch(samples, read);
}

MicroBatch StepSource::first_micro_batch(std::int64_t step, std::int64_t rank, const std::stop_token& stop) {
    check(step >= 1 && rank >= 0 && rank < settings_.world_size, "step ", step, " of rank ", rank);
    return first_sequences(samples_of(step, rank, stop), settings_.micro_batch_size, stop);
}

std::optional<CrossCheckBatch> StepSource::cross_check(std::int64_t step, const std::vector<Sample>& own,
                                                       const std::stop_token& stop) {
    const std::int64_t every = settings_.cross_check_every_steps, ranks = settings_.world_size;
    if (every == 0 || step % every != 0) return std::nullopt;
    constexpr std::int64_t sequences_of_one_rank = 2;  // another kernel set computes them, slowly
    if (ranks == 1) return CrossCheckBatch{settings_.rank, first_sequences(own, sequences_of_one_rank, stop)};
    const std::int64_t distance = 1 + step / every % (ranks - 1);  // in time, each rank checks each other one
    const std::int64_t rank = (settings_.rank + distance) % ranks;
    return CrossCheckBatch{rank, first_micro_batch(step, rank, stop)};
}

GlobalBatch StepSource::make(std::int64_t step, const std::stop_token& stop) {
    check(step >= 1, "step ", step);
    const std::vector<Sample> samples = samples_of(step, settings_.rank, stop);
    if (samples.empty()) return {};  // a stop was requested
    forget_before(samples);
    std::vector<UnpaddedSamples> read = this->read(samples, stop);
    look_ahead(settings_.batch_sizes.samples_before(step + 1), stop);
    if (stop.stop_requested()) return {};

    GlobalBatch batch;
    batch.cross_check = cross_check(step, samples, stop);
    if (stop.stop_requested()) return {};
    const auto size = static_cast<std::size_t>(settings_.micro_batch_size);
    for (std::size_t begin = 0; begin < samples.size(); begin += size) {
        const std::size_t count = std::min(size, samples.size() - begin);
        const MicroBatch& made = batch.micro_batches.emplace_back(
            micro_batch(std::span(samples).subspan(begin, count), std::span(read).subspan(begin, count)));
        batch.sequences += made.sequences();
        batch.tokens += made.tokens();
        batch.masked += made.masked();
    }
    return batch;
}

std::int64_t StepSource::rows_per_epoch() const {
    const std::vector<std::int64_t> rows = rows_of_sources();
    return std::accumulate(rows.begin(), rows.end(), std::int64_t{0});
}

std::vector<std::int64_t> StepSource::rows_of_sources() const {
    std::vector<std::int64_t> rows;
    for (const SourceReader& reader : readers_) rows.push_back(reader.rows());
    return rows;
}

std::string StepSource::fingerprint() const {
    std::vector<std::string> fingerprints;
    for (const SourceReader& reader : readers_) fingerprints.push_back(reader.fingerprint());
    return joined(fingerprints);
}

std::string StepSource::earlier_fingerprint() const {
    std::vector<std::string> fingerprints;
    for (const SourceReader& reader : readers_) fingerprints.push_back(reader.earlier_fingerprint());
    return joined(fingerprints);
}

RowsByFile StepSource::rows_by_file(std::int64_t step) const {
    std::vector<std::vector<std::int64_t>> numbers(readers_.size());
    const std::int64_t end = settings_.batch_sizes.samples_before(step + 1);
    for (std::int64_t number = settings_.batch_sizes.samples_before(step); number < end; ++number) {
        const Mixture::Place place = mixture_.locate(number);
        numbers[place.source].push_back(place.number);
    }
    RowsByFile rows;
    for (std::size_t source = 0; source < readers_.size(); ++source) readers_[source].add_rows(numbers[source], rows);
    for (auto& [file, of_file] : rows) std::sort(of_file.begin(), of_file.end());
    return rows;
}

}  // namespace bertpretrain

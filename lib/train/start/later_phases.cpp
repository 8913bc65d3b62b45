#include "train/start/later_phases.h"

#include "core/error.h"
#include "model/architecture.h"
#include "plan/facts.h"
#include "plan/resolve.h"
#include "shards/manifest.h"
#include "storage/object_url.h"

namespace bertpretrain {
namespace {

DataFacts data_of(const TrainingPhase& phase) {
    const ExperimentConfig& settings = phase.experiment.settings;
    return look_at_data(settings.data, settings.evaluation.every_steps > 0);
}

/// @param facts the phase's data  @param now the data of the phase that trains first
void check_data(const TrainingPhase& phase, const DataFacts& facts, const DataFacts& now) {
    const ExperimentConfig& settings = phase.experiment.settings;
    for (const WeightedPath& source : settings.data.training_shards.paths)
        if (!is_object_url(source.path)) find_shards(source.path, ShardKind::training);
    if (!facts.manifest) return;
    const std::int64_t length = facts.manifest->settings.sequence_length, expected = settings.data.sequence_length;
    if (length != expected)
        throw DataError(concat("the rows of data.training_shards are ", length, " tokens long, expected ", expected,
                               "\n  do: set data.sequence_length of this phase to ", length,
                               ", or make shards with `bertpretrain_data shard --sequence-length ", expected, "`"));
    if (now.manifest && now.manifest->vocabulary.crc32 != facts.manifest->vocabulary.crc32)
        throw DataError(concat("the shards of data.training_shards were made with another vocabulary (checksum ",
                               facts.manifest->vocabulary.crc32, ") than those of the phase that trains now (",
                               now.manifest->vocabulary.crc32, ")\n  do: make the shards of all phases with one vocabulary"));
    const std::int64_t rows = shape_of(settings.model).vocab_size;
    if (facts.vocabulary && rows > 0 && facts.vocabulary->size() > rows)
        throw DataError(concat("the vocabulary of data.training_shards has ", facts.vocabulary->size(),
                               " tokens, but model.vocab_size is ", rows));
}

/// Returns a message of error.h without its kind, after the phase's name.
std::string with_phase(const TrainingPhase& phase, std::string message, std::string_view kind) {
    if (message.starts_with(kind)) message.erase(0, kind.size());
    return concat(title_of(phase), ", which trains later: ", message);
}

}  // namespace

void check_later_phases(const std::vector<TrainingPhase>& phases, std::size_t current, const Launch& launch) {
    if (current + 1 >= phases.size()) return;
    const DataFacts now = data_of(phases[current]);
    for (std::size_t later = current + 1; later < phases.size(); ++later) try {
            const DataFacts facts = data_of(phases[later]);
            check_data(phases[later], facts, now);
            resolve(phases[later].experiment, launch, look_at_machine(), facts, nullptr);
        } catch (const DataError& error) {
            throw DataError(with_phase(phases[later], error.what(), "data error: "));
        } catch (const ConfigError& error) { throw ConfigError(with_phase(phases[later], error.what(), "config error: ")); }
}

}  // namespace bertpretrain

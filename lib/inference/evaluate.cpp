#include "inference/evaluate.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/error.h"
#include "parallel/together.h"

namespace bertpretrain {
namespace {

/// Of one source, or of all.
struct Sums {
    LossValues losses;
    double masked = 0, sequences = 0;
};

void add(Sums& sum, const Sums& more) {
    sum.losses.mlm_loss += more.losses.mlm_loss;
    sum.losses.mlm_correct += more.losses.mlm_correct;
    sum.losses.nsp_loss += more.losses.nsp_loss;
    sum.losses.nsp_correct += more.losses.nsp_correct;
    sum.masked += more.masked;
    sum.sequences += more.sequences;
}

/// Sums the ranks' numbers, source by source.
std::vector<Sums> sums_of_ranks(World& world, const std::vector<Sums>& own) {
    constexpr std::size_t count = 6;
    std::vector<double> numbers;
    for (const auto& [losses, masked, sequences] : own)
        for (const double number : {losses.mlm_loss, losses.mlm_correct, losses.nsp_loss, losses.nsp_correct, masked, sequences})
            numbers.push_back(number);
    const std::vector<double> of_all = world.all_gather(std::span<const double>(numbers));
    std::vector<Sums> sums(own.size());
    for (std::size_t at = 0; at < of_all.size(); at += count) {
        const auto n = std::span(of_all).subspan(at).first<count>();
        add(sums[at / count % own.size()], {{n[0], n[1], n[2], n[3]}, n[4], n[5]});
    }
    return sums;
}

/// Adds the masked tokens and sequences of a micro-batch to those of their sources.
void add_counts(const MicroBatch& batch, std::vector<Sums>& sums) {
    const std::vector<SourcePart> whole{{0, batch.sequences(), batch.masked()}};
    for (const SourcePart& part : batch.source_parts.empty() ? whole : batch.source_parts) {
        sums[part.source].masked += static_cast<double>(part.masked);
        sums[part.source].sequences += static_cast<double>(part.sequences);
    }
}

/// Writes the means into a record of the whole or of a source.
void set_means(auto& record, const Sums& sums, bool next_sentence) {
    const double masked = std::max(1.0, sums.masked), sequences = std::max(1.0, sums.sequences);
    record.mlm_loss = sums.losses.mlm_loss / masked;
    record.mlm_accuracy = sums.losses.mlm_correct / masked;
    record.next_sentence = next_sentence;
    record.nsp_loss = sums.losses.nsp_loss / sequences;
    record.sequences = static_cast<std::int64_t>(sums.sequences);
}

std::vector<HeldOutSourceRecord> records_of(const std::vector<Sums>& sums, const std::vector<std::string>& names,
                                            bool next_sentence) {
    std::vector<HeldOutSourceRecord> records;
    if (names.size() == 1) return records;
    for (std::size_t source = 0; source < names.size(); ++source) {
        if (sums[source].sequences == 0) continue;
        records.emplace_back().name = names[source];
        set_means(records.back(), sums[source], next_sentence);
    }
    return records;
}

}  // namespace

EvaluationRecord evaluate(const Model& model, EvaluationBatches& batches, World& world, std::int64_t step) {
    return *evaluate(model, batches, world, step, [] { return false; });
}

std::optional<EvaluationRecord> evaluate(const Model& model, EvaluationBatches& batches, World& world, std::int64_t step,
                                         const std::function<bool()>& leave) {
    batches.rewind();
    const std::int64_t borders = batches.fewest_batches() - 1;  // some ranks may have one batch more
    std::int64_t begun = 0;
    std::optional<LossSums> sums;
    std::vector<Sums> own(batches.source_names().size());
    std::exception_ptr failure;
    const auto next = [&]() -> std::optional<MicroBatch> {
        if (failure) return std::nullopt;
        try {
            return batches.next();
        } catch (const Error&) { failure = std::current_exception(); }
        return std::nullopt;
    };
    for (auto batch = next(); batch || (failure && begun <= borders); batch = next()) {  // the other ranks wait at each border
        if (++begun > 1 && begun <= borders + 1 && leave()) return std::nullopt;
        if (failure) continue;
        if (!sums) sums.emplace(batch->device(), own.size());
        model.add_losses(*batch, *sums);
        add_counts(*batch, own);
    }
    together(world, [&] {
        if (failure) std::rethrow_exception(failure);
    });
    if (sums)
        for (std::size_t source = 0; source < own.size(); ++source) own[source].losses = sums->values(source);
    const std::vector<Sums> of_sources = sums_of_ranks(world, own);
    Sums whole;
    for (const Sums& source : of_sources) add(whole, source);
    const bool next_sentence = model.shape().next_sentence;
    EvaluationRecord record;
    record.step = step;
    set_means(record, whole, next_sentence);
    record.perplexity = std::exp(record.mlm_loss);
    record.nsp_accuracy = whole.losses.nsp_correct / std::max(1.0, whole.sequences);
    record.sources = records_of(of_sources, batches.source_names(), next_sentence);
    return record;
}

}  // namespace bertpretrain

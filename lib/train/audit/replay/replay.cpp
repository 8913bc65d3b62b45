#include "train/audit/replay/replay.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "checkpoint/checkpoint_files.h"
#include "core/error.h"
#include "model/fp8_scales.h"
#include "parallel/together.h"
#include "train/start/init_from.h"
#include "train/start/restore_optimizer.h"

namespace bertpretrain {
namespace {

/// Sums over one tensor's elements.
struct ElementSums {
    static constexpr std::size_t count = 3;
    double unequal = 0, square_differences = 0, squares = 0;

    void add(const float* recorded, const float* computed, std::int64_t elements) {
        for (std::int64_t i = 0; i < elements; ++i) {
            if (std::bit_cast<std::uint32_t>(recorded[i]) != std::bit_cast<std::uint32_t>(computed[i])) ++unequal;
            const double before = recorded[i], difference = before - static_cast<double>(computed[i]);
            square_differences += difference * difference;
            squares += before * before;
        }
    }
    double relative_difference() const {
        if (square_differences == 0) return 0;
        const double difference = std::sqrt(square_differences / squares);
        return std::isnan(difference) ? std::numeric_limits<double>::infinity() : difference;
    }
};

}  // namespace

Replay::Replay(TrainerParts parts, StopRequest& requests)
    : parts_(std::move(parts)), requests_(requests), stop_(*parts_.world, requests) {}

void Replay::begin(const CheckpointReader* checkpoint) {
    World& world = *parts_.world;
    const ParameterLayout& layout = parts_.parameters->layout();
    parts_.step->settle();
    Fp8Scales* const fp8 = parts_.model->fp8_scales();
    if (checkpoint != nullptr) {
        const auto progress = TrainingProgress::read(checkpoint->progress(), checkpoint->folder() / progress_file);
        restore_optimizer(world, checkpoint, layout, *parts_.optimizer);
        if (fp8 != nullptr) fp8->restore(progress.fp8_magnitudes);
        step_ = checkpoint->step();
        updates_before_ = progress.updates_before;
        skipped_ = progress.skipped_updates;
    } else {
        step_ = skipped_ = 0;
        if (fp8 != nullptr) fp8->restore({});
        updates_before_ = fill_initial_state(parts_.plan, world, layout, *parts_.optimizer);
    }
    parts_.step->publish_weights();
    parts_.loader->seek(step_ + 1);
}

std::optional<StepRecord> Replay::next(const ScheduleConfig& schedule, double peak) {
    const StepOpening opening = StepOpener(*parts_.world, *parts_.loader, requests_, clock_).open();
    if (opening.failure) std::rethrow_exception(opening.failure);
    if (opening.stop) return std::nullopt;
    const std::int64_t number = step_ + 1;
    const double learning_rate = learning_rate_at(schedule, peak, number);
    parts_.optimizer->set_peak_rate(peak);
    const StepOutcome outcome =
        parts_.step->run(opening.batch, opening.counts, learning_rate, updates_before_ + number - skipped_, stop_, clock_, [] {});
    if (outcome.interrupted) return std::nullopt;
    step_ = number;
    skipped_ += outcome.skipped ? 1 : 0;
    return record_of(outcome, step_, learning_rate, parts_.plan);
}

std::vector<TensorComparison> Replay::compare_with(const CheckpointReader& checkpoint) const {
    const std::vector<PlacedParameter>& placed = parts_.parameters->layout().parameters();
    const OptimizerState& state = parts_.optimizer->state();
    const std::array<std::pair<const char*, const at::Tensor*>, 3> sets{
        {{"", &state.master}, {"exp_avg", &state.exp_avg}, {"exp_avg_sq", &state.exp_avg_sq}}};
    std::vector<double> own(sets.size() * placed.size() * ElementSums::count);
    together(*parts_.world, [&] {
        std::vector<float> recorded;
        for (std::size_t set = 0; set < sets.size(); ++set) {
            const std::string moment = sets.at(set).first;
            const at::Tensor slice = sets.at(set).second->cpu();
            for (const OwnedRun& run : parts_.optimizer->owned_runs()) {
                const std::string& name = placed[run.parameter].spec.name;
                recorded.resize(static_cast<std::size_t>(run.elements));
                if (moment.empty()) checkpoint.read_parameter(name, run.in_parameter, recorded.data(), run.elements);
                else checkpoint.read_moment(moment, name, run.in_parameter, recorded.data(), run.elements);
                ElementSums sums;
                sums.add(recorded.data(), slice.const_data_ptr<float>() + run.in_slice, run.elements);
                double* into = own.data() + (set * placed.size() + run.parameter) * ElementSums::count;
                into[0] += sums.unequal;
                into[1] += sums.square_differences;
                into[2] += sums.squares;
            }
        }
    });
    const std::vector<double> of_all = parts_.world->all_gather(std::span<const double>(own));
    std::vector<TensorComparison> tensors;
    for (std::size_t at = 0; at < own.size(); at += ElementSums::count) {
        ElementSums sums;
        for (std::size_t i = at; i < of_all.size(); i += own.size()) {
            sums.unequal += of_all[i];
            sums.square_differences += of_all[i + 1];
            sums.squares += of_all[i + 2];
        }
        const std::size_t tensor = at / ElementSums::count;
        const std::string moment = sets.at(tensor / placed.size()).first, &name = placed[tensor % placed.size()].spec.name;
        tensors.push_back({moment.empty() ? name : concat(moment, " of ", name), sums.unequal == 0, sums.relative_difference()});
    }
    return tensors;
}

}  // namespace bertpretrain

#pragma once
// Shows a run's losses as a chart and as a table.

#include <cstdint>
#include <optional>
#include <string>

#include "telemetry/loss_history.h"

namespace bertpretrain {

struct LossPictureOptions {
    std::string title = "Masked-word loss";
    std::optional<double> unigram_loss{};  ///< loss of a unigram model in nats, drawn as a reference level
    std::int64_t smoothing_steps = 0;      ///< averages the training loss over this many steps; below 2: no smoothing
};

/// Returns an SVG of the MLM loss on training and held-out text. @throws DataError if the history contains no step
std::string loss_picture(const LossHistory& history, const LossPictureOptions& options);

/// Returns a table with a row per evaluation: step, mean training loss since the previous evaluation, held-out loss, accuracy,
/// perplexity.
std::string loss_table(const LossHistory& history);

}  // namespace bertpretrain

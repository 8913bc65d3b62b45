#pragma once
// A run's losses to look at, and as a table.

#include <cstdint>
#include <optional>
#include <string>

#include "telemetry/loss_history.h"

namespace bertpretrain {

struct LossPictureOptions {
    std::string title = "Masked-word loss";
    std::optional<double> unigram_loss{};  ///< cross-entropy of guessing by word frequency alone, in nats: the level to beat
    std::int64_t smoothing_steps = 0;      ///< the training loss is averaged over so many steps; below 2: not smoothed
};

/// An SVG of the masked-word loss on training and on held-out text. @throws DataError when no step was measured
std::string loss_picture(const LossHistory& history, const LossPictureOptions& options);

/// A row per evaluation: step, training loss averaged since the evaluation before, held-out loss, accuracy, perplexity.
std::string loss_table(const LossHistory& history);

}  // namespace bertpretrain

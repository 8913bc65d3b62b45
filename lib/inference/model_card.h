#pragma once
// README.md of an exported model: the model card that Hugging Face's hub shows.

#include <optional>
#include <string>

#include "inference/loaded_model.h"
#include "inference/sentence_settings.h"

namespace bertpretrain {

/// Returns the card: YAML metadata with the model's results (model-index), how to load the model, and what its run records of
/// data, recipe, losses and hardware (training_records.h). The licence is a placeholder, which the card names.
/// @param name of the exported folder  @param sentences how vectors are made; nullopt for transformers
/// @throws DataError for a damaged record of the run
std::string model_card(const LoadedModel& model, const std::string& name, const std::optional<SentenceSettings>& sentences);

}  // namespace bertpretrain

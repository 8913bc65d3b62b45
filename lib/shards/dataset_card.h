#pragma once
// README.md beside a folder's shards: the dataset card that Hugging Face's hub shows.

#include <filesystem>
#include <string>

#include "shards/manifest.h"

namespace bertpretrain {

/// Returns the card of a manifest: YAML metadata, how the samples were made, how many there are, and the files of text that they
/// are from, without their folders. The licence is a placeholder, which the card names. Its name is
/// that of the shards: "sample" of sample_training_0000.h5. The same manifest gives the same card in any folder.
std::string dataset_card(const Manifest& manifest);

}  // namespace bertpretrain

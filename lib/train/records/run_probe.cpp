#include "train/records/run_probe.h"

#include <algorithm>
#include <utility>

#include <ATen/Parallel.h>

#include "core/concat.h"
#include "inference/cross_validation.h"
#include "inference/probe.h"

namespace bertpretrain {

RunProbe::RunProbe(const std::filesystem::path& file, std::shared_ptr<const Tokenizer> tokenizer, std::int64_t max_length)
    : texts_(read_labelled_texts(file, probe_folds)), tokenizer_(std::move(tokenizer)), max_length_(max_length) {}

std::string RunProbe::fingerprint() const { return concat(texts_.size(), " texts, CRC-32 ", texts_.crc32); }

std::optional<ProbeRecord> RunProbe::judge(const Model& model, at::Device device, World& world,
                                           const std::function<bool()>& leave) const {
    TextEncoderSettings settings;
    settings.max_length = std::min(max_length_, model.shape().longest_sequence);
    settings.threads = static_cast<std::size_t>(at::get_num_threads());
    const auto result = probe(TextEncoder(model, *tokenizer_, device, settings), texts_, world, leave);
    return result ? std::optional(result->record) : std::nullopt;
}

}  // namespace bertpretrain

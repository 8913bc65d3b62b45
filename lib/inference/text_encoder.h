#pragma once
// Encodes texts as vectors.

#include <cstdint>
#include <string>
#include <vector>

#include "model/model.h"
#include "tokens/models/tokenizer.h"
#include "tokens/models/unknown_tokens.h"

namespace bertpretrain {

/// A text's vector. mean: mean of its tokens' hidden states including [CLS] and [SEP] (sentence-transformers' mean pooling).
/// cls: hidden state of [CLS]. pooled: the pooler's output, which next sentence prediction uses.
enum class Pooling { mean, cls, pooled };
/// Returns the pooling of this name; mean for unknown names.
Pooling pooling_named(const std::string& name);

struct TextEncoderSettings {
    Pooling pooling = Pooling::mean;
    std::int64_t max_length = 512;     ///< tokens per text including [CLS] and [SEP]; longer texts are truncated
    std::int64_t batch_tokens = 4096;  ///< maximum tokens per forward pass; a longer text is a batch of its own
    bool normalize = false;            ///< scale vectors to L2 norm 1
    std::size_t threads = 1;           ///< for tokenization
    std::string prompt{};              ///< stands before each text
    bool truncates_left = false;       ///< a longer text loses its beginning instead of its end
};

struct TextVectors {
    at::Tensor vectors_LH;                   ///< fp32 on the CPU, contiguous, in the order of the lines
    std::int64_t tokens = 0, truncated = 0;  ///< tokens encoded; texts truncated
    UnknownTokens unknown;                   ///< of the texts, as far as they were encoded
};

/// Encodes each line as one text; an empty line is encoded as [CLS][SEP]. How the lines are divided among calls does not change
/// the vectors, except for the order of floating-point summation.
class TextEncoder {
public:
    /// `model` and `tokenizer` must outlive this object.
    TextEncoder(const Model& model, const Tokenizer& tokenizer, at::Device device, const TextEncoderSettings& settings)
        : model_(model), tokenizer_(tokenizer), device_(device), settings_(settings) {}

    TextVectors encode(const std::vector<std::string>& lines) const;
    /// Returns the length of a vector.
    std::int64_t columns() const { return model_.shape().hidden_size; }

private:
    using Ids = std::vector<std::int32_t>;
    std::vector<Ids> tokenize(const std::vector<std::string>& lines, TextVectors& counts) const;
    at::Tensor encode_batch(const std::vector<Ids>& texts, const std::vector<std::int64_t>& chosen_B) const;

    const Model& model_;
    const Tokenizer& tokenizer_;
    at::Device device_;
    TextEncoderSettings settings_;
};

}  // namespace bertpretrain

#pragma once
// Texts to vectors.

#include <cstdint>
#include <string>
#include <vector>

#include "model/bert.h"
#include "tokens/wordpiece.h"

namespace bertpretrain {

/// What stands for a text: the mean of its tokens' hidden states, [CLS] and [SEP] included (what sentence-transformers calls
/// mean pooling); the hidden state of [CLS]; or the pooler's output, which next sentence prediction reads.
enum class Pooling { mean, cls, pooled };
Pooling pooling_named(const std::string& name);

struct TextEncoderSettings {
    Pooling pooling = Pooling::mean;
    std::int64_t max_length = 512;     ///< tokens of a text, [CLS] and [SEP] included; the rest is cut off
    std::int64_t batch_tokens = 4096;  ///< of one forward pass, or one text where that is longer
    bool normalize = false;            ///< vectors of length 1
    std::size_t threads = 1;           ///< that tokenize
};

struct TextVectors {
    at::Tensor vectors_LH;  ///< fp32 on the CPU, contiguous, in the order of the lines
    std::int64_t tokens = 0, truncated = 0;
};

/// A line without a word is [CLS][SEP], and has its vector as any other. The vectors do not depend on how the lines are shared
/// out to calls beyond the order of floating-point summation.
class TextEncoder {
public:
    /// All three must outlive it.
    TextEncoder(const Bert& bert, const WordPiece& tokenizer, at::Device device, const TextEncoderSettings& settings)
        : bert_(bert), tokenizer_(tokenizer), device_(device), settings_(settings) {}

    TextVectors encode(const std::vector<std::string>& lines) const;

private:
    using Ids = std::vector<std::int32_t>;
    std::vector<Ids> tokenize(const std::vector<std::string>& lines, TextVectors& counts) const;
    at::Tensor encode_batch(const std::vector<Ids>& texts, const std::vector<std::int64_t>& chosen_B) const;

    const Bert& bert_;
    const WordPiece& tokenizer_;
    at::Device device_;
    TextEncoderSettings settings_;
};

}  // namespace bertpretrain

#pragma once
// Runs a definition: a tokenizer.json as Hugging Face's tokenizers library does, or a SentencePiece model.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tokens/definition/tokenizer_definition.h"
#include "tokens/models/tokenizer.h"

namespace bertpretrain {

/// Finds the added tokens, normalizes the text between them, splits it into words and encodes each word.
class PipelineTokenizer final : public Tokenizer {
public:
    /// @param where begins messages  @throws DataError if the definition contradicts itself or is not supported
    PipelineTokenizer(const TokenizerDefinition& definition, std::shared_ptr<const Vocabulary> vocabulary,
                      const std::string& where);
    ~PipelineTokenizer() override;

    using Tokenizer::encode;
    void encode(std::string_view utf8_text, std::vector<std::int32_t>& ids) const override;
    const Vocabulary& vocabulary() const override;
    bool keeps_spaces() const override;

private:
    struct State;
    std::unique_ptr<const State> state_;
};

}  // namespace bertpretrain

#include "inference/predict_masked.h"

#include <algorithm>
#include <numeric>

#include <ATen/ATen.h>

#include "batches/build_batch.h"
#include "core/error.h"

namespace bertpretrain {
namespace {

PredictedText tokenize(const Tokenizer& tokenizer, const std::string& text) {
    const SpecialIds& special = tokenizer.vocabulary().specials();
    PredictedText tokens;
    tokens.ids.push_back(special.cls);
    tokenizer.encode(text, tokens.ids);
    tokens.ids.push_back(special.sep);
    for (std::size_t i = 0; i < tokens.ids.size(); ++i)
        if (tokens.ids[i] == special.mask) tokens.mask_positions.push_back(i);
    return tokens;
}

/// One sample whose masked positions are the [MASK] tokens. Their labels are not known, and not read.
MicroBatch batch_of(const PredictedText& tokens, at::Device device) {
    UnpaddedSamples samples;
    samples.lengths_B = {static_cast<std::int64_t>(tokens.ids.size())};
    samples.numbers_B = {0};
    samples.input_ids_T.assign(tokens.ids.begin(), tokens.ids.end());
    samples.masked_rows_M.assign(tokens.mask_positions.begin(), tokens.mask_positions.end());
    samples.masked_labels_M.assign(tokens.mask_positions.size(), 0);
    return to_device(build_batch(samples, device), device);
}

/// @param probabilities_V contiguous fp64 on the CPU
MaskGuesses most_probable(const at::Tensor& probabilities_V, std::int64_t count) {
    const double* const of_id = probabilities_V.const_data_ptr<double>();
    std::vector<std::int32_t> ids(static_cast<std::size_t>(probabilities_V.numel()));
    std::iota(ids.begin(), ids.end(), 0);
    const auto end = ids.begin() + std::min(count, probabilities_V.numel());
    std::partial_sort(ids.begin(), end, ids.end(),
                      [&](std::int32_t a, std::int32_t b) { return of_id[a] != of_id[b] ? of_id[a] > of_id[b] : a < b; });
    MaskGuesses guesses;
    for (auto id = ids.begin(); id != end; ++id) guesses.push_back({*id, of_id[*id]});
    return guesses;
}

}  // namespace

std::vector<PredictedText> predict_masked(const Model& model, const Tokenizer& tokenizer, at::Device device,
                                          const std::vector<std::string>& texts, std::int64_t count, const std::string& where) {
    const auto longest = static_cast<std::size_t>(model.shape().longest_sequence);
    const Vocabulary& vocabulary = tokenizer.vocabulary();
    const std::string& mask = vocabulary.token(vocabulary.specials().mask);
    std::vector<PredictedText> predicted;
    for (std::size_t i = 0; i < texts.size(); ++i) {
        predicted.push_back(tokenize(tokenizer, texts[i]));
        if (predicted.back().mask_positions.empty())
            throw ConfigError(
                concat(where, ": line ", i + 1, " has no ", mask, "\n  do: write ", mask, " for the word to predict"));
        if (predicted.back().ids.size() > longest)
            throw ConfigError(concat(where, ": line ", i + 1, " has ", predicted.back().ids.size(), " tokens with the special ",
                                     "ones at both ends, but the model has ", longest, " positions\n  do: shorten the line"));
    }
    for (std::size_t i = 0; i < predicted.size(); ++i) {
        PredictedText& text = predicted[i];
        const at::Tensor logits_MV = model.logits(batch_of(text, device)).mlm_MV.cpu().to(at::kDouble);
        if (!at::isfinite(logits_MV).all().item<bool>())
            throw NumbersError(concat(where, ": line ", i + 1,
                                      ": the model's scores for it are not finite\n  do: check that the ",
                                      "model is undamaged and was trained without diverging"));
        const at::Tensor probabilities_MV = logits_MV.softmax(1).contiguous();
        for (std::int64_t m = 0; m < probabilities_MV.size(0); ++m)
            text.guesses.push_back(most_probable(probabilities_MV[m], count));
    }
    return predicted;
}

}  // namespace bertpretrain

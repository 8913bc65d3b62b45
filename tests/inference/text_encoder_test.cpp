#include "inference/text_encoder.h"

#include <ATen/ATen.h>

#include "model/small_model.h"
#include "support/catch.h"
#include "tokens/models/wordpiece.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

WordPiece letters_tokenizer() {
    std::vector<std::string> tokens{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};
    for (char c = 'a'; c <= 'z'; ++c) tokens.emplace_back(1, c);
    return {std::make_shared<const Vocabulary>(tokens, "letters"), Casing::uncased};
}

const std::vector<std::string> texts{"a b c", "", "d", "z y x w v u t s r q p", "   ", "e f", "a b c"};

double difference(const at::Tensor& a, const at::Tensor& b) { return (a - b).abs().max().item<double>(); }

/// Returns one text's hidden states.
at::Tensor hidden(const Model& model, const std::vector<std::int64_t>& ids) {
    UnpaddedSamples samples;
    samples.lengths_B = {static_cast<std::int64_t>(ids.size())};
    samples.numbers_B = {0};
    samples.input_ids_T = ids;
    return model.encode(build_batch(samples));
}

}  // namespace

TEST_CASE("a text's vector is its tokens' mean, its first hidden state, or the pooler's output") {
    OwnedModel model(odd_config(GENERATE("post_ln", "pre_ln", "pre_ln_zero_residual")));
    model.randomize(3);
    const WordPiece tokenizer = letters_tokenizer();
    const auto vectors = [&](Pooling pooling) {
        return TextEncoder(*model, tokenizer, at::kCPU, {pooling, 40}).encode(texts).vectors_LH;
    };
    const at::Tensor abc = hidden(*model, {2, 5, 6, 7, 3}), nothing = hidden(*model, {2, 3});
    const at::Tensor mean = vectors(Pooling::mean), cls = vectors(Pooling::cls), pooled = vectors(Pooling::pooled);
    CHECK(difference(mean[0], abc.mean(0)) < 1e-5);
    CHECK(difference(mean[1], nothing.mean(0)) < 1e-5);  // an empty line is [CLS][SEP]
    CHECK(difference(mean[4], nothing.mean(0)) < 1e-5);
    CHECK(difference(cls[0], abc[0]) < 1e-5);
    CHECK(difference(pooled[0], model->pool(abc.narrow(0, 0, 1))[0]) < 1e-5);
    CHECK(difference(mean[0], mean[6]) < 1e-5);
    CHECK(difference(mean[0], mean[2]) > 1e-2);
}

TEST_CASE("vectors do not depend on the size of batches, and normalized ones have length 1") {
    OwnedModel model(odd_config("post_ln"));
    model.randomize(4);
    const WordPiece tokenizer = letters_tokenizer();
    const at::Tensor right = TextEncoder(*model, tokenizer, at::kCPU, {Pooling::mean, 40}).encode(texts).vectors_LH;
    for (const std::int64_t tokens : {1, 6, 12})
        CHECK(difference(TextEncoder(*model, tokenizer, at::kCPU, {Pooling::mean, 40, tokens}).encode(texts).vectors_LH, right) <
              1e-5);
    const at::Tensor unit = TextEncoder(*model, tokenizer, at::kCPU, {Pooling::mean, 40, 4096, true}).encode(texts).vectors_LH;
    CHECK(difference(unit.norm(2, 1), at::ones({7})) < 1e-5);
    CHECK(difference(unit * right.norm(2, 1, true), right) < 1e-4);
}

TEST_CASE("a text that is longer than the model allows is truncated before [SEP], and counted") {
    OwnedModel model(odd_config("post_ln"));
    model.randomize(5);
    const WordPiece tokenizer = letters_tokenizer();
    const TextVectors cut = TextEncoder(*model, tokenizer, at::kCPU, {Pooling::mean, 5}).encode(texts);
    CHECK(cut.truncated == 1);  // "a b c" just fits
    CHECK(cut.tokens == 5 + 2 + 3 + 5 + 2 + 4 + 5);
    CHECK(difference(cut.vectors_LH[3], hidden(*model, {2, 30, 29, 28, 3}).mean(0)) < 1e-5);
}

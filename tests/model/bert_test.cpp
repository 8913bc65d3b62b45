#include "model/model.h"

#include "batches/source_parts.h"
#include "model/small_model.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

const std::vector<std::int64_t> mixed_lengths{1, 2, 17, 33, 40, 5};

}  // namespace

TEST_CASE("activation checkpointing changes no bit of a gradient") {
    for (const auto& [compute_dtype, residual_dtype] :
         {std::pair{at::kFloat, at::kFloat}, {at::kBFloat16, at::kFloat}, {at::kBFloat16, at::kBFloat16}})
        for (const auto& [placement, config] : odd_models()) {
            CAPTURE(compute_dtype, residual_dtype, placement);
            OwnedModel kept(config, compute_dtype, {5, false, residual_dtype}),
                computed_again(config, compute_dtype, {5, true, residual_dtype});
            kept.randomize(3);
            computed_again.randomize(3);
            const MicroBatch batch = random_batch(config, mixed_lengths);
            const LossSums sums = sums_of(kept, batch, mean_over(batch));
            CHECK(same_bits(sums_of(computed_again, batch, mean_over(batch)).tensor(), sums.tensor()));
            CHECK(same_bits(computed_again.parameters.gradients(), kept.parameters.gradients()));
            CHECK(kept.parameters.gradients().abs().sum().item<float>() > 0);
        }
}

TEST_CASE("a residual in bf16 changes losses and gradients by its rounding") {
    for (const auto& [placement, config] : odd_models()) {
        CAPTURE(placement);
        const MicroBatch batch = random_batch(config, mixed_lengths);
        const auto results_of = [&](at::ScalarType compute_dtype, at::ScalarType residual_dtype) {
            OwnedModel model(config, compute_dtype, {5, false, residual_dtype});
            model.randomize(3);
            const LossSums sums = sums_of(model, batch, mean_over(batch));
            return std::pair{sums.tensor().clone(), model.parameters.gradients().to(at::kDouble)};
        };
        const auto exact = results_of(at::kFloat, at::kFloat), wide = results_of(at::kBFloat16, at::kFloat),
                   narrow = results_of(at::kBFloat16, at::kBFloat16);
        CHECK_FALSE(same_bits(narrow.second, wide.second));
        CHECK(relative_error(narrow.first, exact.first) < 0.02);
        CHECK(relative_error(narrow.second, exact.second) < 3 * relative_error(wide.second, exact.second));
    }
}

// The bits are equal with the libraries of today. A library may choose another order of summation for another number of columns.
TEST_CASE("further rows of the vocabulary leave the logits of the other tokens as they are") {
    for (const at::ScalarType compute_dtype : {at::kFloat, at::kBFloat16}) {
        BertConfig config = odd_config("post_ln");
        config.vocab_size = 104;
        OwnedModel model(config, compute_dtype);
        model.randomize(6);
        const MicroBatch batch = random_batch(config, mixed_lengths);
        config.vocab_size = 160;
        OwnedModel grown(config, compute_dtype);
        grown.randomize(7);
        for (const PlacedParameter& parameter : model.parameters.layout().parameters()) {
            const at::Tensor weight = model.parameters.weight(parameter.spec.name);
            grown.parameters.weight(parameter.spec.name).narrow(0, 0, weight.size(0)).copy_(weight);
        }
        const Logits few = model->logits(batch), more = grown->logits(batch);
        CAPTURE(compute_dtype);
        CHECK(relative_error(more.mlm_MV.narrow(1, 0, 104), few.mlm_MV) <= (compute_dtype == at::kFloat ? 1e-6 : 4e-3));
        CHECK(at::equal(few.next_sentence_B2, more.next_sentence_B2));
    }
}

TEST_CASE("with dropout, every gradient is the slope of the loss") {
    for (const auto& [placement, config] : odd_models()) {
        OwnedModel model(config, at::kFloat, {11, false});
        model.randomize(4);
        const MicroBatch batch = random_batch(config, {1, 2, 17, 9});
        const LossScale scale = mean_over(batch);
        sums_of(model, batch, scale);
        const at::Tensor gradients = model.parameters.gradients().clone();
        RandomTensors random(8);
        for (const PlacedParameter& parameter : model.parameters.layout().parameters()) {
            const std::string& name = parameter.spec.name;
            const at::Tensor gradient =
                gradients.narrow(0, parameter.begin, parameter.spec.elements()).view(parameter.spec.shape);
            const at::Tensor sideways = random.normal(parameter.spec.shape), weight = model.parameters.weight(name),
                             before = weight.clone();
            const at::Tensor direction = gradient / (gradient.norm() + 1e-20) + sideways / sideways.norm();
            const auto loss_at = [&](double step) {
                weight.copy_(before + step * direction);
                return loss_of(sums_of(model, batch, scale), scale);
            };
            constexpr double step = 0.01;
            const double slope = (loss_at(step) - loss_at(-step)) / (2 * step);
            weight.copy_(before);
            CAPTURE(placement, name);
            CHECK(slope == Approx((gradient * direction).sum(at::kDouble).item<double>()).epsilon(0.02).margin(2e-4));
        }
    }
}

// Each of these is a single number or a small remainder, so its distance from float64 is random. Its distance from what the
// model's own logits imply is not, and tests/model/parity_test.cpp checks the logits.
TEST_CASE("losses and gradients of the heads' biases follow from the logits") {
    for (const at::ScalarType compute_dtype : {at::kFloat, at::kBFloat16})
        for (const std::string& placement : placements) {
            CAPTURE(compute_dtype, placement);
            BertConfig config = odd_config(placement);
            config.hidden_dropout_prob = config.attention_probs_dropout_prob = 0;
            OwnedModel model(config, compute_dtype);
            model.randomize(2);
            const MicroBatch batch = random_batch(config, mixed_lengths);
            const Logits logits = model->logits(batch);
            const LossValues losses = sums_of(model, batch, mean_over(batch)).values();
            const auto check_head = [&](const at::Tensor& logits_RC, const at::Tensor& labels_R, double total, const char* bias) {
                const at::Tensor leaf_RC = leaf(logits_RC), loss = at::cross_entropy_loss(leaf_RC, labels_R);
                loss.backward();
                const at::Tensor parts_RC = leaf_RC.grad(), error_C = model.parameters.gradient(bias) - parts_RC.sum(0);
                CAPTURE(bias);
                CHECK(total / static_cast<double>(labels_R.numel()) == Approx(loss.item<double>()).epsilon(1e-6).margin(1e-6));
                CHECK(error_C.abs().max().item<double>() <= 1e-6 * parts_RC.abs().sum(0).max().item<double>());
            };
            check_head(logits.mlm_MV, batch.masked_labels_M.narrow(0, 0, batch.masked()), losses.mlm_loss,
                       "cls.predictions.bias");
            check_head(logits.next_sentence_B2, batch.next_sentence_labels_B, losses.nsp_loss, "cls.seq_relationship.bias");
        }
}

TEST_CASE("each source of a batch has the losses of its own sequences, and the gradients stay the same") {
    for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16}) {
        const BertConfig config = odd_config(placements.front());
        const UnpaddedSamples samples = random_samples(as_model(config), mixed_lengths);
        const MicroBatch whole = build_batch(samples);
        const LossScale scale = mean_over(whole);
        OwnedModel model(config, dtype, {21, false});
        model.randomize(6);
        const LossSums sums = sums_of(model, whole, scale);
        const at::Tensor gradients = model.parameters.gradients().clone();
        MicroBatch mixed = whole;
        std::vector<UnpaddedSamples> one_by_one;
        for (std::int64_t b = 0; b < std::ssize(mixed_lengths); ++b) one_by_one.push_back(part_of(samples, b, b + 1));
        const std::vector<std::size_t> sources_B{0, 1, 1, 3, 3, 3};  // the first sequence has no masked position; no source 2
        mixed.source_parts = source_parts(one_by_one, sources_B);
        REQUIRE(mixed.source_parts.size() == 3);
        CHECK(mixed.source_parts[0].masked == 0);

        const LossSums by_source(at::zeros({4, LossSums::count}, at::kDouble));
        model.parameters.gradients().zero_();
        model->forward_backward(mixed, scale, by_source, {});
        CHECK(relative_error(model.parameters.gradients(), gradients) < 1e-6);
        CHECK(relative_error(by_source.tensor().sum(0), sums.tensor()[0]) < 1e-12);
        CHECK(by_source.tensor()[2].abs().sum().item<double>() == 0);
        const LossSums without_gradients(at::kCPU, 4);
        model->add_losses(mixed, without_gradients);
        const LossSums together(at::kCPU);
        model->add_losses(whole, together);
        CHECK(relative_error(without_gradients.tensor().sum(0), together.tensor()[0]) < 1e-12);
        CHECK(without_gradients.tensor()[2].abs().sum().item<double>() == 0);
        for (const auto& [source, begin, end] : std::vector<std::tuple<std::size_t, int, int>>{{0, 0, 1}, {1, 1, 3}, {3, 3, 6}}) {
            const LossSums alone(at::kCPU);
            model->forward_backward(build_batch(part_of(samples, begin, end)), scale, alone, {});
            CAPTURE(source);
            CHECK(relative_error(by_source.tensor()[static_cast<std::int64_t>(source)], alone.tensor()[0]) <
                  (dtype == at::kFloat ? 1e-5 : 1e-2));
        }

        mixed.source_parts = source_parts(one_by_one, std::vector<std::size_t>(6, 0));
        model.parameters.gradients().zero_();
        CHECK(same_bits(sums_of(model, mixed, scale).tensor(), sums.tensor()));
        CHECK(same_bits(model.parameters.gradients(), gradients));
    }
}

TEST_CASE("losses and gradients do not depend on how samples are cut into micro-batches, with dropout") {
    for (const auto& [placement, config] : odd_models()) {
        const UnpaddedSamples samples = random_samples(config, mixed_lengths);
        const MicroBatch whole = build_batch(samples);
        const LossScale scale = mean_over(whole);
        OwnedModel model(config, at::kFloat, {21, false});
        model.randomize(6);
        const LossSums sums = sums_of(model, whole, scale);
        const at::Tensor gradients = model.parameters.gradients().clone();
        // the first split has a micro-batch without masked positions
        for (const auto& cuts : std::vector<std::vector<std::int64_t>>{{0, 1, 6}, {0, 3, 6}, {0, 2, 4, 6}}) {
            CAPTURE(placement, cuts.size(), cuts[1]);
            model.parameters.gradients().zero_();
            const LossSums of_parts(at::kCPU);
            for (std::size_t i = 0; i + 1 < cuts.size(); ++i)
                model->forward_backward(build_batch(part_of(samples, cuts[i], cuts[i + 1])), scale, of_parts, {});
            CHECK(relative_error(of_parts.tensor(), sums.tensor()) < 1e-6);
            for (const PlacedParameter& parameter : model.parameters.layout().parameters()) {
                CAPTURE(parameter.spec.name);
                const auto part = [&](const at::Tensor& flat) {
                    return flat.narrow(0, parameter.begin, parameter.spec.elements());
                };
                CHECK(relative_error(part(model.parameters.gradients()), part(gradients)) < 1e-5);
            }
        }
    }
}

TEST_CASE("loss and gradients of packed rows are those of their documents in rows of their own, with dropout and without") {
    for (auto [name, config] : odd_models()) {
        CAPTURE(name);
        set_next_sentence(config, false);
        UnpaddedSamples alone = random_samples(config, {17, 9, 1, 5, 12});
        UnpaddedSamples packed = part_of(alone, 0, 4), last = part_of(alone, 4, 5);
        packed.attention_lengths_A = std::exchange(packed.lengths_B, {17 + 9 + 1 + 5});
        packed.numbers_B = {3};
        packed.next_sentence_labels_B.clear();
        packed.is_packed = true;
        last.numbers_B = {4};
        constexpr std::int64_t next = std::int64_t{1} << 48;
        alone.numbers_B = {3, 3 + next, 3 + 2 * next, 3 + 3 * next, 4};
        const MicroBatch rows = build_batch(std::vector<UnpaddedSamples>{packed, last}), documents = build_batch(alone);
        CHECK(rows.sequences() == 2);
        const LossScale scale = mean_over(documents);
        OwnedModel of_rows(config, at::kFloat, {5, false}), of_documents(config, at::kFloat, {5, false});
        of_rows.randomize(9);
        of_documents.randomize(9);
        const double loss = loss_of(sums_of(of_documents, documents, scale), scale);
        CHECK(loss_of(sums_of(of_rows, rows, scale), scale) == Approx(loss).epsilon(1e-6));
        for (const PlacedParameter& parameter : of_rows.parameters.layout().parameters()) {
            CAPTURE(parameter.spec.name);
            CHECK(relative_error(of_rows.parameters.gradient(parameter.spec.name),
                                 of_documents.parameters.gradient(parameter.spec.name)) <= 1e-5);
        }
        const LossSums without_dropout(at::kCPU), expected(at::kCPU);
        of_rows->add_losses(rows, without_dropout);
        of_documents->add_losses(documents, expected);
        CHECK(without_dropout.values().mlm_loss == Approx(expected.values().mlm_loss).epsilon(1e-6));
        const bool drops = name != "neobert";  // it has no dropout
        CHECK((without_dropout.values().mlm_loss * scale.mlm != Approx(loss).epsilon(1e-6)) == drops);
    }
}

TEST_CASE("gradients accumulate, and another seed gives other dropout masks") {
    const BertConfig config = odd_config("post_ln");
    const MicroBatch batch = random_batch(config, mixed_lengths);
    OwnedModel model(config, at::kFloat, {1, false}), other(config, at::kFloat, {2, false});
    model.randomize(6);
    other.randomize(6);
    sums_of(model, batch, mean_over(batch));
    sums_of(other, batch, mean_over(batch));
    const at::Tensor once = model.parameters.gradients().clone();
    CHECK(relative_error(other.parameters.gradients(), once) > 0.01);
    sums_of(model, batch, mean_over(batch));
    CHECK(relative_error(model.parameters.gradients(), 2 * once) < 1e-6);
}

TEST_CASE("a step's first micro-batch needs no zeroed gradients where they are single matmuls") {
    for (const at::ScalarType compute_dtype : {at::kFloat, at::kBFloat16})
        for (const auto& [placement, config] : odd_models()) {
            CAPTURE(compute_dtype, placement);
            OwnedModel model(config, compute_dtype);
            model.randomize(2);
            const MicroBatch batch = random_batch(config, mixed_lengths);
            sums_of(model, batch, mean_over(batch));
            const at::Tensor expected = model.parameters.gradients().clone();
            const at::Tensor gradients = model.parameters.gradients();
            gradients.fill_(std::nan(""));
            model.parameters.begin_gradients();
            CHECK(gradients.isnan().any().item<bool>());
            model->forward_backward(batch, mean_over(batch), LossSums(at::kCPU), {}, /*accumulate=*/false);
            CHECK(at::equal(gradients, expected));
        }
}

TEST_CASE("when a stage of the backward ends, its parameters' gradients are final") {
    for (const auto& [placement, config] : odd_models()) {
        CAPTURE(placement);
        OwnedModel model(config);
        model.randomize(2);
        const MicroBatch batch = random_batch(config, mixed_lengths);
        struct Snapshot {
            std::size_t count;
            at::Tensor gradients;
        };
        std::vector<Snapshot> snapshots;
        ParameterMoves moves;
        moves.final = [&](std::size_t count) { snapshots.push_back({count, model.parameters.gradients().clone()}); };
        model->forward_backward(batch, mean_over(batch), LossSums(at::kCPU), moves);
        const auto& parameters = model.parameters.layout().parameters();
        std::vector<std::size_t> counts;
        for (const Snapshot& snapshot : snapshots) {
            counts.push_back(snapshot.count);
            for (std::size_t p = 0; p < snapshot.count; ++p) {
                CAPTURE(parameters[p].spec.name);
                const auto part = [&](const at::Tensor& flat) {
                    return flat.narrow(0, parameters[p].begin, parameters[p].spec.elements());
                };
                CHECK(same_bits(part(snapshot.gradients), part(model.parameters.gradients())));
            }
        }
        // BERT: three matrices of the heads, two and four of every layer, and everything with the embeddings
        if (placement == "modernbert")
            CHECK(counts == std::vector<std::size_t>{1, 3, 5, 7, 9, 11, 13, 15, 17, parameters.size()});
        else if (placement == "neobert") CHECK(counts == std::vector<std::size_t>{1, 3, 5, 7, 9, 11, 13, parameters.size()});
        else CHECK(counts == std::vector<std::size_t>{3, 5, 9, 11, 15, parameters.size()});
    }
}

TEST_CASE("the forward reads no parameter before it has requested it") {
    for (const auto& [placement, config] : odd_models()) {
        CAPTURE(placement);
        OwnedModel model(config);
        model.randomize(2);
        const MicroBatch batch = random_batch(config, mixed_lengths);
        const LossSums expected(at::kCPU), sums(at::kCPU);
        model->forward_backward(batch, mean_over(batch), expected, {});

        // All weights are NaN until the forward requests them.
        const at::Tensor compute_weights = model.parameters.compute_weights(), good = compute_weights.clone();
        const at::Tensor fp32 = model.parameters.fp32(), good_fp32 = fp32.clone();
        compute_weights.fill_(std::nan(""));
        fp32.fill_(std::nan(""));
        const std::int64_t fp32_begin = model.parameters.fp32_begin();
        std::vector<std::size_t> asked;
        ParameterMoves moves;
        moves.needed = [&](std::size_t first) {
            asked.push_back(first);
            const std::int64_t begin = model.parameters.layout().parameters()[first].begin;
            compute_weights.slice(0, begin).copy_(good.slice(0, begin));
            fp32.slice(0, std::max<std::int64_t>(0, begin - fp32_begin))
                .copy_(good_fp32.slice(0, std::max<std::int64_t>(0, begin - fp32_begin)));
        };
        model->forward_backward(batch, mean_over(batch), sums, moves);
        CHECK(at::equal(sums.tensor(), expected.tensor()));
        CHECK(asked.size() == parameters_of(config).stage_ends.size());
        CHECK(std::is_sorted(asked.rbegin(), asked.rend()));
        CHECK(asked.back() == 0);
    }
}

TEST_CASE("evaluation gives the losses of training without dropout, and changes no gradient") {
    for (const at::ScalarType compute_dtype : {at::kFloat, at::kBFloat16})
        for (const std::string& placement : placements) {
            CAPTURE(compute_dtype, placement);
            BertConfig config = odd_config(placement);
            const MicroBatch batch = random_batch(config, mixed_lengths);
            OwnedModel with_dropout(config, compute_dtype);
            config.hidden_dropout_prob = config.attention_probs_dropout_prob = 0;
            OwnedModel without(config, compute_dtype);
            with_dropout.randomize(2);
            without.randomize(2);
            const LossSums evaluated(at::kCPU);
            with_dropout->add_losses(batch, evaluated);
            CHECK(relative_error(evaluated.tensor(), sums_of(without, batch, mean_over(batch)).tensor()) < 1e-6);
            CHECK(with_dropout.parameters.gradients().eq(0).all().item<bool>());
            const Logits logits = with_dropout->logits(batch);
            CHECK(logits.mlm_MV.sizes() == at::IntArrayRef({batch.masked(), config.vocab_size}));
            CHECK(logits.next_sentence_B2.sizes() == at::IntArrayRef({batch.sequences(), 2}));
            CHECK(with_dropout->encode(batch).scalar_type() == compute_dtype);
        }
}

TEST_CASE("a model without gradients gives the same output as one with them") {
    const BertConfig config = odd_config("post_ln");
    OwnedModel trained(config);
    trained.randomize(2);
    const FlatParameters parameters(trained.parameters.layout(), at::kFloat, at::kCPU, FlatParameters::Gradients::none);
    parameters.compute_weights().copy_(trained.parameters.compute_weights());
    parameters.fp32().copy_(trained.parameters.fp32());
    const MicroBatch batch = random_batch(config, mixed_lengths);
    CHECK(same_bits(make_model(as_model(config), parameters)->encode(batch), trained->encode(batch)));
}

TEST_CASE("evaluation of ModernBERT gives the losses of training without dropout") {
    for (const at::ScalarType compute_dtype : {at::kFloat, at::kBFloat16}) {
        CAPTURE(compute_dtype);
        ModelConfig config = odd_modernbert();
        const MicroBatch batch = random_batch(config, mixed_lengths);
        OwnedModel with_dropout(config, compute_dtype);
        config.modernbert.attention_dropout = config.modernbert.attention_output_dropout = 0;
        OwnedModel without(config, compute_dtype);
        with_dropout.randomize(2);
        without.randomize(2);
        const LossSums evaluated(at::kCPU);
        with_dropout->add_losses(batch, evaluated);
        CHECK(relative_error(evaluated.tensor(), sums_of(without, batch, mean_over(batch)).tensor()) < 1e-6);
        CHECK(relative_error(sums_of(with_dropout, batch, mean_over(batch)).tensor(), evaluated.tensor()) > 1e-4);
        CHECK_FALSE(with_dropout->logits(batch).next_sentence_B2.defined());
    }
}

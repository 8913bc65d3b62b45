#include "model/heads.h"

#include "batches/source_parts.h"
#include "model/small_model.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

constexpr std::int64_t H = 40, V = 101;

/// Random parameters, or zeros for gradients.
HeadViews head_views(RandomTensors* random) {
    const auto tensor = [&](at::IntArrayRef sizes) { return random == nullptr ? at::zeros(sizes) : random->normal(sizes) * 0.3; };
    HeadViews views;
    views.decoder_VH = tensor({V, H});
    views.pooler_weight = tensor({H, H}), views.pooler_bias = tensor({H});
    views.transform_weight = tensor({H, H}), views.transform_bias = tensor({H});
    views.transform_norm = {tensor({H}), tensor({H})};
    views.decoder_bias_V = tensor({V});
    views.next_sentence_weight = tensor({2, H}), views.next_sentence_bias = tensor({2});
    return views;
}

std::vector<at::Tensor> tensors_of(const HeadViews& of) {
    return {of.decoder_VH,           of.pooler_weight,           of.pooler_bias,           of.transform_weight,
            of.transform_bias,       of.transform_norm.weight_H, of.transform_norm.bias_H, of.decoder_bias_V,
            of.next_sentence_weight, of.next_sentence_bias};
}

}  // namespace

TEST_CASE("losses and gradients do not depend on how many logits exist at a time, with one source and with several") {
    const UnpaddedSamples samples = random_samples(odd_modernbert(), {1, 2, 17, 33, 40, 5});
    std::vector<UnpaddedSamples> one_by_one;
    for (std::int64_t b = 0; b < 6; ++b) one_by_one.push_back(part_of(samples, b, b + 1));
    RandomTensors random(4);
    const HeadViews weights = head_views(&random);
    for (const bool has_sources : {false, true}) {
        MicroBatch batch = build_batch(samples);
        if (has_sources) batch.source_parts = source_parts(one_by_one, std::vector<std::size_t>{0, 0, 1, 1, 2, 2});
        const at::Tensor read_RH = random.normal({batch.read_rows_R.numel(), H});
        HeadContext context{batch, {batch.samples_T, batch.position_ids_T}, 1e-5};
        const auto run = [&](const HeadViews& gradients, LossSums& sums, LossSums& without_gradients) {
            const at::Tensor d_read_RH = heads_forward_backward(context, weights, read_RH, mean_over(batch), gradients, sums);
            heads_losses(context, weights, read_RH, without_gradients);
            return d_read_RH;
        };
        const HeadViews whole = head_views(nullptr);
        LossSums whole_sums(at::kCPU, 3), whole_losses(at::kCPU, 3);
        const at::Tensor whole_d = run(whole, whole_sums, whole_losses);
        for (const std::int64_t rows : {1, 3, 7}) {
            CAPTURE(has_sources, rows);
            context.logits_at_once = rows * V + 5;
            const HeadViews parts = head_views(nullptr);
            LossSums sums(at::kCPU, 3), losses(at::kCPU, 3);
            CHECK(relative_error(run(parts, sums, losses), whole_d) < 1e-6);
            CHECK(relative_error(sums.tensor(), whole_sums.tensor()) < 1e-6);
            CHECK(relative_error(losses.tensor(), whole_losses.tensor()) < 1e-6);
            for (std::size_t i = 0; i < tensors_of(parts).size(); ++i) {
                CAPTURE(i);
                CHECK(relative_error(tensors_of(parts)[i], tensors_of(whole)[i]) < 1e-5);
            }
        }
        CHECK(relative_error(whole_losses.tensor(), whole_sums.tensor()) < 1e-6);
    }
}

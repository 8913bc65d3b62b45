#include "model/tensor_memory.h"

#include "kernels/matmul_libraries.h"
#include "model/bert/cost.h"
#include "model/small_model.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

constexpr std::int64_t sequences = 16, longest = 128;

/// A model whose tensors have several MiB.
BertConfig wide_config() {
    BertConfig config = odd_config("post_ln");
    config.hidden_size = 64;
    config.num_attention_heads = 4;
    config.intermediate_size = 512;
    config.max_position_embeddings = longest;
    return config;
}

std::vector<std::int64_t> ragged_lengths(RandomSequence& random) {
    std::vector<std::int64_t> lengths(sequences);
    for (std::int64_t& length : lengths) length = 2 + random.below(longest - 1);
    return lengths;
}

at::Tensor gradients_of_one_step() {
    const BertConfig config = wide_config();
    OwnedModel model(config, at::kBFloat16, {5, false});
    model.randomize(3);
    RandomSequence random(1, Purpose::masking, 0);
    const MicroBatch batch = random_batch(config, ragged_lengths(random));
    sums_of(model, batch, mean_over(batch));
    return model.parameters.gradients().clone();
}

/// Runs a pass of `count` full sequences and returns the largest memory of its tensors, in bytes. It must be the largest of this
/// process so far, because the peak of tensor_memory_usage() is never reset.
/// @param bf16 whether matmuls and residual are in bf16 instead of fp32
double measured_activation_bytes(const ModelConfig& config, std::int64_t count, bool checkpointing, ActivationShape& shape,
                                 bool bf16 = false) {
    keep_tensor_memory();
    const at::ScalarType dtype = bf16 ? at::kBFloat16 : at::kFloat;
    OwnedModel model(config, dtype, {5, checkpointing, dtype});
    model.randomize(3);
    const MicroBatch batch =
        random_batch(config, std::vector<std::int64_t>(static_cast<std::size_t>(count), shape_of(config).longest_sequence));
    shape = {batch.sequences(), batch.tokens(), batch.masked(), bf16, checkpointing};
    shape.bf16_residual = bf16;
    shape.widened_bytes = bf16 && !has_bf16_matmul() ? 4 : 0;
    const Arena::Usage before = tensor_memory_usage();
    sums_of(model, batch, mean_over(batch));
    const Arena::Usage after = tensor_memory_usage();
    REQUIRE(after.largest_used_bytes > before.largest_used_bytes);
    return static_cast<double>(after.largest_used_bytes - before.used_bytes);
}

}  // namespace

TEST_CASE("gradients in arena memory have the same bits, and ragged steps soon allocate nothing more from the system") {
    REQUIRE(tensor_memory_usage().held_bytes == 0);  // no other test of this program may call keep_tensor_memory()
    const at::Tensor elsewhere = gradients_of_one_step();
    keep_tensor_memory();
    CHECK(same_bits(gradients_of_one_step(), elsewhere));

    const std::size_t before = tensor_memory_usage().used_bytes;
    {
        const at::Tensor one = at::empty({3 << 20}, at::kByte);
        CHECK(tensor_memory_usage().used_bytes == before + (3 << 20));
    }
    CHECK(tensor_memory_usage().used_bytes == before);

    const BertConfig config = wide_config();
    OwnedModel model(config, at::kBFloat16, {5, false});
    RandomSequence random(2, Purpose::masking, 0);
    const auto step = [&](const std::vector<std::int64_t>& lengths) {
        const MicroBatch batch = random_batch(config, lengths);
        sums_of(model, batch, mean_over(batch));
    };
    for (int i = 0; i < 3; ++i) step(ragged_lengths(random));
    step(std::vector<std::int64_t>(sequences, longest));
    const Arena::Usage warm = tensor_memory_usage();
    for (int i = 0; i < 20; ++i) step(ragged_lengths(random));
    const Arena::Usage usage = tensor_memory_usage();
    CAPTURE(usage.held_bytes, usage.largest_used_bytes, usage.system_allocations);
    CHECK(usage.system_allocations == warm.system_allocations);
    // Holes between tensors, and less than a huge page at the end of each of the two arenas.
    CHECK(static_cast<double>(usage.held_bytes) < 1.2 * static_cast<double>(usage.largest_used_bytes) + (4 << 20));
}

TEST_CASE("the planned memory of a pass is within 5 % of what its tensors take", "[system]") {
    BertConfig config = odd_config("post_ln");
    config.hidden_size = 64;
    config.num_attention_heads = 4;
    config.intermediate_size = 256;
    config.num_hidden_layers = 24;
    config.max_position_embeddings = 64;
    // Each pass is larger than those before. Its large tensors have more than the 1 MiB up to which tensors count as small, which
    // have a peak of their own.
    ActivationShape bf16_shape;
    const double in_bf16 = measured_activation_bytes(as_model(config), 160, true, bf16_shape, true);
    CAPTURE(in_bf16);
    CHECK(static_cast<double>(activation_bytes(config, bf16_shape)) == Approx(in_bf16).epsilon(0.05));
    std::int64_t count = 112;
    for (const bool checkpointing : {true, false})
        for (const NormPlacement placement : {NormPlacement::post_ln, NormPlacement::pre_ln}) {
            config.norm_placement = placement;
            ActivationShape shape;
            const double measured = measured_activation_bytes(as_model(config), count, checkpointing, shape);
            CAPTURE(name_of(placement), checkpointing, measured);
            CHECK(static_cast<double>(activation_bytes(config, shape)) == Approx(measured).epsilon(0.05));
            count += 16;
        }
    count += 16;
    ModelConfig neobert = odd_neobert();
    neobert.neobert.hidden_size = 64;
    neobert.neobert.num_attention_heads = 4;
    neobert.neobert.intermediate_size = 384;
    neobert.neobert.num_hidden_layers = 24;
    neobert.neobert.max_position_embeddings = 64;
    ActivationShape neobert_shape;
    const double of_neobert = measured_activation_bytes(neobert, count, false, neobert_shape);
    CAPTURE(of_neobert);
    CHECK(static_cast<double>(activation_bytes(neobert, neobert_shape)) == Approx(of_neobert).epsilon(0.05));
    ModelConfig modern = odd_modernbert();
    modern.modernbert.hidden_size = 64;
    modern.modernbert.num_attention_heads = 4;
    modern.modernbert.intermediate_size = 256;
    modern.modernbert.num_hidden_layers = 24;
    modern.modernbert.max_position_embeddings = 64;
    for (const bool checkpointing : {false, true}) {
        count = checkpointing ? 9 * count : count + 16;
        ActivationShape shape;
        const double measured = measured_activation_bytes(modern, count, checkpointing, shape);
        CAPTURE("modernbert", checkpointing, measured);
        CHECK(static_cast<double>(activation_bytes(modern, shape)) == Approx(measured).epsilon(0.05));
    }
}

#pragma once
// Where every parameter lies in the flat buffers: the one arithmetic behind buckets, ZeRO slices and checkpoints.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace bertpretrain {

/// One parameter tensor. The list of all of them is the architecture's size.
struct ParameterSpec {
    std::string name;                 ///< as in HF's BertForPreTraining
    std::vector<std::int64_t> shape;  ///< elements per axis
    bool decays = true;               ///< false for biases and LayerNorm: no weight decay, and fp32 in the model as well
    bool adjoins = false;             ///< begins right behind the one before, so that both can be seen as one matrix
    bool fp32_gradient = false;       ///< fp32 also where other gradients are bf16: it is added up from very many small parts
    bool product_gradient = false;    ///< a micro-batch's gradient is one product, with which that of a step can begin

    std::int64_t elements() const;
};

/// A parameter with its place, [begin, begin + elements) in the flat buffer, inside one bucket.
struct PlacedParameter {
    ParameterSpec spec;
    std::int64_t begin = 0;
    std::size_t bucket = 0;
};

/// A range of the flat buffer that is reduced and gathered as one; holds whole parameters and padding.
struct Bucket {
    std::int64_t begin = 0, end = 0;
    std::int64_t elements() const { return end - begin; }
};

/// A contiguous part of one parameter that one rank owns.
struct OwnedRun {
    std::size_t parameter = 0;      ///< index into ParameterLayout::parameters()
    std::int64_t in_parameter = 0;  ///< first element, counted in the flattened parameter
    std::int64_t in_flat = 0;       ///< the same element, counted in the flat buffer
    std::int64_t in_slice = 0;      ///< the same element, counted in the rank's slice buffers
    std::int64_t elements = 0;
};

/// Parameters packed into buckets, each bucket cut into equal slices, one per shard.
///
/// Slices end at multiples of `block_elements` of their bucket, so that a sum over one (parameter, block) never
/// crosses ranks: norms summed per block and then in block order do not depend on the number of shards.
class ParameterLayout {
public:
    static constexpr std::int64_t block_elements = 4096;
    static constexpr std::int64_t alignment_elements = 64;  ///< where a parameter may begin: whole cache lines in bf16

    /// @param specs in the order in which the backward finishes their gradients; a bucket holds either decaying or exempt
    /// parameters, with either wide gradients or others, so that it has one dtype
    /// @param bucket_elements a bucket is closed when it holds at least so many
    /// @param shards ranks that share the optimizer state, at least 1
    ParameterLayout(std::vector<ParameterSpec> specs, std::int64_t bucket_elements, std::int64_t shards);

    const std::vector<PlacedParameter>& parameters() const { return parameters_; }
    const std::vector<Bucket>& buckets() const { return buckets_; }
    std::int64_t shards() const { return shards_; }
    /// Elements of a whole flat buffer, padding included.
    std::int64_t flat_elements() const { return buckets_.empty() ? 0 : buckets_.back().end; }
    /// Elements of one rank's slice buffer: its slices of all buckets, one after the other.
    std::int64_t slice_elements() const { return flat_elements() / shards_; }
    /// Elements of the parameters alone.
    std::int64_t parameter_elements() const;
    /// The slice of a bucket that `shard` owns, in flat coordinates.
    Bucket slice_of(std::size_t bucket, std::int64_t shard) const;
    /// What `shard` owns, in slice order; padding is in no run.
    std::vector<OwnedRun> owned_by(std::int64_t shard) const;
    /// Index of a parameter by name. @throws std::logic_error when there is none
    std::size_t index_of(const std::string& name) const;

private:
    std::vector<PlacedParameter> parameters_;
    std::vector<Bucket> buckets_;
    std::int64_t shards_ = 1;
};

}  // namespace bertpretrain

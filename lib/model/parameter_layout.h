#pragma once
// The position of every parameter in the flat buffers; the basis of buckets, ZeRO slices and checkpoints.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace bertpretrain {

enum class InitialValues { normal, uniform, ones, zeros };

/// The part of a model to which a parameter belongs. Models of masked words alone have neither pooler nor next sentences, and
/// files of other programs may lack heads.
enum class ModelPart { encoder, pooler, masked_words_head, next_sentences_head };

/// What a file with another number of rows means.
enum class RowsMeaning {
    fixed,       ///< another model
    per_token,   ///< another padding of the vocabulary, or a smaller one
    repeatable,  ///< positions: rows are cut off, or repeated
};

/// One parameter tensor: a row of its architecture's table.
struct ParameterSpec {
    std::string name;                  ///< as in HF's state_dict
    std::vector<std::int64_t> shape;   ///< elements per axis
    bool decays = true;                ///< false for biases and LayerNorm: no weight decay, and fp32 in the model
    bool adjoins = false;              ///< begins right after the previous one, so that both can be viewed as one matrix
    bool fp32_gradient = false;        ///< fp32 even if other gradients are bf16, because it sums very many small terms
    bool overwrites_gradient = false;  ///< its gradient is one GEMM, so a step's first micro-batch may overwrite it (beta 0)
    InitialValues initial = InitialValues::normal;
    double deviation = 0;      ///< standard deviation of normal initial values before they are cut; the bound of uniform ones
    double cut_at = 0;         ///< normal initial values are at most this many deviations from 0; 0: any
    std::uint32_t number = 0;  ///< selects its random numbers; its place among all parameters that the architecture may have
    ModelPart part = ModelPart::encoder;
    RowsMeaning rows = RowsMeaning::fixed;
    std::int64_t row_blocks = 1;  ///< matrices with equal numbers of rows, one below the other, that it holds
    std::string tied_name{};      ///< under which files have the same tensor a second time, or instead; empty: none

    std::int64_t elements() const;
};

/// A parameter and its position [begin, begin + elements) in the flat buffer, within one bucket.
struct PlacedParameter {
    ParameterSpec spec;
    std::int64_t begin = 0;
    std::size_t bucket = 0;
};

/// A range of the flat buffer that is reduced and gathered at once; contains whole parameters and padding.
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

/// Packs parameters into buckets and divides each bucket into equal slices, one per shard.
///
/// Slices end at multiples of `block_elements` within their bucket, so that no (parameter, block) is split between ranks: norms
/// summed per block and then in block order do not depend on the number of shards.
class ParameterLayout {
public:
    static constexpr std::int64_t block_elements = 4096;
    static constexpr std::int64_t alignment_elements = 64;  ///< of parameters: whole cache lines, also in bf16

    /// @param specs in the order in which the backward finishes their gradients. A bucket has one dtype: it contains either
    /// decaying or exempt parameters, and either fp32_gradient ones or others
    /// @param bucket_elements a bucket is closed once it contains at least this many
    /// @param shards number of ranks that share the optimizer state, at least 1
    ParameterLayout(std::vector<ParameterSpec> specs, std::int64_t bucket_elements, std::int64_t shards);

    const std::vector<PlacedParameter>& parameters() const { return parameters_; }
    const std::vector<Bucket>& buckets() const { return buckets_; }
    std::int64_t shards() const { return shards_; }
    /// Elements of a whole flat buffer, including padding.
    std::int64_t flat_elements() const { return buckets_.empty() ? 0 : buckets_.back().end; }
    /// Elements of one rank's slice buffer: its slices of all buckets, one after the other.
    std::int64_t slice_elements() const { return flat_elements() / shards_; }
    /// Elements of the parameters, without padding.
    std::int64_t parameter_elements() const;
    /// Returns the slice of a bucket that `shard` owns, in coordinates of the flat buffer.
    Bucket slice_of(std::size_t bucket, std::int64_t shard) const;
    /// Returns the runs that `shard` owns, in slice order; they do not include padding.
    std::vector<OwnedRun> owned_by(std::int64_t shard) const;
    /// Returns the index of a parameter. @throws std::logic_error if there is none of this name
    std::size_t index_of(const std::string& name) const;

private:
    std::vector<PlacedParameter> parameters_;
    std::vector<Bucket> buckets_;
    std::int64_t shards_ = 1;
};

}  // namespace bertpretrain

#include "inference/probe.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include <ATen/ATen.h>

#include "core/clock.h"
#include "inference/cross_validation.h"
#include "inference/probe_scores.h"

namespace bertpretrain {
namespace {

constexpr std::int64_t texts_of_part = 256;

/// A part's vectors as a message: the number of truncated texts, then fp32 rows. All messages have the same length.
std::string message_of(const TextEncoder& encoder, const LabelledTexts& texts, std::int64_t part, std::size_t bytes) {
    std::string message(bytes, '\0');
    const auto begin = std::min(texts.size(), part * texts_of_part), end = std::min(texts.size(), begin + texts_of_part);
    if (begin == end) return message;
    const TextVectors own = encoder.encode({texts.texts_N.begin() + begin, texts.texts_N.begin() + end});
    std::memcpy(message.data(), &own.truncated, sizeof own.truncated);
    std::memcpy(message.data() + sizeof own.truncated, own.vectors_LH.const_data_ptr(), own.vectors_LH.nbytes());
    return message;
}

/// Returns the vectors of all texts on rank 0, elsewhere an undefined tensor; nullopt: told to leave.
std::optional<at::Tensor> encode_together(const TextEncoder& encoder, const LabelledTexts& texts, World& world,
                                          const std::function<bool()>& leave, std::int64_t& truncated) {
    const std::int64_t columns = encoder.columns(), parts = (texts.size() + texts_of_part - 1) / texts_of_part;
    const std::size_t bytes = sizeof(std::int64_t) + static_cast<std::size_t>(texts_of_part * columns) * sizeof(float);
    at::Tensor vectors_NH = world.rank() == 0 ? at::empty({texts.size(), columns}, at::kFloat) : at::Tensor();
    for (std::int64_t first = 0; first < parts; first += world.size()) {
        if (first > 0 && leave()) return std::nullopt;
        const std::vector<std::string> messages = world.gather_at_first(message_of(encoder, texts, first + world.rank(), bytes));
        for (std::size_t rank = 0; rank < messages.size(); ++rank) {
            const std::int64_t begin = (first + static_cast<std::int64_t>(rank)) * texts_of_part;
            const std::int64_t rows = std::min(texts_of_part, texts.size() - begin);
            if (rows <= 0) break;
            std::int64_t of_part = 0;
            std::memcpy(&of_part, messages[rank].data(), sizeof of_part);
            truncated += of_part;
            std::memcpy(vectors_NH.data_ptr<float>() + begin * columns, messages[rank].data() + sizeof of_part,
                        static_cast<std::size_t>(rows * columns) * sizeof(float));
        }
    }
    return vectors_NH;
}

void judge(const at::Tensor& vectors_NH, const LabelledTexts& texts, ProbeResult& result) {
    const auto class_count = static_cast<std::int64_t>(texts.labels.size());
    const at::Tensor not_finite_N = vectors_NH.isfinite().all(1).logical_not();
    if (not_finite_N.any().item<bool>()) {
        constexpr double nan = std::numeric_limits<double>::quiet_NaN();
        result.record = {nan, nan, nan, nan, nan, nan, texts.size()};
        result.first_not_finite = not_finite_N.nonzero()[0].item<std::int64_t>();
        return;
    }
    CrossValidated validated = cross_validate(vectors_NH, texts.classes_N, class_count);
    result.record = score(texts.classes_N, validated.predicted_N, class_count);
    result.strengths = std::move(validated.strengths);
}

}  // namespace

std::optional<ProbeResult> probe(const TextEncoder& encoder, const LabelledTexts& texts, World& world,
                                 const std::function<bool()>& leave) {
    const double start = seconds_now();
    ProbeResult result;
    const auto vectors_NH = encode_together(encoder, texts, world, leave, result.truncated);
    if (!vectors_NH) return std::nullopt;
    if (world.rank() == 0) judge(*vectors_NH, texts, result);
    result.record.seconds = seconds_now() - start;
    world.broadcast_from_first(std::as_writable_bytes(std::span(&result.record, 1)));
    return result;
}

}  // namespace bertpretrain

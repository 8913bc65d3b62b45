#include "parallel/control_group.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "core/error.h"

namespace bertpretrain {
namespace {

std::vector<double> gather_integer(ControlGroup& ranks, std::int64_t value) {
    const auto number = static_cast<double>(value);
    check(std::abs(number) < 0x1p53, "ranks can only exchange integers below 2^53, found ", value);
    return ranks.all_gather(std::span(&number, 1));
}

/// Checks the text length that a rank announced.
std::size_t believable(double length, std::size_t rank) {
    constexpr auto most = static_cast<double>(ControlGroup::longest_text);
    if (length >= 0 && length <= most) return static_cast<std::size_t>(length);
    throw DistributedError(concat("rank ", rank, " announces a text of ", length, " bytes; expected at most ",
                                  ControlGroup::longest_text,
                                  "\n  do: check that all ranks run the same program and that no other process takes part"));
}

}  // namespace

std::vector<double> ControlGroup::all_gather(std::span<const double> own) {
    std::vector<double> numbers;
    for (const std::string& message : all_gather(std::string_view(reinterpret_cast<const char*>(own.data()), own.size_bytes()))) {
        const std::size_t begin = numbers.size();
        numbers.resize(begin + own.size());
        if (!own.empty()) std::memcpy(numbers.data() + begin, message.data(), own.size_bytes());
    }
    return numbers;
}

std::vector<std::string> ControlGroup::all_gather_texts(std::string_view own) {
    const auto own_length = static_cast<double>(own.size());
    std::vector<std::size_t> lengths;
    for (const double length : all_gather(std::span(&own_length, 1))) lengths.push_back(believable(length, lengths.size()));
    std::string padded(own);
    padded.resize(*std::max_element(lengths.begin(), lengths.end()));
    std::vector<std::string> texts = all_gather(std::string_view(padded));
    for (std::size_t rank = 0; rank < texts.size(); ++rank) texts[rank].resize(lengths[rank]);
    return texts;
}

std::int64_t ControlGroup::agree_on_largest(std::int64_t value) {
    const std::vector<double> all = gather_integer(*this, value);
    return static_cast<std::int64_t>(*std::max_element(all.begin(), all.end()));
}

std::int64_t ControlGroup::sum(std::int64_t value) {
    const std::vector<double> all = gather_integer(*this, value);
    return static_cast<std::int64_t>(std::accumulate(all.begin(), all.end(), 0.0));
}

std::string ControlGroup::text_of_first(std::string_view own) {
    auto length = static_cast<std::uint64_t>(own.size());
    broadcast_from_first(std::as_writable_bytes(std::span(&length, 1)));
    std::string text(own);
    text.resize(believable(static_cast<double>(length), 0));
    broadcast_from_first(std::as_writable_bytes(std::span(text)));
    return text;
}

}  // namespace bertpretrain

#include "deduplication/ascii_words.h"

#include <algorithm>

namespace bertpretrain {

void AsciiWords::take(std::string_view text) {
    constexpr std::size_t after = 16;
    if (lower_.size() < text.size() + after) lower_.resize(2 * (text.size() + after));
    const auto* const bytes = reinterpret_cast<const unsigned char*>(text.data());
    auto* const lower = reinterpret_cast<unsigned char*>(lower_.data());
    // Without branches, so that the compiler handles 16 bytes at once.
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto c = bytes[i], in_lower_case = static_cast<unsigned char>(c | 0x20);  // digits have that bit set already
        const bool is_letter = static_cast<unsigned char>(in_lower_case - 'a') < 26,
                   is_digit = static_cast<unsigned char>(c - '0') < 10,
                   is_plain = static_cast<unsigned char>(c - ' ') < 0x7F - ' ' || c == '\t' || c == '\n' || c == '\r';
        const unsigned char in_words = is_letter || is_digit ? in_lower_case : static_cast<unsigned char>(0);
        lower[i] = is_plain ? in_words : static_cast<unsigned char>(other);
    }
    std::fill_n(lower + text.size(), after, static_cast<unsigned char>(0));
    size_ = text.size();
}

}  // namespace bertpretrain

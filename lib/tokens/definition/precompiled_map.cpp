#include "tokens/definition/precompiled_map.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "core/error.h"
#include "core/utf8_check.h"
#include "tokens/unicode/graphemes.h"
#include "tokens/valid_text.h"

namespace bertpretrain {
namespace {

// The fields of a unit of darts-clone's double array.

bool ends_key(std::uint32_t unit) { return (unit >> 8 & 1) != 0; }
std::uint32_t value_of(std::uint32_t unit) { return unit & 0x7FFFFFFF; }
std::uint32_t label_of(std::uint32_t unit) { return unit & 0x800000FF; }
std::uint32_t offset_of(std::uint32_t unit) { return (unit >> 10) << ((unit & 1U << 9) >> 6); }

bool is_ascii(char c) { return static_cast<unsigned char>(c) < 0x80; }

constexpr std::size_t longest_cluster = 5;

}  // namespace

PrecompiledMap::PrecompiledMap(std::string_view content, const std::string& where) {
    static_assert(std::endian::native == std::endian::little, "the table is little-endian");
    std::uint32_t bytes = 0;
    if (content.size() > sizeof bytes) std::memcpy(&bytes, content.data(), sizeof bytes);
    if (bytes == 0 || bytes % sizeof(Unit) != 0 || bytes > content.size() - sizeof bytes)
        throw DataError(concat(where, ": is damaged: a table of ", bytes, " bytes in ", content.size(), " bytes"));
    units_.resize(bytes / sizeof(Unit));
    std::memcpy(units_.data(), content.data() + sizeof bytes, bytes);
    texts_ = content.substr(sizeof bytes + bytes);
    if (!is_utf8(texts_)) throw DataError(concat(where, ": is damaged: its texts are not UTF-8"));
    check_trie(where);
    for (std::size_t c = 1; c < changes_ascii_.size(); ++c)
        changes_ascii_[c] = replacement(std::string(1, static_cast<char>(c))).has_value();
}

/// Visits every state that a key reaches, so that lookups need no checks.
void PrecompiledMap::check_trie(const std::string& where) const {
    std::vector<std::uint32_t> open;
    std::vector<bool> seen(units_.size());
    const auto enter = [&](std::uint32_t state) {  // its children are at state ^ byte
        if ((state | 0xFF) >= units_.size()) throw DataError(concat(where, ": is damaged: its trie leaves the table"));
        if (seen[state]) return;
        seen[state] = true;
        open.push_back(state);
    };
    enter(offset_of(units_[0]));
    while (!open.empty()) {
        const std::uint32_t state = open.back();
        open.pop_back();
        for (std::uint32_t byte = 1; byte < 256; ++byte) {
            const std::uint32_t unit = units_[state ^ byte];
            if (label_of(unit) != byte) continue;
            const std::uint32_t child = state ^ byte ^ offset_of(unit);
            enter(child);
            if (!ends_key(unit)) continue;
            const std::uint32_t text = value_of(units_[child]);
            if (text > texts_.size() || (text < texts_.size() && (static_cast<unsigned char>(texts_[text]) & 0xC0) == 0x80))
                throw DataError(concat(where, ": is damaged: a key's text begins at byte ", text, " of ", texts_.size()));
        }
    }
}

/// Returns the text of the shortest key that the text begins with.
std::optional<std::string_view> PrecompiledMap::replacement(std::string_view text) const {
    std::uint32_t state = offset_of(units_[0]);
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        const std::uint32_t unit = units_[state ^ byte];
        if (byte == 0 || label_of(unit) != byte) return std::nullopt;
        state ^= byte ^ offset_of(unit);
        if (!ends_key(unit)) continue;
        const std::string_view found = std::string_view(texts_).substr(value_of(units_[state]));
        return found.substr(0, found.find('\0'));
    }
    return std::nullopt;
}

bool PrecompiledMap::is_unchanged(std::string_view text) const {
    return std::ranges::all_of(text, [&](char c) { return is_ascii(c) && !changes_ascii_[static_cast<unsigned char>(c)]; });
}

void PrecompiledMap::append_cluster(std::string_view cluster, std::string& out) const {
    if (cluster.size() <= longest_cluster)
        if (const auto found = replacement(cluster)) {
            out += *found;
            return;
        }
    for (std::size_t begin = 0, end = 0; begin < cluster.size(); begin = end) {
        next_of_valid(cluster, end);
        const std::string_view character = cluster.substr(begin, end - begin);
        out += replacement(character).value_or(character);
    }
}

void PrecompiledMap::append(std::string_view text, std::string& out) const {
    for (std::size_t begin = 0; begin < text.size();) {
        const bool is_alone =
            is_ascii(text[begin]) && text[begin] != '\r' && (begin + 1 == text.size() || is_ascii(text[begin + 1]));
        const std::size_t end = is_alone ? begin + 1 : grapheme_end(text, begin);
        if (is_alone && !changes_ascii_[static_cast<unsigned char>(text[begin])]) out += text[begin];
        else append_cluster(text.substr(begin, end - begin), out);
        begin = end;
    }
}

bool PrecompiledMap::lowers() const {
    std::string capital, small;
    append("A", capital);
    append("a", small);
    return capital == small;
}

}  // namespace bertpretrain

#pragma once
// The normalization of a SentencePiece model, as tokenizers' normalizer Precompiled applies it.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bertpretrain {

/// Replaces grapheme clusters and characters by the texts of a table. Immutable, so thread-safe.
/// Source: spm_precompiled and normalizers/precompiled.rs of tokenizers. SentencePiece itself looks for the longest key at each
/// position. tokenizers looks a whole cluster of less than six bytes up by its shortest prefix that is a key, so that marks after
/// such a prefix are lost, and otherwise single characters.
class PrecompiledMap {
public:
    /// @param content the bytes of precompiled_charsmap: the size of a double-array trie (darts-clone), the trie, and the texts
    /// @throws DataError if the table is damaged  @param where begins messages
    PrecompiledMap(std::string_view content, const std::string& where);

    /// Returns whether append() would only copy a text. False says nothing. @param text valid UTF-8
    bool is_unchanged(std::string_view text) const;
    void append(std::string_view text, std::string& out) const;
    /// Returns whether capital letters become small ones.
    bool lowers() const;

private:
    using Unit = std::uint32_t;
    void check_trie(const std::string& where) const;
    std::optional<std::string_view> replacement(std::string_view text) const;
    void append_cluster(std::string_view cluster, std::string& out) const;

    std::vector<Unit> units_;
    std::string texts_;  ///< each ends with a zero byte
    std::array<bool, 128> changes_ascii_{};
};

}  // namespace bertpretrain

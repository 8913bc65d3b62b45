#pragma once
// Unicode's normalization forms, by the tables of Hugging Face's tokenizers (see huggingface_unicode.h).

#include <string>
#include <string_view>
#include <vector>

namespace bertpretrain {

enum class UnicodeForm { nfc, nfd, nfkc, nfkd };

/// Brings text into a normalization form. Immutable, so thread-safe.
class UnicodeNormalizer {
public:
    explicit UnicodeNormalizer(UnicodeForm form);

    /// Appends the normalized `text`, which must be valid UTF-8, to `out`.
    void append(std::string_view text, std::string& out) const;
    /// Returns whether append() would only copy. May return false for some texts that are normalized.
    bool is_normal(std::string_view text) const;

private:
    bool is_compatible() const { return form_ == UnicodeForm::nfkc || form_ == UnicodeForm::nfkd; }
    bool is_composed() const { return form_ == UnicodeForm::nfc || form_ == UnicodeForm::nfkc; }
    std::u32string normalized(std::u32string_view text) const;

    UnicodeForm form_;
    std::vector<bool> is_inert_;  ///< by code point: a starter that stays as it is and is not joined to what precedes it
};

}  // namespace bertpretrain

#include "tokens/models/tokenizer_difference.h"

#include <string_view>

namespace bertpretrain {

std::optional<std::string> text_read_differently(const Tokenizer& a, const Tokenizer& b) {
    const auto differs = [&](std::string_view text) { return a.encode(text) != b.encode(text); };
    for (const std::string_view text :
         {"the house", "The HOUSE", "über Ärger", "café État", "数字 und", "don't stop -- now!", "a\tb  c"})
        if (differs(text)) return std::string(text);
    for (const std::string& token : a.vocabulary().tokens()) {
        std::string_view text = token;
        if (text.starts_with("##")) text.remove_prefix(2);
        if (text.starts_with('[') || text.starts_with('<')) continue;  // may be special
        if (differs(text)) return std::string(text);
    }
    return std::nullopt;
}

}  // namespace bertpretrain

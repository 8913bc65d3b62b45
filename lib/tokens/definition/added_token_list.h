#pragma once
// Gives added tokens the ids that the tokenizers library gives them.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tokens/definition/tokenizer_definition.h"
#include "tokens/string_hash.h"

namespace bertpretrain {

class AddedTokenList {
public:
    /// @param tokens the model's, by id; empty for an id that no token has
    explicit AddedTokenList(const std::vector<std::string>& tokens);

    /// Adds a token, or replaces the added token with the same content. Its id is that of the model's token, else the next free
    /// one; `token.id` is ignored. @returns the id
    std::int32_t add(AddedToken token);
    bool contains(const std::string& content) const { return places_.contains(content); }
    const std::vector<AddedToken>& tokens() const { return added_; }

private:
    StringMap<std::int32_t> ids_;
    std::int64_t size_ = 0, highest_ = -1;  ///< the model's tokens; the highest id of the added ones
    std::vector<AddedToken> added_;
    StringMap<std::size_t> places_;  ///< content -> index in added_
};

}  // namespace bertpretrain

#include "tokens/definition/added_token_list.h"

#include <algorithm>
#include <utility>

namespace bertpretrain {

AddedTokenList::AddedTokenList(const std::vector<std::string>& tokens) {
    for (std::size_t id = 0; id < tokens.size(); ++id)
        if (!tokens[id].empty()) {
            ids_.emplace(tokens[id], static_cast<std::int32_t>(id));
            ++size_;
        }
}

std::int32_t AddedTokenList::add(AddedToken token) {
    const auto next = static_cast<std::int32_t>(std::max(size_, highest_ + 1));
    token.id = ids_.emplace(token.content, next).first->second;
    highest_ = std::max<std::int64_t>(highest_, token.id);
    const std::int32_t id = token.id;
    const auto [place, is_new] = places_.emplace(token.content, added_.size());
    if (is_new) added_.push_back(std::move(token));
    else added_[place->second] = std::move(token);
    return id;
}

}  // namespace bertpretrain

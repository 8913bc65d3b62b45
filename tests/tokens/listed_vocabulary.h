#pragma once

#include <string>
#include <vector>

#include "tokens/vocabulary/vocabulary.h"

namespace bertpretrain::testing {

/// Returns BERT's special tokens and then these.
inline Vocabulary listed_vocabulary(const std::vector<std::string>& tokens) {
    std::vector<std::string> all{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};
    all.insert(all.end(), tokens.begin(), tokens.end());
    return {all, "a list"};
}

}  // namespace bertpretrain::testing

#pragma once
// Which tokens pad, mask, and stand at a text's start and end.

#include <optional>
#include <string_view>

#include "tokens/definition/json_part.h"
#include "tokens/definition/tokenizer_definition.h"

namespace bertpretrain {

/// The usual names of the tokens with a role, in the order in which they are looked for.
inline constexpr std::string_view pad_names[] = {"[PAD]", "<pad>", "<|padding|>", "<|pad|>"}, unk_names[] = {"[UNK]", "<unk>"},
                                  cls_names[] = {"[CLS]", "<s>", "<|startoftext|>", "<cls>"},
                                  sep_names[] = {"[SEP]", "</s>", "<|endoftext|>", "<sep>", "<eos>"},
                                  mask_names[] = {"[MASK]", "<mask>", "<|mask|>"};

/// Returns the roles: the tokens that the post-processor puts at a text's start (cls) and end (sep), then the usual names among
/// the added tokens and the model's, e.g. "<mask>" or "[MASK]"; unk is the model's own.
/// @param post_processor nullopt: there is none  @throws DataError for a post-processor that is not supported
TokenRoles token_roles(const TokenizerDefinition& definition, const std::optional<JsonPart>& post_processor);

}  // namespace bertpretrain

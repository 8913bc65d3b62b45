#include "tokens/vocabulary/vocabulary_file.h"

#include <utility>

#include "core/error.h"
#include "core/files/files.h"
#include "core/files/local_path.h"
#include "text/content/byte_order_mark.h"
#include "text/formats/foreign_file.h"
#include "text/reader/read_text.h"
#include "text/reader/text_lineage.h"

namespace bertpretrain {

std::filesystem::path tokenizer_in_folder(const std::filesystem::path& folder) {
    for (const std::string_view name : {token_list_name, tokenizer_json_name, sentence_piece_name})
        if (std::error_code ignored; std::filesystem::exists(folder / name, ignored)) return folder / name;
    return {};
}

std::string no_tokenizer_in(const std::filesystem::path& folder, std::string_view consequence) {
    return concat(folder.string(), ": has no ", token_list_name, ", ", tokenizer_json_name, " or ", sentence_piece_name, ", ",
                  consequence, "\n  do: AutoTokenizer.from_pretrained(FOLDER).save_pretrained(FOLDER) writes what is missing");
}

std::string read_tokenizer_file(const std::filesystem::path& file) {
    constexpr std::string_view expected = "a vocabulary with one token per line, a tokenizer.json or a SentencePiece model";
    if (std::error_code ignored; std::filesystem::is_directory(file, ignored)) {
        const std::filesystem::path inside = tokenizer_in_folder(file);
        throw DataError(concat(file.string(), ": is a folder, expected ", expected, "\n  do: ",
                               inside.empty() ? "name such a file; the folder has none under its usual name"
                                              : concat("name the file in it: ", inside.string())));
    }
    if (std::error_code ignored; !std::filesystem::exists(file, ignored)) {
        const std::string why = not_local(file.string());
        throw DataError(concat(file.string(), ": ", why.empty() ? concat("does not exist, expected ", expected) : why));
    }
    require_whole_text(file);
    std::string content = read_file(file);
    if (content.starts_with("#version")) throw DataError(concat(file.string(), half_of_tokenizer));
    if (tokenizer_kind(content) == TokenizerKind::token_list)
        if (const auto found = known_file(std::string_view(content).substr(0, foreign_head_bytes)))
            throw DataError(refusal_of(file.string(), *found, expected));
    const std::string_view mark = marked_encoding(content);
    if (!mark.empty() && tokenizer_kind(text_of_bytes(content, file.string())) == TokenizerKind::tokenizer_json)
        throw DataError(concat(file.string(), ": begins with a byte order mark of ", mark,
                               ", which the tokenizers library refuses, too\n  do: save it as UTF-8 without a byte order mark"));
    return content;
}

std::string carried_content(const std::filesystem::path& file) {
    std::string content = read_tokenizer_file(file);
    return marked_encoding(content).empty() ? content : text_of_bytes(content, file.string());
}

std::string_view carried_name(TokenizerKind kind) {
    switch (kind) {
        case TokenizerKind::tokenizer_json:
            return tokenizer_json_name;
        case TokenizerKind::sentence_piece:
            return sentence_piece_name;
        case TokenizerKind::token_list:
            break;
    }
    return token_list_name;
}

std::string_view carried_name(const std::filesystem::path& file) {
    return carried_name(tokenizer_kind(read_tokenizer_file(file)));
}

TokenizerFile tokenizer_file(const std::filesystem::path& file) {
    std::string content = read_tokenizer_file(file);
    return {std::string(carried_name(tokenizer_kind(content))), std::move(content)};
}

}  // namespace bertpretrain

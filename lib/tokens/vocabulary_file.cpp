#include "tokens/vocabulary_file.h"

#include "core/files.h"
#include "tokens/tokenizer_json.h"

namespace bertpretrain {

std::filesystem::path tokenizer_in_folder(const std::filesystem::path& folder) {
    for (const std::string_view name : {token_list_name, tokenizer_json_name})
        if (std::error_code ignored; std::filesystem::exists(folder / name, ignored)) return folder / name;
    return {};
}

std::string_view carried_name(const std::filesystem::path& file) {
    return is_tokenizer_json(read_file(file)) ? tokenizer_json_name : token_list_name;
}

}  // namespace bertpretrain

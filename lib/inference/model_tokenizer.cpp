#include "inference/model_tokenizer.h"

#include <filesystem>
#include <span>
#include <string>

#include "archive/checksum.h"
#include "core/error.h"
#include "core/files/files.h"
#include "core/output/log.h"
#include "tokens/models/folder_tokenizer.h"
#include "tokens/models/open_tokenizer.h"
#include "tokens/models/vocabulary_casing.h"
#include "tokens/vocabulary/vocabulary_file.h"

namespace bertpretrain {
namespace {

Casing casing_of_checkpoint(const LoadedModel& model, const Vocabulary& vocabulary, bool wants_cased) {
    if (!model.casing || vocabulary.has_own_rules()) return choose_casing(vocabulary, model.vocabulary, wants_cased);
    if (wants_cased && *model.casing != Casing::cased)
        throw ConfigError(concat(model.folder.string(), ": its tokenizer is recorded as uncased, which --cased contradicts",
                                 "\n  do: omit --cased"));
    return *model.casing;
}

std::uint32_t crc32_of_files(const std::filesystem::path& folder, const FolderTokenizer& tokenizer, bool lowers_first) {
    std::string read = concat(tokenizer.class_name, lowers_first ? " in lower case" : "");
    for (const char* name : folder_tokenizer_files)
        if (std::filesystem::exists(folder / name)) read += concat("\n", name, " ", crc32_of_file(folder / name));
    return crc32_of(std::as_bytes(std::span(read)));
}

ModelTokenizer of_checkpoint(const LoadedModel& model, bool wants_cased) {
    const Casing casing = casing_of_checkpoint(model, Vocabulary::read(model.vocabulary), wants_cased);
    return {open_tokenizer(model.vocabulary, casing), casing, std::nullopt, false, crc32_of_file(model.vocabulary)};
}

ModelTokenizer of_folder(const LoadedModel& model, bool wants_cased, bool lowers_first) {
    FolderTokenizer found = read_folder_tokenizer(model.folder, wants_cased).value();
    for (const std::string& remark : found.remarks) log_warning(remark);
    if (lowers_first) lower_first(found);
    const auto tokenizer = open_folder_tokenizer(found);
    const Casing casing = tokenizer->vocabulary().own_casing().value_or(Casing::cased);
    if (!found.records_casing && casing == Casing::cased && !wants_cased)
        log_warning(concat(
            model.folder.string(), ": no file says do_lower_case, and its vocabulary is cased, so text is read as ",
            "written; transformers would put it into lower case", "\n  do: add \"do_lower_case\" to its tokenizer_config.json"));
    return {tokenizer, casing, found.max_length, found.truncates_left, crc32_of_files(model.folder, found, lowers_first)};
}

}  // namespace

ModelTokenizer tokenizer_of(const LoadedModel& model, bool wants_cased, bool lowers_first) {
    if (model.vocabulary.empty()) throw ConfigError(no_tokenizer_in(model.folder, "one of which is needed to tokenize text"));
    ModelTokenizer opened = model.is_foreign ? of_folder(model, wants_cased, lowers_first) : of_checkpoint(model, wants_cased);
    const Vocabulary& vocabulary = opened.tokenizer->vocabulary();
    if (vocabulary.require_specials().size() > shape_of(model.config).vocab_size)
        throw ConfigError(concat(model.vocabulary.string(), ": has ", vocabulary.size(), " tokens, but the model has ",
                                 shape_of(model.config).vocab_size));
    return opened;
}

}  // namespace bertpretrain

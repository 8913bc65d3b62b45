#include "tokens/vocabulary/vocabulary.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <ostream>
#include <span>
#include <utility>

#include <zlib.h>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/files/files.h"
#include "core/output/displayable.h"
#include "core/strings.h"
#include "text/line_ends.h"
#include "text/reader/read_text.h"
#include "tokens/definition/read_definition.h"
#include "tokens/definition/token_roles.h"
#include "tokens/definition/tokenizer_definition.h"
#include "tokens/vocabulary/byte_alphabet.h"
#include "tokens/vocabulary/vocabulary_file.h"

namespace bertpretrain {
namespace {

std::int32_t special_id(const Vocabulary& vocabulary, std::string_view token, const std::string& where) {
    const auto id = vocabulary.find(token);
    if (id) return *id;
    const std::vector<std::string> names(std::begin(special_tokens), std::end(special_tokens));
    throw DataError(concat(where, ": the token ", token, " is missing among ", vocabulary.size(),
                           " tokens; a BERT vocabulary must contain ", join(names)));
}

struct Lowers {
    bool operator()(const LowerCase&) const { return true; }
    bool operator()(const std::shared_ptr<const PrecompiledMap>& map) const { return map->lowers(); }
    bool operator()(const BertNormalization& step) const {
        return step.casing == Casing::uncased || step.casing == Casing::uncased_with_accents;
    }
    bool operator()(const auto&) const { return false; }
};

Casing casing_of_model(const WordPieceModel& model) { return model.casing; }
Casing casing_of_model(const auto& model) {
    const bool lowers =
        std::ranges::any_of(model.normalizations, [](const Normalization& step) { return std::visit(Lowers{}, step); });
    return lowers ? Casing::uncased_with_accents : Casing::cased;
}
Casing casing_of_model(const SentencePieceModel& model) {
    return model.pieces->lowers() ? Casing::uncased_with_accents : Casing::cased;
}

/// The ids of the tokens that the model itself never gives for a text.
std::vector<std::int32_t> special_ids_of_model(const TokenizerDefinition& definition) {
    std::vector<std::int32_t> ids;
    if (const auto* const model = std::get_if<SentencePieceModel>(&definition.model))
        for (std::int32_t id = 0; id < static_cast<std::int32_t>(definition.tokens.size()); ++id)
            if (model->pieces->is_special(id)) ids.push_back(id);
    return ids;
}

/// Returns what Metaspace, or a normalizer in its place, writes for a space; empty without such a step.
std::string sign_of(const auto& model) {
    for (const SplitStep& step : model.splits)
        if (step.metaspace) return step.metaspace->replacement;
    for (const Normalization& step : model.normalizations)
        if (const auto* const replaced = std::get_if<ReplacedText>(&step); replaced != nullptr && replaced->text == " ")
            return replaced->replacement;
    return "";
}

WordMarks marks_of(const WordPieceModel&) { return {}; }
WordMarks marks_of(const SplitPieceModel&) { return {}; }
WordMarks marks_of(const WordLevelModel&) { return {WordMarks::Kind::all, ""}; }
WordMarks marks_of(const BytePairModel&) { return {WordMarks::Kind::space, ""}; }
WordMarks marks_of(const SentencePieceModel&) { return {WordMarks::Kind::sign, std::string(sentence_piece_space)}; }
WordMarks marks_of(const UnigramModel& model) {
    const std::string sign = sign_of(model);
    return {WordMarks::Kind::sign, sign.empty() ? std::string(sentence_piece_space) : sign};
}
WordMarks marks_of(const CharacterPairModel& model) {
    if (const std::string sign = sign_of(model); !sign.empty()) return {WordMarks::Kind::sign, sign};
    if (!model.prefix.empty()) return {WordMarks::Kind::continuation, model.prefix};
    return {model.suffix.empty() ? WordMarks::Kind::none : WordMarks::Kind::ending, model.suffix};
}

bool starts_with_white_space(std::string_view bytes) {
    return !bytes.empty() && std::string_view(" \t\r\n\v\f").find(bytes.front()) != std::string_view::npos;
}

/// Whether no [UNK] stands among the lines, and most of the first ones hold several words, which no token does.
bool is_running_text(std::string_view content) {
    if (content.find("[UNK]") != std::string_view::npos) return false;
    std::int64_t lines = 0, with_words = 0;
    for_each_universal_line(content.substr(0, 4096), [&](std::string_view line) {
        const std::size_t end = line.find_last_not_of(" \t") + 1;  // 0: the line is empty
        lines += end > 0 ? 1 : 0;
        with_words += line.substr(0, end).find(' ') != std::string_view::npos ? 1 : 0;
    });
    return 2 * with_words > lines;
}

void sort_distinct(std::vector<std::int32_t>& ids) {
    std::ranges::sort(ids);
    const auto repeated = std::ranges::unique(ids);
    ids.erase(repeated.begin(), repeated.end());
}

}  // namespace

Vocabulary Vocabulary::read(const std::filesystem::path& file) {
    const std::string content = read_tokenizer_file(file);
    if (const auto definition = read_definition(content, file.string())) return {*definition, file.string()};
    if (is_running_text(content))
        throw DataError(
            concat(file.string(), ": looks like running text (\"",
                   displayable(content.substr(0, std::min<std::size_t>(content.find('\n'), 60))),
                   "\"), expected a vocabulary, with a token per line\n  do: give the vocabulary's file here, and the ",
                   "text where the command takes it; `bertpretrain_data vocabulary` makes a vocabulary of text"));
    return parse(content, file.string());
}

Vocabulary Vocabulary::parse(std::string_view content, const std::string& where) { return {parse_lines(content, where), where}; }

std::vector<std::string> Vocabulary::parse_lines(std::string_view content, const std::string& where) {
    std::vector<std::string> tokens;
    const std::string text = text_of_bytes(content, where);
    for_each_universal_line(text, [&](std::string_view line) {
        std::string token(line);
        token.erase(token.find_last_not_of(" \t\v\f") + 1);
        if (token.empty())
            throw DataError(concat(where, ": line ", tokens.size() + 1, " is empty, expected a token on every line"));
        tokens.push_back(std::move(token));
    });
    return tokens;
}

Vocabulary::Vocabulary(std::vector<std::string> tokens, const std::string& where) : tokens_(std::move(tokens)), where_(where) {
    if (tokens_.empty()) throw DataError(concat(where, ": is empty, expected one token per line"));
    check(tokens_.size() <= std::numeric_limits<std::int32_t>::max(), "token ids fit into 32 bits");
    ids_.reserve(tokens_.size());
    for (std::size_t line = 0; line < tokens_.size(); ++line) {
        const auto [known, is_new] = ids_.emplace(tokens_[line], static_cast<std::int32_t>(line));
        if (!is_new)
            throw DataError(concat(where, ": lines ", known->second + 1, " and ", line + 1, " contain the same token \"",
                                   tokens_[line], "\"; every token must be unique"));
    }
    std::int32_t* const fields[] = {&specials_.pad, &specials_.unk, &specials_.cls, &specials_.sep, &specials_.mask};
    for (std::size_t i = 0; i < std::size(fields); ++i) *fields[i] = special_id(*this, special_tokens[i], where);
}

Vocabulary::Vocabulary(const TokenizerDefinition& definition, const std::string& where)
    : tokens_(definition.tokens),
      where_(where),
      own_casing_(std::visit([](const auto& model) { return casing_of_model(model); }, definition.model)),
      marks_(std::visit([](const auto& model) { return marks_of(model); }, definition.model)),
      kind_(definition.kind()),
      special_(special_ids_of_model(definition)) {
    for (const AddedToken& token : definition.added_tokens) {
        const auto id = static_cast<std::size_t>(token.id);
        if (tokens_.size() <= id) tokens_.resize(id + 1);
        tokens_[id] = token.content;
        added_.push_back(token.id);
        if (token.special) special_.push_back(token.id);
    }
    sort_distinct(added_);
    ids_.reserve(tokens_.size());
    for (std::size_t id = 0; id < tokens_.size(); ++id)
        if (!tokens_[id].empty()) ids_.emplace(tokens_[id], static_cast<std::int32_t>(id));
    const auto id_of = [&](const std::string& role) {
        if (!role.empty() && !find(role))
            throw DataError(concat(where, ": names the token \"", role, "\", but has no such token"));
        return role.empty() ? SpecialIds::none : *find(role);
    };
    const TokenRoles& roles = definition.roles;
    specials_ = {id_of(roles.pad), id_of(roles.unk), id_of(roles.cls), id_of(roles.sep), id_of(roles.mask)};
    for (const std::int32_t id : {specials_.pad, specials_.unk, specials_.cls, specials_.sep, specials_.mask})
        if (id != SpecialIds::none) special_.push_back(id);
    sort_distinct(special_);
}

const Vocabulary& Vocabulary::require_specials() const {
    std::vector<std::string> missing;
    const auto look = [&](std::int32_t id, const char* role, std::span<const std::string_view> names) {
        if (id != SpecialIds::none) return;
        missing.push_back(concat(role, " (looked for ", join(std::vector<std::string>(names.begin(), names.end())), ")"));
    };
    look(specials_.pad, "pad", pad_names);
    look(specials_.cls, "cls", cls_names);
    look(specials_.sep, "sep", sep_names);
    look(specials_.mask, "mask", mask_names);
    if (missing.empty()) return *this;
    throw ConfigError(
        concat(where_, ": has no token for the ", missing.size() == 1 ? "role " : "roles ", join(missing),
               "; masked samples need tokens that pad, begin, end and mask a text",
               kind_ == TokenizerKind::sentence_piece
                   ? "\n  do: train the model with them, e.g. spm_train --pad_id=0 --unk_id=1 --bos_id=2 --eos_id=3 "
                     "--pad_piece=[PAD] --bos_piece=[CLS] --eos_piece=[SEP] --control_symbols=[MASK]"
                   : "\n  do: add one with such a name to its added_tokens, or name cls and sep in its "
                     "post_processor"));
}

bool Vocabulary::continues_word(std::int32_t id) const {
    const std::string& text = token(id);
    if (marks_.kind == WordMarks::Kind::continuation) return text.starts_with(marks_.text);
    if (marks_word_ends()) return !std::ranges::binary_search(added_, id);
    if (!marks_word_starts() || text.empty() || std::ranges::binary_search(added_, id)) return false;
    if (!is_byte_level()) return !text.starts_with(marks_.text);
    const std::optional<std::string> bytes = bytes_of_token(text);
    return bytes && !starts_with_white_space(*bytes);
}

bool Vocabulary::ends_word(std::int32_t id) const {
    return token(id).ends_with(marks_.text) || id == specials_.unk || std::ranges::binary_search(added_, id);
}

std::string Vocabulary::decoded(std::int32_t id) const {
    if (std::ranges::binary_search(added_, id)) return token(id);
    if (marks_.kind == WordMarks::Kind::sign) {
        std::string text = token(id);
        for (std::size_t at = 0; (at = text.find(marks_.text, at)) != text.npos; ++at) text.replace(at, marks_.text.size(), " ");
        return text;
    }
    if (!is_byte_level()) return token(id);
    const std::optional<std::string> bytes = bytes_of_token(token(id));
    if (!bytes) return token(id);
    // JSON is UTF-8, so a round trip through it replaces what is not.
    using nlohmann::json;
    return json::parse(json(*bytes).dump(-1, ' ', false, json::error_handler_t::replace)).get<std::string>();
}

void Vocabulary::require_word_marks() const {
    if (marks_.kind == WordMarks::Kind::none)
        throw ConfigError(
            concat(where_, ": its tokens do not show where words begin or end, so whole words cannot be masked; ",
                   "expected a sign for spaces, a prefix of tokens that continue a word, or a suffix of those that ", "end one",
                   "\n  do: mask tokens, or spans of tokens"));
}

std::vector<std::int32_t> Vocabulary::replacements() const {
    std::vector<std::int32_t> ids;
    for (std::int32_t id = 0; id < size(); ++id)
        if (!token(id).empty() && !std::ranges::binary_search(special_, id)) ids.push_back(id);
    return ids;
}

std::optional<std::int32_t> Vocabulary::find(std::string_view token) const {
    const auto found = ids_.find(token);
    if (found == ids_.end()) return std::nullopt;
    return found->second;
}

std::uint32_t Vocabulary::crc32() const {
    uLong crc = 0;
    const auto add = [&](std::string_view bytes) {
        crc = ::crc32(crc, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size()));
    };
    for (const std::string& token : tokens_) {
        add(token);
        add("\n");
    }
    return static_cast<std::uint32_t>(crc);
}

void Vocabulary::write(const std::filesystem::path& file) const {
    write_atomically(file, [&](std::ostream& out) {
        for (const std::string& token : tokens_) out << token << '\n';
    });
}

}  // namespace bertpretrain

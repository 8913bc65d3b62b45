#include "tokens/vocabulary.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <ostream>
#include <utility>

#include <zlib.h>

#include "core/error.h"
#include "core/files.h"
#include "core/strings.h"
#include "tokens/tokenizer_definition.h"
#include "tokens/tokenizer_json.h"

namespace bertpretrain {
namespace {

std::int32_t special_id(const Vocabulary& vocabulary, std::string_view token, const std::string& where) {
    const auto id = vocabulary.find(token);
    if (id) return *id;
    const std::vector<std::string> names(std::begin(special_tokens), std::end(special_tokens));
    throw DataError(concat(where, ": the token ", token, " is missing among ", vocabulary.size(),
                           " tokens; a BERT vocabulary must contain ", join(names)));
}

}  // namespace

Vocabulary Vocabulary::read(const std::filesystem::path& file) {
    const std::string content = read_file(file);
    if (is_tokenizer_json(content))
        throw DataError(concat(file.string(),
                               ": is a tokenizer.json, which `tokenize` reads, but shards cannot be made with it yet",
                               "\n  do: use a vocabulary file with one token per line (vocab.txt)"));
    return parse(content, file.string());
}

Vocabulary Vocabulary::parse(std::string_view content, const std::string& where) {
    std::vector<std::string> tokens;
    for (std::size_t begin = 0; begin < content.size();) {
        const std::size_t end = std::min(content.find('\n', begin), content.size());
        std::string token(content.substr(begin, end - begin));
        token.erase(token.find_last_not_of(" \t\r\v\f") + 1);
        if (token.empty())
            throw DataError(concat(where, ": line ", tokens.size() + 1, " is empty, expected a token on every line"));
        tokens.push_back(std::move(token));
        begin = end + 1;
    }
    return {std::move(tokens), where};
}

Vocabulary::Vocabulary(std::vector<std::string> tokens, const std::string& where) : tokens_(std::move(tokens)) {
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

Vocabulary::Vocabulary(const TokenizerDefinition& definition, const std::string& where) : tokens_(definition.tokens) {
    for (const AddedToken& token : definition.added_tokens) {
        const auto id = static_cast<std::size_t>(token.id);
        if (tokens_.size() <= id) tokens_.resize(id + 1);
        tokens_[id] = token.content;
    }
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

#include "tokens/definition/sentence_pieces.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include <sentencepiece_processor.h>

#include "core/error.h"

namespace bertpretrain {

namespace {

using Ids = std::vector<int>;

/// A place within a run of unknown characters, where a text can be cut: what the library puts around a text of such characters
/// alone, the sign for a space before or after it.
struct Cut {
    std::size_t at;
    Ids before, after;
};

/// The library joins a run of unknown characters by copying it once per character: a text of them is cut into parts of this size.
constexpr std::size_t part_bytes = 4096;

bool begins_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }

/// Returns the place `characters` after `at`, or before it if negative; the text's end, if it comes first.
std::size_t moved(std::string_view text, std::size_t at, std::ptrdiff_t characters) {
    for (; characters > 0 && at < text.size(); --characters) do
            ++at;
        while (at < text.size() && !begins_character(text[at]));
    for (; characters < 0 && at > 0; ++characters) do
            --at;
        while (at > 0 && !begins_character(text[at]));
    return at;
}

bool ends_with(const Ids& ids, const Ids& end) {
    return ids.size() >= end.size() && std::equal(end.rbegin(), end.rend(), ids.rbegin());
}
bool begins_with(const Ids& ids, const Ids& begin) {
    return ids.size() >= begin.size() && std::equal(begin.begin(), begin.end(), ids.begin());
}

}  // namespace

struct SentencePieces::State {
    sentencepiece::SentencePieceProcessor processor;
    std::size_t longest = 0;  ///< characters of the longest piece

    std::string normalized(std::string_view text) const {
        const std::vector<std::string> pieces = processor.EncodeAsPieces(text);
        return std::accumulate(pieces.begin(), pieces.end(), std::string());
    }

    Ids library_ids(std::string_view text) const {
        Ids ids;
        check(processor.Encode(text, &ids).ok(), "a loaded SentencePiece model encodes every text");
        return ids;
    }

    /// Returns the character at or after `at` as a cut, if so many characters on both sides of it are unknown, and not changed by
    /// the normalizer, that no piece can contain it.
    std::optional<Cut> cut_at(std::string_view text, std::size_t at) const {
        while (at < text.size() && !begins_character(text[at])) ++at;
        const auto margin = static_cast<std::ptrdiff_t>(longest) + 1;
        const std::size_t begin = moved(text, at, -margin);
        const std::string window(text.substr(begin, moved(text, at, margin) - begin));
        const Ids ids = library_ids(window);
        const auto unknown = std::find(ids.begin(), ids.end(), processor.unk_id());
        if (unknown == ids.end() || ids.size() > 2) return std::nullopt;
        const std::string space = "\u2581", text_after = normalized(window);
        if (text_after != window && text_after != space + window && text_after != window + space) return std::nullopt;
        return Cut{at, Ids(ids.begin(), unknown), Ids(unknown + 1, ids.end())};
    }

    /// Returns the ids of a text that is encoded part by part, cut within runs of unknown characters, which become one id each;
    /// nothing if a part's ids are not what a cut leads to expect.
    std::optional<Ids> ids_of_parts(std::string_view text, const std::vector<Cut>& cuts) const {
        Ids all;
        for (std::size_t i = 0; i <= cuts.size(); ++i) {
            const std::size_t begin = i == 0 ? 0 : cuts[i - 1].at, end = i == cuts.size() ? text.size() : cuts[i].at;
            Ids ids = library_ids(text.substr(begin, end - begin));
            if (i < cuts.size()) {
                Ids expected{processor.unk_id()};
                expected.insert(expected.end(), cuts[i].after.begin(), cuts[i].after.end());
                if (!ends_with(ids, expected)) return std::nullopt;
                ids.resize(ids.size() - cuts[i].after.size());
            }
            if (i > 0) {  // its first unknown characters belong to the last id so far
                Ids expected = cuts[i - 1].before;
                expected.push_back(processor.unk_id());
                if (!begins_with(ids, expected)) return std::nullopt;
                ids.erase(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(expected.size()));
            }
            all.insert(all.end(), ids.begin(), ids.end());
        }
        return all;
    }

    Ids ids_of(std::string_view text) const {
        std::vector<Cut> cuts;
        if (4 * longest < part_bytes)
            for (std::size_t at = part_bytes; at + part_bytes < text.size(); at += part_bytes)
                if (std::optional<Cut> cut = cut_at(text, at)) cuts.push_back(*std::move(cut));
        if (!cuts.empty())
            if (std::optional<Ids> ids = ids_of_parts(text, cuts)) return *std::move(ids);
        return library_ids(text);
    }
};

SentencePieces::SentencePieces(std::string_view model, const std::string& where) {
    auto state = std::make_unique<State>();
    if (const auto status = state->processor.LoadFromSerializedProto(model); !status.ok())
        throw DataError(concat(where, ": is no SentencePiece model that the library can read (", status.ToString(),
                               ")\n  do: train or copy the model again"));
    for (int id = 0; id < state->processor.GetPieceSize(); ++id) {
        const std::string& piece = state->processor.IdToPiece(id);
        state->longest =
            std::max(state->longest, static_cast<std::size_t>(std::count_if(piece.begin(), piece.end(), begins_character)));
    }
    state_ = std::move(state);
}
SentencePieces::~SentencePieces() = default;

std::vector<std::string> SentencePieces::tokens() const {
    std::vector<std::string> tokens;
    for (int id = 0; id < state_->processor.GetPieceSize(); ++id) tokens.push_back(state_->processor.IdToPiece(id));
    return tokens;
}

std::int32_t SentencePieces::unknown() const { return state_->processor.unk_id(); }

bool SentencePieces::is_special(std::int32_t id) const {
    return state_->processor.IsControl(id) || state_->processor.IsUnknown(id);
}

bool SentencePieces::lowers() const { return state_->normalized("A") == state_->normalized("a"); }

void SentencePieces::encode(std::string_view text, std::vector<std::int32_t>& ids) const {
    const Ids pieces = state_->ids_of(text);
    ids.insert(ids.end(), pieces.begin(), pieces.end());
}

}  // namespace bertpretrain

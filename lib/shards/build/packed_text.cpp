#include "shards/build/packed_text.h"

#include <algorithm>
#include <numeric>

#include "core/error.h"

namespace bertpretrain {
namespace {

constexpr std::int64_t outer_specials = 2;  // [CLS] and the last [SEP]

std::uint32_t end_of_document(const Documents& documents, std::size_t document) {
    return documents.sentence_begin(documents.first_sentence(document + 1));
}

/// Collects consecutive tokens into samples.
class Packer {
public:
    Packer(const PackSettings& settings) : most_(settings.sequence_length - outer_specials) {}

    /// Adds tokens [begin, end) of a document, which follow those added before. Divides them only if no sample could hold them.
    void add(std::uint32_t document, std::uint32_t begin, std::uint32_t end) {
        const bool begins_document = open_.size > 0 && document != last_document_;
        const auto needed = static_cast<std::int64_t>(end - begin) + (begins_document ? 1 : 0);
        if (open_.size + open_.separators + needed > most_) close();
        else if (begins_document) ++open_.separators;
        while (begin < end) {
            if (open_.size == 0) open_ = {begin, document, 0, 0};
            const auto room = static_cast<std::uint32_t>(most_ - open_.size - open_.separators);
            const std::uint32_t taken = std::min(room, end - begin);
            open_.size = static_cast<std::uint16_t>(open_.size + taken);
            begin += taken;
            if (begin < end) close();
        }
        last_document_ = document;
    }
    void close() {
        if (open_.size > 0) packs_.push_back(open_);
        open_ = {};
    }
    std::vector<PackedText> finish() {
        close();
        return std::move(packs_);
    }

private:
    std::int64_t most_;
    PackedText open_;
    std::uint32_t last_document_ = 0;
    std::vector<PackedText> packs_;
};

}  // namespace

std::vector<PackedText> pack_documents(const Documents& documents, const PackSettings& settings) {
    check(settings.sequence_length >= 5 && settings.sequence_length <= 65'536, "a sequence has 5 to 65,536 tokens, not ",
          settings.sequence_length);
    Packer packer(settings);
    for (std::size_t d = 0; d < documents.size(); ++d) {
        for (std::uint32_t s = documents.first_sentence(d); s < documents.first_sentence(d + 1); ++s)
            packer.add(static_cast<std::uint32_t>(d), documents.sentence_begin(s), documents.sentence_begin(s + 1));
        if (!settings.across_documents) packer.close();
    }
    return packer.finish();
}

std::int64_t total_length(std::span<const PackedText> packs) {
    return std::accumulate(packs.begin(), packs.end(), std::int64_t{0}, [](std::int64_t sum, const PackedText& pack) {
        return sum + static_cast<std::int64_t>(pack.length());
    });
}

std::span<std::int32_t> put_packed(const Documents& documents, const PackedText& pack, const SpecialIds& special_ids,
                                   ShardRows& rows, std::int64_t row) {
    const auto begin = static_cast<std::size_t>(row * rows.sequence_length);
    const std::span<std::int32_t> tokens = std::span(rows.input_ids_RS).subspan(begin, pack.length());
    auto out = tokens.begin();
    *out++ = special_ids.cls;
    const std::uint32_t end = pack.begin + pack.size;
    std::size_t document = pack.document;
    for (std::uint32_t from = pack.begin; from < end; ++document) {
        const std::uint32_t to = std::min(end, end_of_document(documents, document));
        const std::span<const std::int32_t> text = documents.tokens(from, to - from);
        out = std::copy(text.begin(), text.end(), out);
        *out++ = special_ids.sep;
        from = to;
    }
    std::fill_n(rows.input_mask_RS.begin() + static_cast<std::ptrdiff_t>(begin), tokens.size(), std::int8_t{1});
    return tokens;
}

}  // namespace bertpretrain

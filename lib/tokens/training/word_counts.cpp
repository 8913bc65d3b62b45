#include "tokens/training/word_counts.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <mutex>
#include <optional>
#include <utility>

#include "core/output/phase_progress.h"
#include "core/threads/task_pool.h"
#include "core/threads/threads.h"
#include "text/formats/kept_lines.h"
#include "text/reader/document_reader.h"
#include "tokens/models/text_normalizer.h"
#include "tokens/models/word_splitter.h"
#include "tokens/models/word_table.h"
#include "tokens/training/line_blocks.h"
#include "tokens/valid_text.h"

namespace bertpretrain {
namespace {

constexpr std::size_t words_of_thread = std::size_t{1} << 18;  // a thread merges its counts once it has this many words

/// The documents of several files. Thread-safe: each batch goes to one caller of next().
class SharedDocuments {
public:
    SharedDocuments(const std::vector<std::filesystem::path>& inputs, const InputSettings& settings, std::size_t threads)
        : pool_(threads),
          reader_(inputs, settings, pool_),
          progress_("counting words", static_cast<double>(reader_.total_bytes())) {}

    std::optional<DocumentBatch> next() {
        const std::lock_guard lock(guard_);
        std::optional<DocumentBatch> batch = reader_.next();
        progress_.advance(static_cast<double>(reader_.bytes_read() - std::exchange(bytes_before_, reader_.bytes_read())));
        return batch;
    }

private:
    std::mutex guard_;
    TaskPool pool_;
    DocumentReader reader_;
    std::uint64_t bytes_before_ = 0;
    PhaseProgress progress_;
};

/// Words need neither sentences nor documents, and a document may be larger than the reader allows.
InputSettings settings_for_words(InputSettings settings) {
    settings.documents = "lines";
    settings.lines = "sentences";
    settings.sentences = {};
    return settings;
}

/// Whole documents, as `shard --keep-white-space` reads them.
InputSettings settings_for_kept_words(InputSettings settings) {
    settings.lines = "kept";
    settings.sentences = {};
    settings.sentences.none = true;
    return settings;
}

/// The counts of all threads, sharded by hash with a lock per part.
class SharedCounts {
public:
    void add(const WordTable& counts) {
        counts.for_each([&](std::string_view word, std::int64_t count) {
            Part& part = parts_[std::hash<std::string_view>()(word) / 4096 % std::size(parts_)];
            const std::lock_guard lock(part.guard);
            part.counts.add(word, count);
        });
    }
    WordCounts take(std::size_t threads) {
        std::vector<WordCounts> sorted(std::size(parts_));
        for_each_index(std::size(parts_), threads, [&](std::size_t i) {
            sorted[i].reserve(parts_[i].counts.size());
            parts_[i].counts.for_each([&](std::string_view word, std::int64_t count) { sorted[i].emplace_back(word, count); });
            parts_[i].counts = {};
            std::sort(sorted[i].begin(), sorted[i].end());
        });
        WordCounts total;
        for (WordCounts& some : sorted) std::move(some.begin(), some.end(), std::back_inserter(total));
        return total;
    }

private:
    struct Part {
        std::mutex guard;
        WordTable counts;
    };
    Part parts_[64];
};

/// WordPiece's words of a line.
class PlainWords {
public:
    explicit PlainWords(Casing casing) : words_(casing, TokenRules::huggingface) {}
    template <class Visit>
    void for_each(std::string_view line, const Visit& visit) {
        words_.start(line);
        for (std::string_view word = words_.next(); !word.empty(); word = words_.next()) visit(word);
    }

private:
    WordReader words_;
};

/// Splits texts into the words of a byte-level BPE.
class ByteLevelWords {
public:
    ByteLevelWords(const TextNormalizer& normalizer, const WordSplitter& splitter)
        : normalizer_(normalizer), splitter_(splitter) {}

protected:
    template <class Visit>
    void split(std::string_view text, const Visit& visit) {
        splitter_.split(normalizer_.apply(valid_utf8(text, valid_), normalized_), true, memory_, visit);
    }

private:
    const TextNormalizer& normalizer_;
    const WordSplitter& splitter_;
    std::string valid_, normalized_;
    WordSplitter::Memory memory_;
};

/// The words of a line that follows another one.
class ByteLevelLineWords : public ByteLevelWords {
public:
    using ByteLevelWords::ByteLevelWords;
    template <class Visit>
    void for_each(std::string_view line, const Visit& visit) {
        constexpr std::string_view white_space = " \t\r\n\v\f";
        const std::size_t first = line.find_first_not_of(white_space);
        if (first == std::string_view::npos) return;
        spaced_.assign(1, ' ').append(line.substr(first, line.find_last_not_of(white_space) + 1 - first));
        split(spaced_, visit);
    }

private:
    std::string spaced_;
};

/// The words of a document as it is written.
class ByteLevelTextWords : public ByteLevelWords {
public:
    using ByteLevelWords::ByteLevelWords;
    template <class Visit>
    void for_each(std::string_view lines, const Visit& visit) {
        for_each_kept_text(lines, [&](std::string_view text) { split(text, visit); });
    }
};

/// @param settings how the documents are read  @param make_words returns a thread's own object whose for_each() splits into words
/// what `for_each_part` visits of a document
template <class MakeWords, class ForEachPart>
WordCounts count_parts(const std::vector<std::filesystem::path>& inputs, std::size_t threads, const InputSettings& settings,
                       const MakeWords& make_words, const ForEachPart& for_each_part) {
    SharedDocuments documents(inputs, settings, threads);
    SharedCounts total;
    for_each_index(threads, threads, [&](std::size_t) {
        auto words = make_words();
        WordTable counts;
        const auto count_part = [&](std::string_view part) {
            words.for_each(part, [&](std::string_view word) { counts.add(word, 1); });
        };
        while (const std::optional<DocumentBatch> batch = documents.next()) {
            for (const Document& document : batch->documents) for_each_part(document.text, count_part);
            if (counts.size() < words_of_thread) continue;
            total.add(counts);
            counts = {};
        }
        total.add(counts);
    });
    return total.take(threads);
}

template <class MakeWords>
WordCounts count_lines(const std::vector<std::filesystem::path>& inputs, std::size_t threads, const InputSettings& settings,
                       const MakeWords& make_words) {
    return count_parts(inputs, threads, settings_for_words(settings), make_words,
                       [](std::string_view text, const auto& count) { for_each_line(text, count); });
}

}  // namespace

WordCounts count_words(const std::vector<std::filesystem::path>& inputs, Casing casing, std::size_t threads,
                       const InputSettings& settings) {
    return count_lines(inputs, threads, settings, [&] { return PlainWords(casing); });
}

WordCounts count_byte_level_words(const std::vector<std::filesystem::path>& inputs, const BytePairModel& model,
                                  std::size_t threads, const InputSettings& settings) {
    const std::string where = "the tokenizer to train";
    const TextNormalizer normalizer(model.normalizations, where);
    const WordSplitter splitter(model.splits, where);
    return count_lines(inputs, threads, settings, [&] { return ByteLevelLineWords(normalizer, splitter); });
}

WordCounts count_kept_byte_level_words(const std::vector<std::filesystem::path>& inputs, const BytePairModel& model,
                                       std::size_t threads, const InputSettings& settings) {
    const std::string where = "the tokenizer to train";
    const TextNormalizer normalizer(model.normalizations, where);
    const WordSplitter splitter(model.splits, where);
    return count_parts(
        inputs, threads, settings_for_kept_words(settings), [&] { return ByteLevelTextWords(normalizer, splitter); },
        [](std::string_view text, const auto& count) { count(text); });
}

}  // namespace bertpretrain

#include "tokens/word_counts.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <mutex>
#include <optional>

#include "core/task_pool.h"
#include "core/threads.h"
#include "text/document_reader.h"
#include "tokens/line_blocks.h"
#include "tokens/word_table.h"

namespace bertpretrain {
namespace {

constexpr std::size_t words_of_thread = std::size_t{1} << 18;  // a thread merges its counts once it has this many words

/// The documents of several files. Thread-safe: each batch goes to one caller of next().
class SharedDocuments {
public:
    SharedDocuments(const std::vector<std::filesystem::path>& inputs, const InputSettings& settings, std::size_t threads)
        : pool_(threads), reader_(inputs, settings, pool_) {}

    std::optional<DocumentBatch> next() {
        const std::lock_guard lock(guard_);
        return reader_.next();
    }

private:
    std::mutex guard_;
    TaskPool pool_;
    DocumentReader reader_;
};

/// Words need neither sentences nor documents, and a document may be larger than the reader allows.
InputSettings settings_for_words(InputSettings settings) {
    settings.documents = "lines";
    settings.lines = "sentences";
    settings.sentences = {};
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

void count_block(std::string_view block, WordReader& words, WordTable& counts) {
    for_each_line(block, [&](std::string_view line) {
        words.start(line);
        for (std::string_view word = words.next(); !word.empty(); word = words.next()) counts.add(word, 1);
    });
}

}  // namespace

WordCounts count_words(const std::vector<std::filesystem::path>& inputs, Casing casing, std::size_t threads,
                       const InputSettings& settings) {
    SharedDocuments documents(inputs, settings_for_words(settings), threads);
    SharedCounts total;
    for_each_index(threads, threads, [&](std::size_t) {
        WordReader words(casing, TokenRules::huggingface);
        WordTable counts;
        while (const std::optional<DocumentBatch> batch = documents.next()) {
            for (const Document& document : batch->documents) count_block(document.text, words, counts);
            if (counts.size() < words_of_thread) continue;
            total.add(counts);
            counts = {};
        }
        total.add(counts);
    });
    return total.take(threads);
}

}  // namespace bertpretrain

#include "tokens/word_counts.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <mutex>
#include <optional>

#include "core/error.h"
#include "core/plain_text.h"
#include "core/threads.h"
#include "tokens/line_blocks.h"
#include "tokens/word_table.h"

namespace bertpretrain {
namespace {

constexpr std::size_t words_of_thread = std::size_t{1} << 18;  // a thread merges its counts once it has this many words

/// Reads several files in blocks of lines. Thread-safe: each block goes to one caller of next().
class FileBlocks {
public:
    explicit FileBlocks(const std::vector<std::filesystem::path>& files) : files_(files) {}

    bool next(std::string& block) {
        const std::lock_guard lock(guard_);
        for (;;) {
            if (blocks_ && blocks_->next(block)) {
                check_->add(block);
                return true;
            }
            if (check_) check_->finish();
            if (opened_ == files_.size()) return false;
            open(files_[opened_++]);
        }
    }

private:
    void open(const std::filesystem::path& file) {
        in_ = std::ifstream(file, std::ios::binary);
        if (!in_ || std::filesystem::is_directory(file))
            throw DataError(concat(file.string(), ": cannot be read (", std::strerror(in_ ? EISDIR : errno), ")"));
        blocks_.emplace(in_, file.string());
        check_.emplace(file);
    }

    const std::vector<std::filesystem::path>& files_;
    std::size_t opened_ = 0;
    std::ifstream in_;
    std::optional<LineBlocks> blocks_;
    std::optional<PlainTextCheck> check_;
    std::mutex guard_;
};

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

WordCounts count_words(const std::vector<std::filesystem::path>& files, Casing casing, std::size_t threads) {
    FileBlocks blocks(files);
    SharedCounts total;
    for_each_index(threads, threads, [&](std::size_t) {
        WordReader words(casing, TokenRules::huggingface);
        WordTable counts;
        for (std::string block; blocks.next(block);) {
            count_block(block, words, counts);
            if (counts.size() < words_of_thread) continue;
            total.add(counts);
            counts = {};
        }
        total.add(counts);
    });
    return total.take(threads);
}

}  // namespace bertpretrain

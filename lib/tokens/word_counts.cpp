#include "tokens/word_counts.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <mutex>
#include <optional>

#include "core/error.h"
#include "core/threads.h"
#include "tokens/line_blocks.h"

namespace bertpretrain {
namespace {

/// Blocks of lines of several files, handed to whichever thread asks next.
class FileBlocks {
public:
    explicit FileBlocks(const std::vector<std::filesystem::path>& files) : files_(files) {}

    bool next(std::string& block) {
        const std::lock_guard lock(guard_);
        for (;;) {
            if (blocks_ && blocks_->next(block)) return true;
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
    }

    const std::vector<std::filesystem::path>& files_;
    std::size_t opened_ = 0;
    std::ifstream in_;
    std::optional<LineBlocks> blocks_;
    std::mutex guard_;
};

void count_block(std::string_view block, WordReader& words, WordCounts& counts) {
    for_each_line(block, [&](std::string_view line) {
        words.start(line);
        for (std::string_view word = words.next(); !word.empty(); word = words.next()) {
            const auto known = counts.find(word);
            if (known != counts.end()) {
                ++known->second;
            } else {
                counts.emplace(word, 1);
            }
        }
    });
}

}  // namespace

WordCounts count_words(const std::vector<std::filesystem::path>& files, Casing casing, std::size_t threads) {
    FileBlocks blocks(files);
    std::vector<WordCounts> counts_of_threads(threads);
    for_each_index(threads, threads, [&](std::size_t thread) {
        WordReader words(casing, TokenRules::huggingface);
        for (std::string block; blocks.next(block);) count_block(block, words, counts_of_threads[thread]);
    });
    WordCounts total = std::move(counts_of_threads.at(0));
    for (std::size_t thread = 1; thread < threads; ++thread)
        for (const auto& [word, count] : counts_of_threads[thread]) total[word] += count;
    return total;
}

}  // namespace bertpretrain

#include "text/extract.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <deque>
#include <limits>
#include <ostream>
#include <string>

#include "core/error.h"
#include "core/files.h"
#include "core/task_pool.h"
#include "text/article_text.h"
#include "text/byte_source.h"
#include "text/extract_progress.h"
#include "text/input_files.h"
#include "text/page_chunks.h"

namespace bertpretrain {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
constexpr std::size_t most_bytes_in_work = std::size_t{48} << 20;
// Parsing markup may take thirty times its size in memory, so chunks above this size are processed alone.
constexpr std::size_t large_chunk = std::size_t{2} << 20;

fs::path partial_of(fs::path output) { return output += ".partial"; }

void check_output(const fs::path& output, const std::vector<fs::path>& dumps) {
    if (!output.has_filename()) throw ConfigError(concat("--output ", output.string(), ": expected the name of a file"));
    for (const fs::path& file : {output, partial_of(output)}) {
        if (!fs::exists(file)) continue;
        if (!fs::is_regular_file(file))
            throw ConfigError(concat("--output ", file.string(), ": exists and is not a regular file; choose another"));
        for (const fs::path& dump : dumps)
            if (dump != standard_input && fs::equivalent(file, dump))
                throw ConfigError(concat("--output ", output.string(), ": would overwrite the dump ", dump.string()));
    }
    make_writable_folder(output.has_parent_path() ? output.parent_path() : fs::path("."));
}

/// One thread splits the files into chunks and writes the text; all threads clean the chunks and split their sentences.
class Extraction {
public:
    Extraction(const ExtractSettings& settings, const std::vector<fs::path>& dumps)
        : settings_(settings),
          dumps_(dumps),
          progress_(bytes_of(dumps)),
          pool_(std::min(settings.threads, most_extract_threads)) {
        if (!learns_first(settings.sentences)) split_ = splitter_for(settings.sentences);
    }

    ExtractCounts run() {
        write_atomically(settings_.output, [this](std::ostream& out) {
            for (const fs::path& dump : dumps_) read(dump, out);
            if (!split_) learn();
            drain(out, 0);
            if (counts_.articles == 0)
                throw DataError(concat("no article found in ", counts_.pages, " pages: ", explain_nothing()));
        });
        counts_.seconds = std::chrono::duration<double>(Clock::now() - start_).count();
        return counts_;
    }

private:
    struct InWork {
        std::future<ChunkText> text;
        std::size_t bytes = 0;
    };
    struct Cleaned {
        std::future<ChunkProse> prose;
        std::size_t bytes = 0;
    };

    void read(const fs::path& dump, std::ostream& out) {
        PageChunks chunks(dump, pool_);
        const std::uint64_t bytes_before = counts_.bytes_read;
        try {
            while (true) {
                auto chunk = std::make_shared<PageChunk>();
                if (!chunks.next(*chunk)) break;
                counts_.bytes_read = bytes_before + chunks.bytes_read();
                progress_.show(counts_);
                take(std::move(chunk), out);
            }
        } catch (const DataError&) {
            wait_for_all(out);  // throws instead when an earlier chunk has an error
            throw;
        }
        counts_.bytes_read = bytes_before + chunks.bytes_read();
    }

    void take(std::shared_ptr<const PageChunk> chunk, std::ostream& out) {
        const std::size_t bytes = chunk->text.size();
        const bool is_large = bytes > large_chunk;
        if (is_large) wait_for_all(out);
        if (!split_) {
            cleaning_.push_back(
                {pool_.submit([chunk = std::move(chunk), rules = settings_.prose] { return prose_of_chunk(*chunk, rules); }),
                 bytes});
            bytes_cleaning_ += bytes;
            while (is_too_much(cleaning_.size(), bytes_cleaning_)) finish_one_cleaning();
            if (learned_from_ >= punkt_learning_bytes) learn();
        } else {
            add(pool_.submit([chunk = std::move(chunk), this] {
                return text_of(prose_of_chunk(*chunk, settings_.prose), split_, settings_.minimum_sentences);
            }),
                bytes);
        }
        if (is_large) wait_for_all(out);
        else drain(out, std::numeric_limits<std::size_t>::max());
    }

    void wait_for_all(std::ostream& out) {
        finish_cleaning();
        drain(out, 0);
    }

    bool is_too_much(std::size_t chunks, std::size_t bytes) const {
        return chunks > 1 && (chunks > 2 * pool_.threads() + 1 || bytes > most_bytes_in_work);
    }

    void add(std::future<ChunkText> text, std::size_t bytes) {
        in_work_.push_back({std::move(text), bytes});
        bytes_in_work_ += bytes;
    }

    /// Waits for chunks and writes them in order, until at most `chunks` are left and those in work are within the limits.
    void drain(std::ostream& out, std::size_t chunks) {
        while (in_work_.size() > chunks || is_too_much(in_work_.size(), bytes_in_work_)) {
            InWork next = std::move(in_work_.front());
            in_work_.pop_front();
            bytes_in_work_ -= next.bytes;
            const ChunkText done = pool_.wait(next.text);
            out.write(done.text.data(), static_cast<std::streamsize>(done.text.size()));
            if (!out)
                throw DataError(concat(partial_of(settings_.output).string(), ": writing failed (", std::strerror(errno),
                                       "); free some space"));
            counts_.add_pages(done.counts);
            counts_.bytes_written += done.text.size();
        }
    }

    void finish_one_cleaning() {
        Cleaned next = std::move(cleaning_.front());
        cleaning_.pop_front();
        bytes_cleaning_ -= next.bytes;
        auto prose = std::make_shared<ChunkProse>(pool_.wait(next.prose));
        for (const std::string& article : prose->articles) learned_from_ += article.size();
        sample_.push_back(std::move(prose));
    }

    void finish_cleaning() {
        while (!cleaning_.empty()) finish_one_cleaning();
    }

    /// Trains Punkt on the articles cleaned so far, then splits these articles into sentences.
    void learn() {
        finish_cleaning();
        std::vector<std::string_view> articles;
        std::size_t bytes = 0;
        for (const auto& prose : sample_)
            for (const std::string& article : prose->articles) {
                if (bytes >= punkt_learning_bytes) break;
                articles.emplace_back(article);
                bytes += article.size();
            }
        split_ = learned_splitter(articles, pool_);
        for (auto& prose : sample_)
            add(pool_.submit([prose = std::move(prose), this] { return text_of(*prose, split_, settings_.minimum_sentences); }),
                0);
        sample_.clear();
    }

    std::string explain_nothing() const {
        return concat(counts_.redirects, " redirects, ", counts_.other_pages, " of other types, ", counts_.short_articles,
                      " with fewer than ", settings_.minimum_sentences,
                      " sentences; pass a pages-articles dump or a smaller --minimum-sentences");
    }

    const ExtractSettings& settings_;
    const std::vector<fs::path>& dumps_;
    SplitSentences split_;  ///< empty while Punkt's training sample is being collected
    ExtractCounts counts_;
    Clock::time_point start_ = Clock::now();
    ExtractProgress progress_;
    std::vector<std::shared_ptr<ChunkProse>> sample_;
    std::size_t learned_from_ = 0;  ///< size of the sample in bytes
    std::deque<Cleaned> cleaning_;
    std::deque<InWork> in_work_;
    std::size_t bytes_cleaning_ = 0, bytes_in_work_ = 0;
    TaskPool pool_;  ///< the last member, so that its threads end before what their tasks use is destroyed
};

}  // namespace

ExtractCounts extract(const ExtractSettings& settings) {
    const std::vector<fs::path> dumps = input_files(settings.dumps);
    check_output(settings.output, dumps);
    try {
        return Extraction(settings, dumps).run();
    } catch (const DataError&) {
        std::error_code ignored;
        fs::remove(partial_of(settings.output), ignored);  // incomplete, and the error is reported
        throw;
    }
}

}  // namespace bertpretrain

#include "text/extract.h"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <ostream>
#include <string>

#include "core/error.h"
#include "core/files.h"
#include "core/log.h"
#include "core/strings.h"
#include "text/dump_reader.h"
#include "text/wikitext.h"

namespace bertpretrain {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
constexpr double seconds_between_reports = 5;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

fs::path partial_of(fs::path output) { return output += ".partial"; }

void check_dumps(const std::vector<fs::path>& dumps) {
    if (dumps.empty()) throw ConfigError("no dump given; name at least one .xml or .xml.bz2 file");
    for (const fs::path& dump : dumps) {
        if (!fs::exists(dump)) throw DataError(concat(dump.string(), ": does not exist; nothing has been written"));
        if (fs::is_directory(dump))
            throw DataError(concat(dump.string(), ": is a folder, expected a dump; nothing has been written"));
    }
}

void check_output(const ExtractSettings& settings) {
    const fs::path& output = settings.output;
    if (!output.has_filename()) throw ConfigError(concat("--output ", output.string(), ": expected the name of a file"));
    for (const fs::path& file : {output, partial_of(output)}) {
        if (!fs::exists(file)) continue;
        if (!fs::is_regular_file(file))
            throw ConfigError(concat("--output ", file.string(), ": exists and is no ordinary file; choose another"));
        for (const fs::path& dump : settings.dumps)
            if (fs::equivalent(file, dump))
                throw ConfigError(concat("--output ", output.string(), ": would overwrite the dump ", dump.string()));
    }
    make_writable_folder(output.has_parent_path() ? output.parent_path() : fs::path("."));
}

/// The first articles of the dumps.
std::vector<std::string> sample_of(const std::vector<fs::path>& dumps) {
    std::vector<std::string> lines;
    std::size_t bytes = 0;
    for (const fs::path& dump : dumps) {
        DumpReader reader(dump);
        for (Page page; bytes < punkt_learning_bytes && reader.next(page);) {
            if (page.is_redirect || !is_article(page)) continue;
            for (std::string& paragraph : prose_of(page.text, reader.namespaces())) {
                bytes += paragraph.size();
                lines.push_back(std::move(paragraph));
            }
            lines.emplace_back();
        }
    }
    return lines;
}

class Extraction {
public:
    explicit Extraction(const ExtractSettings& settings)
        : settings_(settings), split_(choose_splitter(settings.sentences, [&] { return sample_of(settings.dumps); })) {}

    ExtractCounts run() {
        write_atomically(settings_.output, [this](std::ostream& out) {
            for (const fs::path& dump : settings_.dumps) read(dump, out);
            if (counts_.articles == 0) throw DataError(concat("no article in ", counts_.pages, " pages: ", explain_nothing()));
        });
        counts_.seconds = seconds_since(start_);
        return counts_;
    }

private:
    void read(const fs::path& dump, std::ostream& out) {
        DumpReader reader(dump);
        const std::uint64_t bytes_before = counts_.bytes_read;
        for (Page page; reader.next(page);) {
            ++counts_.pages;
            counts_.bytes_read = bytes_before + reader.bytes_read();
            if (page.is_redirect) ++counts_.redirects;
            else if (!is_article(page)) ++counts_.other_pages;
            else write_article(page, reader.namespaces(), out);
            report(dump);
        }
        counts_.bytes_read = bytes_before + reader.bytes_read();
    }

    void write_article(const Page& page, const Namespaces& namespaces, std::ostream& out) {
        std::string article;
        std::int64_t sentences = 0;
        for (const std::string& paragraph : prose_of(page.text, namespaces)) {
            for (const std::string& sentence : split_(paragraph)) {
                article.append(sentence).append("\n");
                ++sentences;
            }
        }
        if (sentences < settings_.minimum_sentences || sentences == 0) {
            ++counts_.short_articles;
            return;
        }
        article += '\n';
        out.write(article.data(), static_cast<std::streamsize>(article.size()));
        if (!out)
            throw DataError(
                concat(partial_of(settings_.output).string(), ": writing failed (", std::strerror(errno), "); free some space"));
        ++counts_.articles;
        counts_.sentences += sentences;
        counts_.bytes_written += article.size();
    }

    void report(const fs::path& dump) {
        const double now = seconds_since(start_);
        if (now - reported_ < seconds_between_reports) return;
        reported_ = now;
        log_info(concat(dump.filename().string(), ": ", with_thousands(counts_.pages), " pages, ",
                        with_thousands(counts_.articles), " articles, ", bytes_text(counts_.bytes_read), " read, ",
                        fixed(static_cast<double>(counts_.bytes_read) / 1e6 / now, 1), " MB/s"));
    }

    std::string explain_nothing() const {
        return concat(counts_.redirects, " redirects, ", counts_.other_pages, " of other kinds, ", counts_.short_articles,
                      " with fewer than ", settings_.minimum_sentences,
                      " sentences; give a pages-articles dump or a smaller --minimum-sentences");
    }

    const ExtractSettings& settings_;
    const SplitSentences split_;
    ExtractCounts counts_;
    Clock::time_point start_ = Clock::now();
    double reported_ = 0;
};

}  // namespace

ExtractCounts extract(const ExtractSettings& settings) {
    check_dumps(settings.dumps);
    check_output(settings);
    try {
        return Extraction(settings).run();
    } catch (const DataError&) {
        std::error_code ignored;
        fs::remove(partial_of(settings.output), ignored);  // useless without its end, and the error says why
        throw;
    }
}

}  // namespace bertpretrain

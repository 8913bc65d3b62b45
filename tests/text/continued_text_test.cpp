// Extraction that goes on where a killed process has ended.
#include <csignal>
#include <optional>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/catch.h"
#include "support/files.h"
#include "support/skip.h"
#include "text/reader/extract.h"
#include "text/reader/extract_part.h"
#include "text/reader/join_text.h"

using namespace bertpretrain;
using bertpretrain::testing::read_text;
using bertpretrain::testing::TemporaryFolder;
using bertpretrain::testing::write_text;
namespace fs = std::filesystem;

#ifdef __SANITIZE_THREAD__
#define NEEDS_THREADS_AFTER_FORK() \
    SKIP_TEST(testing::skip::sanitizer, "the thread sanitizer ends a forked process that starts threads")
#else
#define NEEDS_THREADS_AFTER_FORK() static_cast<void>(0)
#endif

namespace {

constexpr int corpus_files = 12, documents_of_file = 40;

/// Documents of their own, of three paragraphs each; one record of each file is malformed.
std::string records_of(int file) {
    std::string lines = "{\"text\": 1}\n";
    for (int document = 0; document < documents_of_file; ++document) {
        std::string text;
        for (int paragraph = 0; paragraph < 3; ++paragraph)
            for (int word = 0; word < 60; ++word)
                text += (word % 12 == 0 ? "The mill " : "word") + std::to_string(file * 7 + document + word * paragraph) +
                        (word % 12 == 11 ? ". "
                         : word == 59    ? "\\n"
                                         : " ");
        lines += "{\"text\": \"" + text + "\"}\n";
    }
    return lines;
}

struct Corpus {
    TemporaryFolder folder;
    ExtractSettings settings;

    Corpus() {
        for (int file = 0; file < corpus_files; ++file) {
            const fs::path path = folder / ("in_" + std::to_string(100 + file) + ".jsonl");
            write_text(path, records_of(file));
            settings.inputs.push_back(path);
        }
        settings.reading.most_bad = 0.5;
        settings.save_seconds = 0;
        settings.threads = 2;
    }
    ExtractSettings into(const char* name) const {
        ExtractSettings named = settings;
        named.output = folder / name;
        return named;
    }
    /// Replaces what the first file says, but neither its size nor its time: who reads it again gets other text.
    void forge_first() const {
        const auto time = fs::last_write_time(settings.inputs.front());
        std::string text = read_text(settings.inputs.front());
        for (std::size_t at = 0; (at = text.find("word", at)) != text.npos;) text.replace(at, 4, "lord");
        write_text(settings.inputs.front(), text);
        fs::last_write_time(settings.inputs.front(), time);
    }
    std::string origin_of(const char* name) const {
        const std::string record = read_text(folder / (std::string(name) + ".lineage.json"));
        return record.substr(record.find("\"made_from\""));
    }
};

/// Runs `work` in a process that the kernel kills as soon as a file grows beyond `bytes`.
template <class Work>
void run_until_killed(std::uint64_t bytes, const Work& work) {
    const ::pid_t child = ::fork();
    if (child == 0) {
        const rlimit limit{bytes, bytes};
        ::setrlimit(RLIMIT_FSIZE, &limit);
        const rlimit no_core{0, 0};
        ::setrlimit(RLIMIT_CORE, &no_core);
        std::signal(SIGXFSZ, SIG_DFL);
        work();
        ::_exit(0);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE((WIFSIGNALED(status) && WTERMSIG(status) == SIGXFSZ));
}

}  // namespace

TEST_CASE("extraction that was killed goes on after its whole files, and makes the same bytes and the same record") {
    NEEDS_THREADS_AFTER_FORK();
    Corpus corpus;
    corpus.settings.reading.sentences.punkt = GENERATE(false, true);
    const ExtractCounts whole = extract(corpus.into("whole.txt"));
    const std::string text = read_text(corpus.folder / "whole.txt");
    run_until_killed(text.size() / 2, [&] { extract(corpus.into("cut.txt")); });
    CHECK_FALSE(fs::exists(corpus.folder / "cut.txt"));
    REQUIRE(fs::exists(corpus.folder / "cut.txt.so_far.partial"));
    if (!corpus.settings.reading.sentences.punkt) corpus.forge_first();  // Punkt learns from it again
    const ExtractCounts counts = extract(corpus.into("cut.txt"));
    CHECK(read_text(corpus.folder / "cut.txt") == text);
    CHECK(counts.articles == whole.articles);
    CHECK(counts.sentences == whole.sentences);
    CHECK(counts.bytes_written == whole.bytes_written);
    CHECK(counts.bytes_read == whole.bytes_read);
    CHECK(counts.bad_records == corpus_files);
    CHECK(corpus.origin_of("cut.txt") == corpus.origin_of("whole.txt"));
    CHECK_FALSE(fs::exists(corpus.folder / "cut.txt.so_far.partial"));
    CHECK_FALSE(fs::exists(corpus.folder / "cut.txt.partial"));
}

TEST_CASE("extraction goes on after each of several kills, also in the middle of a file, and makes the same bytes") {
    NEEDS_THREADS_AFTER_FORK();
    const Corpus corpus;
    std::string large;  // is read in several chunks
    for (int i = 0; i < 60; ++i) large += records_of(100 + i);
    write_text(corpus.settings.inputs[5], large);
    extract(corpus.into("whole.txt"));
    const std::string text = read_text(corpus.folder / "whole.txt");
    std::uint64_t saved = 0;
    for (const std::uint64_t share : {3U, 5U, 7U, 9U}) {
        run_until_killed(text.size() * share / 10, [&] { extract(corpus.into("cut.txt")); });
        const std::uint64_t now = fs::file_size(corpus.folder / "cut.txt.partial");
        CHECK(now > saved);
        saved = now;
    }
    extract(corpus.into("cut.txt"));
    CHECK(read_text(corpus.folder / "cut.txt") == text);
}

TEST_CASE("extraction begins again with other settings, other inputs, and a text that was changed since") {
    NEEDS_THREADS_AFTER_FORK();
    Corpus corpus;
    const auto half = [&] {
        extract(corpus.into("whole.txt"));
        run_until_killed(fs::file_size(corpus.folder / "whole.txt") / 2, [&] { extract(corpus.into("cut.txt")); });
    };
    half();
    SECTION("settings") { corpus.settings.reading.sentences.none = true; }
    SECTION("inputs") { corpus.settings.inputs.erase(corpus.settings.inputs.begin()); }
    SECTION("a changed input") { write_text(corpus.settings.inputs.front(), records_of(99)); }
    SECTION("the text") {
        std::string so_far = read_text(corpus.folder / "cut.txt.partial");
        so_far[so_far.size() / 8] = '#';
        write_text(corpus.folder / "cut.txt.partial", so_far);
    }
    SECTION("a text that is too short") { fs::resize_file(corpus.folder / "cut.txt.partial", 100); }
    SECTION("the record") { write_text(corpus.folder / "cut.txt.so_far.partial", "{\"request\": {}"); }
    extract(corpus.into("cut.txt"));
    extract(corpus.into("whole.txt"));
    CHECK(read_text(corpus.folder / "cut.txt") == read_text(corpus.folder / "whole.txt"));
}

TEST_CASE("a part of a text that was killed goes on, and the parts have the bytes of the whole") {
    NEEDS_THREADS_AFTER_FORK();
    const Corpus corpus;
    extract(corpus.into("whole.txt"));
    const std::string text = read_text(corpus.folder / "whole.txt");
    extract_part(corpus.into("parts.txt"), {1, 2});
    run_until_killed(text.size() / 4, [&] { extract_part(corpus.into("parts.txt"), {2, 2}); });
    CHECK(fs::exists(corpus.folder / "parts.txt.part_2_of_2.so_far.partial"));
    const ExtractCounts part = extract_part(corpus.into("parts.txt"), {2, 2});
    CHECK(part.bad_records == corpus_files / 2);
    join_text(corpus.folder / "parts.txt");
    CHECK(read_text(corpus.folder / "parts.txt") == text);
    CHECK_FALSE(fs::exists(corpus.folder / "parts.txt.part_2_of_2.so_far.partial"));
}

TEST_CASE("extraction of inputs that can be read once saves nothing to go on with") {
    NEEDS_THREADS_AFTER_FORK();
    const Corpus corpus;
    const fs::path pipe = corpus.folder / "pipe";
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    const int held = ::open(pipe.c_str(), O_RDWR | O_CLOEXEC);  // so that who opens it to read does not wait
    REQUIRE(held >= 0);
    ExtractSettings settings = corpus.into("cut.txt");
    settings.inputs.push_back(pipe);
    run_until_killed(20'000, [&] { extract(settings); });
    ::close(held);
    CHECK_FALSE(fs::exists(corpus.folder / "cut.txt.so_far.partial"));
}

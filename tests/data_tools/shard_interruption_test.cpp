// What `shard` leaves when it cannot finish, and what the next run does.

#include <map>

#include <nlohmann/json.hpp>

#include "core/files/files.h"
#include "support/catch.h"
#include "support/command.h"
#include "support/contains.h"
#include "support/files.h"

using namespace bertpretrain;
using testing::contains;
using namespace bertpretrain::testing;

namespace {

/// A text that takes about a second to shard, and the commands for it.
class Corpus {
public:
    Corpus() {
        std::string text, vocabulary = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n.\n";
        for (int word = 0; word < 500; ++word) vocabulary += "w" + std::to_string(word) + "\n";
        std::uint32_t state = 1;
        for (int article = 0; article < 1500; ++article, text += "\n")
            for (int sentence = 0; sentence < 12; ++sentence, text += ".\n")
                for (int word = 0; word < 12; ++word)
                    text += "w" + std::to_string((state = state * 1664525 + 1013904223) >> 16 & 511) + " ";
        write_text(folder / "text.txt", text);
        write_text(folder / "vocabulary.txt", vocabulary);
    }
    std::string options;  ///< further ones of the command

    std::string shard(const std::string& output, int shards = 12) const {
        return PROGRAM_FOLDER "/bertpretrain_data shard " + path("text.txt") + " --vocabulary " + path("vocabulary.txt") +
               " --output " + path(output) + " --shards " + std::to_string(shards) +
               " --held-out-shards 1 --threads 1 --duplicate-factor 8 " + options;
    }
    std::string path(const std::string& name) const { return (folder / name).string(); }

    TemporaryFolder folder;
};

std::map<std::string, std::string> content(const std::filesystem::path& folder) {
    std::map<std::string, std::string> files;
    for (const auto& file : std::filesystem::directory_iterator(folder))
        files[file.path().filename().string()] = read_text(file.path());
    return files;
}

/// Checks that all files with a shard's final name equal those of an undisturbed run.
void check_only_whole_shards(const std::filesystem::path& folder, const std::map<std::string, std::string>& undisturbed) {
    for (const auto& [name, bytes] : content(folder)) {
        INFO(name);
        if (name.ends_with(".h5")) CHECK(bytes == undisturbed.at(name));
    }
}

}  // namespace

TEST_CASE("a full disk ends shard with exit code 3 and one message, and the same command then gives the full result") {
    const Corpus corpus;
    REQUIRE(run_command(corpus.shard("undisturbed", 2)).exit_code == 0);
    const auto undisturbed = content(corpus.folder / "undisturbed");
    CHECK(undisturbed.size() == 2 + 1 + 3);
    // File size limits in KiB: too small for the tokens, then too small for a shard
    for (const std::string limit : {"64", "1000"}) {
        INFO(limit);
        const std::filesystem::path output = corpus.folder / ("limit" + limit);
        std::filesystem::create_directory(output);
        write_text(output / "mine_training_notes.txt", "a user's file");
        const auto full = run_command("bash -c 'ulimit -f " + limit + "; exec " + corpus.shard("limit" + limit, 2) + "'");
        INFO(full.err);
        CHECK(full.exit_code == 3);
        CHECK(contains(full.err, "File too large"));
        CHECK(contains(full.err, output.string()));
        CHECK(contains(full.err, limit == "64" ? "a temporary file cannot be written" : "_training_0000.h5.partial"));
        CHECK_FALSE(contains(full.err, "HDF5"));
        CHECK_FALSE(std::filesystem::exists(output / "manifest.json"));
        CHECK(list_files(output, {".partial"}).empty());
        check_only_whole_shards(output, undisturbed);
        CHECK(run_command(PROGRAM_FOLDER "/bertpretrain_data check " + output.string()).exit_code == 3);

        REQUIRE(run_command(corpus.shard("limit" + limit, 2)).exit_code == 0);
        auto found = content(output);
        CHECK(found.erase("mine_training_notes.txt") == 1);
        CHECK(found == undisturbed);
    }
}

TEST_CASE(
    "shard killed in the middle leaves a folder that readers refuse, and the same command goes on after the finished shards") {
    Corpus corpus;
    corpus.options = GENERATE("", "--objective mlm --best-fit");
    CAPTURE(corpus.options);
    REQUIRE(run_command(corpus.shard("undisturbed")).exit_code == 0);
    const auto undisturbed = content(corpus.folder / "undisturbed");
    const std::filesystem::path output = corpus.folder / "killed";
    for (const std::string signal : {"KILL", "TERM"}) {
        INFO(signal);
        std::filesystem::create_directory(output);
        write_text(output / "corpus_training_notes.txt", "a user's file");
        // The signal is sent as soon as the third shard exists.
        const auto killed = run_command("bash -c '" + corpus.shard("killed") + " & pid=$!; while kill -0 $pid && ! [ -e " +
                                        (output / "corpus_training_0002.h5").string() + " ]; do sleep 0.005; done; kill -" +
                                        signal + " $pid; wait $pid'");
        CHECK(killed.exit_code == (signal == "KILL" ? 137 : 143));
        CHECK_FALSE(std::filesystem::exists(output / "manifest.json"));
        CHECK(std::filesystem::exists(output / "corpus_training_0002.h5"));
        check_only_whole_shards(output, undisturbed);
        const auto checked = run_command(PROGRAM_FOLDER "/bertpretrain_data check " + output.string());
        CHECK(checked.exit_code == 3);
        CHECK(contains(checked.err, "not complete"));

        const auto again = run_command(corpus.shard("killed"));
        CHECK(again.exit_code == 0);
        CHECK(contains(again.err, "an earlier run was interrupted; going on after "));
        CHECK_FALSE(contains(again.err, "going on after 0 "));
        auto found = content(output);
        CHECK(found.erase("corpus_training_notes.txt") == 1);
        CHECK(found == undisturbed);
        std::filesystem::remove_all(output);
    }
}

TEST_CASE("after an interruption other settings or text start over, and so does a finished shard that was changed") {
    Corpus corpus;
    const std::string third = corpus.path("out/corpus_training_0002.h5");
    const auto kill_after_three = [&] {
        std::filesystem::remove_all(corpus.folder / "out");
        run_command("bash -c '" + corpus.shard("out") + " & pid=$!; while kill -0 $pid && ! [ -e " + third +
                    " ]; do sleep 0.005; done; kill -9 $pid; wait $pid'");
    };
    const auto is_made_again = [&](const std::string& options) {
        corpus.options = options;
        const auto again = run_command(corpus.shard("out"));
        INFO(again.err);
        CHECK(again.exit_code == 0);
        CHECK(contains(again.err, "files to build them again"));
        REQUIRE(run_command(corpus.shard("undisturbed") + " --overwrite").exit_code == 0);
        CHECK(content(corpus.folder / "out") == content(corpus.folder / "undisturbed"));
        corpus.options = "";
    };
    kill_after_three();
    is_made_again("--seed 7");
    kill_after_three();
    std::string bytes = read_text(corpus.folder / "out/corpus_training_0000.h5");
    bytes.back() = static_cast<char>(bytes.back() + 1);
    write_text(corpus.folder / "out/corpus_training_0000.h5", bytes);
    is_made_again("");
    kill_after_three();
    write_text(corpus.folder / "text.txt", read_text(corpus.folder / "text.txt") + "\nw1 w2 w3 .\n");
    is_made_again("");
}

TEST_CASE("a second run on the same folder is refused") {
    const Corpus corpus;
    const auto second =
        run_command("bash -c '" + corpus.shard("out") + " & while ! [ -s " + corpus.path("out/building.json") +
                    " ]; do sleep 0.005; done; " + corpus.shard("out") + " --overwrite; code=$?; wait; exit $code'");
    CHECK(second.exit_code == 2);
    CHECK(contains(second.err, "another run is making shards there"));
    CHECK(run_command(PROGRAM_FOLDER "/bertpretrain_data check " + corpus.path("out")).exit_code == 0);
}

TEST_CASE("a text thirty times as large needs hardly more memory") {
    const Corpus corpus;
    const std::string text = read_text(corpus.folder / "text.txt");
    std::string large;
    for (int copy = 0; copy < 60; ++copy) large += text;
    write_text(corpus.folder / "large.txt", large);
    write_text(corpus.folder / "script.py", R"(
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
)");
    const auto peak_mib = [&](const std::string& name, const std::string& output) {
        const auto result =
            run_command("python3 " + corpus.path("script.py") + " " PROGRAM_FOLDER "/bertpretrain_data shard " +
                        corpus.path(name) + " --vocabulary " + corpus.path("vocabulary.txt") + " --output " +
                        corpus.path(output) + " --shards 1 --held-out-fraction 0 --threads 2 --duplicate-factor 1 --group-mib 2");
        INFO(result.err);
        REQUIRE(result.exit_code == 0);
        return std::stod(result.out) / 1024;
    };
    write_text(corpus.folder / "small.txt", text + text);
    const double small = peak_mib("small.txt", "small"), big = peak_mib("large.txt", "big");
    INFO(small << " and " << big << " MiB");
    CHECK(big < small + 30);  // for 60 MiB more text
    // The large text's shard has many groups. Its statistics equal those of one group.
    const auto part = [&](const std::string& output) {
        const auto checked = run_command(PROGRAM_FOLDER "/bertpretrain_data check " + corpus.path(output) + " --json");
        CHECK(checked.exit_code == 0);
        return nlohmann::json::parse(checked.out)["training"];
    };
    const auto of_small = part("small"), of_big = part("big");
    CHECK(of_big["rows"].get<double>() == Approx(30 * of_small["rows"].get<double>()).epsilon(0.02));
    CHECK(of_big["mean_length"].get<double>() == Approx(of_small["mean_length"].get<double>()).epsilon(0.02));
}

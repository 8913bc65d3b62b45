// The production loop with a folder of texts: which files a generation learns, and what is noted about them.
#include <algorithm>
#include <sstream>

#include "support/catch.h"
#include "system/pipeline_loop.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;
namespace fs = std::filesystem;

namespace {

/// A loop whose texts are daily exports in CSV.
class DailyLoop : public Loop {
public:
    DailyLoop() : Loop(short_run) { fs::create_directory(inbox()); }

    fs::path inbox() const { return folder / "inbox"; }
    /// Writes an export with every `step`-th article of the sample, from article `first` on.
    void write_day(const std::string& name, std::size_t first, std::size_t step) const {
        const std::string text = read_text(sample_data().text);
        std::string csv = "id,body\n";
        std::size_t article = 0;
        for (std::size_t at = 0, end = 0; at < text.size(); at = end + 2, ++article) {
            end = std::min(text.find("\n\n", at), text.size());
            if (article % step != first) continue;
            std::string body = text.substr(at, end - at);
            std::replace(body.begin(), body.end(), '"', '\'');
            csv += concat(article, ",\"", body, "\"\n");
        }
        write_text(inbox() / name, csv);
    }
    void write_bad_day(const std::string& name) const { write_text(inbox() / name, "id,body\n1,never \"closed\n2\n3\n"); }

    /// The settings of a round.
    nlohmann::json settings(const std::string& sequence_length = "64",
                            const nlohmann::json& set = nlohmann::json::array()) const {
        return {{"data",
                 {{"training_shards", nullptr},
                  {"text_folder", inbox().string()},
                  {"shard_options",
                   {"--vocabulary", sample_data().vocabulary.string(), "--text-field", "body", "--sequence-length",
                    sequence_length, "--max-predictions", "10", "--duplicate-factor", "1", "--shards", "1"}}}},
                {"training", {{"set", set}}},
                {"export", {{"formats", nlohmann::json::array()}}},
                {"embedding", {{"text", nullptr}}}};
    }
    CommandResult day(const std::string& environment = "") const { return round(settings(), environment); }

    /// Returns the sizes and names of the files that a generation has learned: "SIZE NAME\n" for each.
    std::string learned(const std::string& generation) const {
        std::istringstream lines(read_text(models() / generation / "texts_learned"));
        std::string all, size, time, name;
        while (lines >> size >> time >> name) all += concat(size, " ", name, "\n");
        return all;
    }
    std::string size_and_name(const std::string& name) const { return concat(fs::file_size(inbox() / name), " ", name, "\n"); }
    std::size_t corpus_files(const std::string& generation) const {
        return nlohmann::json::parse(read_text(models() / generation / "shards/manifest.json")).at("corpus").size();
    }
    /// Writes a program for BERTPRETRAIN_DATA that runs `commands` after each `shard`. @returns the variable
    std::string after_shard(const std::string& commands) const {
        write_text(folder / "data_program",
                   concat("#!/usr/bin/env bash\n", data_program, " \"$@\"\ncode=$?\nif [[ $1 == shard ]]; then ", commands,
                          "; fi\nexit $code\n"));
        fs::permissions(folder / "data_program", fs::perms::owner_all);
        return concat("BERTPRETRAIN_DATA=", (folder / "data_program").string());
    }
};

}  // namespace

TEST_CASE("a pipeline selects its texts again until their shards are made, so that a replaced file is learned once") {
    NEEDS_TRAIN();
    const DailyLoop loop;
    loop.write_bad_day("monday.csv");
    loop.write_day("sunday.csv", 0, 2);
    const CommandResult bad = loop.day();
    INFO(bad.err);
    CHECK(bad.exit_code == 3);
    CHECK(missing_words(bad.err, {"_monday.csv is " + (loop.inbox() / "monday.csv").string(), "take it out of"}) == "");
    CHECK_FALSE(fs::exists(loop.models() / "next/texts_learned"));

    for (const auto& link : fs::directory_iterator(loop.models() / "next/texts"))  // by hand
        if (link.path().string().ends_with("_sunday.csv")) fs::remove(link.path());
    loop.write_day("monday.csv", 1, 4);
    loop.write_day("tuesday.csv", 3, 4);
    const CommandResult good = loop.day();
    INFO(good.err);
    REQUIRE(good.exit_code == 0);
    CHECK(loop.corpus_files("0001") == 3);
    const std::string learned = loop.learned("0001");
    for (const char* name : {"sunday.csv", "monday.csv", "tuesday.csv"})
        CHECK(missing_words(learned, {loop.size_and_name(name)}) == "");
    CHECK(std::count(learned.begin(), learned.end(), '\n') == 3);
    CHECK(missing_words(loop.day().err, {"has no new texts"}) == "");

    loop.write_bad_day("wednesday.csv");
    CHECK(loop.day().exit_code == 3);
    fs::remove(loop.inbox() / "wednesday.csv");
    CHECK(loop.day().exit_code == 0);
    CHECK_FALSE(loop.has_next());
}

TEST_CASE("new texts without any document are nothing new for a pipeline, and are read again with newer ones") {
    NEEDS_TRAIN();
    const DailyLoop loop;
    write_text(loop.inbox() / "quiet.csv", "id,body\n");
    write_text(loop.inbox() / "empty.csv", "");
    const CommandResult quiet = loop.day();
    INFO(quiet.err);
    CHECK(quiet.exit_code == 0);
    CHECK(missing_words(quiet.err, {"hold no document", "quiet.csv", "empty.csv"}) == "");
    CHECK_FALSE(loop.has_next());
    CHECK_FALSE(fs::exists(loop.models() / "0001"));
    loop.write_day("busy.csv", 0, 1);
    const CommandResult busy = loop.day();
    INFO(busy.err);
    REQUIRE(busy.exit_code == 0);
    CHECK(missing_words(loop.learned("0001"), {" quiet.csv", loop.size_and_name("busy.csv")}) == "");
}

TEST_CASE("new texts with a single article are too few for a held-out share, and a pipeline learns them with the next day's") {
    NEEDS_TRAIN();
    const DailyLoop loop;
    write_text(loop.inbox() / "quiet.csv", "id,body\n1,The only text of the day.\n");
    const CommandResult quiet = loop.day();
    INFO(quiet.err);
    CHECK(quiet.exit_code == 0);
    CHECK(missing_words(quiet.err, {"no shards were made", "leaves none of 1 articles for training",
                                    "too few for shards: quiet.csv", "read again with newer ones"}) == "");
    CHECK_FALSE(loop.has_next());
    loop.write_day("busy.csv", 0, 1);
    const CommandResult busy = loop.day();
    INFO(busy.err);
    REQUIRE(busy.exit_code == 0);
    CHECK(missing_words(loop.learned("0001"), {loop.size_and_name("quiet.csv"), loop.size_and_name("busy.csv")}) == "");
}

TEST_CASE("a pipeline reads its texts again if a file changed while it was read, and notes the size that was read") {
    NEEDS_TRAIN();
    const DailyLoop loop;
    loop.write_day("day.csv", 0, 1);
    const std::string append = concat("echo '99,\"One more. And another.\"' >>", (loop.inbox() / "day.csv").string());
    const CommandResult growing = loop.day(loop.after_shard(append));
    INFO(growing.err);
    CHECK(growing.exit_code == 3);
    CHECK(missing_words(growing.err, {"while they were read (attempt 3 of 3): day.csv", "name that begins with a dot"}) == "");
    CHECK_FALSE(fs::exists(loop.models() / "next/texts_learned"));

    const std::string mark = (loop.folder / "mark").string();
    const CommandResult once = loop.day(loop.after_shard(concat("[[ -e ", mark, " ]] || { touch ", mark, "; ", append, "; }")));
    INFO(once.err);
    REQUIRE(once.exit_code == 0);
    CHECK(missing_words(once.err, {"while they were read (attempt 1 of 3): day.csv"}) == "");
    CHECK(loop.learned("0001") == loop.size_and_name("day.csv"));
    const auto corpus = nlohmann::json::parse(read_text(loop.models() / "0001/shards/manifest.json")).at("corpus");
    CHECK(corpus.at(0).at("bytes").get<std::uintmax_t>() == fs::file_size(loop.inbox() / "day.csv"));
}

TEST_CASE("a pipeline makes its shards again with changed options or vocabulary, until the training has saved a checkpoint") {
    NEEDS_TRAIN();
    const DailyLoop loop;
    loop.write_day("day.csv", 0, 1);
    const fs::path vocabulary = loop.folder / "vocab.txt";
    fs::copy_file(sample_data().vocabulary, vocabulary);
    const auto with_vocabulary = [&](const std::string& sequence_length) {
        nlohmann::json settings = loop.settings(sequence_length);
        settings["data"]["shard_options"][1] = vocabulary.string();
        return settings;
    };
    const std::string tokens = read_text(vocabulary);
    CHECK(loop.round(with_vocabulary("128")).exit_code == 3);  // the model has 64 positions
    write_text(vocabulary, tokens.substr(0, tokens.find_last_of('\n', tokens.size() - 2)) + "\nzzzz\n");
    const CommandResult shorter = loop.round(with_vocabulary("64"), "TRAIN_LAUNCHER=false");
    INFO(shorter.err);
    CHECK(missing_words(shorter.err, {"data.shard_options", "have changed", "making them again", "0001: data"}) == "");
    CHECK(loop.round(with_vocabulary("64"), "TRAIN_LAUNCHER=false").err.find("have changed") == std::string::npos);
    write_text(vocabulary, tokens);
    write_text(loop.folder / "train", concat("#!/usr/bin/env bash\n", train_program, " train \"$@\" && exit 5\n"));
    fs::permissions(loop.folder / "train", fs::perms::owner_all);
    const CommandResult trained = loop.round(with_vocabulary("64"), "TRAIN_LAUNCHER=" + (loop.folder / "train").string());
    INFO(trained.err);
    CHECK(trained.exit_code == 5);
    CHECK(missing_words(trained.err, {"have changed", "making them again"}) == "");

    const std::string manifest = read_text(loop.models() / "0001/shards/manifest.json");
    const CommandResult kept = loop.round(with_vocabulary("32"));
    INFO(kept.err);
    CHECK(missing_words(kept.err, {"have changed", "keeps the shards"}) == "");
    CHECK(read_text(loop.models() / "0001/shards/manifest.json") == manifest);
}

TEST_CASE("a refused generation's new texts are named, because the next generation learns them again") {
    NEEDS_TRAIN();
    const DailyLoop loop;
    loop.write_day("day0.csv", 0, 7);
    REQUIRE(loop.day().exit_code == 0);
    for (std::size_t day = 1; day < 7; ++day) loop.write_day(concat("day", day, ".csv"), day, 7);
    const CommandResult refused = loop.round(loop.settings("64", {"optimizer.learning_rate=3"}));
    INFO(refused.err);
    REQUIRE(refused.exit_code == 6);
    CHECK(missing_words(refused.err, {"trained on 6 new files of " + loop.inbox().string(), ".csv and 1 more",
                                      "take a bad file out of " + loop.inbox().string()}) == "");
}

TEST_CASE("a pipeline warns of a new text that the held-out shards were made from") {
    NEEDS_TRAIN();
    const DailyLoop loop;
    nlohmann::json settings = loop.settings();
    settings["data"]["shard_options"][3] = "text";
    fs::copy_file(sample_data().text, loop.inbox() / "known.txt");
    const CommandResult known = loop.round(settings);
    INFO(known.err);
    CHECK(known.exit_code == 0);
    CHECK(missing_words(known.err, {"warning: " + (loop.inbox() / "known.txt").string() + " is also a text of",
                                    sample_data().shards.string()}) == "");
    loop.write_day("unknown.csv", 0, 1);
    const CommandResult unknown = loop.day();
    INFO(unknown.err);
    CHECK(unknown.err.find("is also a text of") == std::string::npos);
}

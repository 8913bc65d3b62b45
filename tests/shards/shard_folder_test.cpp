#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <sstream>

#include "core/error.h"
#include "core/files/files.h"
#include "core/random.h"
#include "core/strings.h"
#include "sample_rows.h"
#include "shards/build/shard_builder.h"
#include "shards/check/row_check.h"
#include "shards/check/shard_checker.h"
#include "shards/dynamic_masking.h"
#include "shards/shard_reader.h"
#include "support/catch.h"
#include "support/contains.h"
#include "support/files.h"
#include "text/utf8.h"
#include "tokens/vocabulary/vocabulary.h"

using namespace bertpretrain;
using testing::contains;
using namespace bertpretrain::testing;

namespace {

/// A text of 60 articles. Every word of article a is "a<number>", so that a token identifies its article.
class Corpus {
public:
    Corpus() {
        std::string vocabulary = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n", text;
        RandomSequence random(4, Purpose::document_order, 0);
        for (int a = 0; a < 60; ++a) {
            vocabulary += "a" + std::to_string(a) + "\n";
            for (std::uint32_t s = 0, sentences = 2 + random.below(30); s < sentences; ++s) {
                for (std::uint32_t w = 0, words = 1 + random.below(20); w < words; ++w) text += "A" + std::to_string(a) + " ";
                text += "\n";
            }
            text += "\n";
        }
        write_text(folder / "text.txt", text);
        write_text(folder / "vocabulary.txt", vocabulary);
    }

    ShardBuildSettings settings(const std::string& output, std::size_t threads = 1) const {
        ShardBuildSettings settings;
        settings.texts = {folder / "text.txt"};
        settings.vocabulary = folder / "vocabulary.txt";
        settings.output = folder / output;
        settings.name = "w";
        settings.samples.sequence_length = 32;
        settings.samples.max_predictions = 5;
        settings.shards = 3;
        settings.held_out_shards = 2;
        settings.threads = threads;
        return settings;
    }

    TemporaryFolder folder;
};

std::string refusal(const ShardBuildSettings& settings) {
    try {
        build_shards(settings);
    } catch (const ConfigError& error) { return error.what(); }
    return "accepted";
}

std::vector<std::string> problems(const std::filesystem::path& folder) {
    return check_shard_folder(folder, std::nullopt, 2).problems;
}

const std::vector<std::string> all_files{"README.md",      "manifest.json",      "vocab.txt",          "w_test_0000.h5",
                                         "w_test_0001.h5", "w_training_0000.h5", "w_training_0001.h5", "w_training_0002.h5"};

}  // namespace

TEST_CASE("the number of threads changes no byte of a folder of shards, but the seed does") {
    const Corpus corpus;
    build_shards(corpus.settings("one", 1));
    build_shards(corpus.settings("four", 4));
    ShardBuildSettings other = corpus.settings("other");
    other.samples.seed = 6;
    build_shards(other);
    std::vector<std::string> found;
    for (const auto& file : list_files(corpus.folder / "one", {""})) found.push_back(file.filename().string());
    CHECK(found == all_files);
    for (const std::string& name : all_files) {
        INFO(name);
        CHECK(read_text(corpus.folder / "one" / name) == read_text(corpus.folder / "four" / name));
        if (name != "vocab.txt") CHECK(read_text(corpus.folder / "one" / name) != read_text(corpus.folder / "other" / name));
    }
}

TEST_CASE("no article is both trained on and held out, and each occurs in the rows of one shard only") {
    const Corpus corpus;
    const ShardBuildReport report = build_shards(corpus.settings("out"));
    CHECK(report.articles == 60);
    std::vector<std::set<std::int32_t>> labels;  // labels are original tokens, which identify their article
    for (const ShardRecord& record : report.manifest.shards) {
        const ShardReader reader(corpus.folder / "out" / record.file);
        const ShardRows rows = reader.read(0, reader.rows());
        check_rows(rows, 65, record.file);
        CHECK(rows.rows == record.rows);
        labels.emplace_back(rows.masked_lm_ids_RP.begin(), rows.masked_lm_ids_RP.end());
        labels.back().erase(0);
    }
    std::set<std::int32_t> all;
    std::size_t total = 0;
    for (const auto& of_shard : labels) {
        total += of_shard.size();
        all.insert(of_shard.begin(), of_shard.end());
    }
    CHECK(all.size() == 60);
    CHECK(total == 60);
}

TEST_CASE("an article that occurs twice is never both trained on and held out") {
    const Corpus corpus;
    const std::string text = read_text(corpus.folder / "text.txt");
    write_text(corpus.folder / "text.txt", text + lower_text(text));
    for (const std::uint64_t seed : {1U, 2U, 3U}) {
        ShardBuildSettings settings = corpus.settings("out");
        settings.samples.seed = seed;
        settings.overwrite = true;
        CHECK(build_shards(settings).articles == 120);
        const FolderReport report = check_shard_folder(corpus.folder / "out", std::nullopt, 2);
        CHECK(report.rules_version == current_rules_version);
        CHECK(report.passages.held_out_rows > 50);
        CHECK(report.passages.with_a_trained == 0);
        CHECK(report.passages.mostly_repeated == report.passages.rows);
    }
}

TEST_CASE("the manifest's sums and its unigram cross-entropy equal those of the rows") {
    const Corpus corpus;
    const Manifest manifest = build_shards(corpus.settings("out")).manifest;
    std::map<std::int32_t, double> counts;
    double all = 0;
    for (const ShardRecord& record : manifest.shards) {
        const ShardReader reader(corpus.folder / "out" / record.file);
        const ShardRows rows = reader.read(0, reader.rows());
        CHECK(std::count(rows.input_mask_RS.begin(), rows.input_mask_RS.end(), 1) == record.tokens);
        const auto& positions = rows.masked_lm_positions_RP;
        CHECK(static_cast<std::int64_t>(positions.size()) - std::count(positions.begin(), positions.end(), 0) == record.masked);
        CHECK(crc32_of_file(reader.file()) == record.crc32);
        CHECK(static_cast<std::int64_t>(std::filesystem::file_size(reader.file())) == record.bytes);
        if (shard_kind(record.file) != ShardKind::training) continue;
        for (std::size_t i = 0; i < positions.size(); ++i)
            if (positions[i] != 0) ++counts[rows.masked_lm_ids_RP[i]], ++all;
    }
    double entropy = 0;
    for (const auto& [label, count] : counts) entropy -= count / all * std::log(count / all);
    CHECK(manifest.unigram_cross_entropy == Approx(entropy).epsilon(1e-12));
    CHECK(manifest.vocabulary.crc32 == Vocabulary::read(corpus.folder / "out" / "vocab.txt").crc32());
}

TEST_CASE("rows of a shard are shuffled, so neighbours are rarely from the same article") {
    const Corpus corpus;
    build_shards(corpus.settings("out"));
    const ShardReader reader(corpus.folder / "out" / "w_training_0000.h5");
    const ShardRows rows = reader.read(0, reader.rows());
    std::int64_t same = 0;
    for (std::int64_t r = 1; r < rows.rows; ++r)
        same +=
            rows.masked_lm_ids_RP[static_cast<std::size_t>(r * 5)] == rows.masked_lm_ids_RP[static_cast<std::size_t>((r - 1) * 5)]
                ? 1
                : 0;
    CHECK(same * 4 < rows.rows);
}

TEST_CASE("a folder with shards is not changed without --overwrite, and completely replaced with it") {
    const Corpus corpus;
    ShardBuildSettings settings = corpus.settings("out");
    build_shards(settings);
    settings.shards = 2;
    CHECK(contains(refusal(settings), "--overwrite"));
    CHECK(std::filesystem::exists(corpus.folder / "out" / "w_training_0002.h5"));
    settings.overwrite = true;
    settings.shards = 200;
    CHECK(contains(refusal(settings), "too few"));
    CHECK(problems(corpus.folder / "out").empty());  // a refused request destroys nothing
    settings.shards = 2;
    CHECK(refusal(settings) == "accepted");
    CHECK_FALSE(std::filesystem::exists(corpus.folder / "out" / "w_training_0002.h5"));
    CHECK(problems(corpus.folder / "out").empty());

    write_text(corpus.folder / "out" / "mine_training.h5", "from elsewhere");
    CHECK(contains(refusal(settings), "mine_training.h5: is a shard that the folder's manifest does not list"));
    CHECK(std::filesystem::exists(corpus.folder / "out" / "w_training_0001.h5"));
    CHECK(std::filesystem::exists(corpus.folder / "out" / "manifest.json"));

    std::filesystem::create_directory(corpus.folder / "kept");
    write_text(corpus.folder / "kept" / "vocab.txt", "mine");
    CHECK(contains(refusal(corpus.settings("kept")), "another vocabulary"));
    CHECK(read_text(corpus.folder / "kept" / "vocab.txt") == "mine");
}

TEST_CASE("invalid settings are a ConfigError before anything is written") {
    const Corpus corpus;
    const auto with = [&](const std::function<void(ShardBuildSettings&)>& change) {
        ShardBuildSettings settings = corpus.settings("never");
        change(settings);
        return refusal(settings);
    };
    CHECK(contains(with([](auto& s) { s.samples.sequence_length = 4; }), "sequence_length = 4"));
    CHECK(contains(with([](auto& s) { s.samples.max_predictions = 30; }), "at most 29"));
    CHECK(contains(with([](auto& s) { s.samples.max_predictions = 0; }), "max_predictions = 0"));
    CHECK(contains(with([](auto& s) { s.samples.duplicate_factor = 0; }), "duplicate_factor"));
    CHECK(contains(with([](auto& s) { s.samples.masked_lm_prob = 1.5; }), "masked_lm_prob"));
    CHECK(contains(with([](auto& s) { s.samples.masked_lm_prob = std::nan(""); }), "masked_lm_prob"));
    CHECK(contains(with([](auto& s) { s.samples.held_out_fraction = -0.1; }), "held_out_fraction"));
    CHECK(contains(with([](auto& s) { s.samples.held_out_fraction = 0; }), "contradict"));
    CHECK(contains(with([](auto& s) { s.held_out_shards = 0; }), "contradict"));
    CHECK(contains(with([](auto& s) { s.held_out_shards = -1; }), "contradict"));
    CHECK(contains(with([](auto& s) { s.shards = 0; }), "--shards 0"));
    CHECK(contains(with([](auto& s) { s.name = "a/b"; }), "--name"));
    CHECK(contains(with([](auto& s) { s.name = "training_wiki"; }), "--name"));
    CHECK_FALSE(std::filesystem::exists(corpus.folder / "never"));
}

TEST_CASE("a sound folder has no problem, and its report adds up") {
    const Corpus corpus;
    const Manifest manifest = build_shards(corpus.settings("out")).manifest;
    const FolderReport report = check_shard_folder(corpus.folder / "out", std::nullopt, 2);
    CHECK(report.problems.empty());
    CHECK(report.has_manifest);
    CHECK(report.vocabulary_size == 65);
    CHECK(report.shards.size() == 5);
    CHECK(report.training.rows + report.held_out.rows > 500);
    CHECK(report.unigram_cross_entropy == Approx(manifest.unigram_cross_entropy).epsilon(1e-12));
    CHECK(report.training.masking_rate() == Approx(0.15).margin(0.02));
}

TEST_CASE("every kind of damage to a folder is found and named") {
    const Corpus corpus;
    build_shards(corpus.settings("out"));
    const std::filesystem::path out = corpus.folder / "out", shard = out / "w_training_0001.h5";
    const std::string sound = read_text(shard);
    const auto only_problem = [&] {
        const std::vector<std::string> found = problems(out);
        return found.size() == 1 ? found[0] : concat(found.size(), " problems: ", join(found, " | "));
    };

    std::string flipped = sound;
    flipped[flipped.size() / 2] = static_cast<char>(flipped[flipped.size() / 2] ^ 1);
    write_text(shard, flipped);
    CHECK(contains(only_problem(), "w_training_0001.h5: its checksum is"));

    std::filesystem::remove(shard);
    CHECK(contains(only_problem(), "w_training_0001.h5: is missing"));
    write_text(shard, sound);
    CHECK(problems(out).empty());

    write_text(out / "extra_training_9.h5", sound);
    CHECK(contains(only_problem(), "extra_training_9.h5: is not in the manifest"));
    std::filesystem::remove(out / "extra_training_9.h5");

    const std::string vocabulary = read_text(out / "vocab.txt");
    write_text(out / "vocab.txt", vocabulary + "more\n");
    CHECK(contains(only_problem(), "another vocabulary"));
    write_text(out / "vocab.txt", vocabulary);

    const std::string manifest = read_text(out / "manifest.json");
    for (const auto member : {&ShardRecord::rows, &ShardRecord::tokens, &ShardRecord::masked}) {
        Manifest wrong = *read_manifest(out);
        wrong.shards.back().*member += 1;
        write_manifest(out, wrong);
        CHECK(contains(only_problem(), ", the manifest says " + std::to_string(wrong.shards.back().*member)));
        write_text(out / "manifest.json", manifest);
    }
    Manifest wrong = *read_manifest(out);
    wrong.unigram_cross_entropy += 1e-6;
    write_manifest(out, wrong);
    CHECK(contains(only_problem(), "unigram cross-entropy"));
    write_text(out / "manifest.json", manifest.substr(0, 300));
    CHECK(contains(only_problem(), "manifest.json"));
    std::filesystem::remove(out / "manifest.json");
    CHECK(problems(out).empty());  // NVIDIA's folders have none

    write_rows(out / "x_training_0.h5", made_up_rows(30, 32, 5));  // ids up to 999
    const std::string outside = only_problem();
    CHECK(contains(outside, "x_training_0.h5: input_ids["));
    CHECK(contains(outside, "an id from 0 to 64"));
    std::filesystem::remove(out / "vocab.txt");
    CHECK(problems(out).empty());
    write_rows(out / "x_training_0.h5", made_up_rows(30, 64, 5));
    CHECK(contains(only_problem(), "x_training_0.h5: has sequence_length 64"));
    write_text(out / "x_training_0.h5", "no HDF5");
    CHECK(contains(only_problem(), "x_training_0.h5: is not a readable HDF5 file"));
    CHECK_THROWS_AS(check_shard_folder(corpus.folder / "absent", std::nullopt, 1), DataError);
}

TEST_CASE("equal rows are counted, in one shard and between shards") {
    const TemporaryFolder folder;
    const ShardRows rows = made_up_rows(50);
    write_rows(folder / "a_training_0.h5", rows);
    const std::int64_t own = check_shard_folder(folder.path(), std::nullopt, 1).duplicates.rows;
    write_rows(folder / "a_training_1.h5", slice(rows, 10, 20));
    CHECK(check_shard_folder(folder.path(), std::nullopt, 1).duplicates.rows == own + 20);
}

TEST_CASE("equal texts with other masks are counted apart from equal rows, and so are held-out texts that are trained on") {
    const TemporaryFolder folder;
    const ShardRows rows = made_up_rows(50);
    std::vector<std::int64_t> numbers(20);
    const ShardRows remasked = mask_again(slice(rows, 10, 20), numbers, {{0.15, 10}, special_ids, vocabulary_size, 1});
    write_rows(folder / "a_training_0.h5", rows);
    const Duplicates own = check_shard_folder(folder.path(), std::nullopt, 1).duplicates;
    write_rows(folder / "a_test_0.h5", remasked);
    const Duplicates found = check_shard_folder(folder.path(), std::nullopt, 1).duplicates;
    CHECK(found.texts == own.texts + 20);
    CHECK(found.rows < own.rows + 5);
    CHECK(found.held_out_trained == 20);
}

TEST_CASE(
    "with best_fit, the number of threads changes no byte, each article is whole in the rows, and check knows packed rows") {
    const Corpus corpus;
    const auto settings_of = [&](const std::string& output, std::size_t threads) {
        ShardBuildSettings settings = corpus.settings(output, threads);
        settings.samples.objective = "mlm";
        settings.samples.best_fit = true;
        settings.samples.short_seq_prob = 0;
        settings.samples.duplicate_factor = 1;
        settings.samples.sequence_length = 1024;
        settings.samples.max_predictions = 100;
        return settings;
    };
    build_shards(settings_of("one", 1));
    build_shards(settings_of("four", 4));
    for (const std::string& name : all_files)
        CHECK(read_text(corpus.folder / "one" / name) == read_text(corpus.folder / "four" / name));
    std::map<std::int32_t, std::int64_t> expected, found;  // tokens by article
    std::istringstream words(read_text(corpus.folder / "text.txt"));
    for (std::string word; words >> word;) ++expected[5 + std::stoi(word.substr(1))];
    std::int64_t documents = 0;
    for (const auto& file : list_files(corpus.folder / "one", {".h5"})) {
        const ShardReader reader(file);
        ShardRows rows = reader.read(0, reader.rows());
        restore_text(rows);
        for (std::size_t i = 0; i < rows.input_ids_RS.size(); ++i) {
            if (rows.input_ids_RS[i] >= 5) ++found[rows.input_ids_RS[i]];
            documents += rows.input_ids_RS[i] == 2 ? 1 : 0;
        }
    }
    CHECK(found == expected);
    CHECK(documents == 60);
    const FolderReport report = check_shard_folder(corpus.folder / "one", std::nullopt, 2);
    CHECK(report.problems.empty());
    CHECK(report.training.documents + report.held_out.documents == 60);

    const std::filesystem::path manifest = corpus.folder / "one" / "manifest.json";
    std::string text = read_text(manifest);
    const std::string best_fit = "\"best_fit\": true";
    REQUIRE(contains(text, best_fit));
    write_text(manifest, text.replace(text.find(best_fit), best_fit.size(), "\"best_fit\": false"));
    CHECK(contains(problems(corpus.folder / "one").front(), "has packed rows, but the manifest says best_fit false"));
}

TEST_CASE("packed rows have no next sentences, and are packed in one way") {
    const Corpus corpus;
    ShardBuildSettings settings = corpus.settings("out");
    settings.samples.best_fit = true;
    CHECK(contains(refusal(settings), "--best-fit: needs --objective mlm"));
    settings.samples.objective = "mlm";
    settings.samples.short_seq_prob = 0;
    settings.samples.across_documents = true;
    CHECK(contains(refusal(settings), "--best-fit: cannot be combined with --across-documents"));
}

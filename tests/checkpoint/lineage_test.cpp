// The record of lineage, and what its verification finds.
#include "checkpoint/lineage.h"

#include "checkpoint/checkpoint_files.h"
#include "checkpoint/example_state.h"
#include "checkpoint/lineage_check.h"
#include "core/error.h"

namespace bertpretrain {
namespace {

using namespace testing;
namespace fs = std::filesystem;

/// A checkpoint with a lineage, its vocabulary, and one shard whose corpus is not recorded.
struct RecordedCheckpoint {
    RecordedCheckpoint() : store(folder / "checkpoints") {
        fs::create_directory(folder / "checkpoints");
        fs::create_directory(folder / "shards");
        write_text(folder / "vocab.txt", "[PAD]\n[UNK]\n");
        write_text(folder / "shards/a_training_0.h5", "rows");
        older = record(store.save(example_state(10).state), 10, {});
        newer = record(store.save(example_state(20).state), 20, {{10, digest_of_file(older / lineage_file).sha256}, {15, ""}});
    }

    fs::path record(const fs::path& checkpoint, std::int64_t step, std::vector<LineageLink> predecessors) const {
        Lineage lineage;
        lineage.step = step;
        lineage.files = digests_of_checkpoint(checkpoint);
        lineage.vocabulary = digest_of_file(folder / "vocab.txt");
        lineage.data.push_back(lineage_of_data("training", folder / "shards", {folder / "shards/a_training_0.h5"}));
        lineage.data[0].shards[0].sha256 = digest_of_file(folder / "shards/a_training_0.h5").sha256;
        lineage.sessions = {{0, 2, "settings", "avx2", "bertpretrain", "1", "commit", {{"libtorch", "2"}}}};
        lineage.predecessors = std::move(predecessors);
        write_text(checkpoint / lineage_file, lineage_text(lineage));
        return checkpoint;
    }

    TemporaryFolder folder;
    CheckpointStore store;
    fs::path older, newer;
};

/// Returns the names of the files in a state, separated by spaces.
std::string files_in(const std::vector<LineageFinding>& findings, LineageFinding::State state) {
    std::string names;
    for (const LineageFinding& finding : findings)
        if (finding.state == state) names += fs::path(finding.file).filename().string() + " ";
    return names.substr(0, names.empty() ? 0 : names.size() - 1);
}

using State = LineageFinding::State;

}  // namespace

TEST_CASE("a lineage reads back as it was written") {
    const RecordedCheckpoint recorded;
    const Lineage read = read_lineage(recorded.newer / lineage_file);
    CHECK(lineage_text(read) == read_text(recorded.newer / lineage_file));
    CHECK(read.step == 20);
    CHECK(read.files.size() == 5);
    CHECK(read.sessions[0].libraries.at("libtorch") == "2");
    CHECK(read.predecessors[1].sha256.empty());
}

TEST_CASE("the lineage of an unchanged checkpoint is equal to its files, and says what is not recorded") {
    const RecordedCheckpoint recorded;
    const auto findings = check_lineage(recorded.newer);
    CHECK(files_in(findings, State::different).empty());
    CHECK(files_in(findings, State::not_here).empty());
    CHECK(files_in(findings, State::not_recorded) == "shards lineage.json");
    CHECK(findings.size() == 10);  // five files, vocabulary, shard, corpus, two predecessors
}

TEST_CASE("each file that differs from the lineage is named, and one that is gone is not here") {
    const RecordedCheckpoint recorded;
    write_text(recorded.folder / "vocab.txt", "[PAD]\n[UNk]\n");
    write_text(recorded.newer / settings_file, "{}");
    std::string lineage = read_text(recorded.older / lineage_file);
    lineage[lineage.find("avx2")] = 'A';
    write_text(recorded.older / lineage_file, lineage);
    fs::remove(recorded.folder / "shards/a_training_0.h5");
    const auto findings = check_lineage(recorded.newer);
    CHECK(files_in(findings, State::different) == "settings.json vocab.txt lineage.json");
    CHECK(files_in(findings, State::not_here) == "a_training_0.h5");
}

TEST_CASE("a lineage that is missing, damaged or of a newer version is a DataError that names the file") {
    const RecordedCheckpoint recorded;
    const fs::path file = recorded.newer / lineage_file;
    std::string newer = read_text(file);
    newer.at(newer.find("\"format_version\": 1") + 18) = '9';
    for (const std::string& text : {std::string("{"), std::string("[]"), std::string("{\"format_version\": 1}"), newer}) {
        write_text(file, text);
        CHECK_THROWS_WITH(read_lineage(file), Says(file.string()));
        CHECK_THROWS_AS(check_lineage(recorded.newer), DataError);
    }
    fs::remove(file);
    CHECK_THROWS_WITH(check_lineage(recorded.newer), Says("has no lineage.json"));
}

}  // namespace bertpretrain

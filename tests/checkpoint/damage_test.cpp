// All damage to a checkpoint's files is detected, and the run resumes from the previous checkpoint.

#include <chrono>
#include <random>
#include <thread>

#include "checkpoint/checkpoint_files.h"
#include "checkpoint/checkpoint_reader.h"
#include "checkpoint/example_state.h"
#include "core/error.h"
#include "support/run_ranks.h"
#include "train/start/resume.h"

namespace bertpretrain {
namespace {

using namespace testing;
namespace fs = std::filesystem;

/// A state from which a run can resume.
ExampleState resumable(std::int64_t step) {
    ExampleState example = example_state(step);
    TrainingProgress progress;
    progress.step = step;
    progress.global_batch_sequences = 8;
    progress.data_fingerprint = "example";
    example.state.progress = progress.to_json();
    return example;
}

/// Two checkpoints, the newer of which the test damages.
struct TwoCheckpoints {
    TwoCheckpoints() : store(run / "checkpoints") {
        store.save(resumable(10).state);
        newer = store.save(resumable(20).state);
    }
    TemporaryFolder run;
    CheckpointStore store;
    fs::path newer;
};

/// Returns the error of opening the checkpoint; "" without an error.
std::string complaint(const fs::path& folder) {
    try {
        CheckpointReader reader(folder);
        return "";
    } catch (const CheckpointError& error) { return error.what(); }
}

/// Returns the tensor whose record contains a byte of a file; empty for bytes outside of tensors.
std::string tensor_at(const std::string& file, std::uint64_t position) {
    const ExampleState example = example_state(20);
    if (file != model_file && file != optimizer_file) return "";
    const PtLayout layout = file == model_file ? model_layout(example.state) : optimizer_layout(example.state);
    for (const PtRecord& record : layout.records())
        if (position >= record.file_offset && position < record.file_offset + record.bytes) return record.tensor;
    return "";
}

}  // namespace

TEST_CASE("each of 500 flipped bits, anywhere in a checkpoint's files, is found and its file and tensor named", "[system]") {
    const TwoCheckpoints two;
    std::map<std::string, std::string> contents;
    std::vector<std::pair<std::string, std::size_t>> bytes;
    for (const std::string& name : names_in(two.newer)) {
        contents[name] = read_text(two.newer / name);
        for (std::size_t at = 0; at < contents[name].size(); ++at) bytes.emplace_back(name, at);
    }
    const unsigned seed = std::random_device()();
    INFO("seed of the flips: " << seed);
    std::mt19937 random(seed);
    std::size_t in_tensors = 0;
    for (int flip = 0; flip < 500; ++flip) {
        const auto& [name, at] = bytes[random() % bytes.size()];
        const int bit = static_cast<int>(random() % 8);
        CAPTURE(name, at, bit);
        std::string spoilt = contents[name];
        spoilt[at] = static_cast<char>(spoilt[at] ^ (1 << bit));
        write_text(two.newer / name, spoilt);
        const std::string said = complaint(two.newer);
        CHECK(said.find(name) != said.npos);
        const std::string tensor = tensor_at(name, at);
        if (!tensor.empty()) ++in_tensors;
        CHECK(said.find(tensor) != said.npos);
        if (flip % 50 == 0) CHECK(choose_checkpoint(two.store, {})->step() == 10);
        write_text(two.newer / name, contents[name]);
    }
    CHECK(in_tensors > 0);
    CHECK(complaint(two.newer) == "");
    CHECK(choose_checkpoint(two.store, {})->step() == 20);
}

TEST_CASE("a checkpoint truncated at any 4 KiB border, or without one of its files, is not used") {
    const TwoCheckpoints two;
    for (const std::string& name : names_in(two.newer)) {
        CAPTURE(name);
        const std::string content = read_text(two.newer / name);
        for (std::size_t length = 0; length < content.size(); length += 4096) {
            fs::resize_file(two.newer / name, length);
            CHECK(complaint(two.newer).find(name) != std::string::npos);
            CHECK(*two.store.newest_complete() == two.store.folder() / "step_00000010");
            write_text(two.newer / name, content);
        }
        fs::remove(two.newer / name);
        CHECK(complaint(two.newer).find(name) != std::string::npos);
        CHECK(choose_checkpoint(two.store, {})->step() == 10);
        write_text(two.newer / name, content);
    }
    CHECK(choose_checkpoint(two.store, {})->step() == 20);
}

TEST_CASE("a rank whose view of the checkpoints is stale waits for rank 0's choice to appear") {
    const TwoCheckpoints two;
    const fs::path late = two.run / "late";  // shows step 10 at first, as a host's cache of the folder would
    fs::create_directory(late);
    fs::copy(two.store.folder() / "step_00000010", late / "step_00000010");
    run_ranks(2, [&](World& world) {
        std::jthread appears;
        if (world.rank() == 1)
            appears = std::jthread([&] {
                std::this_thread::sleep_for(std::chrono::milliseconds(300));
                fs::copy(two.newer, late / "copy");
                fs::rename(late / "copy", late / "step_00000020");
            });
        const auto point = choose_checkpoint(world, CheckpointStore(world.rank() == 0 ? two.store.folder() : late), {}, true);
        check(point && point->step == 20 && point->reader, "all ranks read rank 0's choice");
    });
}

TEST_CASE("a rank that does not find rank 0's choice in time reads through rank 0") {
    const TwoCheckpoints two;
    run_ranks(2, [&](World& world) {
        const CheckpointStore store(world.rank() == 0 ? two.store.folder() : two.run / "never");
        const auto point = choose_checkpoint(world, store, {}, true, std::chrono::milliseconds(0));
        check(point && point->step == 20, "all ranks go on from rank 0's choice");
        check((point->reader == nullptr) == (world.rank() == 1), "the reader is missing where the checkpoint is");
    });
}

TEST_CASE("if every checkpoint is damaged, the run ends with an error and does not start from scratch") {
    const TwoCheckpoints two;
    for (const char* step : {"step_00000010", "step_00000020"}) fs::resize_file(two.store.folder() / step / "model.pt", 100);
    CHECK_THROWS_WITH(choose_checkpoint(two.store, {}), Says("all 2 checkpoints are damaged"));
}

}  // namespace bertpretrain

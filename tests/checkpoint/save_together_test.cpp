#include "train/save/save_together.h"

#include "checkpoint/checkpoint_reader.h"
#include "checkpoint/example_state.h"
#include "checkpoint/slice_writer.h"
#include "core/error.h"
#include "support/run_ranks.h"

namespace bertpretrain {
namespace {

using namespace testing;

/// Returns the files of a checkpoint saved by one process.
std::map<std::string, std::string> saved_whole() {
    const TemporaryFolder run;
    const auto folder = CheckpointStore(run / "checkpoints").save(example_state(7).state);
    std::map<std::string, std::string> files;
    for (const std::string& name : names_in(folder)) files[name] = read_text(folder / name);
    return files;
}

}  // namespace

TEST_CASE("ranks save the same bytes as one process, for any subset of ranks that sees the folder") {
    const auto whole = saved_whole();
    for (const std::vector<bool>& sees : {std::vector<bool>{true, true, true}, {true, false, true}, {true, false, false}}) {
        const TemporaryFolder run;
        run_ranks(3, [&](World& world) {
            const auto rank = static_cast<std::size_t>(world.rank());
            // A rank that does not see the folder has its own, into which nothing is written.
            const CheckpointStore store(sees[rank] ? run / "checkpoints" : run / "apart");
            save_together(world, store, example_state(7, rank, 3).state, sees);
        });
        CHECK(names_in(run.path()) == std::vector<std::string>{"checkpoints"});
        for (const auto& [name, content] : whole) CHECK((read_text(run / "checkpoints/step_00000007" / name) == content));
    }
}

TEST_CASE("when rank 0's disk fails, every rank gets the error, and no part of the save is left") {
    const TemporaryFolder run;
    const auto said = [&](const std::vector<bool>& sees, const std::filesystem::path& folder) {
        std::vector<std::string> words(3);
        run_ranks(3, [&](World& world) {
            const auto rank = static_cast<std::size_t>(world.rank());
            try {
                save_together(world, CheckpointStore(folder), example_state(7, rank, 3).state, sees);
            } catch (const CheckpointError& error) { words[rank] = error.what(); } catch (const Error& error) {
                if (error.code() == ExitCode::checkpoint) words[rank] = error.what();
            }
        });
        return words;
    };
    for (const std::string& words : said({true, false, false}, run / "gone/checkpoints"))
        CHECK_THAT(words, Says("cannot be created (No such file or directory)"));
    CHECK(names_in(run.path()).empty());
}

TEST_CASE("a part that was damaged between ranks is refused") {
    const TemporaryFolder run;
    const CheckpointStore store(run / "checkpoints");
    const ExampleState example = example_state(7);
    store.begin(example.state);
    SliceWriter writer(store.partial_folder(7), example.state);
    const std::string packed = slice_parts(example.state, 100).front().pack();
    std::string damaged = packed;
    damaged.back() = static_cast<char>(damaged.back() ^ 4);
    CHECK_THROWS_WITH(writer.write(std::string_view(damaged)), Says("arrived damaged"));
    CHECK_THROWS_WITH(writer.write(std::string_view(packed).substr(0, packed.size() - 1)), Says("arrived damaged"));
    CHECK_THROWS_WITH(writer.write(std::string_view(packed).substr(0, 10)), Says("arrived damaged"));
    CHECK_NOTHROW(writer.write(std::string_view(packed)));
    store.abandon(7);
}

TEST_CASE("parts of any size make the same files") {
    const auto whole = saved_whole();
    for (const std::size_t largest : {4UL, 100UL, 100000UL}) {
        const TemporaryFolder run;
        const CheckpointStore store(run / "checkpoints");
        const ExampleState example = example_state(7);
        store.begin(example.state);
        SliceWriter writer(store.partial_folder(7), example.state);
        std::vector<SlicePart> parts = slice_parts(example.state, largest);
        std::reverse(parts.begin(), parts.end());
        for (const SlicePart& part : parts) {
            CHECK(part.bytes.size() <= largest);
            writer.write(part);
        }
        const auto folder = store.complete(example.state, {writer.flush()});
        for (const auto& [name, content] : whole) CHECK((read_text(folder / name) == content));
    }
}

}  // namespace bertpretrain

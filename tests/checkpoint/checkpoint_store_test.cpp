#include "checkpoint/checkpoint_store.h"

#include <chrono>
#include <csignal>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "checkpoint/checkpoint_files.h"
#include "checkpoint/checkpoint_reader.h"
#include "checkpoint/example_state.h"
#include "core/error.h"

namespace bertpretrain {
namespace {

using namespace testing;
using Names = std::vector<std::string>;

void save_steps(const CheckpointStore& store, const std::vector<std::int64_t>& steps) {
    for (const std::int64_t step : steps) store.save(example_state(step).state);
}

void flip_byte(const std::filesystem::path& file) {
    std::string content = read_text(file);
    content[content.size() / 2] = static_cast<char>(content[content.size() / 2] ^ 1);
    write_text(file, content);
}

}  // namespace

TEST_CASE("a checkpoint is a folder of plain files named for its step") {
    const TemporaryFolder run;
    const CheckpointStore store(run / "checkpoints");
    ExampleState example = example_state(200);
    write_text(run / "words.txt", "[PAD]\n[UNK]\n");
    example.state.vocabulary = std::make_shared<const TokenizerFile>(tokenizer_file(run / "words.txt"));
    CHECK(store.save(example.state) == run / "checkpoints" / "step_00000200");
    CHECK(names_in(run / "checkpoints") == Names{"step_00000200"});
    CHECK(names_in(run / "checkpoints" / "step_00000200") ==
          Names{"COMPLETE.json", "model.pt", "optimizer.pt", "settings.json", "training_state.json", "vocab.txt"});
    CHECK(read_text(run / "checkpoints" / "step_00000200" / "vocab.txt") == "[PAD]\n[UNK]\n");
    const auto mark = nlohmann::json::parse(read_text(run / "checkpoints" / "step_00000200" / "COMPLETE.json"));
    CHECK(mark["format_version"] == 1);
    CHECK(mark["step"] == 200);
    CHECK(mark["files"].size() == 5);
}

TEST_CASE("pieces from three ranks make the same bytes as a whole save") {
    const TemporaryFolder run;
    const CheckpointStore whole(run / "whole"), parts(run / "parts");
    whole.save(example_state(7).state);
    parts.begin(example_state(7, 0, 3).state);
    std::vector<SaveReceipt> receipts;
    for (const std::size_t rank : {2UL, 0UL, 1UL})
        receipts.push_back(SaveReceipt::unpack(parts.write(example_state(7, rank, 3).state).pack()));
    CHECK_FALSE(parts.newest_complete());
    parts.complete(example_state(7, 0, 3).state, receipts);
    for (const char* name : {"model.pt", "optimizer.pt", "training_state.json", "settings.json", "COMPLETE.json"})
        CHECK(read_text(run / "parts/step_00000007" / name) == read_text(run / "whole/step_00000007" / name));
}

TEST_CASE("a save that lacks a rank's pieces is not completed") {
    const TemporaryFolder run;
    const CheckpointStore store(run / "checkpoints");
    store.begin(example_state(7, 0, 2).state);
    const SaveReceipt receipt = store.write(example_state(7, 0, 2).state);
    CHECK_THROWS_WITH(store.complete(example_state(7, 0, 2).state, {receipt}), Says(words));
    CHECK(names_in(store.folder()).empty());
}

TEST_CASE("a damaged receipt is refused") {
    const std::string packed = SaveReceipt{{{1, 2, 3, 4}}, {{5, 6, 7, 8}, {9, 10, 11, 12}}}.pack();
    CHECK(SaveReceipt::unpack(packed).optimizer.at(1).bytes == 11);
    for (std::size_t size = 0; size < packed.size(); ++size)
        CHECK_THROWS_AS(SaveReceipt::unpack(packed.substr(0, size)), CheckpointError);
    CHECK_THROWS_AS(SaveReceipt::unpack(std::string(16, '\xff')), CheckpointError);
}

TEST_CASE("Python loads a checkpoint with weights_only, and its model strictly, with tied tensors", "[system]") {
    const TemporaryFolder run;
    const auto folder = CheckpointStore(run / "checkpoints").save(example_state(3).state);
    const CommandResult result = run_command(WARM_PYTHON " - '" + folder.string() + R"(' <<'END'
import sys, torch
value = lambda which, t, shape: (which * 1000 + t * 100 + torch.arange(torch.Size(shape).numel()) * 0.25).view(shape)
shapes = {"bert.embeddings.word_embeddings.weight": (30, 4), "cls.predictions.bias": (30,), "bert.pooler.dense.weight": (4, 4)}
for mmap in (False, True):
    model = torch.load(sys.argv[1] + "/model.pt", weights_only=True, mmap=mmap)
    optimizer = torch.load(sys.argv[1] + "/optimizer.pt", weights_only=True, mmap=mmap)
    assert optimizer["step"] == 3 and list(optimizer["state"]) == ["exp_avg", "exp_avg_sq"]
    for t, (name, shape) in enumerate(shapes.items()):
        assert model[name].dtype == torch.float32
        for which, tensors in enumerate([model, optimizer["state"]["exp_avg"], optimizer["state"]["exp_avg_sq"]]):
            assert torch.equal(tensors[name], value(which, t, shape)), (name, which)
    assert model["cls.predictions.decoder.weight"].data_ptr() == model["bert.embeddings.word_embeddings.weight"].data_ptr()
    bert = torch.nn.Module()
    for name in ("bert", "bert.embeddings", "bert.pooler", "cls", "cls.predictions"):
        bert.get_submodule(name.rpartition(".")[0]).add_module(name.rpartition(".")[2], torch.nn.Module())
    bert.bert.embeddings.word_embeddings = torch.nn.Embedding(30, 4)
    bert.bert.pooler.dense = torch.nn.Linear(4, 4, bias=False)
    bert.cls.predictions.bias = torch.nn.Parameter(torch.zeros(30))
    bert.cls.predictions.decoder = torch.nn.Linear(4, 30)
    bert.cls.predictions.decoder.weight = bert.bert.embeddings.word_embeddings.weight
    bert.cls.predictions.decoder.bias = bert.cls.predictions.bias
    bert.load_state_dict(model, strict=True)
    assert torch.equal(bert.cls.predictions.decoder.weight, value(0, 0, (30, 4)))
    assert list(model)[3:] == ["cls.predictions.decoder.weight", "cls.predictions.decoder.bias"]
END)");
    CHECK(result.err == "");
    CHECK(result.exit_code == 0);
}

TEST_CASE("only complete checkpoints are found, and the newest is the one with the largest step") {
    const TemporaryFolder run;
    const CheckpointStore store(run / "checkpoints");
    CHECK_FALSE(store.newest_complete());
    CHECK_THROWS_WITH(store.complete_at(5), Says("no other step has one"));
    save_steps(store, {9, 100, 20});
    std::filesystem::create_directories(store.folder() / "step_00000300.partial");
    std::filesystem::create_directories(store.folder() / "step_00000400");
    std::filesystem::create_directories(store.folder() / "step_9000");
    CHECK(*store.newest_complete() == store.folder() / "step_00000100");
    CHECK(store.all_complete().size() == 3);
    CHECK(store.complete_at(20) == store.folder() / "step_00000020");
    CHECK_THROWS_WITH(store.complete_at(21), Says("no complete checkpoint of step 21; complete ones: 9, 20, 100"));
    std::filesystem::resize_file(store.folder() / "step_00000100" / "model.pt", 5000);
    CHECK(*store.newest_complete() == store.folder() / "step_00000020");
    write_text(store.folder() / "step_00000020" / "COMPLETE.json", "{\"format_version\": 1, \"step\": ");
    CHECK(*store.newest_complete() == store.folder() / "step_00000009");
    std::filesystem::rename(store.folder() / "step_00000009", store.folder() / "step_00000010");
    CHECK_FALSE(store.newest_complete());
}

TEST_CASE("the remains of a killed save are removed by the next one") {
    const TemporaryFolder run;
    const CheckpointStore store(run / "checkpoints");
    store.begin(example_state(5).state);
    store.write(example_state(5).state);
    CHECK(names_in(store.folder()) == Names{"step_00000005.partial"});
    save_steps(store, {6});
    CHECK(names_in(store.folder()) == Names{"step_00000006"});
}

TEST_CASE("a checkpoint that a killed save had moved aside is restored, unless the new one has its name") {
    namespace fs = std::filesystem;
    const TemporaryFolder run;
    const CheckpointStore store(run / "checkpoints");
    save_steps(store, {5, 6});
    fs::rename(store.folder() / "step_00000005", store.folder() / "step_00000005.old.partial");
    fs::create_directory(store.folder() / "step_00000005.partial");
    fs::create_directory(store.folder() / "step_00000006.old.partial");
    fs::create_directory(store.folder() / "step_00000007.old.partial");  // not complete: half removed
    store.remove_unfinished();
    CHECK(names_in(store.folder()) == Names{"step_00000005", "step_00000006"});
    CHECK(CheckpointReader(store.complete_at(5)).step() == 5);
}

TEST_CASE("names that are not those of unfinished checkpoints stay, and so does a file of the user's called best") {
    namespace fs = std::filesystem;
    const TemporaryFolder run;
    const CheckpointStore store(run / "checkpoints");
    save_steps(store, {5});
    for (const char* name : {"step_00000005.fetched.partial", "step_00000006.partial", "step_notes.partial", "step_5.partial"})
        fs::create_directory(store.folder() / name);
    write_text(store.folder() / "best", "the user's");
    store.remove_unfinished();
    auto example = example_state(7);
    example.state.progress[held_out_loss_key] = 1;
    store.save(example.state);
    store.prune({.last = 2, .best = true});
    CHECK(names_in(store.folder()) == Names{"best", "step_00000005", "step_00000007", "step_5.partial", "step_notes.partial"});
    CHECK(read_text(store.folder() / "best") == "the user's");
}

TEST_CASE("saving a step again replaces the whole checkpoint") {
    const TemporaryFolder run;
    const CheckpointStore store(run / "checkpoints");
    save_steps(store, {5});
    ExampleState again = example_state(5);
    again.state.progress["samples"] = 1;
    store.save(again.state);
    CHECK(names_in(store.folder()) == Names{"step_00000005"});
    CHECK(CheckpointReader(store.complete_at(5)).progress()["samples"] == 1);
}

TEST_CASE("pruning keeps the newest checkpoints, those requested, and incomplete ones") {
    const TemporaryFolder run;
    const CheckpointStore store(run / "checkpoints");
    save_steps(store, {10, 20, 30, 40, 50, 60});
    std::filesystem::create_directories(store.folder() / "step_00000005");
    store.prune({.last = 2, .every = 30});
    CHECK(names_in(store.folder()) == Names{"step_00000005", "step_00000030", "step_00000050", "step_00000060"});
    store.prune({.last = 0});
    CHECK(names_in(store.folder()) == Names{"step_00000005", "step_00000060"});
}

TEST_CASE("pruning keeps the newest checkpoint that a cross check has confirmed") {
    const TemporaryFolder run;
    const CheckpointStore store(run / "checkpoints");
    save_steps(store, {10, 20, 30, 40});
    store.prune({.last = 1, .agreed = 29});
    CHECK(names_in(store.folder()) == Names{"step_00000020", "step_00000040"});
    store.prune({.last = 1, .agreed = 40});
    CHECK(names_in(store.folder()) == Names{"step_00000040"});
}

TEST_CASE("pruning moves a damaged checkpoint aside, and keeps an older intact one in its place") {
    const TemporaryFolder run;
    const CheckpointStore store(run / "checkpoints");
    save_steps(store, {10, 20, 30, 40});
    flip_byte(store.folder() / "step_00000040/model.pt");
    flip_byte(store.folder() / "step_00000030/settings.json");
    store.prune({.last = 1});
    CHECK(names_in(store.folder()) == Names{"damaged_step_00000030", "damaged_step_00000040", "step_00000020"});
    CHECK(CheckpointReader(*store.newest_complete()).step() == 20);
}

TEST_CASE("without verification, pruning deletes nothing because of a checkpoint that may be damaged") {
    const TemporaryFolder run;
    const CheckpointStore store(run / "checkpoints");
    save_steps(store, {10, 20, 30, 40});
    store.prune({.last = 2, .whole = {40}, .verify = false});
    CHECK(names_in(store.folder()).size() == 4);
    const auto pruned = store.prune({.last = 2, .whole = {10, 30, 40}, .verify = false});
    CHECK(names_in(store.folder()) == Names{"step_00000030", "step_00000040"});
    CHECK(pruned.whole == std::set<std::int64_t>{30, 40});
}

TEST_CASE("a damaged checkpoint that a command uses is not moved, and does not count") {
    const TemporaryFolder run;
    const CheckpointStore store(run / "checkpoints");
    save_steps(store, {10, 20, 30});
    flip_byte(store.folder() / "step_00000030/model.pt");
    store.prune({.last = 1, .steps = {30}});
    CHECK(names_in(store.folder()) == Names{"step_00000020", "step_00000030"});
}

TEST_CASE("a damaged best checkpoint is not a reason to delete the next best") {
    const TemporaryFolder run;
    const CheckpointStore store(run / "checkpoints");
    for (const auto& [step, loss] : {std::pair(10, 5.0), std::pair(20, 4.0), std::pair(30, 6.0), std::pair(40, 7.0)}) {
        ExampleState example = example_state(step);
        example.state.progress[held_out_loss_key] = loss;
        store.save(example.state);
    }
    flip_byte(store.folder() / "step_00000020/optimizer.pt");
    store.prune({.last = 1, .best = true});
    CHECK(names_in(store.folder()) == Names{"best", "damaged_step_00000020", "step_00000010", "step_00000040"});
    CHECK(CheckpointReader(store.folder() / best_link).step() == 10);
}

TEST_CASE("checkpoints of later steps that are moved aside are intact, and no longer found, pruned or linked") {
    const TemporaryFolder run;
    const CheckpointStore store(run / "checkpoints");
    save_steps(store, {10, 20});
    CHECK_FALSE(store.set_aside_after(20));
    ExampleState best = example_state(30);
    best.state.progress[held_out_loss_key] = 1;
    store.save(best.state);
    store.prune({.last = 5, .best = true});
    std::filesystem::create_directories(store.folder() / "step_00000040");  // damaged
    CHECK(store.set_aside_after(10) == store.folder() / "abandoned_after_00000010");
    CHECK(names_in(store.folder()) == Names{"abandoned_after_00000010", "step_00000010"});
    store.prune({.last = 1, .best = true});
    store.remove_unfinished();
    CHECK(names_in(store.folder() / "abandoned_after_00000010") == Names{"step_00000020", "step_00000030", "step_00000040"});
    CHECK(CheckpointReader(store.folder() / "abandoned_after_00000010/step_00000030").step() == 30);
    save_steps(store, {20});
    CHECK(store.set_aside_after(10) == store.folder() / "abandoned_after_00000010.2");
}

TEST_CASE("the checkpoint with the lowest held-out loss is kept, and the link best points to it") {
    const TemporaryFolder run;
    const CheckpointStore store(run / "checkpoints");
    CHECK_FALSE(store.best_complete());
    for (const auto& [step, loss] : {std::pair(10, 5.5), std::pair(20, 4.5), std::pair(30, 4.5), std::pair(40, 6.0)}) {
        const auto example = example_state(step);
        TrainingState state = example.state;
        state.progress[held_out_loss_key] = loss;
        store.save(state);
        store.prune({.last = 1, .best = true});
    }
    save_steps(store, {50});  // at a step that was not evaluated
    store.prune({.last = 1, .best = true});
    CHECK(store.best_complete() == store.folder() / "step_00000020");
    CHECK(names_in(store.folder()) == Names{"best", "step_00000020", "step_00000050"});
    CHECK(CheckpointReader(store.folder() / best_link).step() == 20);
    CHECK(resolve_checkpoint(run.path()) == store.folder() / "step_00000050");
}

TEST_CASE("a full disk ends the save with the file and the reason, and older checkpoints stay") {
    const TemporaryFolder run;
    const CheckpointStore store(run / "checkpoints");
    save_steps(store, {5});
    const auto message = [&](rlim_t largest_file) {  // a limit on file sizes fails like a full disk
        rlimit before{};
        ::getrlimit(RLIMIT_FSIZE, &before);
        const auto handler = std::signal(SIGXFSZ, SIG_IGN);
        const rlimit limit{largest_file, before.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &limit);
        std::string what;
        try {
            store.save(example_state(6).state);
        } catch (const CheckpointError& error) { what = error.what(); }
        ::setrlimit(RLIMIT_FSIZE, &before);
        std::signal(SIGXFSZ, handler);
        return what;
    };
    CHECK_THAT(message(5000), Says("model.pt: cannot be extended to its full size (File too large)"));
    CHECK_THAT(message(15000), Says("optimizer.pt: cannot be extended to its full size (File too large)"));
    CHECK(names_in(store.folder()) == Names{"step_00000005"});
    CHECK(CheckpointReader(*store.newest_complete()).step() == 5);
}

TEST_CASE("after a kill at any moment of a save, the newest complete checkpoint is intact") {
    const TemporaryFolder run;
    const CheckpointStore store(run / "checkpoints");
    save_steps(store, {1});
    const auto begin = std::chrono::steady_clock::now();
    save_steps(store, {2});
    const auto one_save = std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - begin).count();
    std::int64_t last = 2;
    constexpr int rounds = 30;
    // Kills after 0 up to twice the time of a save. A busy machine may take longer, but must complete one save in the end.
    for (int round = 0; round < rounds || (last == 2 && round < 20 * rounds); ++round) {
        const pid_t child = ::fork();
        if (child == 0) {
            for (std::int64_t step = last + 1;; ++step) {
                store.save(example_state(step).state);
                store.prune({.last = 1});
            }
        }
        ::usleep(static_cast<useconds_t>(one_save * 2 * round / rounds));
        ::kill(child, SIGKILL);
        ::waitpid(child, nullptr, 0);
        const auto newest = store.newest_complete();
        REQUIRE(newest);
        const CheckpointReader reader(*newest);
        CHECK(reader.step() >= last);
        last = reader.step();
    }
    CHECK(last > 2);
}

TEST_CASE("a user may pass a checkpoint, its run, or the folder of checkpoints") {
    const TemporaryFolder run;
    const CheckpointStore store(run / "checkpoints");
    CHECK_THROWS_WITH(resolve_checkpoint(run.path()), Says("no complete checkpoint") && Says("COMPLETE.json"));
    CHECK_THROWS_WITH(resolve_checkpoint(run / "nowhere"), Says("the folder does not exist"));
    save_steps(store, {5, 6});
    CHECK(resolve_checkpoint(run.path()) == store.folder() / "step_00000006");
    CHECK(resolve_checkpoint(store.folder()) == store.folder() / "step_00000006");
    CHECK(resolve_checkpoint(store.folder() / "step_00000005") == store.folder() / "step_00000005");
}

}  // namespace bertpretrain

// The production loop: each generation trains from the one before, and a worse one is refused.
#include "core/error.h"
#include "support/catch.h"
#include "support/process.h"
#include "system/pipeline_loop.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;
namespace fs = std::filesystem;

namespace {

/// Writes two programs for BERTPRETRAIN and BERTPRETRAIN_DATA that, at the first call of each command, kill it after 0.4 seconds,
/// and the pipeline with it. @returns the variables of the environment
std::string write_killers(const TemporaryFolder& folder) {
    for (const auto& [name, program] : {std::pair{"killer", train_program}, std::pair{"killer_data", data_program}}) {
        write_text(folder / name, concat("#!/usr/bin/env bash\nmark=\"", folder.path().string(), "/killed $1\"\n",
                                         "[[ $1 != export ]] || mark+=\" $4\"\n", "[[ $1 != config && ! -e $mark ]] || exec ",
                                         program, " \"$@\"\ntouch \"$mark\"\n", "timeout -s KILL 0.4 ", program, " \"$@\"\n",
                                         "[[ $1 != export ]] || mkdir -p \"$6.partial\"\n",  // as a later kill leaves it
                                         "kill -9 $PPID $$\n"));
        fs::permissions(folder / name, fs::perms::owner_all);
    }
    return concat("BERTPRETRAIN=", (folder / "killer").string(), " BERTPRETRAIN_DATA=", (folder / "killer_data").string());
}

}  // namespace

TEST_CASE("the pipeline trains a generation from the one before, continues after a failure, and refuses a worse one") {
    NEEDS_TRAIN();
    const Loop loop(short_run);
    const nlohmann::json five_steps = with("training", {{"set", {"schedule.total_steps=5"}}}),
                         wild = with("training", {{"set", {"schedule.total_steps=5", "optimizer.learning_rate=3"}}});

    const CommandResult first = loop.round();
    INFO(first.err);
    REQUIRE(first.exit_code == 0);
    CHECK(loop.leads_to("current") == "0001");
    for (const char* made : {"run/checkpoints", "evaluation.json", "hf/model.safetensors", "torchscript", "vectors.npy"})
        CHECK(fs::exists(loop.models() / "current" / made));

    write_text(loop.folder / "texts.txt", "");  // its last stage fails
    CHECK(loop.round(five_steps).exit_code == 3);
    CHECK(loop.leads_to("current") == "0001");
    CHECK(loop.leads_to("next") == "0002");
    write_text(loop.folder / "texts.txt", "one text\nand another\n");
    const CommandResult second = loop.round(five_steps);
    INFO(second.err);
    REQUIRE(second.exit_code == 0);
    CHECK(second.err.find(": train") == std::string::npos);  // the stages before were not repeated
    CHECK(loop.leads_to("current") == "0002");
    CHECK(fs::equivalent(loop.models() / "0002/parent", loop.models() / "0001"));
    CHECK_FALSE(loop.has_next());

    const CommandResult worse = loop.round(wild, "ROUND=7", "--until-done");
    INFO(worse.err);
    CHECK(worse.exit_code == 6);
    CHECK(missing_words(worse.err,
                        {"held-out mlm_loss", "is worse than that of", "0003 is refused", "a restart cannot fix this"}) == "");
    CHECK(loop.leads_to("current") == "0002");
    const CommandResult again = loop.round(wild);
    CHECK(again.exit_code == 6);
    CHECK(missing_words(again.err, {"0003 is refused", "remove the link"}) == "");
    CHECK(again.err.find("evaluate") == std::string::npos);

    const CommandResult fourth =
        loop.round({{"training", five_steps["training"]}, {"evaluation", {{"after_refusal", "train_again"}}}}, "ROUND=8");
    INFO(fourth.err);
    CHECK(fourth.exit_code == 0);
    CHECK(loop.leads_to("current") == "0004");
    CHECK(loop.leads_to("refused") == "0003");
    CHECK(fs::equivalent(loop.models() / "0004/parent", loop.models() / "0002"));
    const CommandResult same_round = loop.round(five_steps, "ROUND=8");  // a job that was lost right after its promotion
    CHECK(same_round.exit_code == 0);
    CHECK(missing_words(same_round.err, {"the round 8 is done"}) == "");
    CHECK_FALSE(loop.has_next());
}

TEST_CASE("a loop that is killed in every stage gives the same model, and learns each new text once") {
    NEEDS_TRAIN();
    const Loop disturbed(short_run), undisturbed(short_run);
    const TemporaryFolder texts;
    fs::copy_file(sample_data().text, texts / "first.txt");
    write_text(texts / ".arriving", "not yet");
    const nlohmann::json from_texts =
        with("data", {{"training_shards", nullptr},
                      {"text_folder", texts.path().string()},
                      {"shard_options",
                       {"--vocabulary", sample_data().vocabulary.string(), "--sequence-length", "64", "--max-predictions", "10",
                        "--duplicate-factor", "1", "--shards", "2"}}});
    REQUIRE(undisturbed.round(from_texts).exit_code == 0);
    const CommandResult killed = disturbed.round(from_texts, write_killers(disturbed.folder), "--until-done");
    INFO(killed.err);
    REQUIRE(killed.exit_code == 0);
    for (const std::string stage : {"shard", "train", "evaluate", "export hf", "export torchscript", "embed"})
        CHECK(fs::exists(disturbed.folder / concat("killed ", stage)));
    for (const std::string file : {"hf/model.safetensors", "vectors.npy"}) {
        INFO(file);
        CHECK(read_text(disturbed.models() / "0001" / file) == read_text(undisturbed.models() / "0001" / file));
    }
    CHECK(first_difference(numbers_of(disturbed.models() / "0001/run"), numbers_of(undisturbed.models() / "0001/run")) == "");
    CHECK(disturbed.leads_to("current") == "0001");

    const CommandResult without_news = disturbed.round(from_texts);
    CHECK(without_news.exit_code == 0);
    CHECK(missing_words(without_news.err, {"has no new texts", "current is unchanged"}) == "");
    CHECK_FALSE(disturbed.has_next());
    CHECK_FALSE(fs::exists(disturbed.models() / "0002"));
    write_text(texts / "second.txt", "A second text. It is new.\n");
    nlohmann::json bad_options = from_texts;  // the stage ends after it has chosen its texts
    bad_options["data"]["shard_options"].push_back("--no-such-option");
    CHECK(disturbed.round(bad_options).exit_code == 2);
    const std::string chosen = read_text(disturbed.models() / "next/texts_new");
    CHECK(chosen.ends_with(" second.txt\n"));
    CHECK(std::count(chosen.begin(), chosen.end(), '\n') == 1);
}

TEST_CASE("a failed stage is tried again after the codes that a restart can help, and not after others") {
    NEEDS_TRAIN();
    const Loop loop;
    const auto attempts_of = [&](const std::string& ending) {
        const std::string calls = (loop.folder / "calls").string();
        fs::remove(calls);
        const auto command = with("data", {{"training_shards", nullptr}, {"command", concat("echo >>", calls, "; ", ending)}});
        const int exit_code = loop.round(command, "", "--until-done").exit_code;
        return std::pair{exit_code, read_text(calls).size()};
    };
    CHECK(attempts_of("exit 3") == std::pair<int, std::size_t>{3, 1});
    CHECK(attempts_of("exit 5") == std::pair<int, std::size_t>{5, 4});
    CHECK(loop.has_next());
    CHECK(attempts_of("true") == std::pair<int, std::size_t>{0, 1});  // makes no shards: there is nothing new
    CHECK_FALSE(loop.has_next());
}

TEST_CASE("two pipelines on one folder of models exclude each other, and a stop signal reaches the stage that runs") {
    NEEDS_TRAIN();
    const Loop loop;
    const auto slow = with(
        "data", {{"training_shards", nullptr}, {"command", "trap 'touch $1.stopped; exit 143' TERM; mkdir $1; sleep 60 & wait"}});
    Process first(loop.command(slow, "", "--until-done"));
    REQUIRE(wait_until(first, [&] { return fs::exists(loop.models() / "0001/shards"); }));
    const CommandResult second = loop.round(slow);
    CHECK(second.exit_code == 2);
    CHECK(missing_words(second.err, {"another pipeline", "is using", "wait until it ends"}) == "");
    first.send(SIGTERM);
    CHECK(first.wait() == 143);
    CHECK(fs::exists(loop.models() / "0001/shards.stopped"));
}

TEST_CASE("a pipeline's bad request ends with exit code 2 before anything is made") {
    NEEDS_TRAIN();
    const Loop loop;
    CHECK(loop.round({{"modls", "x"}}).exit_code == 2);
    CHECK(loop.round({}, "", "--now").exit_code == 2);
    CHECK(run_command("scripts/pipeline.sh").exit_code == 2);
    const auto check_refused = [&](const nlohmann::json& patch, const std::vector<std::string>& words) {
        const CommandResult refused = loop.round(patch);
        CHECK(refused.exit_code == 2);
        CHECK(missing_words(refused.err, words) == "");
    };
    check_refused({{"experiment", "none.json"}}, {"none.json: no such settings file", "starts at the current folder, /"});
    check_refused({{"evaluation", {{"held_out_shards", "none"}}}, {"embedding", {{"text", "none.txt"}}}},
                  {"held_out_shards = \"none\": is no folder", "embedding.text = \"none.txt\": is no file", "current folder, /"});
    write_text(loop.folder / "table.csv", "id,body\n1,one text\n2,and another\n");
    check_refused({{"embedding", {{"text", (loop.folder / "table.csv").string()}}}},
                  {"table.csv", "no column \"text\"", "write one text per line"});
    write_text(loop.folder / "records.jsonl", "{\"body\": \"one text\"}\n{\"body\": \"and another\"}\n");
    check_refused({{"embedding", {{"text", (loop.folder / "records.jsonl").string()}}}},
                  {"records.jsonl", "2 of 2 records are malformed", "write one text per line"});
    CHECK_FALSE(fs::exists(loop.models()));
    fs::create_directories(loop.models());
    fs::create_directory_symlink("0007", loop.models() / "current");
    const CommandResult lost = loop.round();
    CHECK(lost.exit_code == 2);
    CHECK(missing_words(lost.err, {"leads to 0007, which is missing"}) == "");
}

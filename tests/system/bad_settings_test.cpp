// Requests to `train` that cannot be met give one clear message and the documented exit code, and start nothing.

#include "support/catch.h"
#include "system/refusal.h"
#include "system/small_run.h"

using namespace bertpretrain::testing;
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

struct BadSetting {
    std::string patch;  ///< of the small experiment, as a JSON merge patch
    int exit_code;
    std::vector<std::string> words;
};

const std::vector<BadSetting> bad_settings{
    // names
    {R"({"optimizer": {"learning_rat": 1}})",
     config_exit,
     {"experiment.json: optimizer.learning_rat", "did you mean optimizer.learning_rate?"}},
    {R"({"optimizer": {"lr": 1}})", config_exit, {"optimizer.lr", "did you mean optimizer.learning_rate?"}},
    {R"({"batch_size": 8})", config_exit, {"batch_size", "did you mean batch.micro_batch_size?"}},
    {R"({"model": {"num_layers": 8}})", config_exit, {"model.num_layers", "did you mean model.num_hidden_layers?"}},
    {R"({"training": {"device": "gpu"}})", config_exit, {"training.device", "did you mean \"cuda\"?"}},
    {R"({"optimiser": {}})", config_exit, {"optimiser", "did you mean optimizer?"}},
    {R"({"data": {"training_shards": null}})",
     config_exit,
     {"data.training_shards", "is not set and has no default", "bertpretrain_data shard"}},
    // types
    {R"({"batch": {"micro_batch_size": "4"}})", config_exit, {"batch.micro_batch_size = \"4\"", "must be an integer"}},
    {R"({"batch": {"micro_batch_size": 4.7}})", config_exit, {"batch.micro_batch_size = 4.7", "must be an integer"}},
    {R"({"batch": 4})", config_exit, {"batch = 4", "must be a section"}},
    {R"({"training": {"activation_checkpointing": 1}})", config_exit, {"training.activation_checkpointing = 1", "true or false"}},
    {R"({"training": {"seed": -1}})", config_exit, {"training.seed = -1", "at least 0"}},
    {R"({"schedule": {"total_steps": 99999999999999999999}})",
     config_exit,
     {"schedule.total_steps = 1e+20", "must be an integer"}},
    // ranges
    {R"({"model": {"hidden_dropout_prob": 1.5}})", config_exit, {"model.hidden_dropout_prob = 1.5", "between 0 and 0.9"}},
    {R"({"schedule": {"total_steps": 0}})", config_exit, {"schedule.total_steps = 0", "1"}},
    {R"({"optimizer": {"learning_rate": 0}})", config_exit, {"optimizer.learning_rate = 0", "> 0"}},
    {R"({"optimizer": {"name": "adam"}})",
     config_exit,
     {"optimizer.name = \"adam\"", "\"adamw\", \"lamb\", \"lans\", \"stable_adamw\""}},
    {R"({"optimizer": {"betas": [0.9, 0.99, 0.999]}})", config_exit, {"optimizer.betas", "3 numbers", "expected two"}},
    {R"({"optimizer": {"betas": [0.9, 1]}})", config_exit, {"optimizer.betas", "1", "below 1"}},
    // conflicts between two settings
    {R"({"model": {"num_attention_heads": 3}})", config_exit, {"model.hidden_size = 64", "model.num_attention_heads = 3"}},
    {R"({"model": {"hidden_size": 60}})", config_exit, {"model.hidden_size = 60", "multiple of 8"}},
    {R"({"data": {"sequence_length": 128}})", config_exit, {"data.sequence_length = 128", "model.max_position_embeddings = 64"}},
    {R"({"batch": {"micro_batch_size": 4, "device_micro_batch": 10}})",
     config_exit,
     {"batch.device_micro_batch = 10", "must be a multiple of", "batch.micro_batch_size = 4"}},
    {R"({"batch": {"micro_batch_size": 4, "device_micro_batch": 8}, "training": {"loss_mean": "micro_batch"}})",
     config_exit,
     {"batch.device_micro_batch = 8", "loss_mean", "leave device_micro_batch out"}},
    {R"({"schedule": {"warmup_ratio": 1}})", config_exit, {"schedule.warmup_ratio", "below 1"}},
    // conflicts between settings and data
    {R"({"data": {"sequence_length": 32}})",
     data_exit,
     {"sample_training_0000.h5", "64 tokens", "expected 32", "data.sequence_length"}},
    {R"({"model": {"vocab_size": 700}})", config_exit, {"model.vocab_size = 700", "vocab.txt", "800 tokens"}},
    {R"({"data": {"training_shards": "no/such/folder"}})",
     data_exit,
     {"no/such/folder", "does not exist", "training", "bertpretrain_data shard"}},
    {R"({"data": {"training_shards": "lib"}})", data_exit, {"lib", "expected a folder with .h5 or .hdf5 files", "training"}},
    {R"({"data": {"training_shards": "CMakeLists.txt"}})", data_exit, {"CMakeLists.txt", "is not a folder"}},
    {R"({"data": {"held_out_shards": "lib"}})", data_exit, {"lib", "expected a folder with .h5 or .hdf5 files", "test"}},
    {R"({"data": {"vocabulary": "no_such_vocab.txt"}})", data_exit, {"no_such_vocab.txt", "does not exist"}},
    // addresses of a mirror
    {R"({"checkpoint": {"mirror": "ftp://host/folder"}})", config_exit, {"checkpoint.mirror", "ftp://host/folder"}},
    {R"({"checkpoint": {"mirror": "runs/mirror"}})", config_exit, {"checkpoint.mirror", "runs/mirror", "s3://"}},
    {R"({"checkpoint": {"mirror": "s3://"}})", config_exit, {"checkpoint.mirror", "s3://"}},
    {R"({"checkpoint": {"mirror": 7}})", config_exit, {"checkpoint.mirror = 7"}},
    {R"({"checkpoint": {"mirror_seconds": -1}})", config_exit, {"checkpoint.mirror_seconds = -1", "between 0 and"}},
    {R"({"checkpoint": {"mirrors": "s3://bucket/mirror"}})",
     config_exit,
     {"checkpoint.mirrors", "did you mean checkpoint.mirror?"}},
    // requests that this machine cannot meet
    {R"({"model": {"hidden_size": 65536, "num_hidden_layers": 1024}})",
     config_exit,
     {"parameters", "memory", "this machine or container has"}},
    {R"({"model": {"hidden_size": 4611686018427387904}})", config_exit, {"model.hidden_size = 4611686018427387904", "between"}},
};

struct BadFile {
    std::string content;
    std::vector<std::string> words;
};

const std::vector<BadFile> bad_files{
    {"", {"experiment.json", "unexpected end of input"}},
    {"{\"model\": {\n\"hidden_size\": 64,, }}", {"experiment.json", "line 2", "column"}},
    {R"({"model": {"hidden_size": 64, "hidden_size": 32}})", {"experiment.json", "\"hidden_size\" is set twice"}},
    {"[1]", {"experiment.json", "must be a section"}},
    {"\xff\xfe{}", {"experiment.json", "UTF-16"}},
    {std::string(100'000, '['), {"experiment.json", "nested deeper"}},
};

struct BadOption {
    std::string options;
    int exit_code;
    std::vector<std::string> words;
};

const std::vector<BadOption> bad_options{
    {"--resume nonsense", config_exit, {"--resume nonsense", "auto, never or the step"}},
    {"--resume -1", config_exit, {"--resume -1"}},
    {"--resume 5", checkpoint_exit, {"no complete checkpoint of step 5", "no other step has one", "do: without --resume"}},
    {"--set batch.micro_batch_size", config_exit, {"--set batch.micro_batch_size", "has no \"=\"", "section.key=value"}},
    {"--set batch.micro=3", config_exit, {"batch.micro", "no such setting", "micro_batch_size"}},
    {"--set about.x=3", config_exit, {"about"}},
    {"--set batch.micro_batch_size=4.7", config_exit, {"batch.micro_batch_size = 4.7", "must be an integer"}},
    {"--frobnicate", config_exit, {"--frobnicate"}},
    {"a_second_experiment.json", config_exit, {"a_second_experiment.json"}},
};

}  // namespace

TEST_CASE("settings that cannot be met are refused before any training") {
    NEEDS_TRAIN();
    for (const BadSetting& bad : bad_settings) {
        const TemporaryFolder folder;
        const fs::path config = write_experiment(folder, json::parse(bad.patch));
        check_refused_before_training(train(config, folder / "run"), bad.exit_code, bad.words, bad.patch, folder / "run");
    }
}

TEST_CASE("a file that is not an experiment is refused with the place of the error") {
    NEEDS_TRAIN();
    for (const BadFile& bad : bad_files) {
        const TemporaryFolder folder;
        write_text(folder / "experiment.json", bad.content);
        check_refused_before_training(train(folder / "experiment.json", folder / "run"), config_exit, bad.words,
                                      bad.content.substr(0, 100), folder / "run");
    }
    const TemporaryFolder folder;
    check_refused_before_training(train(folder / "none.json", folder / "run"), config_exit,
                                  {"none.json", "no such settings file"}, "no file", folder / "run");
    check_refused_before_training(train(folder.path(), folder / "run"), config_exit, {folder.path().string(), "is a folder"},
                                  "a folder", folder / "run");
}

TEST_CASE("invalid command lines are refused with the reason") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path config = write_experiment(folder);
    for (const BadOption& bad : bad_options)
        check_refused_before_training(train(config, folder / "run", bad.options), bad.exit_code, bad.words, bad.options,
                                      folder / "run");
    check_refusal(run_command(train_program), config_exit, {"subcommand is missing", "--help"}, "no subcommand");
    check_refusal(run_command(train_program + " frobnicate"), config_exit, {"frobnicate"}, "an unknown subcommand");
    check_refusal(run_command(train_program + " train"), config_exit, {"config is required"}, "no experiment");
}

TEST_CASE("local ranks that fail with the same error print it once, with the rank and how many failed") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path config = write_experiment(folder);
    for (const std::string bad : {"data.training_shards=no/such/folder", "batch.global_batch_size=2"}) {
        const CommandResult result = train(config, folder / "run", "--local-ranks 3 --set " + bad);
        INFO(result.err);
        const auto count = [&](const std::string& words) {
            std::size_t found = 0;
            for (std::size_t at = result.err.find(words); at != std::string::npos; at = result.err.find(words, at + 1)) ++found;
            return found;
        };
        CHECK(count(" error: rank 0: ") + count(" error: rank 1: ") + count(" error: rank 2: ") == 1);
        CHECK(count(" error: ") == 1);
        CHECK(count("(3 of 3 ranks ended with this error") == 1);
    }
}

TEST_CASE("an empty experiment lacks its shards and nothing else, and plans a BERT-Base") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    write_text(folder / "empty.json", "{}");
    check_refused_before_training(train(folder / "empty.json", folder / "run"), config_exit,
                                  {"empty.json: data.training_shards: is not set and has no default; name the folder of shards"},
                                  "{}", folder / "run");
    const std::string missing = "--set data.training_shards=no/such/folder";
    check_refused_before_training(train(folder / "empty.json", folder / "run", missing), data_exit,
                                  {"no/such/folder: does not exist", "`bertpretrain_data shard`"}, "no shards", folder / "run");
    const CommandResult plan =
        run_command(train_program + " config resolve " + (folder / "empty.json").string() + " --json " + missing);
    INFO(plan.err);
    const json model = json::parse(plan.out).at("model");
    CHECK(model.at("vocab_size").at("value") == 30528);
    CHECK(model.at("num_hidden_layers").at("value") == 12);
    CHECK(model.at("hidden_size").at("value") == 768);
}

TEST_CASE("without model.vocab_size a run has the shards' vocabulary, and resumes with it") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path config =
        write_experiment(folder, {{"model", {{"vocab_size", nullptr}}}, {"schedule", {{"total_steps", 1e1}}}});
    REQUIRE(train(config, folder / "run", "--set schedule.total_steps=4e0").exit_code == 0);
    CHECK(json::parse(read_text(folder / "run/settings.json")).at("model").at("vocab_size") == 800);
    CHECK(train(config, folder / "run", "--set schedule.total_steps=5").exit_code == 0);
}

TEST_CASE("a slip in a subcommand or an option is answered with the name that was meant") {
    check_refusal(run_command(data_program + " shrad"), config_exit, {"shrad", "did you mean shard?"}, "shrad");
    check_refusal(run_command(data_program + " tokenize x y z --vocabulry=v"), config_exit, {"did you mean --vocabulary?"},
                  "--vocabulry");
    NEEDS_TRAIN();
    check_refusal(run_command(train_program + " trian x.json"), config_exit, {"trian", "did you mean train?"}, "trian");
    check_refusal(run_command(train_program + " train x.json --otuput y"), config_exit, {"did you mean --output?"}, "--otuput");
    check_refusal(run_command(train_program + " config explian"), config_exit, {"did you mean explain?"}, "explian");
    check_refusal(run_command(train_program + " train x.json --lr 0.1"), config_exit,
                  {"settings are given as --set SETTING=VALUE: did you mean optimizer.learning_rate?"}, "--lr");
}

TEST_CASE("--quiet and --log-level leave messages out on standard error, not in the run's log") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path config = write_experiment(folder, {{"schedule", {{"total_steps", 2}}}, {"evaluation", {{"every_steps", 0}}}});
    for (const std::string option : {"--quiet", "--log-level error"}) {
        const fs::path run = folder / option;
        const CommandResult result = train(config, "'" + run.string() + "'", option);
        CHECK(result.exit_code == 0);
        CHECK(result.err.empty());
        CHECK(missing_words(result.out, {"run folder"}) == "");
        CHECK(missing_words(read_text(run / "log.txt"), {"fresh start"}) == "");
    }
    check_refusal(train(folder / "none.json", folder / "run", "--quiet"), config_exit, {"no such settings file"}, "quiet");
    check_refusal(train(config, folder / "run", "--quiet --log-level info"), config_exit, {"--quiet"}, "both");
}

TEST_CASE("an instruction set that the processor lacks is refused") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const std::string command = train_command(write_experiment(folder), folder / "run");
    check_refused_before_training(run_command("BERTPRETRAIN_CPU_CAPABILITY=avx9 " + command), config_exit,
                                  {"BERTPRETRAIN_CPU_CAPABILITY = avx9", "reference", "avx512_bf16"}, "avx9", folder / "run");
}

TEST_CASE("a requested GPU that does not exist is refused, not replaced by the CPU") {
    NEEDS_TRAIN();
    if (fs::exists("/dev/nvidiactl")) SKIP_TEST(skip::gpu, "there is one to choose");
    const TemporaryFolder folder;
    const fs::path config = write_experiment(folder);
    check_refused_before_training(train(config, folder / "run", "--set training.device=cuda"), config_exit,
                                  {"training.device = \"cuda\"", "cpu"}, "cuda", folder / "run");
}

TEST_CASE("a run's exit.json names refused settings as the cause, for the process that restarts it") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path run = folder / "run";
    fs::create_directory(run);
    CHECK(train(write_experiment(folder), run, "--set batch.micro_batch_sise=4").exit_code == config_exit);
    const json record = json::parse(read_text(run / "exit.json"));
    CHECK(record.at("code") == config_exit);
    CHECK(missing_words(record.at("cause").get<std::string>(), {"micro_batch_sise"}) == "");
}

// The output of `report`, `plan` and `config` for real runs and files.
#include "core/error.h"
#include "support/catch.h"
#include "system/small_run.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

CommandResult bertpretrain_command(const std::string& rest) { return run_command(train_program + " " + rest); }

}  // namespace

TEST_CASE("report makes a page, charts and a table of a real run, and prints the cost of a target") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const std::string run = finished_run().run.string(), page = (folder / "report.html").string();
    const CommandResult whole =
        bertpretrain_command("report " + run + " --output " + page + " --svg " + (folder / "charts").string());
    CAPTURE(whole.err);
    REQUIRE(whole.exit_code == 0);
    CHECK(whole.out.find("20 of 20") != std::string::npos);
    CHECK(read_text(page).find("id=\"mlm_loss_by_epochs\"") != std::string::npos);
    for (const char* chart : {"mlm_loss", "nsp_loss", "learning_rate", "grad_norm", "sequences_per_second", "data_wait"})
        CHECK(fs::file_size(folder / "charts" / (std::string(chart) + ".svg")) > 1000);

    const CommandResult target = bertpretrain_command("report " + run + " --target held_out_mlm_loss=6.6 --price 3600000");
    CHECK(target.exit_code == 0);
    CHECK(missing_words(target.out, {"20 of 20", "until held_out_mlm_loss = 6.6", "times the first"}) == "");
    CHECK(target.out.find("not reached") == std::string::npos);
    CHECK(bertpretrain_command("report " + run + " --target grad_norm=1").exit_code == 2);
    CHECK(missing_words(bertpretrain_command("report " + run + " --price 1EUR").out, {"cost", " EUR"}) == "");
    CHECK(bertpretrain_command("report " + folder.path().string()).exit_code == 3);
}

TEST_CASE("report --scaling compares runs on 1, 2 and 4 ranks; plan takes a run's rate") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path config = write_experiment(folder, {{"schedule", {{"total_steps", 6}}}, {"evaluation", {{"every_steps", 0}}}});
    for (const std::string ranks : {"1", "2", "4"})
        REQUIRE(train(config, folder / ("on_" + ranks), "--local-ranks " + ranks).exit_code == 0);
    const CommandResult scaling = bertpretrain_command("report --scaling " + (folder / "on_1").string() + " " +
                                                       (folder / "on_2").string() + " " + (folder / "on_4").string());
    CAPTURE(scaling.out, scaling.err);
    CHECK(scaling.exit_code == 0);
    CHECK(missing_words(scaling.out, {"100.00 %", "time per epoch", "s  on_1", "s  on_2", "s  on_4"}) == "");

    const CommandResult plan = bertpretrain_command("plan " + config.string() + " --fit " + (folder / "on_2").string() +
                                                    " --network mine:1:50 --world-size 1,2 --json");
    CAPTURE(plan.err);
    REQUIRE(plan.exit_code == 0);
    const json planned = json::parse(plan.out);
    CHECK(planned.at("fit").at("tflops_per_rank") > 0);
    CHECK(planned.at("plan").size() == 2);
    CHECK(planned.at("plan")[1].at("communication_seconds") > 0);
    CHECK(plan.err.find("is that of another run") == std::string::npos);
    const CommandResult other = bertpretrain_command("plan configs/bert_large_8.json --accelerator h100 --world-size 8 --fit " +
                                                     (folder / "on_2").string());
    CHECK(other.exit_code == 0);
    CHECK(missing_words(other.err, {"the rate that it gives is that of another run", "model.hidden_size", "here 1024",
                                    "a CPU, here h100"}) == "");
    CHECK(planned.at("plan")[0].at("gpu_memory_bytes") > 0);
    CHECK(planned.at("plan")[0].at("gpu_memory_bytes") < planned.at("plan")[0].at("memory_bytes"));
    CHECK(bertpretrain_command("plan " + config.string() + " --accelerator abacus").exit_code == 2);
    CHECK(bertpretrain_command("plan " + config.string() + " --deadline soon").exit_code == 2);
}

TEST_CASE("plan names the machine that it assumes, the currency and the date of the price") {
    NEEDS_TRAIN();
    const CommandResult result = bertpretrain_command("plan configs/bert_base.json --accelerator a100 --world-size 8");
    CAPTURE(result.err);
    CHECK(missing_words(result.out, {"Assumed machines", "a100: nodes of 8 with 80 GiB", "USD an hour", "us-east-1", "cost, USD",
                                     "efa4: "}) == "");
    CHECK(missing_words(bertpretrain_command("plan configs/bert_base.json --price 3").out, {"3 USD an hour", "price: --price"}) ==
          "");
    const json line =
        json::parse(bertpretrain_command("plan configs/bert_base.json --accelerator a100 --world-size 8 --json").out)
            .at("plan")[0];
    CHECK(line.at("currency") == "USD");
    CHECK(missing_words(line.at("assumed"), {"2025-11"}) == "");
    const CommandResult in_fp8 =
        bertpretrain_command("plan configs/bert_base.json --accelerator h100 --set training.fp8_matmuls=true");
    CHECK(missing_words(in_fp8.out + in_fp8.err, {"with matmuls in bf16", "fp8_matmuls", "was not measured"}) == "");
}

TEST_CASE("without an accelerator, plan measures the machine that it runs on") {
    NEEDS_TRAIN();
    const CommandResult result = bertpretrain_command("plan configs/bert_base.json --json");
    CAPTURE(result.err);
    REQUIRE(result.exit_code == 0);
    const json planned = json::parse(result.out).at("plan");
    REQUIRE(planned.size() == 1);
    CHECK(planned[0].at("accelerator") == "this");
    CHECK(planned[0].at("sequences_per_second").get<double>() > 0);
    CHECK(planned[0].at("cost").is_null());
    CHECK(missing_words(planned[0].at("assumed"), {"this machine: ", "of its matmul rate, measured just now"}) == "");
    // A CPU has one memory for all that a rank needs.
    const double on_gpu = planned[0].at("gpu_memory_bytes"), all = planned[0].at("memory_bytes");
    const std::string too_little = concat("--memory-gib ", (on_gpu + all) / 2 / 0x1p30);
    CHECK_FALSE(json::parse(bertpretrain_command("plan configs/bert_base.json --json " + too_little).out)
                    .at("plan")[0]
                    .at("fits")
                    .get<bool>());
    const CommandResult both = bertpretrain_command("plan configs/bert_base.json --accelerator this,v100 --world-size 8");
    CHECK(missing_words(both.out, {"this: nodes of ", "v100 (for comparison: this program does not run on it): nodes of 8"}) ==
          "");
}

TEST_CASE("plan compares each accelerator's memory with a rank's GPU memory, and counts host memory separately") {
    NEEDS_TRAIN();
    const std::string command = "plan configs/bert_5b.json --accelerator a100-40,a100 --world-size 2";
    const CommandResult result = bertpretrain_command(command + " --json");
    CAPTURE(result.err);
    REQUIRE(result.exit_code == 0);
    const json planned = json::parse(result.out).at("plan");
    REQUIRE(planned.size() == 2);
    for (const json& line : planned) {
        CHECK(line.at("gpu_memory_bytes").get<double>() + line.at("host_memory_bytes").get<double>() == line.at("memory_bytes"));
        CHECK(line.at("host_memory_bytes") > 27e9);  // a copy of half of 5B's 56 GiB of optimizer state
    }
    CHECK_FALSE(planned[0].at("fits").get<bool>());
    CHECK(planned[1].at("fits").get<bool>());
    const CommandResult table = bertpretrain_command(command);
    CHECK(missing_words(table.out, {"a100-40", "needed", "usable", "fits", "host"}) == "");
    // The snapshot is in host memory: 8 ranks need less than 32 GiB each.
    const CommandResult small =
        bertpretrain_command("plan configs/bert_5b.json --accelerator gaudi1 --memory-gib 32 --world-size 8 --json");
    CHECK(json::parse(small.out).at("plan")[0].at("fits").get<bool>());
}

TEST_CASE("1.5B at ZeRO stage 0 does not fit 32 GB, and its pass and speed are those of the memory that is shown") {
    NEEDS_TRAIN();
    const auto planned = [](const std::string& arguments) {
        const CommandResult result = bertpretrain_command("plan " + arguments + " --json");
        CAPTURE(arguments, result.err);
        REQUIRE(result.exit_code == 0);
        return json::parse(result.out).at("plan")[0];
    };
    for (const std::string of_32_gb : {"gaudi1", "v100", "trainium1"}) {
        CAPTURE(of_32_gb);
        const std::string command = "configs/bert_1.5b_8.json --world-size 8 --accelerator " + of_32_gb;
        CHECK_FALSE(planned(command + " --set parallel.zero_stage=0").at("fits").get<bool>());
        CHECK(planned(command).at("fits").get<bool>());
    }
    // On an H100, 384 sequences took 49.1 GiB at 1,979 sequences/s, and 16 had 0.73 of the rate.
    const std::string large = "configs/bert_large_8.json --world-size 8 --accelerator h100";
    const json merged = planned(large), small = planned(large + " --set batch.device_micro_batch=16");
    CHECK(merged.at("sequences_per_pass") == 384);
    CHECK(merged.at("gpu_memory_bytes").get<double>() == Approx(49.1 * 0x1p30).epsilon(0.1));
    CHECK(small.at("sequences_per_pass") == 16);
    CHECK(small.at("gpu_memory_bytes") < 6e9);
    CHECK(small.at("sequences_per_second").get<double>() / merged.at("sequences_per_second").get<double>() ==
          Approx(0.73).margin(0.04));  // and a short last pass hides less communication
}

TEST_CASE("plan and config resolve refuse the ranks that train refuses, with the same words") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const std::string config =
        write_experiment(folder, {{"batch", {{"global_batch_size", 2}, {"micro_batch_size", 1}}}}).string();
    const CommandResult trained = train(config, folder / "run", "--local-ranks 3");
    CHECK(trained.exit_code == 2);
    for (const std::string command : {"config resolve ", "plan --accelerator h100 "}) {
        const CommandResult result = bertpretrain_command(command + config + " --world-size 3");
        CHECK(result.exit_code == 2);
        for (const std::string& all : {result.err, trained.err})
            CHECK(missing_words(all, {"a step of 2 sequences cannot be shared by 3 ranks", "do: start at most 2 ranks"}) == "");
    }
    // Without --world-size, plan leaves out the usual numbers that are too many.
    const CommandResult usual = bertpretrain_command("plan --json --accelerator h100 --set batch.global_batch_size=20 " + config);
    REQUIRE(usual.exit_code == 0);
    CHECK(json::parse(usual.out).at("plan").size() == 2);
}

TEST_CASE("plan takes a price for all accelerators, or one for each by name, in one currency") {
    NEEDS_TRAIN();
    const std::string command = "plan configs/bert_large_phase1.json --accelerator a100,a100-40,trainium1 --world-size 16 ";
    // On demand in 2023 (p4de, p4d and trn1.32xlarge: 40.97, 32.77 and 21.50 USD an hour), AWS published that pretraining
    // BERT-Large on Trainium cost up to 30 % less than on GPUs.
    const CommandResult result =
        bertpretrain_command(command + "--price a100=5.12 --price a100-40=4.10 --price trainium1=1.34 --json");
    CAPTURE(result.err);
    REQUIRE(result.exit_code == 0);
    const json rows = json::parse(result.out).at("plan");
    const auto cost = [&](std::size_t row) { return rows[row].at("cost").get<double>(); };
    CHECK(cost(2) / cost(0) == Approx(0.67).margin(0.02));
    CHECK(cost(2) / cost(1) == Approx(0.83).margin(0.02));
    CHECK(missing_words(bertpretrain_command(command + "--price 3 --price trainium1=1.5EUR").err, {"--price", "EUR", "USD"}) ==
          "");
    CHECK(missing_words(bertpretrain_command(command + "--price h100=3").err, {"--price h100=", "a100, a100-40, trainium1"}) ==
          "");
    for (const std::string text : {"x", "a100=", "0"}) CHECK(bertpretrain_command(command + "--price " + text).exit_code == 2);
}

TEST_CASE("a run writes events for TensorBoard and a file for Prometheus, and a resumed one records the lost steps") {
    NEEDS_TRAIN();
    const fs::path run = finished_run().run;
    CHECK(read_text(run / "metrics.prom").find("\nbertpretrain_step{run=\"run\"} 20\n") != std::string::npos);
    std::size_t files = 0;
    for (const auto& entry : fs::directory_iterator(run / "tensorboard")) files += entry.file_size() > 5000;
    CHECK(files == 1);

    const TemporaryFolder folder;
    copy_finished_run(folder / "run");
    for (const std::string step : {"18", "20"}) fs::remove_all(folder / ("run/checkpoints/step_000000" + step));
    REQUIRE(train(finished_run().config, folder / "run").exit_code == 0);
    const std::string events = read_text(folder / "run/events.jsonl");
    CHECK(events.find(R"("event":"lost","step":15,"lost_steps":5)") != std::string::npos);
    const CommandResult report = bertpretrain_command("report " + (folder / "run").string() + " --target held_out_mlm_loss=6.6");
    CHECK(report.exit_code == 0);
}

TEST_CASE("train --profile writes a Chrome trace of each rank") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path config = write_experiment(folder, {{"schedule", {{"total_steps", 6}}}, {"evaluation", {{"every_steps", 0}}}});
    REQUIRE(train(config, folder / "run", "--local-ranks 2 --profile 3").exit_code == 0);
    for (const int rank : {0, 1}) {
        const json trace = json::parse(read_text(folder / concat("run/trace_rank_", rank, ".json")));
        std::map<std::string, std::vector<json>> spans;
        for (const json& event : trace.at("traceEvents")) {
            CHECK(event.at("pid") == rank);
            if (event.at("ph") == "X") spans[event.at("name")].push_back(event);
        }
        CHECK(spans["step"].size() == 3);
        CHECK(spans["update"].size() >= 3);
        for (const char* phase : {"data", "forward", "backward", "communication"}) CHECK(spans[phase].size() >= 3);
        CHECK(spans["on its way"].size() >= 6);
        CHECK(spans["on its way"][0].at("tid") != spans["step"][0].at("tid"));
        const double begin = spans["step"][0].at("ts"), end = begin + spans["step"][0].at("dur").get<double>();
        CHECK(spans["update"][0].at("ts") > begin);
        CHECK(spans["update"][0].at("ts").get<double>() + spans["update"][0].at("dur").get<double>() < end);
    }
}

TEST_CASE("config check tells all errors at once, compare takes files and runs, explain takes a section") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path wrong = write_experiment(folder, {{"batch", {{"micro_batch_size", 0}}}, {"optimizer", {{"nam", "adamw"}}}});
    const CommandResult check = bertpretrain_command("config check " + wrong.string());
    CHECK(check.exit_code == 2);
    CHECK(missing_words(check.err, {"2 settings", "batch.micro_batch_size = 0", "optimizer.nam", "did you mean"}) == "");
    CHECK(bertpretrain_command("config check " + finished_run().config.string()).exit_code == 0);
    const CommandResult overridden = bertpretrain_command("config check " + finished_run().config.string() + " --set seed=9");
    CHECK(overridden.exit_code == 2);  // there is no such setting: --set is read and checked like the file
    CHECK(missing_words(overridden.err, {"seed", "no such setting"}) == "");

    const TemporaryFolder other;
    const fs::path file = write_experiment(other, {{"optimizer", {{"learning_rate", 0.5}}}});
    const CommandResult compare = bertpretrain_command("config compare " + file.string() + " " + finished_run().run.string());
    CHECK(compare.exit_code == 0);
    CHECK(missing_words(compare.out, {"optimizer.learning_rate", "0.5", "0.001", "may change"}) == "");

    const CommandResult explain = bertpretrain_command("config explain optimizer");
    CHECK(explain.out.find("optimizer.betas") != std::string::npos);
    CHECK(explain.out.find("model.") == std::string::npos);
    CHECK(bertpretrain_command("config explain optimiser").exit_code == 2);
}

#include "operations/step_model.h"

#include "core/error.h"
#include "operations/forecast_grid.h"
#include "operations/plan_fit.h"
#include "operations/run_forecast.h"
#include "plan/experiment_config.h"
#include "support/catch.h"

using namespace bertpretrain;

namespace {

PlannedStep small_step(std::int64_t ranks) {
    PlannedStep step;
    step.model.bert.hidden_size = 256;
    step.model.bert.num_attention_heads = 4;
    step.model.bert.intermediate_size = 1024;
    step.model.bert.num_hidden_layers = 24;
    step.model.bert.vocab_size = 2048;
    step.world_size = ranks;
    step.global_batch = 16 * ranks;
    step.bucket_mib = 0.5;
    return step;
}

const Accelerator core{"core", 0, 0.1, 0, 0, 1, 0, ""};
Network link(double gbps, double latency_us = 0) { return {"link", gbps, latency_us, gbps, ""}; }

/// A run on four ranks of 16 sequences each.
ForecastGrid small_grid() {
    ForecastGrid grid;
    grid.step = small_step(1);
    grid.batch_sizes = [](std::int64_t ranks) { return 16 * ranks; };
    grid.accelerators = {core};
    grid.networks = {link(1)};
    grid.world_sizes = {4};
    return grid;
}

}  // namespace

TEST_CASE("one rank computes and sends nothing") {
    const PlannedStep step = small_step(1);
    const StepTime time = step_time(step, core, link(1));
    CHECK(time.total() == Approx(16 * step.flops_per_sequence() / 0.1e12));
    CHECK(time.communication == 0);
}

TEST_CASE("small passes are slower by what was measured on an H100") {
    Accelerator gpu = core;
    const auto factor = [&](double sequences) { return small_pass_factor(gpu, 1024, 128 * sequences); };
    CHECK(factor(16) == 1);  // nothing is known about this accelerator
    gpu.pass_tokens = 384 * 128;
    for (const auto& [sequences, measured] : {std::pair(16.0, 0.73), {32, 0.84}, {64, 0.91}, {96, 0.94}, {192, 0.98}, {384, 1.0}})
        CHECK(1 / factor(sequences) == Approx(measured).margin(0.017));
    const auto deepspeed = [&](double sequences) { return 1 / small_pass_factor(gpu, 1024, 128 * sequences); };
    CHECK(deepspeed(16) / deepspeed(140) == Approx(203.0 / 272).margin(0.03));

    PlannedStep step = small_step(2);
    const double before = step_time(step, core, link(100)).computing;
    CHECK(step_time(step, gpu, link(100)).computing == Approx(before * small_pass_factor(gpu, 256, 16 * 128)));
    step.global_batch *= 4;  // four passes of the same size
    CHECK(step_time(step, gpu, link(100)).computing == Approx(4 * before * small_pass_factor(gpu, 256, 16 * 128)));
}

TEST_CASE("longer sequences are slower per operation, as measured on an H200 and an H100") {
    // BERT-Large: 2,110 sequences/s of 128 tokens and 449 of 512 on an H200; 1,979 and 402 on an H100 before attention of more
    // than 128 tokens became 1.027 times as fast.
    const auto rate = [](const std::string& accelerator, double tokens) {
        PlannedStep step;
        step.model = load_experiment(PROJECT_FOLDER "/configs/bert_large_phase1.json", {}).model;
        step.tokens_per_sequence = tokens;
        step.masked_per_sequence = 0.15 * tokens;
        step.micro_batch_size = step.global_batch = static_cast<std::int64_t>(384 * 128 / tokens);
        Accelerator gpu = find_accelerator(accelerator);
        gpu.memory_gbps = 0;  // the measured rate includes the update
        return static_cast<double>(step.global_batch) / step_time(step, gpu, link(1)).total();
    };
    CHECK(rate("h200", 128) == Approx(2110).epsilon(0.01));
    CHECK(rate("h200", 512) == Approx(449).epsilon(0.01));
    CHECK(rate("h100", 128) == Approx(1979).epsilon(0.01));
    CHECK(rate("h100", 512) == Approx(402 * 1.027).epsilon(0.03));
}

TEST_CASE("a forecast uses its architecture's own rate, or states that it is BERT's") {
    ModelConfig bert, base, large;
    base.model_type = large.model_type = ModelType::modernbert;
    large.modernbert.hidden_size = 1024;
    const auto rated = [](const std::string& accelerator, const ModelConfig& model, double tokens) {
        return with_rate_of(find_accelerator(accelerator), model, tokens);
    };
    CHECK(rated("h100", base, 1024).sustained_tflops == 351);
    CHECK(rated("h100", base, 8192).sustained_tflops == 284);
    CHECK(rated("h100", base, 8192).rate_tokens == 8192);
    CHECK(rated("h100", large, 8192).sustained_tflops == 426);
    CHECK(rated("h100", base, 1024).source.find("ModernBERT-base in rows of 1,024") == 0);
    CHECK(rated("h100", bert, 512).sustained_tflops == 476);
    const Accelerator h200 = rated("h200", base, 1024);
    CHECK(h200.sustained_tflops == 508);
    CHECK_THAT(h200.source, Catch::Matchers::Contains("modernbert was not measured here") &&
                                Catch::Matchers::Contains("h100 sustained 351 instead of 476") &&
                                Catch::Matchers::Contains("--tflops"));
    CHECK(rated("h200", bert, 512).source == find_accelerator("h200").source);
}

TEST_CASE("a rate holds for sequences as long as those that it was measured with") {
    PlannedStep step = small_step(1);
    step.tokens_per_sequence = 512;
    Accelerator measured = core;
    measured.rate_tokens = 512;
    CHECK(step_time(step, measured, link(1)).computing == Approx(16 * step.flops_per_sequence() / 0.1e12));
    CHECK(step_time(step, core, link(1)).computing > 1.1 * step_time(step, measured, link(1)).computing);
}

TEST_CASE("communication takes bytes / bandwidth, and the part that does not overlap is added to the step") {
    PlannedStep step = small_step(2);
    const auto elements = static_cast<double>(step.layout().flat_elements());
    step.weight_bytes = 4;
    step.overlaps = false;
    step.messages = 0;
    const StepTime time = step_time(step, core, link(0.01));
    CHECK(time.communication == Approx(elements * 8 / 2 / 0.01e9));
    CHECK(time.total() == Approx(time.computing + time.communication));
    step.zero_stage = 0;
    CHECK(step_time(step, core, link(0.01)).communication == Approx(elements * 8 / 2 / 0.01e9));
}

TEST_CASE("overlap hides communication in the first and last pass of a step, and never more than there is") {
    PlannedStep step = small_step(2);
    const StepTime fast = step_time(step, core, link(100)), slow = step_time(step, core, link(0.001));
    CHECK(fast.exposed() < 0.01 * fast.computing);
    CHECK(slow.exposed() < slow.communication);
    CHECK(slow.exposed() > slow.communication - slow.computing);
    step.bucket_mib = 1024;  // a single bucket is reduced after backward: only the weights overlap
    CHECK(step_time(step, core, link(0.05)).exposed_reduce > 3 * step_time(small_step(2), core, link(0.05)).exposed_reduce);
    PlannedStep longer = small_step(2);
    longer.global_batch *= 24;  // the same traffic in a step with 24 times the passes
    CHECK(step_time(longer, core, link(0.01)).exposed() == Approx(step_time(small_step(2), core, link(0.01)).exposed()));
}

TEST_CASE("every bucket costs its latency") {
    PlannedStep step = small_step(4);
    step.overlaps = false;
    const double without = step_time(step, core, link(1)).communication;
    const double collectives = 2 * static_cast<double>(step.layout().buckets().size());
    CHECK(step_time(step, core, link(1, 100)).communication - without == Approx(collectives * 2 * 100e-6));
}

TEST_CASE(
    "every small message of a step takes a round per doubling of the ranks: the latency, 25 us or more, and the hosts' 75 us") {
    PlannedStep step = small_step(4);
    const auto added_by_one_more = [&](double latency_us) {
        step.messages = 1;
        const double one = step_time(step, core, link(1, latency_us)).total();
        step.messages = 2;
        return step_time(step, core, link(1, latency_us)).total() - one;
    };
    CHECK(added_by_one_more(100) == Approx(2 * 175e-6));
    CHECK(added_by_one_more(5) == Approx(2 * 100e-6));
    CHECK(message_seconds(link(1, 25), 128) == Approx(7 * 100e-6));
    CHECK(message_seconds(link(1, 25), 100) == Approx(7 * 100e-6));
}

TEST_CASE("a small collective of another program costs its latency") {
    PlannedStep step = small_step(4);
    const double none = step_time(step, core, link(1, 100)).total();
    step.small_collectives = 1;
    CHECK(step_time(step, core, link(1, 100)).total() - none == Approx(2 * 100e-6));
}

TEST_CASE("in two stages a node sends each part once; in one stage, once for each of its ranks") {
    const Network network{"n", 1, 0, 100, ""};
    CHECK(staged_seconds(network, 8, 8, 8e9) == Approx(0.07));        // one node: as a ring
    CHECK(staged_seconds(network, 16, 8, 16e9) == Approx(0.14 + 8));  // 7/8 of 16 GB inside, then half of it between two nodes
    CHECK(staged_seconds(network, 4, 1, 4e9) == Approx(3));           // nodes of one rank
    CHECK(staged_seconds(network, 12, 8, 12e9) == Approx(8 * 12 * 4. / 12));  // nodes of eight and four ranks: one stage
}

TEST_CASE("gradients in bf16 that go in stages take at most half as long between nodes, and the bandwidth inside limits a ring") {
    const Network network{"n", 10, 0, 5, ""};
    CHECK(collective_seconds(network, 16, 8, 16e9) == Approx(3));
    PlannedStep fp32 = small_step(16), bf16 = fp32;
    bf16.gradient_bytes = 2;
    bf16.in_stages = true;
    Accelerator accelerator = core;
    accelerator.per_node = 8;
    const Network slow{"n", 0.01, 0, 1000, ""};
    fp32.weight_bytes = bf16.weight_bytes = 0;
    CHECK(step_time(bf16, accelerator, slow).communication < 0.5 * step_time(fp32, accelerator, slow).communication);
    bf16.world_size = fp32.world_size = 12;  // nodes of eight and four ranks: one stage, which fp32's ring beats
    CHECK(step_time(bf16, accelerator, slow).communication > step_time(fp32, accelerator, slow).communication);
    bf16.chooses_dtype = true;
    for (const std::int64_t ranks : {8, 12}) {
        bf16.world_size = fp32.world_size = ranks;
        CHECK(step_time(bf16, accelerator, slow).communication == Approx(step_time(fp32, accelerator, slow).communication));
    }
}

TEST_CASE("computing is slower by the part of the accelerator that communication occupies, except on CPUs") {
    PlannedStep step = small_step(2);
    Accelerator accelerator = core;
    const StepTime time = step_time(step, accelerator, link(0.01));
    CHECK(time.slowed == Approx(16.0 / 132 * (time.communication - time.exposed())));
    CHECK(time.total() == Approx(time.computing + time.slowed + time.optimizer + time.exposed()));
    step.overlaps = false;
    CHECK(step_time(step, accelerator, link(0.01)).slowed == 0);
    step.overlaps = true;
    accelerator.is_cpu = true;
    CHECK(step_time(step, accelerator, link(0.01)).slowed == 0);
}

TEST_CASE("an accelerator that another program was measured on is planned as that program communicates, on its own network") {
    ForecastGrid grid = small_grid();
    grid.networks.clear();
    Accelerator other = core;
    other.network = "tcp";
    other.program = OtherProgram{"other", false, 2, 2, 64, 1};
    grid.accelerators = {core, other};
    const std::vector<ForecastRow> rows = plan_runs(grid);
    CHECK(rows[0].network.name == "efa4");
    CHECK(rows[0].step.overlaps);
    CHECK(rows[1].network.name == "tcp");
    CHECK_FALSE(rows[1].step.overlaps);
    CHECK(rows[1].step.gradient_bytes == 2);
    CHECK(rows[1].step.bucket_mib == 64);
    CHECK(plan_assumptions(rows).find("trained by other, which sends gradients of 2 bytes after the backward pass") !=
          std::string::npos);
}

TEST_CASE("inside a node its local bandwidth counts") {
    const Network network{"n", 1, 0, 100, ""};
    CHECK(collective_seconds(network, 8, 8, 8e9) == Approx(0.07));
    CHECK(collective_seconds(network, 16, 8, 16e9) == Approx(15));
    CHECK(collective_seconds(network, 1, 8, 16e9) == 0);
}

TEST_CASE("a failure costs its restart and half an interval, and the best interval is Young's") {
    ForecastInputs inputs;
    inputs.step_seconds = 2;
    inputs.steps = 180'000;  // 100 hours
    inputs.accelerators = 100;
    inputs.hours_between_failures = 1000;  // a failure of the job every 10 hours
    inputs.save_seconds = 18;
    inputs.restart_seconds = 100;
    inputs.price_per_hour = 2;
    const Forecast result = forecast(inputs);
    CHECK(result.save_every_seconds == Approx(std::sqrt(2 * 18 * 36'000.0)));
    CHECK(result.save_every_steps == 569);
    CHECK(result.hours == Approx(100 * (1 + 18.0 / 1138) / (1 - (569 + 100) / 36'000.0)).epsilon(1e-3));
    CHECK(result.failures == Approx(result.hours / 10));
    CHECK(*result.cost == Approx(result.hours * 200));
    inputs.price_per_hour = 0;
    CHECK_FALSE(forecast(inputs).cost.has_value());
    // no other interval is better
    for (const double factor : {0.5, 2.0}) {
        const double interval = 1138 * factor;
        CHECK(100 * (1 + 18 / interval) / (1 - (interval / 2 + 100) / 36'000) > result.hours);
    }
}

TEST_CASE("the interval between saves follows from what a save costs training, and is no shorter than its write") {
    ForecastGrid grid = small_grid();
    grid.run.steps = 1'000'000'000;
    const auto row = [&] { return plan_runs(grid).front(); };
    const double written = 12 * static_cast<double>(row().step.layout().parameter_elements()) / 1e9;  // seconds, at 1 GB/s
    const double between = 50'000.0 * 3600 / 4;
    CHECK(row().save_seconds < 0.1 * written);
    CHECK(row().save_seconds > 0.04 * written);  // a step took 1.04 times as long while a checkpoint was written
    CHECK(row().forecast.save_every_seconds == Approx(std::sqrt(2 * row().save_seconds * between)));
    grid.background = false;
    CHECK(row().save_seconds == Approx(written));
    CHECK(row().forecast.save_every_seconds == Approx(std::sqrt(2 * written * between)));
    grid.background = true;
    grid.save_gbps = 1e-6;
    grid.run.hours_between_failures = 1;
    CHECK(row().forecast.save_every_seconds >= written * 1e6);
}

TEST_CASE("a run whose batch grows takes the time of its samples, not of its steps") {
    ForecastGrid grid = small_grid();
    grid.run.steps = 1000;
    const ForecastRow constant = plan_runs(grid).front();
    grid.batch_sizes = [](std::int64_t ranks) { return BatchSizes(16 * ranks, {500, 8 * ranks, 8 * ranks}); };
    const ForecastRow growing = plan_runs(grid).front();
    CHECK(growing.time.total() == constant.time.total());
    CHECK(growing.forecast.hours == Approx(0.75 * constant.forecast.hours).epsilon(1e-3));
}

TEST_CASE("a measured run gives a rank's rate without waits, and the rate at which it sends") {
    Metrics metrics;
    for (std::int64_t step = 1; step <= 10; ++step) {
        StepRecord record{.step = step, .sequences_per_second = 8, .tokens_per_second = 800, .model_tflops_per_second = 0.3};
        record.step_seconds = step == 1 ? 100 : 2;  // the first is slow
        record.data_wait_seconds = 0.1;
        record.exposed_communication_seconds = 0.4;
        record.communication_seconds = 0.8;
        record.bytes_sent = 1.6e6;
        metrics.steps.push_back(record);
    }
    const MeasuredRun run = measure(metrics, 2);
    CHECK(run.computing_seconds == Approx(1.5));
    CHECK(run.tokens_per_sequence == Approx(100));
    CHECK(run.tflops_per_rank == Approx(0.3 * 2 / 1.5 / 2));
    CHECK(run.sent_gbps == Approx(0.002));
    metrics.steps.resize(2);
    CHECK_THROWS_AS(measure(metrics, 2), DataError);
}

TEST_CASE("unknown machines are refused with the list of known ones; any network can be described") {
    CHECK_THROWS_WITH(find_accelerator("a1000"), Catch::Matchers::Contains("a100"));
    CHECK_THROWS_WITH(find_network("wifi"), Catch::Matchers::Contains("efa4"));
    for (const char* text : {"x:", "x:fast", "x:0", "x:1:2:3", "x:-1", "x:nan"}) CHECK_THROWS_AS(find_network(text), ConfigError);
    CHECK(find_network("mine:12.5:50").node_gbps == 12.5);
    CHECK(find_network("mine:12.5:50").latency_us == 50);
    CHECK(find_network("efa4").node_gbps == 43);
}

// All NCCL code on one GPU: a process that communicates with itself.
#include <cstdlib>
#include "gpu/gpu.h"
#include "operations/device_check.h"
#include "parallel/launch_environment.h"
#include "parallel/make_world.h"
#include "system/small_run.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

Launch forced() {
    Launch launch;
    launch.forces_world = true;
    return launch;
}

}  // namespace

TEST_CASE("NCCL's world of one moves tensors of both types, in place too, and messages", "[gpu]") {
    NEEDS_GPU();
    const auto device = find_usable_gpu();
    const auto world = make_world(forced(), std::chrono::seconds(60), *device);
    CHECK(world->communicates());
    CHECK(world->all_gather_texts("own") == std::vector<std::string>{"own"});
    for (const at::ScalarType type : {at::kFloat, at::kBFloat16}) {
        const at::Tensor values = at::arange(251, at::TensorOptions(*device)).to(type);
        const at::Tensor sums = at::zeros({251}, at::TensorOptions(*device)), gathered = at::zeros_like(values);
        world->reduce_scatter(values, sums)->wait();
        world->all_gather(values, gathered)->wait();
        CHECK(at::equal(sums.to(type), values));
        CHECK(at::equal(gathered, values));
        const at::Tensor in_place = values.clone();
        world->reduce_scatter(in_place, in_place)->wait();
        world->all_gather(in_place, in_place)->wait();
        CHECK(at::equal(in_place, values));
        world->broadcast(in_place)->wait();
        CHECK(at::equal(in_place, values));
    }
    CHECK(world->connect_again("again")->sum(3) == 3);
}

TEST_CASE("NCCL collectives are timed on the GPU, and so is the computation's wait for them", "[gpu]") {
    NEEDS_GPU();
    const auto device = find_usable_gpu();
    const auto world = make_world(forced(), std::chrono::seconds(60), *device);
    const at::Tensor input = at::ones({std::int64_t{1} << 26}, at::TensorOptions(*device)), output = at::empty_like(input);
    world->reduce_scatter(input, output)->wait();  // connects
    synchronize(*device);
    const Traffic before = world->traffic();
    world->reduce_scatter(input, output)->wait();  // not overlapped by computation
    synchronize(*device);
    const Traffic once = world->traffic() - before;
    CHECK(once.busy_seconds > 1e-4);  // 256 MiB read and written twice
    CHECK(once.busy_seconds < 1);
    const char* const blocking = std::getenv("CUDA_LAUNCH_BLOCKING");  // if set, the host has already waited
    if (blocking == nullptr || std::string(blocking) == "0") CHECK(once.waited_seconds > 0.5 * once.busy_seconds);
    CHECK(once.waited_seconds < 1.5 * once.busy_seconds);
}

TEST_CASE("a run on a GPU through NCCL with one rank is bitwise equal to a run without NCCL", "[gpu]") {
    NEEDS_GPU();
    const std::string precision = GENERATE("fp32", "bf16"), zero_stage = GENERATE("0", "1");
    CAPTURE(precision, zero_stage);
    const TemporaryFolder folder;
    const auto config = write_experiment(
        folder, {{"training", {{"device", "cuda"}, {"precision", precision}}}, {"batch", {{"device_micro_batch", 4}}}});
    const std::string options = "--set parallel.bucket_mib=0.1 --set parallel.zero_stage=" + zero_stage;
    const CommandResult plain = train(config, folder / "plain", options);
    INFO(plain.err);
    REQUIRE(plain.exit_code == 0);
    const CommandResult through_nccl =
        run_command(concat(force_world_variable, "=1 ") + train_command(config, folder / "forced", options));
    INFO(through_nccl.err);
    REQUIRE(through_nccl.exit_code == 0);
    CHECK(missing_words(through_nccl.err, {"connected with itself"}) == "");
    CHECK(first_difference(numbers_of(folder / "plain"), numbers_of(folder / "forced")) == "");
}

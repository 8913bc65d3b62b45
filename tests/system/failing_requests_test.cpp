// A sweep: each single request of a run with remote shards, a mirror and credentials of an instance fails once, in each way.

#include <iostream>

#include "core/error.h"
#include "support/catch.h"
#include "support/object_server.h"
#include "system/small_run.h"

using namespace bertpretrain::testing;
using bertpretrain::concat;
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

const std::vector<std::string> faults_of_a_store{R"("fault": "error", "status": 500, "code": "InternalError")",
                                                 R"("fault": "503")", R"("fault": "reset")", R"("fault": "lost")",
                                                 R"("fault": "cut")"};
const std::vector<std::string> faults_of_an_instance{R"("fault": "error", "status": 500, "code": "InternalError")",
                                                     R"("fault": "error", "status": 404, "code": "NotFound")",
                                                     R"("fault": "reset")", R"("fault": "stall", "seconds": 4)"};

class Sweep {
public:
    explicit Sweep(const ObjectServer& server) : server_(server), config_(write_experiment(folder_, patch())) {
        REQUIRE(server_.put_folder(sample_data().shards, "shards"));
        server_.set_instance_credentials("of-imds", 3600);
        fs::create_directory(folder_ / "of_disk");
        const fs::path of_disk = write_experiment(folder_ / "of_disk", schedule());
        REQUIRE(train(of_disk, folder_ / "undisturbed").exit_code == 0);
        expected_ = numbers_of(folder_ / "undisturbed");
        CHECK(run_with("[]", true) == 0);
        requests_ = server_.requests().size();
        of_instance_ = server_.count(" /latest/");
        CHECK(of_instance_ == 2 * 3);  // two processes: a session, the role, its credentials
        of_instance_ /= 2;
    }

    std::size_t requests() const { return requests_; }
    std::size_t of_instance() const { return of_instance_; }

    /// The n-th request whose path contains a text fails once. The run must end with 0 or with 5, or with 2 where the instance
    /// says that it has no role, and then go on when it is started again.
    void fail(std::size_t n, const std::string& contains, const std::string& fault) {
        INFO("request " << n << " " << contains << ": " << fault);
        const std::string list = concat(R"([{"times": 1, "every": )", n, R"(, "number": )", ++runs_, R"(, "contains": ")",
                                        contains, "\", ", fault, "}]");
        const int code = run_with(list, false);
        CHECK((code == 0 || code == 5 || (code == 2 && fault.find("404") != fault.npos)));
        if (code != 0) {
            ++restarts_;
            CHECK(run_with("[]", false, true) == 0);
        }
    }
    std::size_t restarts() const { return restarts_; }

private:
    static json schedule() {
        return {
            {"schedule", {{"total_steps", 4}}}, {"checkpoint", {{"save_every_steps", 2}}}, {"evaluation", {{"every_steps", 4}}}};
    }
    json patch() const {
        json patch = schedule();
        patch["data"] = {{"training_shards", "s3://bucket/shards"}, {"cache_folder", (folder_ / "cache").string()}};
        return patch;
    }

    /// Runs on an empty cache, to a new mirror. Checks the losses and the mirror of a run that ends with 0.
    int run_with(const std::string& faults, bool first, bool is_restart = false) {
        if (!is_restart) {
            fs::remove_all(folder_ / "cache");
            fs::remove_all(folder_ / "run");
            ++mirrors_;
        }
        server_.set_faults(faults);
        const std::string mirror = concat("s3://bucket/mirror", mirrors_);
        const CommandResult result =
            run_command(environment() + train_command(config_, folder_ / "run", concat("--set checkpoint.mirror=", mirror)));
        server_.set_faults("[]");
        INFO(result.err);
        if (result.exit_code != 0) return result.exit_code;
        CHECK(first_difference(expected_, numbers_of(folder_ / "run")) == "");
        if (first || runs_ % 5 == 0) {  // the mirror alone is enough to go on
            fs::remove_all(folder_ / "run");
            const CommandResult again =
                run_command(environment() + train_command(config_, folder_ / "run", concat("--set checkpoint.mirror=", mirror)));
            INFO(again.err);
            CHECK(again.exit_code == 0);
            CHECK(missing_words(again.err, {"step_00000004"}) == "");
        }
        return 0;
    }
    std::string environment() const {
        std::string text = "env -u AWS_ACCESS_KEY_ID -u AWS_SECRET_ACCESS_KEY no_proxy=127.0.0.1 ";
        for (const auto& [name, value] : server_.instance_variables()) text += name + "=" + value + " ";
        return text;
    }

    const ObjectServer& server_;
    TemporaryFolder folder_;
    fs::path config_;
    std::vector<std::string> expected_;
    std::size_t requests_ = 0, of_instance_ = 0, runs_ = 0, mirrors_ = 0, restarts_ = 0;
};

/// Every `step`-th request to the store, from the first one on, fails once: in one of the ways in turn, or in each. Each request
/// to the instance does so in each way.
void sweep(std::size_t step, bool each_way) {
    const ObjectServer server;
    NEEDS_OBJECT_SERVER(server);
    Sweep run(server);
    for (std::size_t n = 1; n <= run.of_instance(); ++n)
        for (const std::string& fault : faults_of_an_instance) run.fail(n, "/latest/", fault);
    std::size_t turn = 0;
    for (std::size_t n = 1; n <= run.requests(); n += step)
        for (std::size_t way = 0; way < (each_way ? faults_of_a_store.size() : 1); ++way)
            run.fail(n, "", faults_of_a_store[turn++ % faults_of_a_store.size()]);
    std::cerr << run.requests() << " requests, " << run.of_instance() << " of them to the instance; " << run.restarts()
              << " restarts\n";
}

}  // namespace

TEST_CASE("one failed request does not end a run, or the run goes on when it is started again") {
    NEEDS_TRAIN();
    sweep(13, false);
}

TEST_CASE("each single request of a run fails once in each way, and the run goes on or does so when it is started again",
          "[.long]") {
    NEEDS_TRAIN();
    sweep(1, true);
}

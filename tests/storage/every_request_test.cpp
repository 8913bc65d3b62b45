// A sweep: each single request of a piece of work fails once, in each way.

#include "core/error.h"
#include "core/files/files.h"
#include "storage/object_cache.h"
#include "storage/shared_server.h"
#include "support/catch.h"
#include "support/command.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

const std::string large(5000, 'l');  // three parts

ObjectStore store_in(const std::string& folder, double give_up_seconds) {
    StorageSettings settings = quick_settings(give_up_seconds);
    settings.first_pause_seconds = 0.001;
    return ObjectStore(parse_object_url("s3://bucket/" + folder, "a test"), credentials_by(shared_server().instance_variables()),
                       settings, 2000);
}

void require(bool holds, const char* what) {
    if (!holds) throw std::logic_error(what);
}

/// Credentials, an upload in parts, a small object, a list, a cached object, a deletion: each kind of request.
void work(const std::string& folder, double give_up_seconds) {
    const TemporaryFolder place;
    std::shared_ptr<ObjectStore> store(new ObjectStore(store_in(folder, give_up_seconds)));
    write_text(place / "large", large);
    store->upload("large", place / "large");
    store->write("small", "small");
    require(store->read("small") == "small", "the small object has another content");
    require(store->list().size() == 2, "the list has not two objects");
    ObjectCache cache(place / "cache", 1'000'000, 1);
    cache.add({store, "large", large.size(), crc32_of_file(place / "large")});
    require(cache.hold(0, std::vector<std::size_t>{0}) && read_text(cache.find(0).value()) == large,
            "the cached object is wrong");
    store->remove("small");
    require(store->read("small") == std::nullopt, "the small object is still there");
}

/// The number of requests of work().
std::size_t requests_of_work() {
    static const std::size_t count = [] {
        const std::size_t before = shared_server().requests().size();
        work("counted", 20);
        return shared_server().requests().size() - before;
    }();
    return count;
}

/// A fault of the n-th request from now on. @param number makes faults of the same kind different ones for the server
std::string at_request(std::size_t n, const std::string& fault) {
    static int number = 0;
    return R"([{"every": )" + std::to_string(n) + R"(, "times": 1, "number": )" + std::to_string(++number) + R"(, "fault": )" +
           fault + "}]";
}

/// Whether uploads of a folder were begun, and neither completed nor aborted.
bool has_unfinished_uploads(const std::string& folder) {
    const CommandResult uploads = run_command("curl -sf --noproxy '*' '" + shared_server().plain_endpoint() + "/bucket?uploads'" +
                                              " -H 'Authorization: AWS4-HMAC-SHA256 Credential=key/20260101/us-east-1/s3/"
                                              "aws4_request, SignedHeaders=host, Signature=none'");
    CHECK(uploads.exit_code == 0);
    return uploads.out.find("<Key>" + folder + "/") != std::string::npos;
}

/// Each request in turn has the fault; the work must succeed.
void sweep(const std::string& fault) {
    for (std::size_t n = 1; n <= requests_of_work(); ++n) {
        INFO("request " << n << " of " << requests_of_work() << ": " << fault);
        const Faults faults(at_request(n, fault));
        CHECK_NOTHROW(work("swept", 20));
    }
}

}  // namespace

TEST_CASE("work goes on when each single request once gets an answer of 503", "[system]") {
    NEEDS_OBJECT_SERVER(shared_server());
    sweep(R"("503")");
}

TEST_CASE("work goes on when each single request once is closed without an effect", "[system]") {
    NEEDS_OBJECT_SERVER(shared_server());
    sweep(R"("refused")");
    CHECK_FALSE(has_unfinished_uploads("swept"));
}

TEST_CASE("work goes on when each single request once is carried out without an answer", "[system]") {
    NEEDS_OBJECT_SERVER(shared_server());
    sweep(R"("lost")");
}

TEST_CASE("a store that fails from any request on ends the work in an error of the network, and an earlier object stays",
          "[system]") {
    NEEDS_OBJECT_SERVER(shared_server());
    auto variables = shared_server().variables();
    variables["AWS_ENDPOINT_URL"] = shared_server().plain_endpoint();
    ObjectStore past_the_proxy = shared_store("lasting", variables);
    past_the_proxy.write("large", "an earlier object");
    for (std::size_t n = 1; n <= requests_of_work(); ++n) {
        INFO("from request " << n << " on");
        const Faults faults(R"([{"fault": "503", "after": )" + std::to_string(n - 1) + "}]");
        CHECK_THROWS_AS(work("lasting", 0), DistributedError);
        const std::string now = past_the_proxy.read("large").value_or("");
        CHECK((now == large || now == "an earlier object"));
    }
}

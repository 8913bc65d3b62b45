// Uploads in parts are complete when the store's answer says so, and leave no parts in the store when they are not.

#include "core/error.h"
#include "storage/shared_server.h"
#include "support/catch.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

std::string bytes_of_parts(std::size_t count) {
    std::string bytes(count, '\0');
    for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<char>((i * 31 + i / 251) % 253);
    return bytes;
}

/// A fault of the request that completes an upload; none that begins one.
std::string at_completion(const std::string& fault) {
    return R"([{"method": "POST", "contains": "uploadId=", "fault": )" + fault + "}]";
}

/// Uploads a file of three parts. @returns what the store then has under its name
std::optional<std::string> upload(const std::string& folder, const std::string& bytes, double give_up_seconds = 20) {
    const TemporaryFolder place;
    write_text(place / "file", bytes);
    ObjectStore store = shared_store(folder, shared_server().variables(), give_up_seconds);
    store.upload("file", place / "file");
    return store.read("file");
}

std::size_t aborted(const std::string& folder) { return shared_server().count("DELETE /bucket/" + folder + "/file?uploadId="); }

}  // namespace

TEST_CASE("an answer of 200 with InternalError or SlowDown is repeated") {
    NEEDS_OBJECT_SERVER(shared_server());
    const std::string bytes = bytes_of_parts(5000);
    for (const std::string code : {"InternalError", "SlowDown"}) {
        const std::string folder = "repeated " + code;
        const Faults faults(at_completion(R"("error", "status": 200, "times": 2, "code": ")" + code + "\""));
        CHECK((upload(folder, bytes) == bytes));
        CHECK(aborted("repeated%20" + code) == 0);
        CHECK(shared_server().count("PUT /bucket/repeated%20" + code + "/file?partNumber=1") == 1);
    }
}

TEST_CASE("an answer of 200 with another error aborts the upload, and the error has the store's words") {
    NEEDS_OBJECT_SERVER(shared_server());
    const Faults faults(at_completion(R"("error", "status": 200, "code": "InvalidPart")"));
    CHECK_THROWS_WITH(upload("refused", bytes_of_parts(5000)),
                      Catch::Contains("s3://bucket/refused/file") && Catch::Contains("InvalidPart"));
    CHECK(aborted("refused") == 1);
}

TEST_CASE("an upload whose completion was carried out without an answer is complete at the end") {
    NEEDS_OBJECT_SERVER(shared_server());
    const std::string bytes = bytes_of_parts(5000);
    const Faults faults(at_completion(R"("lost", "times": 1)"));
    CHECK((upload("unanswered", bytes) == bytes));
}

TEST_CASE("an unfinished upload is aborted although the first request to do so fails") {
    NEEDS_OBJECT_SERVER(shared_server());
    const Faults faults(R"([{"method": "POST", "contains": "uploadId=", "fault": "error", "status": 403, "code": "AccessDenied"},
                            {"method": "DELETE", "contains": "/aborted/", "fault": "503", "times": 1}])");
    CHECK_THROWS_WITH(upload("aborted", bytes_of_parts(5000)), Catch::Contains("AccessDenied"));
    CHECK(aborted("aborted") == 2);
}

TEST_CASE("a wrong clock is named as such") {
    NEEDS_OBJECT_SERVER(shared_server());
    const Faults faults(R"([{"contains": "/skewed/", "fault": "error", "status": 403, "code": "RequestTimeTooSkewed"}])");
    ObjectStore store = shared_store("skewed", shared_server().variables());
    CHECK_THROWS_WITH(store.read("file"),
                      Catch::Contains("s3://bucket/skewed/file") && Catch::Contains("set this machine's clock"));
    CHECK_THROWS_AS(store.read("file"), ConfigError);
}

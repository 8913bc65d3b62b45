// Signatures of requests, with botocore as the oracle.

#include <nlohmann/json.hpp>

#include "storage/aws_signature.h"
#include "support/catch.h"
#include "support/command.h"
#include "support/skip.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

constexpr double signing_time = 1'769'903'999;  // 2026-01-31 23:59:59 UTC
const std::string payload_hash = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

}  // namespace

TEST_CASE("a signature equals botocore's") {
    const AwsCredentials lasting{"AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", ""};
    const AwsCredentials passing{"ASIAEXAMPLE", "another/secret+", "a/session+token=="};
    const std::vector<AwsRequest> requests{
        {"GET", "bucket.s3.eu-west-1.amazonaws.com", "/folder/training_000.h5", {}, payload_hash},
        {"GET",
         "127.0.0.1:9000",
         "/bucket",
         {{"list-type", "2"}, {"prefix", "a b/ü+"}, {"continuation-token", "1/x="}},
         payload_hash},
        {"PUT",
         "bucket.s3.eu-west-1.amazonaws.com",
         "/a%20b/%2B%C3%BC",
         {{"partNumber", "3"}, {"uploadId", "x~y"}},
         "UNSIGNED-PAYLOAD"},
        {"POST", "bucket.s3.eu-west-1.amazonaws.com", "/key", {{"uploads", ""}}, "UNSIGNED-PAYLOAD"}};
    const TemporaryFolder folder;
    std::string lines, signatures;
    for (const AwsCredentials& credentials : {lasting, passing}) {
        for (const AwsRequest& request : requests) {
            const std::string query = query_text(request.query);
            const std::string url = "https://" + request.host + request.path + (query.empty() ? "" : "?" + query);
            lines += nlohmann::json{request.method,
                                    url,
                                    request.payload_sha256,
                                    "20260131T235959Z",
                                    credentials.key_id,
                                    credentials.secret,
                                    credentials.session_token,
                                    "eu-west-1"}
                         .dump() +
                     "\n";
            signatures += signed_headers(request, credentials, "eu-west-1", signing_time).back().substr(15) + "\n";
        }
    }
    write_text(folder / "requests", lines);
    const CommandResult oracle = run_command(python() + " tests/storage/aws_signature.py " + (folder / "requests").string());
    if (oracle.exit_code != 0) SKIP_TEST(skip::no_oracle, "no Python with botocore: " + oracle.err);
    CHECK(signatures == oracle.out);
}

// Addresses of stores.

#include "storage/object_url.h"
#include "core/error.h"
#include "support/catch.h"

using namespace bertpretrain;

TEST_CASE("an address is a scheme, a bucket or host, and a folder") {
    const ObjectUrl url = parse_object_url("s3://bucket/a/b/", "x");
    CHECK(url.root == "bucket");
    CHECK(url.key == "a/b");
    CHECK((url / "c").text() == "s3://bucket/a/b/c");
    CHECK((parse_object_url("s3://bucket", "x") / "c").text() == "s3://bucket/c");
    CHECK(parse_object_url("https://host:8080/a", "x").text() == "https://host:8080/a");
    CHECK_FALSE(is_object_url("/data/s3://bucket"));
    CHECK(percent_encoded("a/b c+ü~", "/") == "a/b%20c%2B%C3%BC~");
}

TEST_CASE("an address with a secret, without a bucket or of another scheme is refused, and no secret is printed") {
    for (const std::string bad :
         {"s3://", "s3:///key", "ftp://host/x", "http://", "https://host/x?X-Amz-Signature=1", "s3://b cket/x"})
        CHECK_THROWS_WITH(parse_object_url(bad, "data.training_shards"), Catch::Contains("data.training_shards"));
    try {
        parse_object_url("https://user:hunter2@host/x", "data.training_shards");
        FAIL("no error");
    } catch (const ConfigError& error) { CHECK(std::string(error.what()).find("hunter2") == std::string::npos); }
}

// The hosts of AWS's regions, with botocore as the oracle.

#include <sstream>

#include "storage/aws_regions.h"
#include "support/catch.h"
#include "support/command.h"
#include "support/skip.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

TEST_CASE("hosts of S3 and STS have the domain of their region's partition") {
    CHECK(s3_origin("bucket", "cn-north-1") == "https://bucket.s3.cn-north-1.amazonaws.com.cn");
    CHECK(s3_origin("", "eu-central-1") == "https://s3.eu-central-1.amazonaws.com");
    CHECK(sts_origin("cn-northwest-1") == "https://sts.cn-northwest-1.amazonaws.com.cn");
    CHECK(sts_origin("us-gov-west-1") == "https://sts.us-gov-west-1.amazonaws.com");
}

TEST_CASE("each region that botocore knows has the domain that botocore says") {
    const CommandResult known = run_command(python() + " tests/storage/aws_regions.py");
    if (known.exit_code != 0) SKIP_TEST(skip::no_oracle, "botocore is not installed: " + known.err);
    std::istringstream lines(known.out);
    int regions = 0;
    for (std::string region, domain; lines >> region >> domain; ++regions) {
        INFO(region);
        CHECK(aws_domain(region) == domain);
    }
    CHECK(regions > 30);
}

#include "storage/s3_answers.h"

#include "core/error.h"
#include "support/catch.h"

using namespace bertpretrain;

TEST_CASE("a page of a list that says that it is cut, but not how it goes on, is refused") {
    const auto page = [](const std::string& end) {
        return parse_object_list("<ListBucketResult><Contents><Key>a</Key><Size>5</Size></Contents>" + end +
                                 "</ListBucketResult>");
    };
    const std::string token = "<NextContinuationToken>t</NextContinuationToken>";
    CHECK(page("").continuation.empty());
    CHECK(page("<IsTruncated>false</IsTruncated>" + token).continuation.empty());
    CHECK(page("<IsTruncated>true</IsTruncated>" + token).continuation == "t");
    CHECK_THROWS_WITH(page("<IsTruncated>true</IsTruncated>"), Catch::Contains("without a NextContinuationToken"));
}

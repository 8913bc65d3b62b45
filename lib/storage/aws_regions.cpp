#include "storage/aws_regions.h"

#include <array>
#include <utility>

#include "core/concat.h"

namespace bertpretrain {

std::string_view aws_domain(std::string_view region) {
    // As botocore's partitions.json has them; regions of all other prefixes are in "amazonaws.com".
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 6> domains{{
        {"cn-", "amazonaws.com.cn"},
        {"eusc-", "amazonaws.eu"},
        {"us-iso-", "c2s.ic.gov"},
        {"us-isob-", "sc2s.sgov.gov"},
        {"eu-isoe-", "cloud.adc-e.uk"},
        {"us-isof-", "csp.hci.ic.gov"},
    }};
    for (const auto& [prefix, domain] : domains)
        if (region.starts_with(prefix)) return domain;
    return "amazonaws.com";
}

std::string sts_origin(std::string_view region) { return concat("https://sts.", region, ".", aws_domain(region)); }

std::string s3_origin(std::string_view bucket, std::string_view region) {
    return concat("https://", bucket, bucket.empty() ? "" : ".", "s3.", region, ".", aws_domain(region));
}

}  // namespace bertpretrain

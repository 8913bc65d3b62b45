#pragma once
// AWS's partitions: groups of regions with a domain of their own.

#include <string>
#include <string_view>

namespace bertpretrain {

/// Returns the domain of a region's services: "amazonaws.com", in China "amazonaws.com.cn", ...
std::string_view aws_domain(std::string_view region);

/// Returns "https://sts.REGION.DOMAIN", the token service of a region.
std::string sts_origin(std::string_view region);

/// Returns "https://BUCKET.s3.REGION.DOMAIN"; for an empty bucket "https://s3.REGION.DOMAIN".
std::string s3_origin(std::string_view bucket, std::string_view region);

}  // namespace bertpretrain

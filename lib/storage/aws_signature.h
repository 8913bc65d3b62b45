#pragma once
// Signs requests to S3 (AWS Signature Version 4). Our own, because libcurl 7.82 and older do not send x-amz-content-sha256, which
// S3 requires (curl's issue 8810).

#include <map>
#include <string>
#include <vector>

namespace bertpretrain {

struct AwsCredentials {
    std::string key_id;
    std::string secret;         ///< never printed
    std::string session_token;  ///< empty: none
    double expires = 0;         ///< unix_seconds_now(); 0: never
};

/// A request as it is signed.
struct AwsRequest {
    std::string method;
    std::string host;                          ///< as in the Host header, with a port that is not the scheme's own
    std::string path;                          ///< percent-encoded, begins with a slash
    std::map<std::string, std::string> query;  ///< not encoded
    std::string payload_sha256;                ///< hexadecimal
};

/// "a=1&b=x%20y", sorted and percent-encoded; empty for no parameters.
std::string query_text(const std::map<std::string, std::string>& query);

/// Returns the headers to send with the request, "Name: value".
/// @param unix_seconds the time of signing; a store accepts a difference of 15 minutes from its own clock
std::vector<std::string> signed_headers(const AwsRequest& request, const AwsCredentials& credentials, const std::string& region,
                                        double unix_seconds);

}  // namespace bertpretrain

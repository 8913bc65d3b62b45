#include "storage/aws_signature.h"

#include <array>
#include <ctime>

#include "core/concat.h"
#include "core/files/sha256.h"
#include "storage/object_url.h"

namespace bertpretrain {
namespace {

/// "20260131T235959Z"
std::string basic_time(double unix_seconds) {
    const auto seconds = static_cast<std::time_t>(unix_seconds);
    std::tm parts{};
    ::gmtime_r(&seconds, &parts);
    std::array<char, 32> text{};
    return {text.data(), std::strftime(text.data(), text.size(), "%Y%m%dT%H%M%SZ", &parts)};
}

}  // namespace

std::string query_text(const std::map<std::string, std::string>& query) {
    std::string text;
    for (const auto& [name, value] : query)
        text += concat(text.empty() ? "" : "&", percent_encoded(name), "=", percent_encoded(value));
    return text;
}

std::vector<std::string> signed_headers(const AwsRequest& request, const AwsCredentials& credentials, const std::string& region,
                                        double unix_seconds) {
    const std::string time = basic_time(unix_seconds), date = time.substr(0, 8);
    const std::string scope = concat(date, "/", region, "/s3/aws4_request");
    std::map<std::string, std::string> headers{
        {"host", request.host}, {"x-amz-content-sha256", request.payload_sha256}, {"x-amz-date", time}};
    if (!credentials.session_token.empty()) headers["x-amz-security-token"] = credentials.session_token;

    std::string lines, names;
    for (const auto& [name, value] : headers) {
        lines += concat(name, ":", value, "\n");
        names += concat(names.empty() ? "" : ";", name);
    }
    const std::string canonical = concat(request.method, "\n", request.path, "\n", query_text(request.query), "\n", lines, "\n",
                                         names, "\n", request.payload_sha256);
    const std::string to_sign = concat("AWS4-HMAC-SHA256\n", time, "\n", scope, "\n", hexadecimal(sha256(canonical)));
    std::string key = concat("AWS4", credentials.secret);
    for (const std::string& part : {date, region, std::string("s3"), std::string("aws4_request")}) key = hmac_sha256(key, part);

    headers.erase("host");  // libcurl sends it
    std::vector<std::string> sent;
    for (const auto& [name, value] : headers) sent.push_back(concat(name, ": ", value));
    sent.push_back(concat("Authorization: AWS4-HMAC-SHA256 Credential=", credentials.key_id, "/", scope,
                          ", SignedHeaders=", names, ", Signature=", hexadecimal(hmac_sha256(key, to_sign))));
    return sent;
}

}  // namespace bertpretrain

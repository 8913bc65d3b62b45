#include "storage/aws_metadata.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <filesystem>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/files/files.h"
#include "core/strings.h"
#include "storage/aws_profile.h"
#include "storage/aws_regions.h"
#include "storage/http_transfer.h"
#include "storage/s3_answers.h"

namespace bertpretrain {
namespace {

/// "2026-01-31T23:59:59Z" -> seconds since 1970; 0 where the text is not such a time
double seconds_of(const std::string& text) {
    std::tm parts{};
    return ::strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &parts) == nullptr ? 0 : static_cast<double>(::timegm(&parts));
}

/// Whether a service that answers so may give credentials to a later request.
bool is_passing(const HttpAnswer& answer) {
    constexpr std::array codes{"Throttling",
                               "ThrottlingException",
                               "ThrottledException",
                               "RequestThrottled",
                               "RequestThrottledException",
                               "RequestLimitExceeded",
                               "TooManyRequests",
                               "SlowDown",
                               "PriorRequestNotComplete",
                               "IDPCommunicationError",
                               "ExpiredTokenException",
                               "InternalFailure",
                               "ServiceUnavailable"};
    if (!answer.failure.empty() || answer.ok() || answer.status == 408 || answer.status == 429 || answer.status >= 500)
        return true;
    // The platform renews a token that has expired.
    return answer.status == 400 && std::ranges::find(codes, xml_element(answer.text, "Code")) != codes.end();
}

/// "status 400, Throttling: Rate exceeded"
std::string words_of(const HttpAnswer& answer) {
    if (!answer.failure.empty()) return answer.failure;
    const std::string code = xml_element(answer.text, "Code");
    if (!code.empty()) return concat("status ", answer.status, ", ", code, ": ", xml_element(answer.text, "Message"));
    const nlohmann::json text = nlohmann::json::parse(answer.text, nullptr, false);
    const std::string json_code = text.is_object() && text.contains("Code") && text["Code"].is_string() ? text["Code"] : "";
    return concat("status ", answer.status, json_code.empty() ? "" : concat(", ", json_code));
}

/// Whether this machine is an EC2 instance, by what its firmware says.
bool is_on_ec2() {
    for (const char* const name : {"sys_vendor", "bios_vendor"}) {
        std::error_code failure;
        const std::filesystem::path file = std::filesystem::path("/sys/class/dmi/id") / name;
        if (!std::filesystem::exists(file, failure)) continue;
        try {
            if (read_file(file).find("Amazon EC2") != std::string::npos) return true;
        } catch (const DataError&) {}  // only root may read it
    }
    return false;
}

HttpAnswer ask(const std::string& method, const std::string& url, std::vector<std::string> headers) {
    HttpRequest request;
    request.method = method;
    request.url = url;
    request.headers = std::move(headers);
    request.connect_seconds = 2;  // these services are on the machine itself
    request.stall_seconds = 5;
    if (method == "PUT") request.body = "";
    return transfer(request);
}

std::optional<AwsCredentials> parse_credentials(const std::string& text) {
    const nlohmann::json found = nlohmann::json::parse(text, nullptr, false);
    if (!found.is_object()) return std::nullopt;
    const auto text_of = [&](const char* key) {
        return found.contains(key) && found[key].is_string() ? found[key].get<std::string>() : std::string();
    };
    AwsCredentials credentials{text_of("AccessKeyId"), text_of("SecretAccessKey"), text_of("Token"),
                               seconds_of(text_of("Expiration"))};
    if (credentials.key_id.empty() || credentials.secret.empty()) return std::nullopt;
    return credentials;
}

}  // namespace

std::optional<AwsCredentials> container_credentials(const Variables& variables) {
    std::string url;
    if (const auto relative = variables("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI")) url = "http://169.254.170.2" + *relative;
    else if (const auto full = variables("AWS_CONTAINER_CREDENTIALS_FULL_URI")) url = *full;
    else return std::nullopt;
    std::vector<std::string> headers;
    if (const auto file = variables("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"))  // read each time: the platform renews it
        headers.push_back("Authorization: " + first_line(read_file(*file)));
    else if (const auto token = variables("AWS_CONTAINER_AUTHORIZATION_TOKEN")) headers.push_back("Authorization: " + *token);
    const HttpAnswer answer = ask("GET", url, headers);
    if (answer.ok())
        if (auto credentials = parse_credentials(answer.text)) return credentials;
    const std::string what = concat(url, " (AWS_CONTAINER_CREDENTIALS_*): gives no credentials: ", words_of(answer),
                                    "\n  do: check the role of this task or service account");
    if (is_passing(answer)) throw PassingFailure(what);
    throw DistributedError(what);
}

std::optional<AwsCredentials> web_identity_credentials(const Variables& variables) {
    const auto file = variables("AWS_WEB_IDENTITY_TOKEN_FILE"), role = variables("AWS_ROLE_ARN");
    if (!file || !role) return std::nullopt;
    auto endpoint = variables("AWS_ENDPOINT_URL_STS");
    if (!endpoint) endpoint = variables("AWS_ENDPOINT_URL");
    const std::string body = query_text({{"Action", "AssumeRoleWithWebIdentity"},
                                         {"RoleArn", *role},
                                         {"RoleSessionName", variables("AWS_ROLE_SESSION_NAME").value_or("bertpretrain")},
                                         {"Version", "2011-06-15"},
                                         {"WebIdentityToken", first_line(read_file(*file))}});  // the platform renews the file
    HttpRequest request;
    request.method = "POST";
    request.url = endpoint.value_or(sts_origin(aws_region(variables))) + "/";
    request.headers = {"Content-Type: application/x-www-form-urlencoded"};
    request.body = body;
    const HttpAnswer answer = transfer(request);
    AwsCredentials credentials{xml_element(answer.text, "AccessKeyId"), xml_element(answer.text, "SecretAccessKey"),
                               xml_element(answer.text, "SessionToken"), seconds_of(xml_element(answer.text, "Expiration"))};
    if (answer.ok() && !credentials.key_id.empty() && !credentials.secret.empty()) return credentials;
    const std::string what =
        concat(request.url, " (AWS_WEB_IDENTITY_TOKEN_FILE): gives no credentials for ", *role, ": ", words_of(answer));
    if (is_passing(answer))
        throw PassingFailure(concat(what, "\n  do: check that the token service can be reached from this machine"));
    throw ConfigError(concat(what, "\n  do: check that the role trusts this service account"));
}

std::optional<AwsCredentials> instance_credentials(const Variables& variables) {
    if (variables("AWS_EC2_METADATA_DISABLED") == "true") return std::nullopt;
    const auto endpoint = variables("AWS_EC2_METADATA_SERVICE_ENDPOINT");
    const std::string root = endpoint.value_or("http://169.254.169.254"), token_url = root + "/latest/api/token";
    const std::string roles = root + "/latest/meta-data/iam/security-credentials/";
    constexpr long unauthorized = 401;  // the session token has expired
    const auto require = [](const std::string& url, const HttpAnswer& answer) {
        if (!answer.ok() && (is_passing(answer) || answer.status == unauthorized))
            throw PassingFailure(concat(url, ": the instance's metadata service gives no credentials: ", words_of(answer),
                                        " (from a container, it may answer only with a hop limit of 2)",
                                        "\n  do: check the instance's metadata options"));
        return answer.ok();
    };
    const HttpAnswer token = ask("PUT", token_url, {"X-aws-ec2-metadata-token-ttl-seconds: 21600"});
    if (token.status == 0 && !endpoint && !is_on_ec2()) return std::nullopt;
    if (!require(token_url, token)) return std::nullopt;
    const std::vector<std::string> headers{"X-aws-ec2-metadata-token: " + token.text};
    const HttpAnswer role = ask("GET", roles, headers);
    if (!require(roles, role) || first_line(role.text).empty()) return std::nullopt;
    const std::string url = roles + first_line(role.text);
    const HttpAnswer answer = ask("GET", url, headers);
    if (!require(url, answer)) return std::nullopt;
    if (auto credentials = parse_credentials(answer.text)) return credentials;
    throw PassingFailure(concat(url, ": the answer has no credentials: ", words_of(answer),
                                "\n  do: check that the role of this instance exists and trusts ec2.amazonaws.com"));
}

}  // namespace bertpretrain

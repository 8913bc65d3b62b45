#include "storage/aws_metadata.h"

#include <ctime>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/files.h"
#include "core/strings.h"
#include "storage/aws_profile.h"
#include "storage/http_transfer.h"
#include "storage/s3_answers.h"

namespace bertpretrain {
namespace {

/// "2026-01-31T23:59:59Z" -> seconds since 1970; 0 where the text is not such a time
double seconds_of(const std::string& text) {
    std::tm parts{};
    return ::strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &parts) == nullptr ? 0 : static_cast<double>(::timegm(&parts));
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
    AwsCredentials credentials{found.value("AccessKeyId", ""), found.value("SecretAccessKey", ""), found.value("Token", ""),
                               seconds_of(found.value("Expiration", ""))};
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
    throw DistributedError(concat(url, " (AWS_CONTAINER_CREDENTIALS_*): gives no credentials: ",
                                  answer.failure.empty() ? concat("status ", answer.status) : answer.failure,
                                  "\n  do: check the role of this task or service account"));
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
    request.url = endpoint.value_or(concat("https://sts.", aws_region(variables), ".amazonaws.com")) + "/";
    request.headers = {"Content-Type: application/x-www-form-urlencoded"};
    request.body = body;
    const HttpAnswer answer = transfer(request);
    AwsCredentials credentials{xml_element(answer.text, "AccessKeyId"), xml_element(answer.text, "SecretAccessKey"),
                               xml_element(answer.text, "SessionToken"), seconds_of(xml_element(answer.text, "Expiration"))};
    if (answer.ok() && !credentials.key_id.empty() && !credentials.secret.empty()) return credentials;
    const std::string what = concat(
        request.url, " (AWS_WEB_IDENTITY_TOKEN_FILE): gives no credentials for ", *role, ": ",
        answer.failure.empty()
            ? concat("status ", answer.status, ", ", xml_element(answer.text, "Code"), ": ", xml_element(answer.text, "Message"))
            : answer.failure);
    if (answer.status >= 400 && answer.status < 500)
        throw ConfigError(concat(what, "\n  do: check that the role trusts this service account"));
    throw DistributedError(concat(what, "\n  do: check that the token service can be reached from this machine"));
}

std::optional<AwsCredentials> instance_credentials(const Variables& variables) {
    if (variables("AWS_EC2_METADATA_DISABLED") == "true") return std::nullopt;
    const std::string root = variables("AWS_EC2_METADATA_SERVICE_ENDPOINT").value_or("http://169.254.169.254");
    const HttpAnswer token = ask("PUT", root + "/latest/api/token", {"X-aws-ec2-metadata-token-ttl-seconds: 21600"});
    if (!token.ok()) return std::nullopt;
    const std::vector<std::string> headers{"X-aws-ec2-metadata-token: " + token.text};
    const std::string roles = root + "/latest/meta-data/iam/security-credentials/";
    const HttpAnswer role = ask("GET", roles, headers);
    if (!role.ok() || first_line(role.text).empty()) return std::nullopt;
    const HttpAnswer answer = ask("GET", roles + first_line(role.text), headers);
    return answer.ok() ? parse_credentials(answer.text) : std::nullopt;
}

}  // namespace bertpretrain

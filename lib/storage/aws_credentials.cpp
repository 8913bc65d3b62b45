#include "storage/aws_credentials.h"

#include "core/clock.h"
#include "core/error.h"
#include "core/output/log.h"
#include "core/strings.h"
#include "storage/aws_metadata.h"
#include "storage/aws_profile.h"

namespace bertpretrain {
namespace {

/// The credentials that this process found last by its own environment. Sources share them, so that a passing failure of their
/// service cannot end a process that has some.
struct FoundByProcess {
    std::mutex mutex;
    AwsCredentials credentials;
};

FoundByProcess& found_by_process() {
    static FoundByProcess found;
    return found;
}

bool is_environment(const Variables& variables) {
    const auto* const function = variables.target<decltype(&environment_variable)>();
    return function != nullptr && *function == &environment_variable;
}

bool are_valid(const AwsCredentials& credentials, double now) {
    return !credentials.key_id.empty() && (credentials.expires == 0 || now < credentials.expires);
}

}  // namespace

AwsCredentials AwsCredentialSource::find() const {
    const auto key = variables_("AWS_ACCESS_KEY_ID"), secret = variables_("AWS_SECRET_ACCESS_KEY");
    if (key && secret) return {*key, *secret, variables_("AWS_SESSION_TOKEN").value_or("")};
    if (const auto credentials = web_identity_credentials(variables_)) return *credentials;
    auto profile = aws_profile(variables_);
    if (!profile["aws_access_key_id"].empty() && !profile["aws_secret_access_key"].empty())
        return {profile["aws_access_key_id"], profile["aws_secret_access_key"], profile["aws_session_token"]};
    if (const auto credentials = container_credentials(variables_)) return *credentials;
    if (const auto credentials = instance_credentials(variables_)) return *credentials;
    throw ConfigError(
        "s3://: no credentials were found in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, by a web identity "
        "(AWS_WEB_IDENTITY_TOKEN_FILE and AWS_ROLE_ARN), in ~/.aws/credentials, at a container's endpoint "
        "(AWS_CONTAINER_CREDENTIALS_*) or at the instance's metadata service"
        "\n  do: set the variables, or give this machine or container a role that may use the bucket");
}

AwsCredentials AwsCredentialSource::get() {
    constexpr double margin_seconds = 300, pause_seconds = 10;
    const std::lock_guard lock(mutex_);
    const double now = unix_seconds_now();
    FoundByProcess& found = found_by_process();
    const std::unique_lock shared = is_environment(variables_) ? std::unique_lock(found.mutex) : std::unique_lock<std::mutex>();
    if (shared && are_valid(found.credentials, now)) kept_ = found.credentials;
    const bool is_valid = are_valid(kept_, now);
    if (is_valid && (kept_.expires == 0 || now + margin_seconds < kept_.expires || now < renew_at_)) return kept_;
    try {
        kept_ = find();
        if (shared) found.credentials = kept_;
    } catch (const std::exception& error) {
        if (!is_valid) throw;
        renew_at_ = now + pause_seconds;
        log_warning(concat("the credentials for s3:// could not be renewed; they are valid for ",
                           duration_text(kept_.expires - now), ": ", error.what()));
    }
    return kept_;
}

void AwsCredentialSource::forget() {
    const std::lock_guard lock(mutex_);
    kept_ = {};
    if (!is_environment(variables_)) return;
    const std::lock_guard shared(found_by_process().mutex);
    found_by_process().credentials = {};
}

}  // namespace bertpretrain

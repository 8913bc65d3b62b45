#include "storage/aws_credentials.h"

#include "core/clock.h"
#include "core/error.h"
#include "core/output/log.h"
#include "core/strings.h"
#include "storage/aws_metadata.h"
#include "storage/aws_profile.h"

namespace bertpretrain {
std::shared_ptr<AwsCredentialSource> AwsCredentialSource::of_process() {
    static const auto source = std::make_shared<AwsCredentialSource>(environment_variable);
    return source;
}

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
    const bool is_valid = !kept_.key_id.empty() && (kept_.expires == 0 || now < kept_.expires);
    if (is_valid && (kept_.expires == 0 || now + margin_seconds < kept_.expires || now < renew_at_)) return kept_;
    try {
        kept_ = find();
    } catch (const std::exception& error) {
        if (!is_valid) throw;
        renew_at_ = now + pause_seconds;
        log_warning(concat("the credentials for s3:// could not be renewed; they are valid for ",
                           duration_text(kept_.expires - now), ": ", error.what()));
    }
    return kept_;
}

bool AwsCredentialSource::forget() {
    const std::lock_guard lock(mutex_);
    kept_ = {};
    return !(variables_("AWS_ACCESS_KEY_ID") && variables_("AWS_SECRET_ACCESS_KEY"));
}

}  // namespace bertpretrain

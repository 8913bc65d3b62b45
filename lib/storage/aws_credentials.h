#pragma once
// Where credentials for S3 come from.

#include <memory>
#include <mutex>

#include "core/environment.h"
#include "storage/aws_signature.h"

namespace bertpretrain {

/// Finds credentials in the order of AWS's own tools: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (with AWS_SESSION_TOKEN), a
/// web identity, the profile's files, the container's endpoint, the instance's. Renews them from five minutes before they expire;
/// while that fails, those that it has are used until they expire. Thread-safe.
class AwsCredentialSource {
public:
    explicit AwsCredentialSource(Variables variables) : variables_(std::move(variables)) {}
    /// The source by the process's environment. Stores share it, so that a passing failure of a service of credentials cannot end
    /// a process that has some.
    static std::shared_ptr<AwsCredentialSource> of_process();

    const Variables& variables() const { return variables_; }

    /// @throws PassingFailure when a service of the platform fails, and to ask again later may help
    /// @throws ConfigError when there are none anywhere, or a service refuses them  @throws DataError when a file cannot be read
    AwsCredentials get();
    /// Forgets the credentials that a store has refused, so that get() looks again.
    /// @returns whether it may find others: not where they are in variables, which do not change
    bool forget();

private:
    AwsCredentials find() const;

    Variables variables_;
    std::mutex mutex_;
    AwsCredentials kept_;
    double renew_at_ = 0;  ///< unix_seconds_now(), after a renewal that failed
};

}  // namespace bertpretrain

#pragma once
// Credentials that a platform gives to its machines and containers over HTTP.

#include <optional>

#include "core/environment.h"
#include "core/error.h"
#include "storage/aws_signature.h"

namespace bertpretrain {

/// A service of credentials fails in a way that may pass: no answer, 408, 429, 5xx, throttling. The request may be repeated.
struct PassingFailure : DistributedError {
    explicit PassingFailure(const std::string& why) : DistributedError(why), reason(why.substr(0, why.find('\n'))) {}
    std::string reason;  ///< the first line of what(), without the kind of error
};

/// Of the container's task or service account (ECS, Batch, EKS Pod Identity): AWS_CONTAINER_CREDENTIALS_RELATIVE_URI or
/// _FULL_URI, with AWS_CONTAINER_AUTHORIZATION_TOKEN or _TOKEN_FILE. @returns nullopt where neither variable is set
/// @throws PassingFailure, or DistributedError when the endpoint refuses them
std::optional<AwsCredentials> container_credentials(const Variables& variables);

/// Of a Kubernetes service account's role (EKS, IRSA): AssumeRoleWithWebIdentity, with the token in AWS_WEB_IDENTITY_TOKEN_FILE
/// and the role AWS_ROLE_ARN. AWS_ENDPOINT_URL_STS or AWS_ENDPOINT_URL names another token service.
/// @returns nullopt where the variables are not set  @throws ConfigError when the service refuses the token
/// @throws PassingFailure
std::optional<AwsCredentials> web_identity_credentials(const Variables& variables);

/// Of the instance's role (EC2, IMDSv2). AWS_EC2_METADATA_DISABLED=true turns this off; AWS_EC2_METADATA_SERVICE_ENDPOINT names
/// another address. @returns nullopt where there is no such service or role: it says so, or does not answer on a machine that
/// is not known to be an EC2 instance  @throws PassingFailure
std::optional<AwsCredentials> instance_credentials(const Variables& variables);

}  // namespace bertpretrain

#pragma once
// ~/.aws/credentials and ~/.aws/config.

#include <map>
#include <string>

#include "core/environment.h"

namespace bertpretrain {

/// Returns the settings of the profile AWS_PROFILE (default: "default") from both files; those of the credentials file win.
/// Missing files are empty. AWS_SHARED_CREDENTIALS_FILE and AWS_CONFIG_FILE name other files.
std::map<std::string, std::string> aws_profile(const Variables& variables);

/// Returns AWS_REGION, AWS_DEFAULT_REGION, the profile's region, or else "us-east-1".
std::string aws_region(const Variables& variables);

}  // namespace bertpretrain

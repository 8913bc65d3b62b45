#pragma once
// The name of this machine.

#include <string>

namespace bertpretrain {

/// Returns this machine's host name; "unknown" where the system does not know it.
std::string host_name();

}  // namespace bertpretrain

#include "core/environment.h"

#include <cstdlib>

namespace bertpretrain {

std::optional<std::string> environment_variable(const std::string& name) {
    const char* value = std::getenv(name.c_str());
    return value == nullptr || *value == '\0' ? std::nullopt : std::optional<std::string>(value);
}

bool is_set_in_environment(const std::string& name) { return std::getenv(name.c_str()) != nullptr; }

}  // namespace bertpretrain

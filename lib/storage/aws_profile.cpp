#include "storage/aws_profile.h"

#include <filesystem>
#include <sstream>
#include <string_view>

#include "core/files/files.h"

namespace bertpretrain {
namespace {

std::string stripped(std::string_view text) {
    const std::size_t begin = text.find_first_not_of(" \t\r");
    return begin == text.npos ? "" : std::string(text.substr(begin, text.find_last_not_of(" \t\r") + 1 - begin));
}

/// Adds the settings of [section] in an INI file.
void add_section(const std::filesystem::path& file, const std::string& section, std::map<std::string, std::string>& settings) {
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(file, ignored)) return;
    std::istringstream lines(read_file(file));
    bool is_inside = false;
    for (std::string line; std::getline(lines, line);) {
        const std::string text = stripped(line);
        if (text.starts_with('#') || text.starts_with(';')) continue;
        if (text.starts_with('[')) is_inside = text == "[" + section + "]";
        const std::size_t equals = text.find('=');
        if (is_inside && equals != text.npos) settings[stripped(text.substr(0, equals))] = stripped(text.substr(equals + 1));
    }
}

}  // namespace

std::map<std::string, std::string> aws_profile(const Variables& variables) {
    const std::filesystem::path folder = std::filesystem::path(variables("HOME").value_or("/")) / ".aws";
    const std::string name = variables("AWS_PROFILE").value_or("default");
    std::map<std::string, std::string> settings;
    add_section(variables("AWS_CONFIG_FILE").value_or((folder / "config").string()), name == "default" ? name : "profile " + name,
                settings);
    add_section(variables("AWS_SHARED_CREDENTIALS_FILE").value_or((folder / "credentials").string()), name, settings);
    return settings;
}

std::string aws_region(const Variables& variables) {
    for (const char* name : {"AWS_REGION", "AWS_DEFAULT_REGION"})
        if (const auto region = variables(name)) return *region;
    const auto profile = aws_profile(variables);
    const auto found = profile.find("region");
    return found == profile.end() ? "us-east-1" : found->second;
}

}  // namespace bertpretrain

// Settings files and command line overrides: any text gives a config or one ConfigError, and a written config reads back.

#include <cstdlib>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "config/override.h"
#include "config/read.h"
#include "config/sample_config.h"
#include "config/write.h"
#include "core/error.h"

namespace {

/// Splits the input: the first line is an override, the rest the file.
void read_as_settings(std::string_view input) {
    const std::size_t line_end = input.find('\n');
    const std::string override_text(input.substr(0, line_end));
    nlohmann::json settings =
        bertpretrain::parse_settings(line_end == std::string_view::npos ? "{}" : input.substr(line_end + 1), "fuzz.json");
    if (!override_text.empty()) bertpretrain::apply_overrides(settings, {override_text});
    const auto config = bertpretrain::read_config<bertpretrain::SampleConfig>(settings, "fuzz.json");
    const std::string written = bertpretrain::write_config(config).dump();
    const auto again = bertpretrain::read_config<bertpretrain::SampleConfig>(bertpretrain::parse_settings(written, ""), "");
    if (!bertpretrain::compare_configs(config, again).empty()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    try {
        read_as_settings({reinterpret_cast<const char*>(data), size});
    } catch (const bertpretrain::ConfigError&) {}
    return 0;
}

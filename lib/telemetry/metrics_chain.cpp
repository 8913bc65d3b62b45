#include "telemetry/metrics_chain.h"

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/files/sha256.h"
#include "telemetry/line_file.h"

namespace bertpretrain {
namespace {

constexpr std::size_t chain_digits = 16;
constexpr std::string_view chain_key = R"(,"chain":")", chain_end = R"("})";

std::optional<std::int64_t> step_of_line(const std::string& line) {
    const auto json = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (!json.is_object()) return std::nullopt;
    const auto step = json.find("step");
    if (step == json.end() || !step->is_number_integer()) return std::nullopt;
    return step->get<std::int64_t>();
}

}  // namespace

std::string chain_value(std::string_view before, std::string_view line) {
    return hexadecimal(sha256(concat(before, "\n", line))).substr(0, chain_digits);
}

ChainedLine ChainedLine::of(std::string_view line) {
    constexpr std::size_t added = chain_key.size() + chain_digits + chain_end.size();
    if (line.size() <= added) return {std::string(line), std::nullopt};
    const std::string_view tail = line.substr(line.size() - added);
    const std::string_view digits = tail.substr(chain_key.size(), chain_digits);
    if (!tail.starts_with(chain_key) || !tail.ends_with(chain_end) ||
        digits.find_first_not_of("0123456789abcdef") != std::string_view::npos)
        return {std::string(line), std::nullopt};
    return {std::string(line.substr(0, line.size() - added)).append("}"), std::string(digits)};
}

std::string ChainedLine::with(std::string_view content, std::string_view value) {
    return concat(content.substr(0, content.size() - 1), chain_key, value, chain_end);
}

ChainCheck verify_chain(const std::filesystem::path& file) {
    ChainCheck check;
    for_each_whole_line(file, [&](const std::string& text) {
        const ChainedLine line = ChainedLine::of(text);
        const bool is_first = check.lines == check.unchained;
        if (line.recorded ? *line.recorded == chain_value(check.last, line.content) : is_first) {
            check.last = line.value(check.last);
            check.unchained += line.recorded ? 0 : 1;
            ++check.lines;
            return true;
        }
        check.broken_step = step_of_line(text);
        check.broken = concat("line ", check.lines + 1, check.broken_step ? concat(" (step ", *check.broken_step, ")") : "",
                              line.recorded ? ": its chain value fits neither its content nor the line before it"
                                            : ": it has no chain value, but the line before it has one");
        return false;
    });
    return check;
}

std::string last_chain_value(const std::filesystem::path& file) {
    std::string last;
    for_each_whole_line(file, [&](const std::string& text) {
        last = ChainedLine::of(text).value(last);
        return true;
    });
    return last;
}

}  // namespace bertpretrain

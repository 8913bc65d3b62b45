#include "step_range.h"

#include <charconv>
#include <string_view>

#include "core/error.h"

namespace bertpretrain {

std::pair<std::int64_t, std::int64_t> step_range(const std::string& text) {
    const std::size_t colon = text.find(':');
    const auto number = [&](std::string_view digits) {
        std::int64_t step = 0;
        const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), step);
        if (failure != std::errc() || end != digits.data() + digits.size())
            throw ConfigError(concat("--steps ", text, ": expected a step or FIRST:LAST, such as 100:200"));
        return step;
    };
    const std::string_view all = text;
    const std::int64_t first = number(all.substr(0, colon));
    return {first, colon == std::string::npos ? first : number(all.substr(colon + 1))};
}

}  // namespace bertpretrain

#include "config/refusals.h"

#include <string_view>

namespace bertpretrain {
namespace {

constexpr std::size_t most_listed = 30;
constexpr std::string_view kind = "config error: ";  // the beginning of each message

}  // namespace

void Refusals::keep(std::string message) {
    if (message.starts_with(kind)) message.erase(0, kind.size());
    if (++count_ <= most_listed) first_.push_back(std::move(message));
}

void Refusals::throw_if_any() const {
    if (count_ == 0) return;
    if (count_ == 1) throw ConfigError(first_.front());
    std::string all = concat(count_, " settings are refused:");
    for (const std::string& message : first_) all += "\n  " + message;
    if (count_ > first_.size()) all += concat("\n  and ", count_ - first_.size(), " more");
    throw ConfigError(all);
}

}  // namespace bertpretrain

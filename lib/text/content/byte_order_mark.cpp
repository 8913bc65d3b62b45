#include "text/content/byte_order_mark.h"

#include <algorithm>
#include <iterator>

namespace bertpretrain {
namespace {

using namespace std::string_view_literals;

struct Mark {
    std::string_view bytes, encoding;
};

constexpr Mark order_marks[] = {{utf8_mark, "UTF-8"},
                                {"\xFF\xFE\0\0"sv, "UTF-32LE"},
                                {"\0\0\xFE\xFF"sv, "UTF-32BE"},
                                {"\xFF\xFE"sv, "UTF-16LE"},
                                {"\xFE\xFF"sv, "UTF-16BE"}};

}  // namespace

std::string_view marked_encoding(std::string_view head) {
    for (const Mark& mark : order_marks)
        if (head.starts_with(mark.bytes)) return mark.encoding;
    return {};
}

bool could_begin_mark(std::string_view head) {
    return std::any_of(std::begin(order_marks), std::end(order_marks),
                       [&](const Mark& mark) { return head.size() < mark.bytes.size() && mark.bytes.starts_with(head); });
}

}  // namespace bertpretrain

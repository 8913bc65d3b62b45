#include "storage/s3_answers.h"

#include <algorithm>
#include <array>
#include <functional>
#include <memory>

#include <expat.h>

#include "core/error.h"

namespace bertpretrain {
namespace {

/// Calls `found(name, text)` at the end of each element. @returns whether the text is well-formed
bool for_each_element(std::string_view xml, const std::function<void(std::string_view name, const std::string& text)>& found) {
    struct State {
        const std::function<void(std::string_view, const std::string&)>& found;
        std::string text;
    } state{found, {}};
    const std::unique_ptr<std::remove_pointer_t<XML_Parser>, decltype(&XML_ParserFree)> parser(XML_ParserCreate(nullptr),
                                                                                               &XML_ParserFree);
    XML_SetUserData(parser.get(), &state);
    XML_SetElementHandler(
        parser.get(), [](void* user, const char*, const char**) { static_cast<State*>(user)->text.clear(); },
        [](void* user, const char* name) {
            auto& of = *static_cast<State*>(user);
            of.found(name, of.text);
            of.text.clear();
        });
    XML_SetCharacterDataHandler(parser.get(), [](void* user, const char* bytes, int count) {
        static_cast<State*>(user)->text.append(bytes, static_cast<std::size_t>(count));
    });
    return XML_Parse(parser.get(), xml.data(), static_cast<int>(xml.size()), XML_TRUE) == XML_STATUS_OK;
}

}  // namespace

std::string xml_element(std::string_view xml, std::string_view name) {
    std::string first;
    for_each_element(xml, [&](std::string_view element, const std::string& text) {
        if (element == name && first.empty()) first = text;
    });
    return first;
}

std::string outermost_element(std::string_view xml) {
    std::string outermost;
    const bool is_whole = for_each_element(xml, [&](std::string_view element, const std::string&) { outermost = element; });
    return is_whole ? outermost : "";
}

bool is_passing_error(std::string_view code) {
    constexpr std::array codes{"InternalError",        "SlowDown",        "ServiceUnavailable", "RequestTimeout", "Throttling",
                               "RequestLimitExceeded", "OperationAborted"};
    return std::ranges::find(codes, code) != codes.end();
}

ObjectList parse_object_list(std::string_view xml) {
    ObjectList list;
    std::string key, outermost;
    bool is_truncated = false;
    const bool is_whole = for_each_element(xml, [&](std::string_view element, const std::string& text) {
        outermost = element;
        if (element == "Key") key = text;
        if (element == "Size") list.objects.emplace_back(key, std::strtoull(text.c_str(), nullptr, 10));
        if (element == "IsTruncated") is_truncated = text == "true";
        if (element == "NextContinuationToken") list.continuation = text;
    });
    if (!is_whole || outermost != "ListBucketResult")
        throw DistributedError("the store's list of objects is not understood\n  do: check AWS_ENDPOINT_URL");
    if (is_truncated && list.continuation.empty())
        throw DistributedError(
            "the store's list of objects is cut (IsTruncated) without a NextContinuationToken, so further objects are not "
            "known\n  do: use a store that supports ListObjectsV2, or name the objects instead of the folder");
    if (!is_truncated) list.continuation.clear();
    return list;
}

}  // namespace bertpretrain

#include "storage/remote_address.h"

#include "core/error.h"
#include "storage/hub_dataset.h"

namespace bertpretrain {

bool is_remote_address(std::string_view path) { return is_object_url(path) || is_hub_address(path); }

RemoteAddress parse_remote_address(const std::string& text) {
    if (is_hub_address(text)) return hub_file(parse_hub_address(text));
    RemoteAddress address{.text = text, .store = parse_object_url(text, "input")};
    address.store.key.clear();
    const std::size_t root = address.store.text().size();
    if (text.size() > root) address.key = text.substr(root + 1);  // S3 knows keys such as "/a//b"
    if (address.store.kind == ObjectUrl::Kind::http)
        address.if_refused = "download the file with a program that can log in, and name the copy";
    return address;
}

}  // namespace bertpretrain

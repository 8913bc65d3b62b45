#include "storage/object_url.h"

#include <algorithm>
#include <cctype>

#include "core/error.h"

namespace bertpretrain {
namespace {

std::string_view without_slashes(std::string_view text) {
    while (text.starts_with('/')) text.remove_prefix(1);
    while (text.ends_with('/')) text.remove_suffix(1);
    return text;
}

bool is_unreserved(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.' ||
           c == '~';
}

[[noreturn]] void refuse_url(std::string_view setting, std::string_view text, std::string_view why) {
    throw ConfigError(concat(setting, " = \"", text, "\": ", why, "\n  do: write s3://BUCKET/FOLDER, or https://HOST/FOLDER"));
}

}  // namespace

ObjectUrl ObjectUrl::operator/(std::string_view name) const {
    ObjectUrl inner = *this;
    inner.key = key.empty() ? std::string(name) : concat(key, "/", name);
    return inner;
}

std::string ObjectUrl::text() const { return concat(kind == Kind::s3 ? "s3://" : "", root, key.empty() ? "" : "/", key); }

bool is_object_url(std::string_view path) {
    return path.starts_with("s3://") || path.starts_with("http://") || path.starts_with("https://");
}

ObjectUrl parse_object_url(std::string_view text, std::string_view setting) {
    if (!is_object_url(text)) refuse_url(setting, text, "is not the address of an object store");
    const std::size_t scheme = text.find("://") + 3;
    const std::string_view rest = text.substr(scheme);
    const std::string_view host = rest.substr(0, rest.find('/'));
    ObjectUrl url;
    url.kind = text.starts_with("s3://") ? ObjectUrl::Kind::s3 : ObjectUrl::Kind::http;
    url.key = without_slashes(rest.substr(host.size()));
    if (host.find('@') != host.npos)  // the message must not repeat a password
        throw ConfigError(concat(setting, ": has a user name or password in its address",
                                 "\n  do: remove it; for s3:// give the credentials in the environment or ~/.aws/credentials"));
    if (rest.find('?') != rest.npos && url.kind == ObjectUrl::Kind::http)
        throw ConfigError(concat(setting, ": has a query (\"?...\") in its address; expected an address without one",
                                 "\n  do: use an address without a signature, or s3://BUCKET/FOLDER with credentials"));
    if (host.empty()) refuse_url(setting, text, url.kind == ObjectUrl::Kind::s3 ? "has no bucket" : "has no host");
    const auto is_allowed = [&](char c) {
        return is_unreserved(c) || (url.kind == ObjectUrl::Kind::http && (c == ':' || c == '[' || c == ']'));
    };
    if (!std::ranges::all_of(host, is_allowed))
        refuse_url(setting, text, concat("\"", host, "\" has characters that no host or bucket has"));
    url.root = url.kind == ObjectUrl::Kind::s3 ? std::string(host) : concat(text.substr(0, scheme), host);
    return url;
}

std::string percent_encoded(std::string_view text, std::string_view kept) {
    static constexpr char digits[] = "0123456789ABCDEF";
    std::string out;
    for (const char c : text) {
        if (is_unreserved(c) || kept.find(c) != kept.npos) {
            out += c;
        } else {
            const auto byte = static_cast<unsigned char>(c);
            out += {'%', digits[byte >> 4U], digits[byte & 15U]};
        }
    }
    return out;
}

}  // namespace bertpretrain

#include "storage/remote_object.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <mutex>
#include <string_view>
#include <utility>

#include "core/error.h"

namespace bertpretrain {
namespace {

constexpr long not_found = 404, method_not_allowed = 405, precondition_failed = 412, range_not_satisfiable = 416,
               not_implemented = 501, whole_object = 200, partial_content = 206;

std::string header(const HttpAnswer& answer, const char* name) {
    const auto found = answer.headers.find(name);
    return found == answer.headers.end() ? "" : found->second;
}

std::optional<std::uint64_t> number(std::string_view text) {
    std::uint64_t value = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    return failure == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

/// Returns the size that "bytes 0-9/100" names.
std::optional<std::uint64_t> size_in_range(const HttpAnswer& answer) {
    const std::string range = header(answer, "content-range");
    const std::size_t slash = range.find('/');
    return slash == range.npos ? std::nullopt : number(std::string_view(range).substr(slash + 1));
}

constexpr std::uint64_t first_read = std::uint64_t{1} << 20;

/// What is thrown out of a transfer whose server sends more than the part that was asked for.
struct NoParts {};

[[noreturn]] void refuse_server(const std::string& name, const char* what) {
    throw ConfigError(concat(name, ": the server ", what, "\n  do: download the file with another program, and name the copy; ",
                             "or pipe it, as in `curl -sL ADDRESS | bertpretrain_data extract - ...`"));
}

/// What is known of the objects of a process, by address.
class KnownVersions {
public:
    ObjectVersion of(const std::string& address) {
        const std::lock_guard lock(mutex_);
        return versions_[address];
    }
    /// Keeps what was not known. @returns what was known before
    ObjectVersion add(const std::string& address, const ObjectVersion& seen) {
        const std::lock_guard lock(mutex_);
        ObjectVersion& known = versions_[address];
        ObjectVersion before = known;
        if (!known.bytes) known.bytes = seen.bytes;
        if (known.tag.empty()) known.tag = seen.tag;
        return before;
    }

private:
    std::mutex mutex_;
    std::map<std::string, ObjectVersion> versions_;
};

KnownVersions& known_versions() {
    static KnownVersions versions;
    return versions;
}

}  // namespace

RemoteObject::RemoteObject(RemoteAddress address, StorageSettings settings)
    : address_(std::move(address)),
      requests_(address_.store, address_.store.kind == ObjectUrl::Kind::s3 ? AwsCredentialSource::of_process() : nullptr,
                std::move(settings)) {}

ObjectVersion RemoteObject::version() const { return known_versions().of(address_.text); }

ObjectRequest RemoteObject::request() const {
    return {.key = address_.key, .headers = address_.headers, .if_refused = address_.if_refused};
}

void RemoteObject::keep_version(const HttpAnswer& answer, std::optional<std::uint64_t> bytes) {
    std::string tag = header(answer, "etag");
    if (tag.empty()) tag = header(answer, "last-modified");
    const ObjectVersion before = known_versions().add(address_.text, {bytes, tag});
    const bool has_other_size = before.bytes && bytes && *before.bytes != *bytes;
    const bool has_other_tag = !before.tag.empty() && !tag.empty() && before.tag != tag;
    if (!has_other_size && !has_other_tag && answer.status != precondition_failed) return;
    throw DataError(concat(name(), ": changed while it was read: ",
                           has_other_size ? concat("it has ", *bytes, " bytes, expected ", *before.bytes)
                                          : "it has another version (ETag) than before",
                           "\n  do: start again when no program writes it"));
}

bool RemoteObject::exists() {
    if (version().bytes) return true;
    ObjectRequest asked = request();
    asked.method = "HEAD";
    const HttpAnswer answer = requests_.repeat(asked.key, [&](bool&) {
        HttpAnswer one = requests_.once(asked);
        if (one.status == not_implemented) one.status = method_not_allowed;  // asking again would not help
        return one;
    });
    if (answer.status == not_found) return false;
    const auto bytes = number(header(answer, "content-length"));
    if (answer.ok() && bytes) learn_object_size(name(), *bytes);
    else read(0, first_read);  // some servers have no HEAD; and an error's answer has the store's words only here
    return true;
}

std::uint64_t RemoteObject::bytes() {
    if (!exists())
        throw DataError(concat(name(), ": does not exist (status 404)\n  do: check the address; an address that ends with a ",
                               "slash names all objects below it"));
    const std::optional<std::uint64_t> bytes = version().bytes;
    if (!bytes) refuse_server(name(), "does not say how large the file is, expected its size in Content-Length or Content-Range");
    return *bytes;
}

/// The part that a read has got so far.
class RemoteObject::Part {
public:
    Part(std::uint64_t first, std::uint64_t size) : first_(first), size_(size) {}

    std::uint64_t end() const { return first_ + bytes_.size(); }
    std::string range() const { return concat("Range: bytes=", end(), "-", first_ + size_ - 1); }
    void begin_answer() {
        taken_.clear();
        taken_.reserve(size_ - bytes_.size());  // growing would take up to twice the memory
    }
    /// Takes bytes of the current answer, which count once keep() was called. @throws NoParts
    void take(std::string_view bytes, long status) {
        if ((status == whole_object && end() > 0) || bytes_.size() + taken_.size() + bytes.size() > size_) throw NoParts();
        taken_ += bytes;
    }
    /// Returns the object's size, as far as the answer shows it. @throws NoParts where it is about another part
    std::optional<std::uint64_t> object_bytes(const HttpAnswer& answer) const {
        if (answer.status == whole_object) return answer.failure.empty() ? std::optional(taken_.size()) : std::nullopt;
        if (answer.status == partial_content && !header(answer, "content-range").starts_with(concat("bytes ", end(), "-")))
            throw NoParts();
        return size_in_range(answer);
    }
    /// @returns whether it got any bytes
    bool keep(const HttpAnswer& answer) {
        if (answer.status == whole_object && !answer.failure.empty()) taken_.clear();  // it would begin at 0 again
        const bool has_more = !taken_.empty();
        if (bytes_.empty()) bytes_.swap(taken_);
        else bytes_ += std::exchange(taken_, {});
        return has_more;
    }
    bool is_whole(std::optional<std::uint64_t> object_bytes) const {
        return end() == first_ + size_ || (object_bytes && end() >= *object_bytes);
    }
    std::string finish() { return std::move(bytes_); }

private:
    std::uint64_t first_, size_;
    std::string bytes_, taken_;
};

std::string RemoteObject::read(std::uint64_t first, std::uint64_t size, const std::stop_token& stop) {
    if (const auto known = version().bytes) size = first < *known ? std::min(size, *known - first) : 0;
    if (size == 0) return "";
    Part part(first, size);
    ObjectRequest asked = request();
    asked.stop = stop;
    asked.sink = [&](std::string_view bytes, long status) { part.take(bytes, status); };
    const auto attempt = [&](bool& progress) {
        asked.headers = address_.headers;
        asked.headers.push_back(part.range());
        if (const std::string tag = version().tag; tag.starts_with('"')) asked.headers.push_back("If-Match: " + tag);
        part.begin_answer();
        HttpAnswer answer = requests_.once(asked);
        const bool has_content = answer.status == whole_object || answer.status == partial_content;
        if (!has_content && answer.status != precondition_failed && answer.status != range_not_satisfiable) return answer;
        keep_version(answer, part.object_bytes(answer));
        if (!has_content) return answer;
        progress = part.keep(answer);
        if (part.is_whole(version().bytes)) answer.failure.clear();
        else if (answer.failure.empty()) answer.failure = "the response ended early";
        return answer;
    };
    try {
        const HttpAnswer answer = requests_.repeat(asked.key, attempt, stop);
        if (!answer.ok() && answer.status != range_not_satisfiable) requests_.refuse(asked, answer);
    } catch (const NoParts&) {
        refuse_server(name(), "sends the whole file where a part was asked for, expected support for ranges (status 206)");
    }
    if (const auto known = version().bytes; known && !part.is_whole(known))  // status 416, without a size
        throw DataError(concat(name(), ": ends at byte ", part.end(), ", expected ", *known,
                               " bytes\n  do: start again when no program writes it"));
    return part.finish();
}

void learn_object_size(const std::string& address, std::uint64_t bytes) { known_versions().add(address, {bytes, ""}); }

std::uint64_t object_size(const std::string& address) {
    const auto known = known_versions().of(address).bytes;
    return known ? *known : RemoteObject(parse_remote_address(address)).bytes();
}

}  // namespace bertpretrain

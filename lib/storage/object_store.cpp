#include "storage/object_store.h"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <span>

#include "core/error.h"
#include "core/files/disk.h"
#include "core/files/random_access_file.h"
#include "storage/s3_answers.h"

namespace bertpretrain {
namespace {

/// Uploads of a file whose completion ends without a clear answer.
constexpr int most_uploads = 3;

std::string part_of(const RandomAccessFile& file, std::uint64_t first, std::uint64_t bytes) {
    std::string part(bytes, '\0');
    file.read_at(first, std::span(reinterpret_cast<unsigned char*>(part.data()), part.size()));
    return part;
}

}  // namespace

ObjectStore::ObjectStore(ObjectUrl folder, std::shared_ptr<AwsCredentialSource> credentials, StorageSettings settings,
                         std::uint64_t part_bytes)
    : folder_(std::move(folder)), part_bytes_(part_bytes), requests_(folder_, std::move(credentials), std::move(settings)) {}

HttpAnswer ObjectStore::send(const ObjectRequest& request) {
    HttpAnswer answer = requests_.send(request);
    if (!answer.ok()) requests_.refuse(request, answer);
    return answer;
}

std::optional<std::string> ObjectStore::read(const std::string& name, const std::stop_token& stop) {
    const ObjectRequest request{.key = key_of(name), .stop = stop};
    HttpAnswer answer = requests_.send(request);
    if (answer.status == 404) return std::nullopt;
    if (!answer.ok()) requests_.refuse(request, answer);
    return std::move(answer.text);
}

void ObjectStore::read_range(const std::string& name, std::uint64_t position, std::uint64_t bytes,
                             const std::function<void(std::string_view)>& take, const std::stop_token& stop) {
    ObjectRequest request{.key = key_of(name), .stop = stop};
    bool is_longer = false;
    const auto attempt = [&](bool& progress) {
        const std::uint64_t first = position;
        request.headers.clear();
        if (first > 0) request.headers.push_back(concat("Range: bytes=", first, "-"));
        std::uint64_t skipped = 0;
        request.sink = [&](std::string_view part, long status) {
            constexpr long partial_content = 206;
            if (status != partial_content) {  // a server without ranges sends the object from its beginning
                const auto skip = std::min<std::uint64_t>(part.size(), first - skipped);
                skipped += skip;
                part.remove_prefix(skip);
            }
            is_longer = is_longer || part.size() > bytes - position;
            if (is_longer || part.empty()) return;
            take(part);
            position += part.size();
            progress = true;
        };
        HttpAnswer answer = requests_.once(request);
        if (answer.ok() && position < bytes && progress) answer.failure = "the response ended early";
        return answer;
    };
    const HttpAnswer answer = requests_.repeat(request.key, attempt, stop);
    constexpr long range_not_satisfiable = 416;  // the object ends before `position`
    if (!answer.ok() && answer.status != range_not_satisfiable) requests_.refuse(request, answer);
    if (answer.ok() && position == bytes && !is_longer) return;
    throw DataError(concat(requests_.name_of(request.key), ": has ", is_longer ? "more than " : "", is_longer ? bytes : position,
                           " bytes, expected ", bytes, "\n  do: copy the folder into the store again"));
}

void ObjectStore::download(const std::string& name, const std::filesystem::path& file, std::uint64_t bytes,
                           const std::stop_token& stop) {
    std::error_code missing;
    std::uint64_t position = std::filesystem::file_size(file, missing);
    if (missing || position > bytes) position = 0;
    std::ofstream out(file, std::ios::binary | (position > 0 ? std::ios::app : std::ios::trunc));
    const auto require_written = [&](bool done) {
        if (!done) throw DataError(failed_write(file, errno));
    };
    require_written(static_cast<bool>(out));
    if (position < bytes)
        read_range(
            name, position, bytes,
            [&](std::string_view part) {
                require_written(static_cast<bool>(out.write(part.data(), static_cast<std::streamsize>(part.size()))));
            },
            stop);
    require_written(static_cast<bool>(out.flush()));
}

void ObjectStore::scan(const std::string& name, std::uint64_t bytes, const std::function<void(std::string_view)>& take,
                       const std::stop_token& stop) {
    read_range(name, 0, bytes, take, stop);
}

void ObjectStore::write(const std::string& name, std::string_view content, const std::stop_token& stop) {
    send({.method = "PUT", .key = key_of(name), .body = content, .stop = stop});
}

void ObjectStore::upload(const std::string& name, const std::filesystem::path& file, const std::stop_token& stop) {
    const RandomAccessFile opened(file);
    const std::uint64_t bytes = opened.identity().bytes;
    if (bytes <= part_bytes_) return write(name, part_of(opened, 0, bytes), stop);
    if (folder_.kind == ObjectUrl::Kind::http) {
        const HttpSource source{bytes, [&](std::uint64_t first, std::span<unsigned char> to) { opened.read_at(first, to); }};
        send({.method = "PUT", .key = key_of(name), .source = &source, .stop = stop});
        return;
    }
    for (int attempt = 0; attempt < most_uploads; ++attempt)
        if (upload_parts(key_of(name), opened, stop)) return;
    throw DistributedError(
        concat(requests_.name_of(key_of(name)), ": the store lost ", most_uploads,
               " uploads while it completed them\n  do: start again; if it happens again, look into the store's log"));
}

bool ObjectStore::upload_parts(const std::string& key, const RandomAccessFile& file, const std::stop_token& stop) {
    constexpr std::uint64_t most_parts = 10'000;
    const std::uint64_t bytes = file.identity().bytes, step = std::max(part_bytes_, (bytes + most_parts - 1) / most_parts);
    const HttpAnswer begun = send({.method = "POST", .key = key, .query = {{"uploads", ""}}, .body = "", .stop = stop});
    const std::string id = xml_element(begun.text, "UploadId");
    if (id.empty())
        throw DistributedError(concat(requests_.name_of(key), ": the store's answer to the start of an upload has no UploadId",
                                      "\n  do: check AWS_ENDPOINT_URL"));
    try {
        std::string parts;
        for (std::uint64_t first = 0, number = 1; first < bytes; first += step, ++number) {
            const std::string part = part_of(file, first, std::min(step, bytes - first));
            const HttpAnswer answer = send({.method = "PUT",
                                            .key = key,
                                            .query = {{"partNumber", std::to_string(number)}, {"uploadId", id}},
                                            .body = part,
                                            .stop = stop});
            const auto tag = answer.headers.find("etag");
            parts += concat("<Part><PartNumber>", number, "</PartNumber><ETag>", tag == answer.headers.end() ? "" : tag->second,
                            "</ETag></Part>");
        }
        return complete_upload(key, id, parts, stop);
    } catch (...) {  // the first error is the one to report
        abort_upload(key, id);
        throw;
    }
}

/// S3 sends the status before it has completed the upload, so only the text of its answer says whether it did.
bool ObjectStore::complete_upload(const std::string& key, const std::string& id, const std::string& parts,
                                  const std::stop_token& stop) {
    const std::string list = concat("<CompleteMultipartUpload>", parts, "</CompleteMultipartUpload>");
    const ObjectRequest request{.method = "POST", .key = key, .query = {{"uploadId", id}}, .body = list, .stop = stop};
    bool was_unanswered = false;
    const auto attempt = [&](bool&) {
        HttpAnswer answer = requests_.once(request);
        if (answer.ok() && outermost_element(answer.text) != "CompleteMultipartUploadResult") {
            const std::string code = xml_element(answer.text, "Code");
            if (code.empty() || is_passing_error(code))
                answer.failure = concat("status ", answer.status, " without a result",
                                        code.empty() ? "" : concat(", ", code, ": "), xml_element(answer.text, "Message"));
            else answer.status = 400;  // refuse() has the error's words
        }
        was_unanswered = was_unanswered || !answer.failure.empty() || answer.status >= 500;
        return answer;
    };
    const HttpAnswer answer = requests_.repeat(key, attempt, stop);
    if (answer.status == 404 && was_unanswered)
        return false;  // an earlier attempt may have completed it, or the store dropped it
    if (!answer.ok()) requests_.refuse(request, answer);
    return true;
}

/// Deletes the parts of an unfinished upload, which cost storage. Ignores failures, after a few attempts.
void ObjectStore::abort_upload(const std::string& key, const std::string& id) {
    constexpr int most_attempts = 3;
    for (int attempt = 0; attempt < most_attempts; ++attempt) try {
            const HttpAnswer answer = requests_.once({.method = "DELETE", .key = key, .query = {{"uploadId", id}}});
            if (answer.ok() || answer.status == 404) return;
        } catch (const std::exception&) { return; }
}

std::vector<ListedObject> ObjectStore::list(const std::string& prefix) {
    const std::string folder = folder_.key.empty() ? "" : folder_.key + "/";
    std::vector<ListedObject> objects;
    std::string continuation;
    do {
        ObjectRequest request{.query = {{"list-type", "2"}, {"prefix", folder + prefix}}};
        if (!continuation.empty()) request.query["continuation-token"] = continuation;
        const ObjectList page = parse_object_list(send(request).text);
        for (const auto& [key, bytes] : page.objects) objects.push_back({key.substr(folder.size()), bytes});
        continuation = page.continuation;
    } while (!continuation.empty());
    return objects;
}

void ObjectStore::remove(const std::string& name, const std::stop_token& stop) {
    const ObjectRequest request{.method = "DELETE", .key = key_of(name), .stop = stop};
    const HttpAnswer answer = requests_.send(request);
    if (!answer.ok() && answer.status != 404) requests_.refuse(request, answer);
}

}  // namespace bertpretrain

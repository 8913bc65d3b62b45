#include "inference/embedding_store.h"

#include <cerrno>
#include <vector>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "archive/parquet_vectors.h"
#include "archive/text_ids.h"
#include "archive/vector_origin.h"
#include "core/error.h"
#include "core/files/files.h"

namespace bertpretrain {
namespace fs = std::filesystem;

namespace {

/// The mark of a part that is not done. The mark of a finished part is its number of truncated lines.
constexpr std::int64_t open_mark = -1;

fs::path working_folder(const fs::path& output) { return output.string() + ".partial"; }
fs::path vectors_file(const fs::path& output) { return working_folder(output) / "vectors"; }
fs::path marks_file(const fs::path& output) { return working_folder(output) / "done"; }
fs::path ids_file(const fs::path& output) { return working_folder(output) / "ids.txt"; }
fs::path request_file(const fs::path& output) { return working_folder(output) / "request.json"; }

void refuse_other_work(const fs::path& output, const nlohmann::json& begun, const nlohmann::ordered_json& wanted) {
    for (const auto& [name, value] : wanted.items())
        if (const auto found = begun.find(name); found == begun.end() || *found != value)
            throw ConfigError(concat(working_folder(output).string(), ": was begun with a different ", name, " (",
                                     found == begun.end() ? "none" : found->dump(), ", now ", value.dump(),
                                     ")\n  do: choose another --output, or remove this folder"));
}

nlohmann::json read_request(const fs::path& file) {
    nlohmann::json request = nlohmann::json::parse(read_file(file), nullptr, false);
    if (!request.is_object() || !request.contains("first_row_offset") || !request["first_row_offset"].is_number_unsigned() ||
        !request.contains("identity"))
        throw DataError(concat(file.string(), ": damaged\n  do: remove ", file.parent_path().string(), " and start again"));
    return request;
}

/// Whether the vectors have a file of ids beside them.
bool has_ids(const EmbeddingRequest& request) {
    return vector_format_of(request.output) == VectorFormat::npy && !request.ids.empty();
}

void rename_finished(const fs::path& from, const fs::path& to) {
    std::error_code failure;
    fs::rename(from, to, failure);
    if (failure) throw DataError(concat(to.string(), ": cannot be written (", failure.message(), ")"));
}

void begin(const EmbeddingRequest& request) {
    make_writable_folder(working_folder(request.output));
    const VectorFormat format = vector_format_of(request.output);
    // Now, so that an id that the file cannot hold is refused before the vectors are computed.
    if (has_ids(request)) write_ids_as_text(request.ids, ids_file(request.output));
    const std::uint64_t offset =
        create_vector_file(vectors_file(request.output), format == VectorFormat::parquet ? VectorFormat::npy : format,
                           request.shape, request.vectors, attributes_of(request.identity), request.ids);
    const std::vector<std::int64_t> marks(request.parts, open_mark);
    write_atomically(marks_file(request.output), std::string_view(reinterpret_cast<const char*>(marks.data()), marks.size() * 8));
    flush_to_disk(vectors_file(request.output));
    write_atomically(
        request_file(request.output),
        nlohmann::ordered_json{{"first_row_offset", offset}, {"has_ids", has_ids(request)}, {"identity", request.identity}}.dump(
            2) +
            "\n");
}

}  // namespace

bool EmbeddingStore::prepare(const EmbeddingRequest& request) {
    if (fs::exists(request.output))
        throw ConfigError(
            concat("--output ", request.output.string(), ": already exists\n  do: remove it, or choose another name"));
    // The request is written last. An earlier start that ended between its last two steps left it without the vectors.
    const bool begun = fs::exists(request_file(request.output)) && fs::exists(vectors_file(request.output));
    if (begun) refuse_other_work(request.output, read_request(request_file(request.output))["identity"], request.identity);
    else begin(request);
    return begun;
}

bool EmbeddingStore::has_placed_ids(const fs::path& output) {
    if (!fs::exists(request_file(output)) || fs::exists(ids_file(output))) return false;
    return read_request(request_file(output)).value("has_ids", false);
}

EmbeddingStore::EmbeddingStore(const EmbeddingRequest& request)
    : request_(request),
      first_row_offset_(read_request(request_file(request.output))["first_row_offset"].get<std::uint64_t>()),
      vectors_(vectors_file(request.output)),
      marks_(marks_file(request.output)) {}

EmbeddingStore::Progress EmbeddingStore::progress() const {
    std::vector<std::int64_t> marks(request_.parts, open_mark);
    marks_.read(0, std::as_writable_bytes(std::span(marks)));
    Progress progress;
    for (const std::int64_t mark : marks) {
        if (mark == open_mark) continue;
        ++progress.parts;
        progress.truncated += mark;
    }
    return progress;
}

bool EmbeddingStore::done(std::size_t part) const {
    std::int64_t mark = open_mark;
    marks_.read(part * sizeof mark, std::as_writable_bytes(std::span(&mark, 1)));
    return mark != open_mark;
}

void EmbeddingStore::put(std::size_t part, std::int64_t first_row, std::span<const float> rows, std::int64_t truncated) {
    vectors_.write(first_row_offset_ + static_cast<std::uint64_t>(first_row * request_.shape.columns) * sizeof(float),
                   std::as_bytes(rows));
    vectors_.flush();
    marks_.write(part * sizeof truncated, std::as_bytes(std::span(&truncated, 1)));
}

void EmbeddingStore::complete() const {
    check(progress().parts == request_.parts, progress().parts, " of ", request_.parts, " parts are done");
    fs::path done = vectors_file(request_.output);
    const VectorFormat format = vector_format_of(request_.output);
    if (format == VectorFormat::parquet) {
        done = working_folder(request_.output) / "vectors.parquet";
        write_parquet_vectors(done, vectors_file(request_.output), request_.ids);
    }
    flush_to_disk(done);
    if (format == VectorFormat::npy) write_origin_beside(request_.output, done, request_.shape, request_.identity);
    // The vectors come last: until they have their name, the same command can repeat all that is above.
    if (has_ids(request_) && fs::exists(ids_file(request_.output)))
        rename_finished(ids_file(request_.output), ids_beside(request_.output));
    rename_finished(done, request_.output);
    flush_to_disk(fs::absolute(request_.output).parent_path());
    std::error_code failure;
    for (const fs::path& own : {vectors_file(request_.output), marks_file(request_.output), request_file(request_.output)})
        fs::remove(own, failure);
    fs::remove(working_folder(request_.output), failure);  // fails if it holds other files
}

EmbeddingLock::EmbeddingLock(const fs::path& output) : folder_(working_folder(output)) {
    make_writable_folder(folder_);
    handle_ = ::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (handle_ >= 0 && (::flock(handle_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK))
        return;  // some network file systems do not support locks
    ::close(handle_);
    throw ConfigError(concat(folder_.string(), ": another process is working on it"));
}

EmbeddingLock::~EmbeddingLock() {
    ::rmdir(folder_.c_str());  // fails if the folder is not empty
    ::close(handle_);
}

}  // namespace bertpretrain

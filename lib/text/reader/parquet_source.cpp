#include "text/reader/parquet_source.h"

#include <algorithm>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "core/environment.h"
#include "core/error.h"
#include "core/output/displayable.h"
#include "core/strings.h"
#include "core/utf8_check.h"
#include "storage/object_reader.h"
#include "text/content/byte_source.h"
#include "text/formats/record_fields.h"
#include "text/formats/text_chunks.h"

namespace bertpretrain {
namespace {

namespace fs = std::filesystem;
constexpr std::size_t parquet_chunk_bytes = std::size_t{1} << 20;
constexpr std::size_t row_bytes = 64;  // what a row takes besides its text, so that chunks of null rows end too

/// @param option the one that names the column
std::size_t parquet_column(const ParquetFile& file, const std::string& name, const char* option, bool may_be_integer,
                           const std::string& input) {
    const std::vector<ParquetColumn>& columns = file.columns();
    std::vector<std::string> names;
    for (std::size_t i = 0; i < columns.size(); ++i) {
        const ParquetColumn& column = columns[i];
        names.push_back(column.name);
        if (column.name != name) continue;
        if (column.kind == ParquetColumn::Kind::text) return i;
        if (may_be_integer && column.kind == ParquetColumn::Kind::integer) return i;
        throw DataError(concat(input, ": its column \"", name, "\" holds ", column.type, ", expected strings",
                               may_be_integer ? " or integers" : "", "\n  do: name another column with ", option));
    }
    const auto inside = std::ranges::find_if(names, [&](const std::string& column) { return column.starts_with(name + "."); });
    if (inside != names.end() && inside->starts_with(name + ".list."))
        throw DataError(concat(input, ": its column \"", name, "\" holds lists, expected strings",
                               "\n  do: join each list to one string where the file is made, or name another column with ",
                               option));
    throw DataError(concat(input, ": has no column \"", name, "\", only: ", displayable(join(names).substr(0, 200)),
                           inside == names.end() ? "" : concat("; \"", name, "\" is a struct"), "\n  do: name the column with ",
                           option, inside == names.end() ? "" : concat(", for example ", option, " ", displayable(*inside))));
}

/// Joins the texts that are not null by line ends.
std::string text_of(const ParquetRow& row) {
    std::string joined;
    bool is_first = true;
    for (const auto& text : row.texts) {
        if (!text) continue;
        if (!std::exchange(is_first, false)) joined += '\n';
        joined += *text;
    }
    return joined;
}

constexpr std::size_t magic_bytes = 4;

/// An object in a store.
class ObjectBytes : public ParquetBytes {
public:
    ObjectBytes(std::unique_ptr<ObjectReader> object, std::shared_ptr<RunningDigest> digest)
        : object_(std::move(object)), digest_(std::move(digest)) {}

    std::uint64_t size() override { return object_->bytes(); }
    std::size_t read_at(std::uint64_t offset, char* into, std::size_t size) override {
        const std::size_t count = object_->read_at(offset, into, size);
        if (!digest_) return count;
        for (std::string_view next; !(next = object_->kept(digest_->bytes())).empty();) digest_->add(next);
        return count;
    }

private:
    std::unique_ptr<ObjectReader> object_;
    std::shared_ptr<RunningDigest> digest_;
};

}  // namespace

ParquetInput parquet_input(const fs::path& file, std::string name, Content& content, std::shared_ptr<RunningDigest> digest) {
    if (is_remote_address(file.string())) {
        auto object = std::make_unique<ObjectReader>(parse_remote_address(file.string()));
        std::string start(magic_bytes, '\0');
        start.resize(object->read_at(0, start.data(), start.size()));
        if (is_parquet(start))
            return {.path = file,
                    .name = std::move(name),
                    .object = std::make_shared<ObjectBytes>(std::move(object), std::move(digest))};
    } else if (fs::is_regular_file(file) && is_parquet(ByteSource(file).peek(magic_bytes))) {
        return {.path = file, .name = std::move(name)};
    }
    std::error_code missing;
    const fs::path folder = fs::temp_directory_path(missing);
    if (missing)
        throw ConfigError(concat(name, ": is copied to a temporary file first, but TMPDIR names no folder, ",
                                 environment_variable("TMPDIR").value_or("/tmp"),
                                 "\n  do: set TMPDIR to a folder with enough space"));
    auto copy = std::make_shared<TemporaryFile>(folder);
    std::vector<char> bytes(std::size_t{1} << 18);
    while (const std::size_t count = content.read(bytes.data(), bytes.size())) copy->append(bytes.data(), count);
    copy->flush();
    return {.path = copy->path(), .name = std::move(name), .copy = copy};
}

void add_sample(const ParquetInput& input, std::size_t bytes, const InputSettings& settings, LayoutSample& sample) {
    ParquetSource source(input, TextLayout::Lines::sentences, settings);
    DocumentChunk chunk;
    for (std::size_t taken = 0; taken < bytes && source.next(chunk); taken += chunk.bytes)
        for (const Document& document : chunk.parse().documents) sample.add(document.text);
}

ParquetSource::ParquetSource(ParquetInput input, TextLayout::Lines lines, const InputSettings& settings)
    : input_(std::move(input)),
      lines_(lines),
      id_field_(settings.id_field),
      file_(open_parquet(input_.path, input_.name, input_.object)),
      bytes_(input_.object ? input_.object->size() : fs::file_size(input_.path)) {
    const auto is_column = [&](const std::string& name) {
        return std::ranges::any_of(file_->columns(), [&](const ParquetColumn& column) { return column.name == name; });
    };
    text_fields_ = text_fields(settings.text_field, is_column);
    std::vector<std::size_t> texts;
    for (const std::string& name : text_fields_)
        texts.push_back(parquet_column(*file_, name, "--text-field", false, input_.name));
    std::optional<std::size_t> id;
    if (!id_field_.empty()) id = parquet_column(*file_, id_field_, "--id-field", true, input_.name);
    file_->choose(texts, id);
    rows_ = static_cast<std::uint64_t>(std::max<std::int64_t>(file_->rows(), 0));
}

std::string ParquetSource::problem_of(const ParquetRow& row, const std::string& text) const {
    const auto null = [](const std::string& field) { return concat("its field \"", field, "\" is null, expected a string"); };
    if (std::ranges::none_of(row.texts, [](const auto& value) { return value.has_value(); }))
        return text_fields_.size() == 1 ? null(text_fields_.front())
                                        : concat("its fields ", join(text_fields_), " are all null, expected a string");
    if (!id_field_.empty() && !row.id) return null(id_field_);
    if (text.size() > TextChunks::largest_unit) return concat("is larger than ", TextChunks::largest_unit >> 20, " MiB");
    return is_utf8(text) ? "" : "its text is not UTF-8";
}

/// Reads a row, and adds its size to `bytes`; returns false after the last one.
bool ParquetSource::add_row(DocumentBatch& batch, std::size_t& bytes) {
    ParquetRow row;
    if (!file_->next(row)) return false;
    ++row_;
    ++batch.records;
    bytes += row_bytes;
    std::string text = text_of(row);
    std::string problem = problem_of(row, text);
    if (!problem.empty()) {
        batch.bad.push_back({row_, std::move(problem)});
        return true;
    }
    bytes += text.size();
    batch.documents.push_back({row_, std::string(row.id.value_or("")), std::move(text)});
    return true;
}

bool ParquetSource::next(DocumentChunk& chunk) {
    auto batch = std::make_shared<DocumentBatch>();
    batch->file = input_.name;
    batch->lines_are_sentences = lines_ == TextLayout::Lines::sentences;
    std::size_t bytes = 0;
    try {
        while (bytes < parquet_chunk_bytes && add_row(*batch, bytes)) continue;
    } catch (const Error&) { throw; } catch (const std::exception& error) {
        refuse_parquet(input_.name, error);
    }
    if (batch->records == 0) return false;
    chunk.bytes = bytes;
    chunk.parse = [batch, lines = lines_] {
        for (Document& document : batch->documents) document.text = tidy_lines(document.text, lines);
        batch->counts.pages = std::ssize(batch->documents);
        return std::move(*batch);
    };
    return true;
}

std::uint64_t ParquetSource::bytes_read() const {
    return rows_ == 0
               ? bytes_
               : static_cast<std::uint64_t>(static_cast<double>(bytes_) * static_cast<double>(row_) / static_cast<double>(rows_));
}

}  // namespace bertpretrain

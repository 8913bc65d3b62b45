#include "archive/parquet_vectors.h"

#include <algorithm>
#include <exception>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "archive/text_ids.h"
#include "archive/vector_reader.h"
#include "core/error.h"
#include "core/files/disk.h"
#include "core/output/displayable.h"
#include "text/formats/parquet_file.h"
#include "text/formats/parquet_writer.h"

namespace bertpretrain {
namespace {

constexpr std::int64_t group_bytes = std::int64_t{32} << 20;

void write_groups(ParquetVectors& out, const VectorReader& vectors, std::optional<TextIds>& ids) {
    const auto [rows, columns] = vectors.shape();
    const std::int64_t at_once = std::max<std::int64_t>(1, group_bytes / (columns * std::int64_t{sizeof(float)}));
    std::vector<float> values;
    for (std::int64_t first = 0; first < rows; first += at_once) {
        const std::int64_t count = std::min(at_once, rows - first);
        values.resize(static_cast<std::size_t>(count * columns));
        vectors.read(first, values);
        out.add(values, ids ? ids->next(static_cast<std::size_t>(count)) : std::vector<std::string>{});
    }
    out.close();
}

}  // namespace

void write_parquet_vectors(const std::filesystem::path& file, const std::filesystem::path& npy,
                           const std::filesystem::path& ids) {
    const auto create = reinterpret_cast<CreateParquetVectors*>(
        parquet_function(parquet_vectors_symbol, concat(file.string(), ": is to be a Parquet file, which this program writes"),
                         "write a .h5 file instead"));
    const std::unique_ptr<VectorReader> vectors = VectorReader::open_npy(npy);
    std::optional<TextIds> lines;
    if (!ids.empty()) lines.emplace(ids);
    try {
        const std::unique_ptr<ParquetVectors> out(create(file.string(), vectors->shape().columns, lines.has_value()));
        write_groups(*out, *vectors, lines);
    } catch (const Error&) { throw; } catch (const std::exception& error) {
        const std::string_view reason = error.what();
        throw DataError(concat(file.string(), ": cannot be written (", displayable(reason.substr(0, reason.find('\n'))), ")",
                               advice_by_text(reason)));
    }
}

}  // namespace bertpretrain

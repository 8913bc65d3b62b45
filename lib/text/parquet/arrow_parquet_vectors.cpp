// Implements parquet_writer.h.
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <arrow/api.h>
#include <arrow/io/file.h>
#include <parquet/arrow/writer.h>
#include <parquet/properties.h>

#include "text/formats/parquet_writer.h"

namespace bertpretrain {
namespace {

void require(const arrow::Status& status) {
    if (!status.ok()) throw std::runtime_error(status.message());
}

template <class Value>
Value required(arrow::Result<Value> result) {
    require(result.status());
    return std::move(result).ValueOrDie();
}

class ArrowParquetVectors final : public ParquetVectors {
public:
    ArrowParquetVectors(const std::string& file, std::int64_t columns, bool has_ids)
        : columns_(static_cast<std::int32_t>(columns)), schema_(schema_of(columns_, has_ids)) {
        out_ = required(arrow::io::FileOutputStream::Open(file));
        // Random mantissas do not compress.
        const auto properties = parquet::WriterProperties::Builder().compression(parquet::Compression::UNCOMPRESSED)->build();
        const auto with_schema = parquet::ArrowWriterProperties::Builder().store_schema()->build();
        writer_ =
            required(parquet::arrow::FileWriter::Open(*schema_, arrow::system_memory_pool(), out_, properties, with_schema));
    }

    void add(std::span<const float> rows, std::span<const std::string> ids) override {
        const auto count = static_cast<std::int64_t>(rows.size()) / columns_;
        const auto buffer = std::make_shared<arrow::Buffer>(reinterpret_cast<const std::uint8_t*>(rows.data()),
                                                            static_cast<std::int64_t>(rows.size_bytes()));
        const auto values = std::make_shared<arrow::FloatArray>(static_cast<std::int64_t>(rows.size()), buffer);
        std::vector<std::shared_ptr<arrow::Array>> columns;
        if (schema_->num_fields() > 1) {
            if (static_cast<std::int64_t>(ids.size()) != count) throw std::runtime_error("the file of ids became shorter");
            arrow::StringBuilder builder(arrow::system_memory_pool());
            for (const std::string& id : ids) require(builder.Append(id));
            columns.push_back(required(builder.Finish()));
        }
        columns.push_back(required(arrow::FixedSizeListArray::FromArrays(values, columns_)));
        require(writer_->WriteTable(*arrow::Table::Make(schema_, columns, count), count));
    }

    void close() override {
        require(writer_->Close());
        require(out_->Close());
    }

private:
    static std::shared_ptr<arrow::Schema> schema_of(std::int32_t columns, bool has_ids) {
        std::vector<std::shared_ptr<arrow::Field>> fields;
        if (has_ids) fields.push_back(arrow::field("id", arrow::utf8(), false));
        fields.push_back(arrow::field("vector", arrow::fixed_size_list(arrow::float32(), columns), false));
        return arrow::schema(fields);
    }

    std::int32_t columns_;
    std::shared_ptr<arrow::Schema> schema_;
    std::shared_ptr<arrow::io::FileOutputStream> out_;
    std::unique_ptr<parquet::arrow::FileWriter> writer_;
};

}  // namespace
}  // namespace bertpretrain

extern "C" bertpretrain::ParquetVectors* bertpretrain_create_parquet_vectors(const std::string& file, std::int64_t columns,
                                                                             bool has_ids);

extern "C" bertpretrain::ParquetVectors* bertpretrain_create_parquet_vectors(const std::string& file, std::int64_t columns,
                                                                             bool has_ids) {
    return new bertpretrain::ArrowParquetVectors(file, columns, has_ids);
}

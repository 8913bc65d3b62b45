// Implements parquet_file.h; the only file that includes Arrow. It shares no code with the program that opens it.
#include <array>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/io/interfaces.h>
#include <arrow/memory_pool.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <parquet/column_reader.h>
#include <parquet/file_reader.h>
#include <parquet/schema.h>

#include "text/formats/parquet_file.h"

namespace bertpretrain {
namespace {

/// The values of one column of a row group, in order.
class ColumnValues {
public:
    ColumnValues() = default;
    ColumnValues(const ColumnValues&) = delete;
    ColumnValues& operator=(const ColumnValues&) = delete;
    virtual ~ColumnValues() = default;

    /// Returns the next value, which is valid until the next call; nullopt: null.
    virtual std::optional<std::string_view> next() = 0;
};

template <class Type>
class TypedValues : public ColumnValues {
public:
    /// @param group keeps the file's row group open
    TypedValues(std::shared_ptr<parquet::RowGroupReader> group, int column)
        : group_(std::move(group)),
          column_(group_->Column(column)),
          reader_(dynamic_cast<parquet::TypedColumnReader<Type>*>(column_.get())),
          whole_level_(column_->descr()->max_definition_level()),
          is_unsigned_(column_->descr()->sort_order() == parquet::SortOrder::UNSIGNED) {
        if (reader_ == nullptr) throw std::runtime_error("a row group has a column of another type than the file");
    }

    std::optional<std::string_view> next() override {
        if (at_ == filled_) fill();
        const bool is_null = whole_level_ > 0 && levels_[at_] < whole_level_;
        ++at_;
        if (is_null) return std::nullopt;
        if (value_ >= values_read_) throw std::runtime_error("a page has fewer values than it should");
        return as_text(values_[static_cast<std::size_t>(value_++)]);
    }

private:
    /// Reads values of one page at most, so that their bytes stay valid.
    void fill() {
        at_ = 0;
        value_ = 0;
        filled_ = static_cast<std::size_t>(reader_->ReadBatch(static_cast<std::int64_t>(levels_.size()), levels_.data(), nullptr,
                                                              values_.data(), &values_read_));
        if (filled_ == 0) throw std::runtime_error("a column ends before the last row");
    }

    std::string_view as_text(const parquet::ByteArray& bytes) { return static_cast<std::string_view>(bytes); }
    std::string_view as_text(std::int32_t number) {
        return number_ = is_unsigned_ ? std::to_string(static_cast<std::uint32_t>(number)) : std::to_string(number);
    }
    std::string_view as_text(std::int64_t number) {
        return number_ = is_unsigned_ ? std::to_string(static_cast<std::uint64_t>(number)) : std::to_string(number);
    }

    std::shared_ptr<parquet::RowGroupReader> group_;
    std::shared_ptr<parquet::ColumnReader> column_;
    parquet::TypedColumnReader<Type>* reader_;
    std::int16_t whole_level_;  ///< definition level of a value; below it, the value or a struct around it is null
    bool is_unsigned_;
    std::array<std::int16_t, 256> levels_{};
    std::array<typename Type::c_type, 256> values_{};
    std::size_t filled_ = 0, at_ = 0;
    std::int64_t values_read_ = 0, value_ = 0;
    std::string number_;
};

ParquetColumn described_column(const parquet::ColumnDescriptor& column) {
    using Kind = ParquetColumn::Kind;
    const bool has_one_value = column.max_repetition_level() == 0;  // per row, also inside structs
    const std::string physical = (has_one_value ? "" : "lists of ") + parquet::TypeToString(column.physical_type());
    const std::shared_ptr<const parquet::LogicalType>& logical = column.logical_type();
    const bool is_plain = logical == nullptr || logical->is_none();
    Kind kind = Kind::other;
    if (has_one_value && column.physical_type() == parquet::Type::BYTE_ARRAY &&
        (is_plain || logical->is_string() || logical->is_enum() || logical->is_JSON()))
        kind = Kind::text;
    if (has_one_value && (column.physical_type() == parquet::Type::INT32 || column.physical_type() == parquet::Type::INT64) &&
        (is_plain || logical->is_int()))
        kind = Kind::integer;
    return {column.path()->ToDotString(), kind, is_plain ? physical : physical + " (" + logical->ToString() + ")"};
}

/// ParquetBytes as a file of Arrow, which knows no exceptions: failure() has the one that it got.
class BytesForArrow final : public arrow::io::RandomAccessFile {
public:
    explicit BytesForArrow(std::shared_ptr<ParquetBytes> bytes) : bytes_(std::move(bytes)) {}

    const std::exception_ptr& failure() const { return failure_; }

    arrow::Result<std::int64_t> ReadAt(std::int64_t position, std::int64_t size, void* into) override {
        std::int64_t filled = 0;
        try {
            while (filled < size) {
                const std::size_t count =
                    bytes_->read_at(static_cast<std::uint64_t>(position + filled), static_cast<char*>(into) + filled,
                                    static_cast<std::size_t>(size - filled));
                if (count == 0) break;
                filled += static_cast<std::int64_t>(count);
            }
        } catch (const std::exception& error) {
            failure_ = std::current_exception();
            return arrow::Status::IOError(error.what());
        }
        return filled;
    }
    arrow::Result<std::shared_ptr<arrow::Buffer>> ReadAt(std::int64_t position, std::int64_t size) override {
        ARROW_ASSIGN_OR_RAISE(auto buffer, arrow::AllocateResizableBuffer(size, arrow::system_memory_pool()));
        ARROW_ASSIGN_OR_RAISE(const std::int64_t count, ReadAt(position, size, buffer->mutable_data()));
        ARROW_RETURN_NOT_OK(buffer->Resize(count));
        return std::shared_ptr<arrow::Buffer>(std::move(buffer));
    }
    arrow::Result<std::int64_t> Read(std::int64_t size, void* into) override {
        ARROW_ASSIGN_OR_RAISE(const std::int64_t count, ReadAt(position_, size, into));
        position_ += count;
        return count;
    }
    arrow::Result<std::shared_ptr<arrow::Buffer>> Read(std::int64_t size) override {
        ARROW_ASSIGN_OR_RAISE(auto buffer, ReadAt(position_, size));
        position_ += buffer->size();
        return buffer;
    }
    arrow::Result<std::int64_t> GetSize() override { return static_cast<std::int64_t>(bytes_->size()); }
    arrow::Status Seek(std::int64_t position) override {
        position_ = position;
        return arrow::Status::OK();
    }
    arrow::Result<std::int64_t> Tell() const override { return position_; }
    arrow::Status Close() override {
        is_closed_ = true;
        return arrow::Status::OK();
    }
    bool closed() const override { return is_closed_; }

private:
    std::shared_ptr<ParquetBytes> bytes_;
    std::int64_t position_ = 0;
    bool is_closed_ = false;
    std::exception_ptr failure_;
};

/// Throws what ParquetBytes threw instead of what Arrow makes of it. @param bytes may be null
template <class Work>
auto with_own_errors(const std::shared_ptr<BytesForArrow>& bytes, const Work& work) {
    try {
        return work();
    } catch (...) {
        if (bytes && bytes->failure()) std::rethrow_exception(bytes->failure());
        throw;
    }
}

class ArrowParquetFile final : public ParquetFile {
public:
    ArrowParquetFile(const std::string& file, std::shared_ptr<ParquetBytes> bytes) {
        parquet::ReaderProperties properties(arrow::system_memory_pool());
        properties.enable_buffered_stream();  // else a row group's whole column is read at once
        properties.set_page_checksum_verification(true);
        if (bytes) bytes_ = std::make_shared<BytesForArrow>(std::move(bytes));
        file_ = with_own_errors(bytes_, [&] {
            return bytes_ ? parquet::ParquetFileReader::Open(bytes_, properties)
                          : parquet::ParquetFileReader::OpenFile(file, false, properties);
        });
        const parquet::SchemaDescriptor& schema = *file_->metadata()->schema();
        for (int i = 0; i < schema.num_columns(); ++i) columns_.push_back(described_column(*schema.Column(i)));
    }

    const std::vector<ParquetColumn>& columns() const override { return columns_; }
    std::int64_t rows() const override { return file_->metadata()->num_rows(); }

    void choose(const std::vector<std::size_t>& texts, std::optional<std::size_t> id) override {
        text_columns_ = texts;
        id_column_ = id;
    }

    bool next(ParquetRow& row) override {
        return with_own_errors(bytes_, [&] { return next_row(row); });
    }

private:
    bool next_row(ParquetRow& row) {
        while (left_in_group_ == 0)
            if (!open_group()) return false;
        --left_in_group_;
        row.texts.clear();
        for (const auto& text : texts_) row.texts.push_back(text->next());
        row.id = id_ ? id_->next() : std::nullopt;
        return true;
    }

    bool open_group() {
        if (group_ == file_->metadata()->num_row_groups()) return false;
        const std::shared_ptr<parquet::RowGroupReader> group = file_->RowGroup(group_++);
        left_in_group_ = group->metadata()->num_rows();
        if (left_in_group_ < 0) throw std::runtime_error("a row group has a negative number of rows");
        texts_.clear();
        for (const std::size_t column : text_columns_) texts_.push_back(values_of(group, column));
        if (id_column_) id_ = values_of(group, *id_column_);
        return true;
    }

    std::unique_ptr<ColumnValues> values_of(const std::shared_ptr<parquet::RowGroupReader>& group, std::size_t column) const {
        const int number = static_cast<int>(column);
        switch (file_->metadata()->schema()->Column(number)->physical_type()) {
            case parquet::Type::BYTE_ARRAY:
                return std::make_unique<TypedValues<parquet::ByteArrayType>>(group, number);
            case parquet::Type::INT32:
                return std::make_unique<TypedValues<parquet::Int32Type>>(group, number);
            case parquet::Type::INT64:
                return std::make_unique<TypedValues<parquet::Int64Type>>(group, number);
            default:
                throw std::runtime_error("a chosen column holds neither text nor integers");
        }
    }

    std::shared_ptr<BytesForArrow> bytes_;  ///< instead of a local file; else null
    std::unique_ptr<parquet::ParquetFileReader> file_;
    std::vector<ParquetColumn> columns_;
    std::vector<std::size_t> text_columns_;
    std::optional<std::size_t> id_column_;
    int group_ = 0;
    std::int64_t left_in_group_ = 0;
    std::vector<std::unique_ptr<ColumnValues>> texts_;
    std::unique_ptr<ColumnValues> id_;
};

}  // namespace
}  // namespace bertpretrain

extern "C" bertpretrain::ParquetFile* bertpretrain_open_parquet(const std::string& file,
                                                                std::shared_ptr<bertpretrain::ParquetBytes> bytes);

extern "C" bertpretrain::ParquetFile* bertpretrain_open_parquet(const std::string& file,
                                                                std::shared_ptr<bertpretrain::ParquetBytes> bytes) {
    return new bertpretrain::ArrowParquetFile(file, std::move(bytes));
}

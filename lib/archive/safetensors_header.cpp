#include "archive/safetensors_header.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include <nlohmann/json.hpp>

#include "archive/little_endian.h"
#include "archive/printable.h"
#include "core/concat.h"

namespace bertpretrain {
namespace {

constexpr std::size_t most_tensors = 200'000, most_axes = 64;

template <class... Parts>
[[noreturn]] void refuse_header(const Parts&... what) {
    throw SafetensorsRefusal(concat(what...));
}

/// Processes the JSON event by event, so that nothing outside the format is ever built in memory.
class HeaderEvents : public nlohmann::json_sax<nlohmann::json> {
public:
    SafetensorsHeader header;

    bool null() override { odd(); }
    bool boolean(bool) override { odd(); }
    bool number_float(number_float_t, const string_t&) override { odd(); }
    bool binary(binary_t&) override { odd(); }
    bool number_integer(number_integer_t) override { odd(); }  // negative
    bool number_unsigned(number_unsigned_t number) override {
        if (!in_array_) odd();
        numbers_.push_back(number);
        if (numbers_.size() > most_axes) refuse_header(where(), "has more than ", most_axes, " axes");
        return true;
    }

    bool string(string_t& text) override {
        if (depth_ != 2 || in_array_) odd();
        if (in_metadata_) return header.metadata.emplace(field_, text).second || (refuse_twice(field_), false);
        if (field_ != "dtype") odd();
        const std::optional<DType> dtype = dtype_of_safetensors_name(text);
        if (!dtype) refuse_header(where(), "its dtype ", printable(text), " is not supported");
        header.tensors.back().dtype = *dtype;
        return true;
    }

    bool start_object(std::size_t) override {
        if (in_array_ || depth_ >= 2) odd();
        ++depth_;
        return true;
    }

    bool end_object() override {
        if (depth_ == 2 && !in_metadata_ && fields_.size() != 3) refuse_header(where(), "lacks dtype, shape or data_offsets");
        --depth_;
        fields_.clear();
        return true;
    }

    bool start_array(std::size_t) override {
        if (depth_ != 2 || in_array_ || in_metadata_ || field_ == "dtype") odd();
        in_array_ = true;
        numbers_.clear();
        return true;
    }

    bool end_array() override {
        in_array_ = false;
        SafetensorsEntry& tensor = header.tensors.back();
        if (field_ == "shape") {
            for (const std::uint64_t size : numbers_) tensor.shape.push_back(static_cast<std::int64_t>(size));
            if (std::any_of(tensor.shape.begin(), tensor.shape.end(), [](std::int64_t size) { return size < 0; }))
                refuse_header(where(), "its shape has a size above 2^63 - 1");
            return true;
        }
        if (numbers_.size() != 2 || numbers_[0] > numbers_[1]) refuse_header(where(), "its data_offsets are not [begin, end]");
        tensor.offset = numbers_[0];
        tensor.bytes = numbers_[1] - numbers_[0];
        return true;
    }

    bool key(string_t& name) override {
        if (depth_ == 1) return begin_tensor(name);
        field_ = name;
        if (in_metadata_) return true;
        if (name != "dtype" && name != "shape" && name != "data_offsets")
            refuse_header(where(), "has a field \"", printable(name), "\", expected dtype, shape and data_offsets");
        if (!fields_.insert(name).second) refuse_twice(name);
        return true;
    }

    bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
        refuse_header("its header is not valid JSON at byte ", 8 + position);
    }

private:
    std::string where() const { return in_metadata_ ? "" : concat("tensor \"", printable(tensor_, 300), "\": "); }
    [[noreturn]] void odd() const { refuse_header(where(), "its header is not laid out as the safetensors format requires"); }
    [[noreturn]] void refuse_twice(const std::string& name) const {
        refuse_header("its header has the key \"", printable(name, 300), "\" twice");
    }

    bool begin_tensor(const std::string& name) {
        if (!names_.insert(name).second) refuse_twice(name);
        if (names_.size() > most_tensors) refuse_header("its header lists more tensors than any model has");
        tensor_ = name;
        in_metadata_ = name == "__metadata__";
        if (!in_metadata_) header.tensors.push_back({name, DType::f32, {}, 0, 0});
        return true;
    }

    int depth_ = 0;
    bool in_array_ = false, in_metadata_ = false;
    std::string tensor_, field_;
    std::set<std::string> names_, fields_;
    std::vector<std::uint64_t> numbers_;
};

/// Returns the size in bytes of a tensor of this dtype and shape; nullopt when it exceeds 64 bits.
std::optional<std::uint64_t> expected_bytes(const SafetensorsEntry& tensor) {
    std::uint64_t bytes = dtype_bytes(tensor.dtype);
    bool overflows = false;
    for (const std::int64_t size : tensor.shape) {
        if (size == 0) return 0;
        overflows = __builtin_mul_overflow(bytes, static_cast<std::uint64_t>(size), &bytes) || overflows;
    }
    return overflows ? std::nullopt : std::optional(bytes);
}

/// Sorts the tensors by offset, checks that they fill `room` bytes exactly, and makes their offsets count from the file's start.
void place(std::vector<SafetensorsEntry>& tensors, std::uint64_t begin, std::uint64_t room) {
    std::stable_sort(tensors.begin(), tensors.end(), [](const SafetensorsEntry& a, const SafetensorsEntry& b) {
        return std::pair(a.offset, a.bytes) < std::pair(b.offset, b.bytes);
    });
    std::uint64_t end = 0;
    for (SafetensorsEntry& tensor : tensors) {
        const auto refuse_tensor = [&](const auto&... what) {
            refuse_header("tensor \"", printable(tensor.name, 300), "\" ", what...);
        };
        if (!lies_within(tensor.offset, tensor.bytes, room)) refuse_tensor("reaches beyond the file");
        if (expected_bytes(tensor) != tensor.bytes) refuse_tensor("has ", tensor.bytes, " bytes, which is not its dtype x shape");
        if (tensor.offset < end) refuse_tensor("shares bytes with the tensor before it");
        if (tensor.offset > end)
            refuse_tensor("does not begin where the tensor before it ends: there is a gap of ", tensor.offset - end, " bytes");
        end += tensor.bytes;
        tensor.offset += begin;
    }
    if (end != room) refuse_header("its tensors take ", end, " of ", room, " bytes");
}

}  // namespace

SafetensorsHeader parse_safetensors_header(std::span<const std::byte> file) {
    if (file.size() < 8) refuse_header("is too short for a safetensors file");
    const auto header_bytes = number_at<std::uint64_t>(file, 0);
    if (header_bytes > largest_safetensors_header)
        refuse_header("its first eight bytes declare a header of ", header_bytes, " bytes, expected at most ",
                      largest_safetensors_header);
    if (!lies_within(8, header_bytes, file.size()))
        refuse_header("its header of ", header_bytes, " bytes reaches beyond the file");
    if (header_bytes == 0 || file[8] != std::byte{'{'}) refuse_header("its header does not begin with {");
    HeaderEvents events;
    const auto* text = reinterpret_cast<const char*>(file.data()) + 8;
    nlohmann::json::sax_parse(text, text + header_bytes, &events);
    place(events.header.tensors, 8 + header_bytes, file.size() - 8 - header_bytes);
    return std::move(events.header);
}

}  // namespace bertpretrain

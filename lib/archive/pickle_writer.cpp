#include "archive/pickle_writer.h"

#include <bit>
#include <limits>
#include <type_traits>

#include "core/error.h"

namespace bertpretrain {
namespace {

/// Writes opcodes by their codes in Python's pickletools.
class PickleWriter {
public:
    std::string run(const PtValue& tree) {
        out_ = "\x80\x02";  // PROTO 2
        write(tree);
        return out_ + ".";
    }

private:
    template <class Integer>
    void little_endian(Integer value) {
        const auto bits = static_cast<std::make_unsigned_t<Integer>>(value);
        for (std::size_t byte = 0; byte < sizeof value; ++byte) out_ += static_cast<char>((bits >> (8 * byte)) & 0xFF);
    }

    void write(std::monostate) { out_ += 'N'; }
    void write(bool value) { out_ += value ? '\x88' : '\x89'; }

    void write(std::int64_t value) {
        if (value >= std::numeric_limits<std::int32_t>::min() && value <= std::numeric_limits<std::int32_t>::max()) {
            out_ += 'J';
            little_endian(static_cast<std::int32_t>(value));
        } else {
            out_ += "\x8a\x08";  // LONG1 of eight bytes
            little_endian(value);
        }
    }

    void write(double value) {
        out_ += 'G';
        const auto bits = std::bit_cast<std::uint64_t>(value);
        for (int byte = 7; byte >= 0; --byte) out_ += static_cast<char>((bits >> (8 * byte)) & 0xFF);  // big-endian
    }

    void write(const std::string& text) {
        check(text.size() <= std::numeric_limits<std::uint32_t>::max(), "a string in a .pt file must have less than 4 GiB");
        out_ += 'X';
        little_endian(static_cast<std::uint32_t>(text.size()));
        out_ += text;
    }

    void write(const PtList& list) {
        out_ += "](";
        for (const PtValue& item : list) write(item);
        out_ += 'e';
    }

    void write(const PtTuple& tuple) {
        out_ += '(';
        for (const PtValue& item : tuple.items) write(item);
        out_ += 't';
    }

    void write(const PtBigInteger& number) {
        check(number.bytes.size() < 256, "an integer in a .pt file must have less than 256 bytes");
        out_ += '\x8a';
        out_ += static_cast<char>(number.bytes.size());
        out_ += number.bytes;
    }

    void write(const PtDict& dict) {
        out_ += "}(";
        for (const auto& [key, value] : dict) {
            std::visit([&](const auto& content) { write(content); }, key);
            write(value);
        }
        out_ += 'u';
    }

    void write_tuple(const std::vector<std::int64_t>& numbers) {
        out_ += '(';
        for (const std::int64_t number : numbers) write(number);
        out_ += 't';
    }

    void write(const PtTensor& tensor) {
        out_ += "ctorch._utils\n_rebuild_tensor_v2\n(";
        out_ += '(';
        write(std::string("storage"));
        out_ += concat("ctorch\n", storage_class(tensor.dtype), "\n");
        write(tensor.storage);
        write(std::string("cpu"));
        write(tensor.storage_elements);
        out_ += "tQ";
        write(tensor.storage_offset);
        write_tuple(tensor.shape);
        write_tuple(tensor.strides);
        write(false);                               // requires_grad
        out_ += "ccollections\nOrderedDict\n)RtR";  // no backward hooks
    }

    void write(const PtValue& value) {
        std::visit([&](const auto& content) { write(content); }, value.content);
    }

    std::string out_;
};

}  // namespace

std::string pickle_of(const PtValue& tree) { return PickleWriter().run(tree); }

}  // namespace bertpretrain

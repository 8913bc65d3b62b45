#include "archive/unpickler.h"

#include <algorithm>
#include <array>
#include <bit>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "archive/little_endian.h"
#include "archive/printable.h"
#include "archive/unpickler_values.h"
#include "core/concat.h"

namespace bertpretrain {
namespace {

using Kind = UnpickledValue::Kind;

/// The classes and functions that torch.load accepts with weights_only=True, besides dtypes, storage classes and those of tensors
/// that are quantized, sparse or nested.
constexpr std::array<std::string_view, 21> known_globals{"collections\nOrderedDict",
                                                         "collections\nCounter",
                                                         "torch._utils\n_rebuild_tensor",
                                                         "torch._utils\n_rebuild_tensor_v2",
                                                         "torch._utils\n_rebuild_parameter",
                                                         "torch._utils\n_rebuild_parameter_with_state",
                                                         "torch._utils\n_rebuild_device_tensor_from_cpu_tensor",
                                                         "torch._utils\n_rebuild_meta_tensor_no_storage",
                                                         "torch._tensor\n_rebuild_from_type_v2",
                                                         "torch.nn.parameter\nParameter",
                                                         "torch\nTensor",
                                                         "torch\nSize",
                                                         "torch\ndevice",
                                                         "torch.serialization\n_get_layout",
                                                         "_codecs\nencode",
                                                         "__builtin__\nset",
                                                         "builtins\nset",
                                                         "__builtin__\nbytearray",
                                                         "builtins\nbytearray",
                                                         "__builtin__\ncomplex",
                                                         "builtins\ncomplex"};

/// The stack machine of Python's pickle, with the opcodes that torch.save uses.
class Unpickler {
public:
    explicit Unpickler(std::span<const std::byte> pickle) : pickle_(pickle) {}

    Unpickled run() {
        while (true) {
            const auto opcode = static_cast<char>(take(1)[0]);
            if (opcode == '.') break;
            execute(opcode);
        }
        const ValueIndex root = pop();
        return {values_.tree(root), values_.storages(), at_};
    }

private:
    std::span<const std::byte> take(std::uint64_t count) {
        if (!lies_within(at_, count, pickle_.size())) refuse_pickle("its data.pkl ends in the middle of a value");
        at_ += count;
        return pickle_.subspan(at_ - count, count);
    }

    template <class Number>
    Number number() {
        return number_at<Number>(take(sizeof(Number)), 0);
    }

    std::string_view text(std::uint64_t count) {
        const auto bytes = take(count);
        return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
    }

    std::string_view line() {
        const auto rest = pickle_.subspan(at_);
        const auto end = std::find(rest.begin(), rest.end(), std::byte{'\n'});
        if (end == rest.end()) refuse_pickle("its data.pkl ends in the middle of a class name");
        return text(static_cast<std::uint64_t>(end - rest.begin()) + 1);
    }

    bool push_known(ValueIndex value) {
        values_.spend(sizeof value);  // not returned by pop(): a popped value is then stored elsewhere
        stack_.push_back(value);
        return true;
    }

    /// Returns true, for push_value() to return.
    bool push(UnpickledValue value) { return push_known(values_.add(std::move(value))); }

    ValueIndex pop() {
        if (stack_.size() <= (marks_.empty() ? 0 : marks_.back()))
            refuse_pickle("its data.pkl is malformed: it pops from an empty stack");
        const ValueIndex top = stack_.back();
        stack_.pop_back();
        return top;
    }

    UnpickledValue& top(Kind kind, std::string_view what) {
        const ValueIndex index = pop();
        stack_.push_back(index);
        return values_.expect(index, kind, what);
    }

    std::vector<ValueIndex> pop_to_mark() {
        if (marks_.empty()) refuse_pickle("its data.pkl is malformed: a mark is missing");
        const auto first = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
        std::vector<ValueIndex> items(first, stack_.end());
        stack_.erase(first, stack_.end());
        marks_.pop_back();
        return items;
    }

    bool push_tuple(std::size_t count) {
        std::vector<ValueIndex> items(count);
        for (std::size_t i = count; i-- > 0;) items[i] = pop();
        return push(UnpickledValue(Kind::tuple, std::move(items)));
    }

    bool push_global() {
        const std::size_t begin = at_;
        line();
        line();
        const std::string_view global(reinterpret_cast<const char*>(pickle_.data()) + begin, at_ - begin - 1);
        const bool known = std::find(known_globals.begin(), known_globals.end(), global) != known_globals.end();
        if (!known && !is_dtype_global(global) && !(global.starts_with("torch\n") && global.ends_with("Storage"))) {
            const std::size_t end = global.find('\n');
            const bool is_quantized = global == "torch._utils\n_rebuild_qtensor";
            refuse_pickle(concat("it holds an object of the class ", printable(global.substr(0, end)), ".",
                                 printable(global.substr(end + 1)), ", which is ",
                                 is_quantized ? "a quantized tensor" : "not plain data", " and is not loaded\n  do: ",
                                 is_quantized ? "give the weights from before quantization"
                                              : "in Python, save a dict of tensors, numbers and strings only"));
        }
        return push(UnpickledValue(Kind::global, global));
    }

    bool push_long() {
        const auto bytes = take(number<std::uint8_t>());
        if (bytes.size() > 8)
            return push(UnpickledValue(Kind::big_integer, {reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
        std::uint64_t bits = !bytes.empty() && (bytes.back() & std::byte{0x80}) != std::byte{} ? ~std::uint64_t{0} : 0;
        for (std::size_t i = bytes.size(); i-- > 0;) bits = bits << 8 | std::to_integer<std::uint64_t>(bytes[i]);
        return push(UnpickledValue(Kind::integer, static_cast<std::int64_t>(bits)));
    }

    bool push_real() {
        std::uint64_t bits = 0;
        for (const std::byte byte : take(8)) bits = bits << 8 | std::to_integer<std::uint64_t>(byte);
        return push(UnpickledValue(std::bit_cast<double>(bits)));
    }

    void append(const std::vector<ValueIndex>& items) {
        auto& list = top(Kind::list, "the list that items are added to").items;
        values_.spend(2 * sizeof(ValueIndex) * items.size());
        list.insert(list.end(), items.begin(), items.end());
    }

    void set_items(const std::vector<ValueIndex>& items) {
        auto& dict = top(Kind::dict, "the dict that items are added to").items;
        if (items.size() % 2 != 0) refuse_pickle("its data.pkl is malformed: a dict's key has no value");
        values_.spend(2 * sizeof(ValueIndex) * items.size());
        dict.insert(dict.end(), items.begin(), items.end());
    }

    /// Drops attributes, which may be set only on dicts (OrderedDict) and tensors.
    void build() {
        values_.expect(pop(), Kind::dict, "the attributes of an object");
        const ValueIndex object = pop();
        if (values_[object].kind != Kind::tensor) values_.expect(object, Kind::dict, "the object whose attributes are set");
        stack_.push_back(object);
    }

    void remember(std::uint32_t key) {
        const ValueIndex value = pop();
        stack_.push_back(value);
        values_.spend(40);  // size of a hash table node
        memo_[key] = value;
    }

    bool recall(std::uint32_t key) {
        const auto found = memo_.find(key);
        if (found == memo_.end()) refuse_pickle("its data.pkl is malformed: it reads a memo entry that was never stored");
        return push_known(found->second);
    }

    /// Executes the opcodes that push a value, by their codes in Python's pickletools. @returns false for other opcodes
    bool push_value(char opcode) {
        switch (opcode) {
            case 'N':
                return push(UnpickledValue(Kind::none));
            case '\x88':
                return push(UnpickledValue(Kind::boolean, 1));
            case '\x89':
                return push(UnpickledValue(Kind::boolean));
            case 'K':
                return push(UnpickledValue(Kind::integer, number<std::uint8_t>()));
            case 'M':
                return push(UnpickledValue(Kind::integer, number<std::uint16_t>()));
            case 'J':
                return push(UnpickledValue(Kind::integer, number<std::int32_t>()));
            case '\x8a':
                return push_long();
            case 'G':
                return push_real();
            case 'X':
                return push(UnpickledValue(Kind::text, text(number<std::uint32_t>())));
            case 'U':  // of Python 2
                return push(UnpickledValue(Kind::text, text(number<std::uint8_t>())));
            case 'c':
                return push_global();
            case ']':
                return push(UnpickledValue(Kind::list));
            case '}':
                return push(UnpickledValue(Kind::dict));
            case ')':
                return push_tuple(0);
            case '\x85':
                return push_tuple(1);
            case '\x86':
                return push_tuple(2);
            case '\x87':
                return push_tuple(3);
            case 't':
                return push(UnpickledValue(Kind::tuple, pop_to_mark()));
            case 'Q':
                return push_known(values_.make_storage(pop()));
            case 'R':
                return reduce();
            case 'h':
                return recall(number<std::uint8_t>());
            case 'j':
                return recall(number<std::uint32_t>());
            default:
                return false;
        }
    }

    void execute(char opcode) {
        if (push_value(opcode)) return;
        switch (opcode) {
            case '\x80':
                return check_protocol();
            case '(':
                return mark();
            case 'a':
                return append({pop()});
            case 'e':
                return append(pop_to_mark());
            case 's':
                return set_item();
            case 'u':
                return set_items(pop_to_mark());
            case 'q':
                return remember(number<std::uint8_t>());
            case 'r':
                return remember(number<std::uint32_t>());
            case 'b':
                return build();
            default:
                refuse_opcode(opcode);
        }
    }

    void check_protocol() {
        const int protocol = number<std::uint8_t>();
        if (protocol < 2 || protocol > 5)
            refuse_pickle(concat("its data.pkl has pickle protocol ", protocol, ", expected 2 to 5"));
    }

    void mark() {
        if (marks_.size() > 10'000) refuse_pickle("its data.pkl is nested too deeply");
        marks_.push_back(stack_.size());
    }

    void set_item() {
        const ValueIndex value = pop(), key = pop();
        set_items({key, value});
    }

    bool reduce() {
        const ValueIndex arguments = pop(), function = pop();
        return push_known(values_.call(function, arguments));
    }

    [[noreturn]] void refuse_opcode(char opcode) {
        refuse_pickle(
            concat("its data.pkl has the pickle opcode '", printable({&opcode, 1}), "' at byte ", at_ - 1,
                   ", which torch.save does not use\n  do: in Python, save it again with torch.save(..., pickle_protocol=2)"));
    }

    std::span<const std::byte> pickle_;
    std::size_t at_ = 0;
    UnpickledValues values_;
    std::vector<ValueIndex> stack_;
    std::vector<std::size_t> marks_;
    std::unordered_map<std::uint32_t, ValueIndex> memo_;
};

}  // namespace

Unpickled unpickle_first(std::span<const std::byte> pickles) { return Unpickler(pickles).run(); }

PtValue unpickle(std::span<const std::byte> pickle) { return unpickle_first(pickle).tree; }

}  // namespace bertpretrain

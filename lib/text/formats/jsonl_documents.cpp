#include <algorithm>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/concat.h"
#include "core/output/displayable.h"
#include "core/strings.h"
#include "text/formats/document_parsers.h"

namespace bertpretrain {
namespace {

using nlohmann::json;

/// Receives a record from the parser, and keeps two of its fields. Of equal keys, the last one counts.
class RecordHandler : public nlohmann::json_sax<json> {
public:
    explicit RecordHandler(const RecordFields& fields) : fields_(fields) {}

    /// Returns why the record is malformed, or an empty text.
    std::string read(std::string_view line) {
        depth_ = 0;
        wanted_ = nullptr;
        text_ = {};
        id_ = {};
        names_.clear();
        fault_.clear();
        json::sax_parse(line.begin(), line.end(), this);
        if (!fault_.empty()) return fault_;
        std::string problem = problem_of(text_, fields_.text, false);
        if (problem.empty() && !fields_.id.empty()) problem = problem_of(id_, fields_.id, true);
        return problem;
    }
    std::string& text() { return text_.value; }
    std::string& id() { return id_.value; }

    bool null() override { return take("null"); }
    bool boolean(bool) override { return take("a boolean"); }
    bool number_integer(number_integer_t number) override { return take("a number", std::to_string(number)); }
    bool number_unsigned(number_unsigned_t number) override { return take("a number", std::to_string(number)); }
    bool number_float(number_float_t, const string_t& number) override { return take("a number", number); }
    bool string(string_t& text) override { return take(nullptr, std::move(text)); }
    bool binary(binary_t&) override { return take("binary"); }
    bool start_object(std::size_t) override {
        if (depth_ == 1) take("an object");
        ++depth_;
        return true;
    }
    bool end_object() override {
        --depth_;
        return true;
    }
    bool start_array(std::size_t) override {
        if (depth_ == 0) return fail("is a JSON array, expected an object");
        if (depth_ == 1) take("an array");
        ++depth_;
        return true;
    }
    bool end_array() override {
        --depth_;
        return true;
    }
    bool key(string_t& name) override {
        if (depth_ != 1) return true;
        wanted_ = name == fields_.text ? &text_ : name == fields_.id ? &id_ : nullptr;
        names_.push_back(std::move(name));
        return true;
    }
    bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& error) override {
        std::string_view what = error.what();
        const std::size_t column = what.find("column ");
        what.remove_prefix(column == std::string_view::npos ? 0 : column);
        return fail(concat("is not JSON (", displayable(what.substr(0, 120)), ")"));
    }

private:
    struct Value {
        bool is_there = false;
        const char* other_kind = nullptr;  ///< not a string but this
        std::string value;
    };

    bool take(const char* other_kind, std::string value = {}) {
        if (depth_ == 0) return fail("is not a JSON object");
        if (depth_ == 1 && wanted_ != nullptr) *wanted_ = {true, other_kind, std::move(value)};
        return true;
    }

    bool fail(std::string fault) {
        if (fault_.empty()) fault_ = std::move(fault);
        return false;
    }

    std::string problem_of(const Value& value, const std::string& field, bool may_be_number) const {
        if (!value.is_there) {
            std::vector<std::string> names(names_.begin(), names_.begin() + std::min<std::ptrdiff_t>(10, std::ssize(names_)));
            return concat("has no field \"", field, "\", only: ", displayable(join(names)));
        }
        if (value.other_kind == nullptr || (may_be_number && !value.value.empty())) return {};
        return concat("its field \"", field, "\" is ", value.other_kind, ", expected a string");
    }

    const RecordFields& fields_;
    int depth_ = 0;
    Value* wanted_ = nullptr;  ///< the value of the key that was read last
    Value text_, id_;
    std::vector<std::string> names_;
    std::string fault_;
};

}  // namespace

void parse_jsonl(const TextChunk& chunk, const RecordFields& fields, char separator, DocumentBatch& batch) {
    if (chunk.is_too_large) {
        ++batch.records;
        batch.bad.push_back({chunk.first_line, concat("is larger than ", TextChunks::largest_unit >> 20, " MiB")});
    }
    RecordHandler record(fields);
    std::uint64_t number = chunk.first_line;
    for (std::string_view rest = chunk.text; !rest.empty();) {
        const std::size_t end = std::min(rest.find(separator), rest.size());
        const std::string_view whole = rest.substr(0, end);
        const std::size_t begin = std::min(whole.find_first_not_of(" \t\n\x1E"), end);
        rest.remove_prefix(std::min(end + 1, rest.size()));
        const std::string_view text = whole.substr(begin);
        if (!text.empty()) {
            ++batch.records;
            std::string problem = record.read(text);
            if (problem.empty()) batch.documents.push_back({number, std::move(record.id()), std::move(record.text())});
            else batch.bad.push_back({number, std::move(problem)});
        }
        number += separator == '\n' ? 1 : static_cast<std::uint64_t>(std::count(whole.begin(), whole.end(), '\n'));
    }
}

}  // namespace bertpretrain

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/concat.h"
#include "core/output/displayable.h"
#include "text/formats/document_parsers.h"

namespace bertpretrain {
namespace {

using nlohmann::json;

constexpr const char* null_kind = "null";

/// A field that is looked for in each record, and its value in the current one.
struct WantedField {
    explicit WantedField(std::string wanted) : name(std::move(wanted)) {}

    std::string name;  ///< with dots, it also names a field in an object
    bool is_there = false;
    std::size_t level = 0;             ///< 1: a field of the record itself
    const char* other_kind = nullptr;  ///< not a string but this
    std::string value;

    bool has_text() const { return is_there && other_kind == nullptr; }
    bool is_null() const { return is_there && other_kind == null_kind; }
};

/// Receives a record from the parser, and keeps some of its fields. Of equal keys, the last one counts; of fields with the same
/// name with dots, the one of the outermost object.
class RecordHandler : public nlohmann::json_sax<json> {
public:
    explicit RecordHandler(const RecordFields& fields) {
        wanted_.emplace_back(fields.id);
        wanted_.emplace_back(fields.text);
        const std::vector<std::string> names = text_fields(fields.text, [](const std::string&) { return false; });
        for (std::size_t i = 0; names.size() > 1 && i < names.size(); ++i) wanted_.emplace_back(names[i]);
    }

    /// Returns why the record is malformed; a problem without text: it is not.
    BadRecord read(std::string_view record) {
        depth_ = arrays_ = 0;
        path_.clear();
        ends_.clear();
        fault_.clear();
        for (WantedField& field : wanted_) field = WantedField(std::move(field.name));
        json::sax_parse(record.begin(), record.end(), this);
        if (!fault_.empty()) return {0, fault_};
        BadRecord problem = problem_of_text(record);
        if (problem.problem.empty() && !id_field().name.empty()) problem = problem_of(id_field(), record, true);
        return problem;
    }
    /// Counts the records that have each of several text fields.
    void count_fields(std::map<std::string, std::int64_t>& records) const {
        for (const WantedField& field : parts()) records[field.name] += field.is_there || wanted_[1].is_there ? 1 : 0;
    }
    std::string& id() { return id_field().value; }
    std::string text() {
        if (wanted_.size() == 2 || wanted_[1].is_there) return std::move(wanted_[1].value);
        std::string joined;
        bool is_first = true;
        for (const WantedField& field : parts()) {
            if (!field.has_text()) continue;
            if (!std::exchange(is_first, false)) joined += '\n';
            joined += field.value;
        }
        return joined;
    }

    bool null() override { return take(null_kind); }
    bool boolean(bool) override { return take("a boolean"); }
    bool number_integer(number_integer_t number) override { return take("a number", std::to_string(number)); }
    bool number_unsigned(number_unsigned_t number) override { return take("a number", std::to_string(number)); }
    bool number_float(number_float_t, const string_t& number) override { return take("a number", number); }
    bool string(string_t& text) override { return take(nullptr, std::move(text)); }
    bool binary(binary_t&) override { return take("binary"); }
    bool start_object(std::size_t) override {
        if (depth_++ > 0) take("an object");
        if (arrays_ == 0) ends_.push_back(path_.size());
        return true;
    }
    bool end_object() override {
        --depth_;
        if (arrays_ == 0) {
            path_.resize(ends_.back());
            ends_.pop_back();
        }
        return true;
    }
    bool start_array(std::size_t) override {
        if (depth_++ == 0) return fail("is a JSON array, expected an object");
        take("an array");
        ++arrays_;
        return true;
    }
    bool end_array() override {
        --depth_;
        --arrays_;
        return true;
    }
    bool key(string_t& name) override {
        if (arrays_ > 0) return true;
        path_.resize(ends_.back());
        if (ends_.size() > 1) path_ += '.';
        path_ += name;
        return true;
    }
    bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& error) override {
        std::string_view what = error.what();
        const std::size_t column = what.find("column ");
        what.remove_prefix(column == std::string_view::npos ? 0 : column);
        return fail(concat("is not JSON (", displayable(what.substr(0, 120)), ")"));
    }

private:
    WantedField& id_field() { return wanted_.front(); }
    std::span<const WantedField> parts() const { return std::span(wanted_).subspan(2); }

    bool take(const char* other_kind, std::string value = {}) {
        if (depth_ == 0) return fail("is not a JSON object");
        if (arrays_ > 0) return true;
        for (WantedField& field : wanted_) {
            if (field.name != path_ || (field.is_there && field.level < ends_.size())) continue;
            field.is_there = true;
            field.level = ends_.size();
            field.other_kind = other_kind;
            field.value = value;
        }
        return true;
    }

    bool fail(std::string fault) {
        if (fault_.empty()) fault_ = std::move(fault);
        return false;
    }

    BadRecord problem_of_text(std::string_view record) {
        if (wanted_.size() == 2 || wanted_[1].is_there) return problem_of(wanted_[1], record, false);
        const auto is_left_out = [](const WantedField& field) { return !field.is_there || field.is_null(); };
        for (const WantedField& field : parts())
            if (!is_left_out(field) && !field.has_text()) return problem_of(field, record, false);
        if (std::ranges::any_of(parts(), [](const WantedField& field) { return field.has_text(); })) return {};
        for (const WantedField& field : parts())
            if (field.is_null()) return problem_of(field, record, false);
        return problem_of(parts().front(), record, false);
    }

    BadRecord problem_of(const WantedField& field, std::string_view record, bool is_id) const {
        const std::string_view option = is_id ? "--id-field" : "--text-field";
        if (!field.is_there) return {0, missing_field(record, field.name, option), "no " + field.name};
        if (field.other_kind == nullptr || (is_id && !field.value.empty())) return {};
        return {0, other_field(record, field.name, option, field.other_kind), concat(field.other_kind, " ", field.name)};
    }

    std::vector<WantedField> wanted_;  ///< the id; the text; if its name has commas, also the fields between them
    int depth_ = 0, arrays_ = 0;       ///< open objects and arrays; open arrays
    std::string path_;                 ///< the names of the keys that lead to the current value, with dots between them
    std::vector<std::size_t> ends_;    ///< for each open object, the length of the path to it
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
            BadRecord bad = record.read(text);
            bad.line = number;
            record.count_fields(batch.records_with_field);
            if (bad.problem.empty()) batch.documents.push_back({number, std::move(record.id()), record.text()});
            else batch.bad.push_back(std::move(bad));
        }
        number += separator == '\n' ? 1 : static_cast<std::uint64_t>(std::count(whole.begin(), whole.end(), '\n'));
    }
}

}  // namespace bertpretrain

#include "text/formats/table_records.h"

#include <algorithm>

namespace bertpretrain {
namespace {

class RecordReader {
public:
    RecordReader(std::string_view text, std::size_t begin, char delimiter, std::vector<std::string>* fields)
        : text_(text), begin_(begin), at_(begin), delimiter_(delimiter), fields_(fields) {
        stops_[0] = delimiter;
        if (fields_ != nullptr) fields_->clear();
    }

    TableRecord run() {
        do read_field();
        while (!record_.fault && !record_.is_cut && !ended_);
        record_.end = at_;
        return record_;
    }

private:
    void read_field() {
        if (fields_ != nullptr) fields_->emplace_back();
        if (delimiter_ != '\t' && at_ < text_.size() && text_[at_] == '"') read_quoted();
        else read_plain();
    }

    void append(std::size_t begin, std::size_t end) {
        if (fields_ != nullptr) fields_->back().append(text_.substr(begin, end - begin));
    }

    void read_plain() {
        const std::size_t begin = at_;
        at_ = std::min(text_.find_first_of(std::string_view(stops_, 2), at_), text_.size());
        append(begin, at_ > begin && at_ < text_.size() && text_[at_] == '\n' && text_[at_ - 1] == '\r' ? at_ - 1 : at_);
        end_field();
    }

    void read_quoted() {
        for (++at_;;) {
            const std::size_t begin = at_;
            at_ = std::min(text_.find('"', at_), text_.size());
            append(begin, at_);
            if (at_ == text_.size()) {
                fail("has a quote that is never closed");
                record_.is_cut = true;
                return;
            }
            ++at_;
            if (at_ == text_.size() || text_[at_] != '"') break;
            append(at_, at_ + 1);
            ++at_;
        }
        if (text_.substr(at_, 2) == "\r\n") ++at_;
        if (at_ < text_.size() && text_[at_] != delimiter_ && text_[at_] != '\n')
            return fail("has text after a field's closing quote");
        end_field();
    }

    /// `at_` is at a delimiter, a line break or the end.
    void end_field() {
        if (at_ == text_.size()) {
            record_.is_cut = true;
            return;
        }
        ended_ = text_[at_] == '\n';
        ++at_;
    }

    /// Ends the record after its first line, so that a quote too many does not hide the records that follow.
    void fail(const char* fault) {
        record_.fault = fault;
        at_ = text_.find('\n', begin_);
        record_.is_cut = at_ == std::string_view::npos;
        at_ = record_.is_cut ? text_.size() : at_ + 1;
    }

    std::string_view text_;
    std::size_t begin_, at_;
    char delimiter_;
    char stops_[2] = {0, '\n'};
    std::vector<std::string>* fields_;
    TableRecord record_;
    bool ended_ = false;
};

}  // namespace

TableRecord read_table_record(std::string_view text, std::size_t begin, char delimiter, std::vector<std::string>* fields) {
    return RecordReader(text, begin, delimiter, fields).run();
}

}  // namespace bertpretrain

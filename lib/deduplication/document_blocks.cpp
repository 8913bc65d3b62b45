#include "deduplication/document_blocks.h"

#include <algorithm>

#include "core/error.h"
#include "text/input_files.h"
#include "text/open_content.h"

namespace bertpretrain {
namespace {

constexpr std::size_t block_bytes = std::size_t{1} << 20;

bool is_blank_line(std::string_view line) { return line.find_first_not_of(" \t\r\v\f") == std::string_view::npos; }

}  // namespace

DocumentBlocks::DocumentBlocks(const std::vector<std::filesystem::path>& inputs, TaskPool& pool)
    : files_(input_files(inputs)), pool_(pool), total_bytes_(bytes_of(files_)) {}

bool DocumentBlocks::open_next() {
    if (opened_ == files_.size()) return false;
    const std::filesystem::path& file = files_[opened_++];
    content_ = open_content(file, pool_);
    check_.emplace(file == "-" ? "standard input" : file);
    rest_line_ = 1;
    return true;
}

bool DocumentBlocks::read_more() {
    const std::size_t before = rest_.size();
    rest_.resize(before + block_bytes);
    rest_.resize(before + content_->read(rest_.data() + before, block_bytes));
    const std::string_view added = std::string_view(rest_).substr(before);
    if (added.empty()) return false;
    check_->add(added);
    return true;
}

void DocumentBlocks::take(std::size_t size, DocumentBlock& block) {
    block.text = rest_.substr(0, size);
    rest_.erase(0, size);
    rest_line_ += static_cast<std::uint64_t>(std::count(block.text.begin(), block.text.end(), '\n'));
}

bool DocumentBlocks::next(DocumentBlock& block) {
    for (;;) {
        if (!content_ && !open_next()) return false;
        block.file = files_[opened_ - 1].string();
        block.first_line = rest_line_;
        std::size_t line = 0, searched = 0;  // the first line that is not known to be complete, and where to look for its end
        do {
            for (std::size_t end = 0; (end = rest_.find('\n', searched)) != std::string::npos; line = searched = end + 1) {
                if (end + 1 < block_bytes || !is_blank_line(std::string_view(rest_).substr(line, end - line))) continue;
                take(end + 1, block);
                return true;
            }
            searched = rest_.size();
            if (rest_.size() > largest_document + block_bytes)
                throw DataError(concat(block.file, ": no empty line within ", largest_document >> 20, " MiB after line ",
                                       rest_line_,
                                       "\n  do: put an empty line after each document, and each sentence on its own line"));
        } while (read_more());
        check_->finish();
        bytes_before_ += content_->bytes_read();
        content_.reset();
        block.text = std::move(rest_);
        rest_.clear();
        if (!block.text.empty()) return true;
    }
}

}  // namespace bertpretrain

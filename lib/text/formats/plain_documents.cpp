#include <algorithm>
#include <utility>

#include "text/formats/document_parsers.h"
#include "text/white_space.h"

namespace bertpretrain {
namespace {

class PlainDocuments {
public:
    PlainDocuments(const TextChunk& chunk, TextLayout::Documents documents, DocumentBatch& batch)
        : rest_(chunk.text), line_(chunk.first_line), documents_(documents), batch_(batch) {}

    void run() {
        while (!rest_.empty()) {
            const std::size_t end = std::min(rest_.find('\n'), rest_.size() - 1) + 1;
            add_line(rest_.substr(0, end));
            rest_.remove_prefix(end);
            ++line_;
        }
        end_document();
    }

private:
    void add_line(std::string_view line) {
        using Documents = TextLayout::Documents;
        const bool is_blank = is_blank_line(line);
        if (is_blank && documents_ == Documents::empty_lines) return end_document();
        if (is_blank && text_.empty()) return;
        if (text_.empty()) begin_ = line_;
        text_.append(line);
        if (documents_ == Documents::lines) end_document();
    }

    void end_document() {
        if (text_.empty()) return;
        batch_.documents.push_back({begin_, {}, std::exchange(text_, {})});
    }

    std::string_view rest_;
    std::uint64_t line_, begin_ = 0;
    TextLayout::Documents documents_;
    DocumentBatch& batch_;
    std::string text_;
};

}  // namespace

void parse_plain_text(const TextChunk& chunk, TextLayout::Documents documents, DocumentBatch& batch) {
    PlainDocuments(chunk, documents, batch).run();
}

}  // namespace bertpretrain

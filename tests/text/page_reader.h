#pragma once
// Reads all pages of a file, one after the other.

#include <deque>
#include <exception>

#include "core/error.h"
#include "text/wiki/page_chunks.h"
#include "text/wiki/page_parser.h"

namespace bertpretrain::testing {

class PageReader {
public:
    explicit PageReader(const std::filesystem::path& file, std::size_t threads = 1) : pool_(threads), chunks_(file, pool_) {}

    bool next(Page& page) {
        while (pages_.empty()) {
            if (failure_) std::rethrow_exception(failure_);
            if (!chunks_.next(chunk_)) return false;
            try {
                parse_pages(chunk_, [&](Page& found) { pages_.push_back(std::move(found)); });
            } catch (const DataError&) { failure_ = std::current_exception(); }
        }
        page = std::move(pages_.front());
        pages_.pop_front();
        return true;
    }

    const Namespaces& namespaces() const { return chunk_.file->namespaces; }

private:
    TaskPool pool_;
    PageChunks chunks_;
    PageChunk chunk_;
    std::deque<Page> pages_;
    std::exception_ptr failure_;
};

}  // namespace bertpretrain::testing

#pragma once
// What extract() counts.

#include <cstdint>

namespace bertpretrain {

/// Numbers of pages by outcome: pages = articles + redirects + other_pages + short_articles. A document of another format than a
/// dump is a page, and an article if it is kept.
struct ExtractCounts {
    std::int64_t pages = 0, articles = 0, redirects = 0;
    std::int64_t other_pages = 0;     ///< in other namespaces, or not wikitext
    std::int64_t short_articles = 0;  ///< fewer than minimum_sentences
    std::int64_t sentences = 0;
    std::int64_t bad_records = 0;  ///< malformed records, which are not among the pages
    std::uint64_t bytes_read = 0, bytes_written = 0;
    double seconds = 0;

    /// Adds the numbers of pages and sentences, but not bytes and seconds.
    void add_pages(const ExtractCounts& other) {
        pages += other.pages;
        articles += other.articles;
        redirects += other.redirects;
        other_pages += other.other_pages;
        short_articles += other.short_articles;
        sentences += other.sentences;
    }
};

/// Calls visit(KEY, NUMBER) for each number but the seconds, by its key in summaries and records.
template <class Counts, class Visit>
void for_each_count(Counts& counts, const Visit& visit) {
    visit("documents", counts.pages);
    visit("documents_kept", counts.articles);
    visit("redirects", counts.redirects);
    visit("other_namespaces", counts.other_pages);
    visit("too_short", counts.short_articles);
    visit("malformed_records", counts.bad_records);
    visit("sentences", counts.sentences);
    visit("bytes_read", counts.bytes_read);
    visit("bytes_written", counts.bytes_written);
}

}  // namespace bertpretrain

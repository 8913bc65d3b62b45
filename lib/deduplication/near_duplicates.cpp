#include "deduplication/near_duplicates.h"

#include <algorithm>

#include "core/output/phase_progress.h"
#include "core/threads/threads.h"

namespace bertpretrain {
namespace {

/// The documents of one band so far that the next one is compared with.
class Band {
public:
    void start() {
        documents_.clear();
        added_ = 0;
    }
    void add(std::uint32_t document) {
        if (documents_.size() < most_compared) documents_.push_back(document);
        else documents_[half + added_ % half] = document;
        ++added_;
    }
    const std::vector<std::uint32_t>& documents() const { return documents_; }

private:
    static constexpr std::size_t half = most_compared / 2;
    std::vector<std::uint32_t> documents_;
    std::size_t added_ = 0;
};

bool sizes_allow(std::size_t a, std::size_t b, double threshold) {
    const auto [less, more] = std::minmax(a, b);
    return static_cast<double>(less) >= threshold * static_cast<double>(more);
}

/// Compares the documents of one bucket of bands.
class Comparison {
public:
    Comparison(const DocumentStore& documents, const NearSettings& settings, Clusters& clusters)
        : cache_(documents, settings.shingle_words, settings.memory / settings.threads),
          threshold_(settings.threshold),
          clusters_(clusters) {}

    void see(const BandRecord& record) {
        if (!is_open_ || record.key() != key_) band_.start();
        is_open_ = true;
        key_ = record.key();
        for (const std::uint32_t earlier : band_.documents())
            if (!clusters_.are_united(earlier, record.document) && similar(earlier, record.document))
                clusters_.unite(earlier, record.document);
        band_.add(record.document);
    }

private:
    bool similar(std::uint32_t a, std::uint32_t b) {
        const ShingleCache::Set set_a = cache_.of(a), set_b = cache_.of(b);
        return sizes_allow(set_a->size(), set_b->size(), threshold_) && jaccard(*set_a, *set_b) >= threshold_;
    }

    ShingleCache cache_;
    double threshold_;
    Clusters& clusters_;
    Band band_;
    std::uint64_t key_ = 0;
    bool is_open_ = false;
};

}  // namespace

ShingleCache::Set ShingleCache::of(std::uint32_t document) {
    if (const auto found = sets_.find(document); found != sets_.end()) return found->second;
    std::vector<std::uint64_t> words;
    hashes_.append(documents_.read(document).text, words);
    auto set = std::make_shared<const std::vector<std::uint32_t>>(shingle_set(words, shingle_words_));
    constexpr std::size_t besides = 128;  // what the containers take per set
    used_ += set->size() * sizeof(std::uint32_t) + besides;
    oldest_first_.push_back(document);
    sets_[document] = set;
    while (used_ > memory_ && oldest_first_.size() > 1) {
        const auto oldest = sets_.find(oldest_first_.front());
        used_ -= oldest->second->size() * sizeof(std::uint32_t) + besides;
        sets_.erase(oldest);
        oldest_first_.pop_front();
    }
    return set;
}

void unite_near_duplicates(const RecordSorter<BandRecord>& bands, const DocumentStore& documents,
                           std::span<const unsigned char> is_copy, const NearSettings& settings, Clusters& clusters) {
    constexpr std::size_t at_once = 1024;  // records per report
    PhaseProgress progress("comparing near-duplicates", static_cast<double>(bands.size()));
    for_each_index(bands.buckets, settings.threads, [&](std::size_t bucket) {
        Comparison comparison(documents, settings, clusters);
        std::size_t seen = 0;
        bands.visit(bucket, [&](const BandRecord& record) {
            if (is_copy[record.document] == 0) comparison.see(record);
            if (++seen % at_once == 0) progress.advance(at_once);
        });
    });
}

}  // namespace bertpretrain

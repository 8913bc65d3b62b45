#include "deduplication/repeated_sentences.h"

#include <algorithm>
#include <mutex>
#include <tuple>

#include "core/output/phase_progress.h"

namespace bertpretrain {
namespace {

void keep_most_frequent(std::vector<RepeatedSentence>& sentences, std::size_t count) {
    std::sort(sentences.begin(), sentences.end(), [](const RepeatedSentence& a, const RepeatedSentence& b) {
        return std::tie(b.times, a.first) < std::tie(a.times, b.first);
    });
    sentences.resize(std::min(sentences.size(), count));
}

/// Counts the sentences of one bucket, and passes on in batches the places to remove.
class SentenceCounter {
public:
    using Remove = std::function<void(const std::vector<SentencePlace>&)>;
    SentenceCounter(std::uint64_t most, std::size_t examples, Remove remove)
        : most_(most), examples_(examples), remove_(std::move(remove)) {}

    void see(const SentenceRecord& record) {
        if (times_ == 0 || record.hash != hash_) start(record);
        ++times_;
        if (times_ > 1) places_.push_back({record.document, record.line});
        if (times_ > most_ && places_.size() >= batch) flush();
    }
    void start(const SentenceRecord& record) {
        end();
        hash_ = record.hash;
        first_ = {record.document, record.line};
    }
    void end() {
        if (times_ > most_) {
            flush();
            found_.examples.push_back({times_, first_});
            ++found_.distinct;
            if (found_.examples.size() > examples_ + batch) keep_most_frequent(found_.examples, examples_);
        }
        places_.clear();
        times_ = 0;
    }
    const RepeatedSentences& found() const { return found_; }

private:
    static constexpr std::size_t batch = 4096;
    void flush() {
        remove_(places_);
        places_.clear();
    }

    std::uint64_t most_;
    std::size_t examples_;
    Remove remove_;
    std::uint64_t hash_ = 0, times_ = 0;
    SentencePlace first_;
    std::vector<SentencePlace> places_;
    RepeatedSentences found_;
};

}  // namespace

RepeatedSentences find_repeated_sentences(const RecordSorter<SentenceRecord>& sentences, std::uint64_t most, std::size_t examples,
                                          std::size_t threads, const std::function<bool(std::uint32_t document)>& is_kept,
                                          RecordSorter<SentencePlace>& removed) {
    RepeatedSentences found;
    std::mutex guard;
    PhaseProgress progress("counting sentences", static_cast<double>(sentences.buckets));
    for_each_index(sentences.buckets, threads, [&](std::size_t bucket) {
        SentenceCounter counter(most, examples, [&](const std::vector<SentencePlace>& places) {
            const std::lock_guard lock(guard);
            for (const SentencePlace& place : places) removed.add(place);
        });
        sentences.visit(bucket, [&](const SentenceRecord& record) {
            if (is_kept(record.document)) counter.see(record);
        });
        counter.end();
        progress.advance();
        const std::lock_guard lock(guard);
        found.distinct += counter.found().distinct;
        found.examples.insert(found.examples.end(), counter.found().examples.begin(), counter.found().examples.end());
        keep_most_frequent(found.examples, examples);
    });
    removed.finish();
    return found;
}

}  // namespace bertpretrain

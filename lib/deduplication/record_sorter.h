#pragma once
// Sorts more records than fit into memory.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <vector>

#include "core/files/temporary_file.h"
#include "core/threads/threads.h"

namespace bertpretrain {

/// Sorts records by operator<, into 64 buckets that several threads can visit at once. Record is trivially copyable and has
/// `std::uint64_t key() const`, of which bucket b holds those whose first 6 bits are b; operator< must order by key() first.
/// Records that exceed the memory are written as sorted runs to a temporary file, and merged when they are visited. What visit()
/// shows does not depend on the memory or the number of threads.
template <class Record>
class RecordSorter {
public:
    static constexpr std::size_t buckets = 64;

    /// @param folder for the temporary file, made only if it is needed  @param memory in bytes  @param key_bits keys are below
    /// 2^key_bits
    RecordSorter(std::filesystem::path folder, std::size_t memory, std::size_t threads, int key_bits = 64)
        : folder_(std::move(folder)),
          most_(std::max<std::size_t>(memory / sizeof(Record) / buckets, 64)),
          threads_(std::max<std::size_t>(threads, 1)),
          shift_(std::max(key_bits - 6, 0)),
          open_(buckets) {}

    /// Not thread-safe. @throws DataError when the disk is full
    void add(const Record& record) {
        std::vector<Record>& bucket = open_[record.key() >> shift_];
        if (bucket.size() == most_) spill();
        if (bucket.capacity() == 0) bucket.reserve(most_);
        bucket.push_back(record);
        ++size_;
    }
    /// The number of records.
    std::size_t size() const { return size_; }
    /// Call it after the last record, before visit(). @throws DataError when the disk is full
    void finish() {
        if (!file_) return sort_open();
        spill();
        std::vector<std::vector<Record>>(buckets).swap(open_);
    }
    /// Calls see(record) for each record of a bucket in order. Thread-safe for one call per thread. @throws DataError when
    /// reading fails
    template <class See>
    void visit(std::size_t bucket, See&& see) const {
        if (file_) merge(bucket, see);
        else
            for (const Record& record : open_[bucket]) see(record);
    }
    bool spilled() const { return file_ != nullptr; }

private:
    /// Where a sorted run of one bucket lies in the file.
    struct Run {
        std::uint64_t offset = 0, records = 0;
    };
    struct Cursor {
        Run rest;
        std::vector<Record> block;
        std::size_t next = 0;
        const Record& front() const { return block[next]; }
    };

    void sort_open() {
        for_each_index(buckets, threads_, [&](std::size_t b) { std::sort(open_[b].begin(), open_[b].end()); });
    }
    void spill() {
        sort_open();
        if (!file_) file_ = std::make_unique<TemporaryFile>(folder_);
        runs_.resize(buckets);
        for (std::size_t b = 0; b < buckets; ++b) {
            if (open_[b].empty()) continue;
            runs_[b].push_back({file_->append(open_[b].data(), open_[b].size() * sizeof(Record)), open_[b].size()});
            open_[b].clear();
        }
        file_->flush();
    }
    /// Reads the next block of a run; returns false at its end.
    bool refill(Cursor& cursor, std::size_t block) const {
        const std::size_t records = std::min<std::uint64_t>(block, cursor.rest.records);
        cursor.block.resize(records);
        cursor.next = 0;
        if (records == 0) return false;
        file_->read_at(cursor.rest.offset, cursor.block.data(), records * sizeof(Record));
        cursor.rest.offset += records * sizeof(Record);
        cursor.rest.records -= records;
        return true;
    }
    template <class See>
    void merge(std::size_t bucket, See& see) const {
        const std::vector<Run>& runs = runs_[bucket];
        const std::size_t share = most_ * buckets / threads_ / std::max<std::size_t>(runs.size(), 1);
        const std::size_t block = std::clamp<std::size_t>(share, 64, std::size_t{1} << 15);
        std::vector<Cursor> cursors;
        for (const Run& run : runs) {
            cursors.push_back({run, {}, 0});
            if (!refill(cursors.back(), block)) cursors.pop_back();
        }
        const auto later = [](const Cursor& a, const Cursor& b) { return b.front() < a.front(); };
        std::make_heap(cursors.begin(), cursors.end(), later);
        while (!cursors.empty()) {
            std::pop_heap(cursors.begin(), cursors.end(), later);
            Cursor& least = cursors.back();
            see(least.front());
            if (++least.next == least.block.size() && !refill(least, block)) cursors.pop_back();
            else std::push_heap(cursors.begin(), cursors.end(), later);
        }
    }

    std::filesystem::path folder_;
    std::size_t most_;  ///< records per bucket in memory
    std::size_t threads_, size_ = 0;
    int shift_;
    std::vector<std::vector<Record>> open_;
    std::unique_ptr<TemporaryFile> file_;
    std::vector<std::vector<Run>> runs_;  ///< by bucket
};

}  // namespace bertpretrain

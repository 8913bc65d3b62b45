#include "archive/zip_reader.h"

#include <algorithm>
#include <limits>

#include "archive/checksum.h"
#include "archive/little_endian.h"
#include "archive/printable.h"
#include "archive/zip_format.h"
#include "core/error.h"

namespace bertpretrain {
namespace {

using Bytes = std::span<const std::byte>;

constexpr std::uint64_t largest_directory = std::uint64_t{8}
                                            << 20;  ///< about 80,000 tensors; in memory they take three times as much

/// Parses one directory. Checks every offset before following it.
class DirectoryParser {
public:
    DirectoryParser(const std::filesystem::path& file, Bytes bytes) : file_(file), bytes_(bytes) {}

    std::vector<ZipEntry> run() {
        find_directory();
        std::vector<ZipEntry> entries;
        std::uint64_t at = directory_offset_;
        for (std::uint64_t i = 0; i < directory_entries_; ++i) entries.push_back(read_central(at));
        if (at != directory_offset_ + directory_bytes_) refuse("the directory's length does not match its entries");
        check_overlaps();
        return entries;
    }

private:
    struct Numbers {
        std::uint64_t bytes, packed_bytes, offset;
    };

    [[noreturn]] void refuse(const std::string& what) const {
        throw CheckpointError(concat(file_.string(), ": damaged or cut short: ", printable(what, 300)));
    }

    void find_directory() {
        const std::uint64_t size = bytes_.size();
        if (size < zip::end_bytes) refuse("too short for a zip archive");
        const std::uint64_t earliest = size - std::min<std::uint64_t>(size, zip::end_bytes + 0xFFFF);
        std::uint64_t end = size - zip::end_bytes;
        const auto is_end = [&] {  // the comment after it must end exactly at the end of the file
            return number_at<std::uint32_t>(bytes_, end) == zip::end_signature &&
                   end + zip::end_bytes + number_at<std::uint16_t>(bytes_, end + 20) == size;
        };
        while (!is_end()) {
            if (end == earliest) refuse("no zip directory at its end");
            --end;
        }
        directory_entries_ = number_at<std::uint16_t>(bytes_, end + 10);
        directory_bytes_ = number_at<std::uint32_t>(bytes_, end + 12);
        directory_offset_ = number_at<std::uint32_t>(bytes_, end + 16);
        if (end >= zip::end64_locator_bytes &&
            number_at<std::uint32_t>(bytes_, end - zip::end64_locator_bytes) == zip::end64_locator_signature)
            read_end64(number_at<std::uint64_t>(bytes_, end - zip::end64_locator_bytes + 8));
        if (!lies_within(directory_offset_, directory_bytes_, end)) refuse("the directory reaches beyond the file");
        if (directory_bytes_ > largest_directory) refuse("its directory is larger than 8 MiB, the limit for checkpoints");
        if (directory_entries_ > directory_bytes_ / zip::central_bytes) refuse("more entries than the directory has room for");
    }

    void read_end64(std::uint64_t at) {
        if (!lies_within(at, zip::end64_bytes, bytes_.size()) || number_at<std::uint32_t>(bytes_, at) != zip::end64_signature)
            refuse("its 64-bit end-of-directory record is not at the offset in its locator");
        directory_entries_ = number_at<std::uint64_t>(bytes_, at + 32);
        directory_bytes_ = number_at<std::uint64_t>(bytes_, at + 40);
        directory_offset_ = number_at<std::uint64_t>(bytes_, at + 48);
    }

    std::string text_at(std::uint64_t at, std::uint64_t count) const {
        const Bytes part = bytes_.subspan(at, count);
        return {reinterpret_cast<const char*>(part.data()), part.size()};
    }

    /// Replaces those numbers that a header marks as stored in its zip64 extra field, where they have the given order.
    void resolve_zip64(Bytes extra, const std::string& name, std::initializer_list<std::uint64_t*> numbers) const {
        while (extra.size() >= 4) {
            const std::size_t bytes = number_at<std::uint16_t>(extra, 2);
            if (bytes > extra.size() - 4) refuse(name + ": an extra field reaches beyond its header");
            Bytes content = extra.subspan(4, bytes);
            if (number_at<std::uint16_t>(extra, 0) == zip::zip64_extra)
                for (std::uint64_t* number : numbers) {
                    if (*number != zip::in_zip64) continue;
                    if (content.size() < 8) refuse(name + ": a 64-bit number is missing from its header");
                    *number = number_at<std::uint64_t>(content, 0);
                    content = content.subspan(8);
                }
            extra = extra.subspan(4 + bytes);
        }
    }

    ZipEntry read_central(std::uint64_t& at) {
        const std::uint64_t directory_end = directory_offset_ + directory_bytes_;
        if (!lies_within(at, zip::central_bytes, directory_end) || number_at<std::uint32_t>(bytes_, at) != zip::central_signature)
            refuse("an entry of the directory is missing");
        const std::uint16_t flags = number_at<std::uint16_t>(bytes_, at + 8), method = number_at<std::uint16_t>(bytes_, at + 10);
        const std::uint64_t name_bytes = number_at<std::uint16_t>(bytes_, at + 28);
        const std::uint64_t extra_bytes = number_at<std::uint16_t>(bytes_, at + 30);
        const std::uint64_t comment_bytes = number_at<std::uint16_t>(bytes_, at + 32);
        const std::uint64_t total = zip::central_bytes + name_bytes + extra_bytes + comment_bytes;
        if (!lies_within(at, total, directory_end)) refuse("an entry of the directory reaches beyond it");
        ZipEntry entry;
        entry.name = text_at(at + zip::central_bytes, name_bytes);
        entry.crc32 = number_at<std::uint32_t>(bytes_, at + 16);
        Numbers numbers{number_at<std::uint32_t>(bytes_, at + 24), number_at<std::uint32_t>(bytes_, at + 20),
                        number_at<std::uint32_t>(bytes_, at + 42)};
        resolve_zip64(bytes_.subspan(at + zip::central_bytes + name_bytes, extra_bytes), entry.name,
                      {&numbers.bytes, &numbers.packed_bytes, &numbers.offset});
        if ((flags & zip::encrypted_flag) != 0) refuse(entry.name + " is encrypted");
        entry.stored = method == 0;
        if (entry.stored && numbers.bytes != numbers.packed_bytes)
            refuse(entry.name + ": is stored, but its compressed and uncompressed sizes differ");
        entry.bytes = locate(entry, numbers);
        at += total;
        return entry;
    }

    /// Returns the entry's bytes, after checking that its local header agrees with the directory.
    Bytes locate(const ZipEntry& entry, const Numbers& numbers) {
        const std::uint64_t at = numbers.offset;
        if (!lies_within(at, zip::local_bytes, directory_offset_) || number_at<std::uint32_t>(bytes_, at) != zip::local_signature)
            refuse(entry.name + ": no local header at the offset in the directory");
        const std::uint64_t name_bytes = number_at<std::uint16_t>(bytes_, at + 26);
        const std::uint64_t extra_bytes = number_at<std::uint16_t>(bytes_, at + 28);
        const std::uint64_t header_bytes = zip::local_bytes + name_bytes + extra_bytes;
        if (!lies_within(at, header_bytes, directory_offset_)) refuse(entry.name + ": its header reaches beyond the file");
        const std::uint64_t start = at + header_bytes;
        if (!lies_within(start, numbers.packed_bytes, directory_offset_))
            refuse(entry.name + ": its bytes reach beyond the file");
        std::uint64_t bytes = number_at<std::uint32_t>(bytes_, at + 22), packed = number_at<std::uint32_t>(bytes_, at + 18);
        resolve_zip64(bytes_.subspan(at + zip::local_bytes + name_bytes, extra_bytes), entry.name, {&bytes, &packed});
        const std::uint16_t flags = number_at<std::uint16_t>(bytes_, at + 6);
        const std::uint32_t crc = number_at<std::uint32_t>(bytes_, at + 14);
        const bool sizes_follow =
            (flags & zip::sizes_follow_flag) != 0;  // PyTorch writes zeros here and the numbers after the data
        const auto agrees = [&](std::uint64_t here, std::uint64_t there) { return here == there || (sizes_follow && here == 0); };
        if (text_at(at + zip::local_bytes, name_bytes) != entry.name ||
            (number_at<std::uint16_t>(bytes_, at + 8) == 0) != entry.stored || !agrees(crc, entry.crc32) ||
            !agrees(bytes, numbers.bytes) || !agrees(packed, numbers.packed_bytes))
            refuse(entry.name + ": its local header and the directory differ");
        extents_.emplace_back(at, start + numbers.packed_bytes);
        return bytes_.subspan(start, numbers.packed_bytes);
    }

    void check_overlaps() {
        std::sort(extents_.begin(), extents_.end());
        for (std::size_t i = 1; i < extents_.size(); ++i)
            if (extents_[i].first < extents_[i - 1].second) refuse("two entries share bytes");
    }

    const std::filesystem::path& file_;
    Bytes bytes_;
    std::uint64_t directory_offset_ = 0, directory_bytes_ = 0, directory_entries_ = 0;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> extents_;
};

}  // namespace

ZipReader::ZipReader(const std::filesystem::path& file) : mapped_(file), entries_(DirectoryParser(file, mapped_.bytes()).run()) {
    for (std::size_t i = 0; i < entries_.size(); ++i)
        if (!by_name_.emplace(entries_[i].name, i).second)
            throw CheckpointError(concat(file.string(), ": damaged: two entries are named ", printable(entries_[i].name)));
}

std::optional<std::size_t> ZipReader::find(const std::string& name) const {
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? std::nullopt : std::optional(found->second);
}

bool ZipReader::is_intact(std::size_t entry) const { return crc32_of(entries_[entry].bytes) == entries_[entry].crc32; }

}  // namespace bertpretrain

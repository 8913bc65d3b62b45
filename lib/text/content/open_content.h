#pragma once
// Opens a file by the compression that its first bytes show.

#include <filesystem>
#include <memory>
#include <string_view>

#include "core/files/file_digest.h"
#include "core/threads/task_pool.h"
#include "text/content/byte_source.h"
#include "text/content/content.h"

namespace bertpretrain {

/// Opens a file or standard input. Recognises bzip2, gzip and zstd by content, never by name, and reads concatenated streams as
/// one. Zeros after a gzip or bzip2 stream are skipped. Content in another compression is returned as it is: format_of() and
/// refuse_other_format() refuse it by name.
/// @param pool decompresses ahead; must outlive the content  @param digest of the file as it is stored; may be null
/// @throws DataError when the file is missing
std::unique_ptr<Content> open_content(const std::filesystem::path& path, TaskPool& pool,
                                      std::shared_ptr<RunningDigest> digest = nullptr);

/// The content of a file that is not compressed.
std::unique_ptr<Content> plain_content(std::unique_ptr<ByteSource> source);

/// Whether a file that begins with these bytes is compressed with gzip, bzip2 or zstd.
bool is_compressed(std::string_view start);

}  // namespace bertpretrain

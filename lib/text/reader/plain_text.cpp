#include "text/reader/plain_text.h"

#include "core/error.h"
#include "text/content/open_content.h"
#include "text/formats/document_format.h"
#include "text/formats/foreign_file.h"

namespace bertpretrain {

void refuse_other_format(const std::filesystem::path& file, std::string_view head, std::string_view do_this) {
    const std::string name = file.string();
    using Kind = DocumentFormat::Kind;
    if (is_compressed(head)) throw DataError(refusal_of(name, *known_file(head), "plain text"));
    const Kind kind = format_of(head, name, {}).kind;
    if (kind == Kind::text || kind == Kind::table) return;
    throw DataError(concat(name, ": is ", name_of(kind), ", expected plain text\n  do: ", do_this));
}

}  // namespace bertpretrain

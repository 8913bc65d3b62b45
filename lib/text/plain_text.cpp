#include "text/plain_text.h"

#include "core/error.h"
#include "text/document_format.h"
#include "text/open_content.h"

namespace bertpretrain {

void refuse_other_format(const std::filesystem::path& file, std::string_view head, std::string_view do_this) {
    const std::string name = file.string();
    using Kind = DocumentFormat::Kind;
    const Kind kind = is_compressed(head) ? Kind::text : format_of(head, name, {}).kind;
    if ((kind == Kind::text || kind == Kind::table) && !is_compressed(head)) return;
    throw DataError(concat(name, ": is ", is_compressed(head) ? "a packed file" : name_of(kind),
                           ", expected plain text\n  do: ", is_compressed(head) ? "unpack it first" : do_this));
}

}  // namespace bertpretrain

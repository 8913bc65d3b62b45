#include "text/formats/parquet_file.h"

#include <utility>

#include <dlfcn.h>

#include "core/error.h"
#include "core/output/displayable.h"

namespace bertpretrain {

void* parquet_function(const char* symbol, const std::string& without, const std::string& instead) {
    void* const module = ::dlopen(parquet_module_file, RTLD_NOW | RTLD_LOCAL);  // found by the program's own search path
    void* const function = module == nullptr ? nullptr : ::dlsym(module, symbol);
    if (function == nullptr)
        throw DataError(concat(without, " with Arrow only: ", ::dlerror(),
                               "\n  do: beside an installed wheel, run `pip install 'bertpretrain[parquet]'`; in a checkout, "
                               "scripts/setup.sh and scripts/build.sh, with Python 3.11 or newer; in an unpacked archive, name "
                               "the folder of Python's pyarrow in LD_LIBRARY_PATH; or ",
                               instead));
    return function;
}

std::unique_ptr<ParquetFile> open_parquet(const std::filesystem::path& file, const std::string& name,
                                          std::shared_ptr<ParquetBytes> bytes) {
    void* const symbol = parquet_function(
        parquet_module_symbol, concat(name, ": is a Parquet file, which this program reads"),
        "convert the file to JSONL, for example with `pandas.read_parquet(FILE).to_json(\"corpus.jsonl\", orient=\"records\", "
        "lines=True, force_ascii=False)`");
    try {
        return std::unique_ptr<ParquetFile>(reinterpret_cast<OpenParquet*>(symbol)(file.string(), std::move(bytes)));
    } catch (const Error&) { throw; } catch (const std::exception& error) {
        refuse_parquet(name, error);
    }
}

void refuse_parquet(const std::string& name, const std::exception& error) {
    const std::string_view reason = error.what();
    throw DataError(concat(name, ": cannot be read as Parquet: ", displayable(reason.substr(0, reason.find('\n'))),
                           "\n  do: download it again, or write it again"));
}

}  // namespace bertpretrain

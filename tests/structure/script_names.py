"""Finds names in Python scripts that nothing defines:  script_names.py [FOLDER]

Reads every .py file without running it, so that it needs none of the packages that the scripts import. Prints FILE: NAME for each name
that a script uses and nothing defines, and for each name that it imports from another script of FOLDER which lacks it. Exits with 1 if
there are any. Without FOLDER it reads the project that it lies in."""
import ast
import builtins
import pathlib
import symtable
import sys

SKIPPED_FOLDERS = {".git", ".venv", "build", "quickstart", "runs", "__pycache__"}
KNOWN = set(dir(builtins)) | {"__file__", "__name__", "__doc__", "__package__", "__spec__"}


def tables_of(table):
    yield table
    for child in table.get_children():
        yield from tables_of(child)


def defined_in(table):
    """Returns the names that a module's own table, or a `global` statement of one of its functions, defines."""
    names = {symbol.get_name() for symbol in table.get_symbols() if symbol.is_assigned() or symbol.is_imported() or symbol.is_namespace()}
    for inner in tables_of(table):
        names |= {symbol.get_name() for symbol in inner.get_symbols() if symbol.is_declared_global() and symbol.is_assigned()}
    return names


def undefined_in(table):
    known = defined_in(table) | KNOWN
    for inner in tables_of(table):
        for symbol in inner.get_symbols():
            if symbol.is_referenced() and symbol.is_global() and symbol.get_name() not in known:
                yield symbol.get_name()


def script_named(module, level, importer):
    """Returns the file of a module that lies beside its importer or in a folder above it, or None."""
    parents = list(importer.parents)
    for folder in parents[level - 1:level] if level else parents[:3]:
        path = folder.joinpath(*module.split(".")) if module else folder
        for file in (path.with_suffix(".py") if module else None, path / "__init__.py"):
            if file and file.exists() and file != importer:
                return file
    return None


def missing_imports(tree, importer, names_of):
    modules = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            file = script_named(node.module, node.level, importer)
            for name in node.names if file else ():
                if name.name in names_of(file):
                    continue
                if submodule := script_named(f"{node.module}.{name.name}" if node.module else name.name, node.level, importer):
                    modules[name.asname or name.name] = submodule
                else:
                    yield f"{name.name}, which {file.name} lacks"
        elif isinstance(node, ast.Import):
            for name in node.names:
                if file := script_named(name.name, 0, importer):
                    modules[name.asname or name.name] = file
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules:
            file = modules[node.value.id]
            if node.attr not in names_of(file) | KNOWN:
                yield f"{node.value.id}.{node.attr}, which {file.name} lacks"


def main():
    project = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else __file__).resolve()
    folder = project if len(sys.argv) > 1 else project.parents[2]
    tables = {}

    def table_of(file):
        if file not in tables:
            tables[file] = symtable.symtable(file.read_text(), str(file), "exec")
        return tables[file]

    found = False
    for file in sorted(folder.rglob("*.py")):
        if SKIPPED_FOLDERS & set(file.relative_to(folder).parts):
            continue
        problems = set(undefined_in(table_of(file)))
        problems |= set(missing_imports(ast.parse(file.read_text()), file, lambda other: defined_in(table_of(other))))
        for problem in sorted(problems):
            found = True
            print(f"{file.relative_to(folder)}: {problem}")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()

"""Reads and changes what an ELF file needs: libraries, and versions of their symbols. For little-endian files of 64 bits."""
import struct

SYMBOLS, VERSIONS, NEEDED_VERSIONS, DYNAMIC = 11, 0x6FFFFFFF, 0x6FFFFFFE, 6  # types of sections
TAG_END, TAG_NEEDED, TAG_NEEDED_VERSIONS, TAG_NEEDED_VERSIONS_COUNT = 0, 1, 0x6FFFFFFE, 0x6FFFFFFF
WEAK, UNVERSIONED = 2, 1


def is_elf(path):
    with path.open("rb") as file:
        return file.read(5) == b"\x7fELF\x02"


def elf_hash(name):
    """Returns the hash by which the loader compares names of versions (System V ABI)."""
    value = 0
    for byte in name.encode():
        value = (value << 4) + byte
        high = value & 0xF0000000
        value = (value ^ (high >> 24)) & ~high
    return value


class ElfFile:
    """An ELF file in memory; write() saves it. Changes keep the size and place of every section."""

    def __init__(self, path):
        self.path = path
        self.data = bytearray(path.read_bytes())
        offset, = self.unpack("<Q", 0x28)
        size, count = self.unpack("<HH", 0x3A)
        sections = [self.unpack("<IIQQQQIIQQ", offset + i * size) for i in range(count)]
        self.offsets = [section[4] for section in sections]
        self.sections = {section[1]: {"offset": section[4], "size": section[5], "link": section[6]} for section in sections}

    def write(self):
        self.path.write_bytes(self.data)

    def unpack(self, form, at):
        return struct.unpack_from(form, self.data, at)

    def strings_of(self, kind):
        return self.offsets[self.sections[kind]["link"]]

    def text(self, at):
        return self.data[at:self.data.index(0, at)].decode()

    def version_groups(self):
        """Yields (offset, library, offset of the group before or None) for each library whose versions are needed."""
        if NEEDED_VERSIONS not in self.sections:
            return
        at, before = self.sections[NEEDED_VERSIONS]["offset"], None
        while True:
            _, _, library, _, following = self.unpack("<HHIII", at)
            yield at, self.text(self.strings_of(NEEDED_VERSIONS) + library), before
            if following == 0:
                return
            before, at = at, at + following

    def versions_in(self, group):
        """Yields (name, index, offset of the entry, offset of the name) for each version in a group."""
        _, count, _, first, _ = self.unpack("<HHIII", group)
        entry = group + first
        for _ in range(count):
            _, _, index, name, step = self.unpack("<IHHII", entry)
            at = self.strings_of(NEEDED_VERSIONS) + name
            yield self.text(at), index, entry, at
            entry += step

    def needed_versions(self):
        return [version for group, _, _ in self.version_groups() for version in self.versions_in(group)]

    def symbols_of(self, index):
        """Yields (name, offset of the symbol, offset of its version) for the symbols that have the version with this index."""
        versions = self.sections[VERSIONS]
        for i in range(versions["size"] // 2):
            at = versions["offset"] + 2 * i
            if self.unpack("<H", at)[0] & 0x7FFF == index:
                symbol = self.sections[SYMBOLS]["offset"] + 24 * i
                yield self.text(self.strings_of(SYMBOLS) + self.unpack("<I", symbol)[0]), symbol, at

    def rename_version(self, entry, at, name):
        """Renames a needed version. The new name must be as long as the old one."""
        self.data[at:at + len(name)] = name.encode()
        struct.pack_into("<I", self.data, entry, elf_hash(name))

    def drop_library(self, name):
        """Removes a needed library. Its functions become weak, so that the file loads without them; calling one crashes.

        Returns False, and changes nothing, if the library is not needed."""
        dynamic = self.sections[DYNAMIC]
        entries = [self.unpack("<QQ", dynamic["offset"] + 16 * i) for i in range(dynamic["size"] // 16)]
        strings = self.strings_of(DYNAMIC)
        kept = [(tag, value) for tag, value in entries if tag != TAG_NEEDED or self.text(strings + value) != name]
        if len(kept) == len(entries):
            return False
        for group, library, before in list(self.version_groups()):
            if library == name:
                self.unversion(group)
                following, = self.unpack("<I", group + 12)
                if before is None:  # the list begins at the next group
                    kept = [(tag, value + following if tag == TAG_NEEDED_VERSIONS else value) for tag, value in kept]
                else:
                    step, = self.unpack("<I", before + 12)
                    struct.pack_into("<I", self.data, before + 12, step + following if following else 0)
                kept = [(tag, value - 1 if tag == TAG_NEEDED_VERSIONS_COUNT else value) for tag, value in kept]
        kept += [(TAG_END, 0)] * (len(entries) - len(kept))
        for i, pair in enumerate(kept):
            struct.pack_into("<QQ", self.data, dynamic["offset"] + 16 * i, *pair)
        return True

    def unversion(self, group):
        for _, index, _, _ in self.versions_in(group):
            for _, symbol, version in list(self.symbols_of(index)):
                self.data[symbol + 4] = WEAK << 4 | self.data[symbol + 4] & 15
                struct.pack_into("<H", self.data, version, UNVERSIONED)

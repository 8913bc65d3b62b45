"""Writes integers into an h5 file without an HDF5 library, so that benchmarks on a GPU machine do not need h5py."""
import array
import itertools
import struct

SIGNATURE, NO_ADDRESS, SUPERBLOCK_BYTES = b"\x89HDF\r\n\x1a\n", 0xFFFFFFFFFFFFFFFF, 96
DATASPACE, LINK_INFO, DATATYPE, FILL_VALUE, LINK, LAYOUT = 0x1, 0x2, 0x3, 0x5, 0x6, 0x8  # types of header messages


def padded(content):
    return content + bytes(-len(content) % 8)


def object_header(messages):
    """Returns an object header of version 1. `messages` is [(type, content), ...]."""
    body = b"".join(struct.pack("<HHB3x", kind, len(padded(content)), 0) + padded(content) for kind, content in messages)
    return struct.pack("<BxHII4x", 1, len(messages), 1, len(body)) + body


def dataset_header(shape, integer_bytes, address, size):
    """Returns the header of signed integers in one contiguous block of `size` bytes at `address`."""
    dimensions = struct.pack("<BBB5x", 1, len(shape), 0) + struct.pack(f"<{len(shape)}Q", *shape)
    integers = struct.pack("<BB2xIHH", 0x10, 0x08, integer_bytes, 0, 8 * integer_bytes)
    return object_header([(DATASPACE, dimensions), (DATATYPE, integers), (FILL_VALUE, struct.pack("<BBBB", 2, 1, 0, 0)),
                          (LAYOUT, struct.pack("<BBQQ", 3, 1, address, size))])


def root_header(places):
    """Returns the header of a group with one hard link per dataset. `places` is {name: address of its header}."""
    links = [(LINK, struct.pack("<BBB", 1, 0, len(name)) + name.encode() + struct.pack("<Q", place)) for name, place in places.items()]
    return object_header([(LINK_INFO, struct.pack("<BBQQ", 0, 0, NO_ADDRESS, NO_ADDRESS))] + links)


def write_h5(path, datasets):
    """Writes a new file with a contiguous dataset for each of `datasets`, {name: (type, values)}. The values are a vector, or rows of
    equal length. The type is a code of the module array, such as "b" for 8 bits and "i" for 32. Little-endian machines only."""
    root_bytes = len(root_header(dict.fromkeys(datasets, 0)))
    places, headers, contents, shapes, blocks = {}, b"", b"", {}, {}
    for name, (kind, values) in datasets.items():
        is_matrix = isinstance(values[0], list)
        shapes[name] = (len(values), len(values[0])) if is_matrix else (len(values),)
        blocks[name] = array.array(kind, itertools.chain.from_iterable(values) if is_matrix else values)
    header_bytes = {name: len(dataset_header(shape, 1, 0, 0)) for name, shape in shapes.items()}
    begin = SUPERBLOCK_BYTES + root_bytes + sum(header_bytes.values())
    for name, block in blocks.items():
        places[name] = SUPERBLOCK_BYTES + root_bytes + len(headers)
        headers += dataset_header(shapes[name], block.itemsize, begin + len(contents), len(block) * block.itemsize)
        contents += padded(block.tobytes())
    superblock = SIGNATURE + struct.pack("<8BHHI", 0, 0, 0, 0, 0, 8, 8, 0, 4, 16, 0)
    superblock += struct.pack("<QQQQ", 0, NO_ADDRESS, begin + len(contents), NO_ADDRESS)
    superblock += struct.pack("<QQII16x", 0, SUPERBLOCK_BYTES, 0, 0)
    with open(path, "wb") as file:
        file.write(superblock + root_header(places) + headers + contents)

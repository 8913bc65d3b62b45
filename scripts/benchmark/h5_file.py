"""Writes matrices into an h5 file without any HDF5 library, so that benchmarks need no h5py on a GPU machine."""
import struct

SIGNATURE, NO_ADDRESS, SUPERBLOCK_BYTES = b"\x89HDF\r\n\x1a\n", 0xFFFFFFFFFFFFFFFF, 96
DATASPACE, LINK_INFO, DATATYPE, FILL_VALUE, LINK, LAYOUT = 0x1, 0x2, 0x3, 0x5, 0x6, 0x8  # types of header messages


def padded(content):
    return content + bytes(-len(content) % 8)


def object_header(messages):
    """An object header of version 1. `messages` is [(type, content), ...]."""
    body = b"".join(struct.pack("<HHB3x", kind, len(padded(content)), 0) + padded(content) for kind, content in messages)
    return struct.pack("<BxHII4x", 1, len(messages), 1, len(body)) + body


def dataset_header(values, address):
    """Signed integers in one contiguous block at `address`."""
    dimensions = struct.pack("<BBB5x", 1, values.ndim, 0) + struct.pack(f"<{values.ndim}Q", *values.shape)
    integers = struct.pack("<BB2xIHH", 0x10, 0x08, values.itemsize, 0, 8 * values.itemsize)
    return object_header([(DATASPACE, dimensions), (DATATYPE, integers), (FILL_VALUE, struct.pack("<BBBB", 2, 1, 0, 0)),
                          (LAYOUT, struct.pack("<BBQQ", 3, 1, address, values.nbytes))])


def root_header(places):
    """A group with one hard link per dataset. `places` is {name: address of its header}."""
    links = [(LINK, struct.pack("<BBB", 1, 0, len(name)) + name.encode() + struct.pack("<Q", place)) for name, place in places.items()]
    return object_header([(LINK_INFO, struct.pack("<BBQQ", 0, 0, NO_ADDRESS, NO_ADDRESS))] + links)


def write_h5(path, datasets):
    """Writes `datasets`, {name: numpy array of signed integers}, as contiguous datasets of a new file's root group."""
    for name, values in datasets.items():
        if values.dtype.kind != "i":
            raise TypeError(f"{name}: expected signed integers, found {values.dtype}")
    blocks = {name: padded(values.astype(values.dtype.newbyteorder("<")).tobytes()) for name, values in datasets.items()}
    end = SUPERBLOCK_BYTES + len(root_header(dict.fromkeys(datasets, 0)))
    places, headers, contents = {}, b"", b""
    for name, values in datasets.items():
        places[name] = end + len(headers)
        headers += bytes(len(dataset_header(values, 0)))
    end += len(headers)
    headers = b""
    for name, values in datasets.items():
        headers += dataset_header(values, end + len(contents))
        contents += blocks[name]
    superblock = SIGNATURE + struct.pack("<8BHHI", 0, 0, 0, 0, 0, 8, 8, 0, 4, 16, 0)
    superblock += struct.pack("<QQQQ", 0, NO_ADDRESS, end + len(contents), NO_ADDRESS)
    superblock += struct.pack("<QQII16x", 0, SUPERBLOCK_BYTES, 0, 0)
    with open(path, "wb") as file:
        file.write(superblock + root_header(places) + headers + contents)

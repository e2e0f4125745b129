"""CSV files that are not plain UTF-8 with commas: read as they are meant, or refused by name."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from treeselect.errors import DataError, OptionError
from treeselect.frames.files import EncodedFile
from treeselect.frames.reading import read_data

TEXT = "name,café\nZoë,1\n"


def write(folder: Path, content: bytes, name: str = "data.csv") -> Path:
    path = folder / name
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    return path


OTHERS = {
    "latin-1": (TEXT.encode("latin-1"), "byte 0xe9"),
    "cp1252": ("name,x\n“a”,1\n".encode("cp1252"), "byte 0x93"),
    "utf-16": (TEXT.encode("utf-16"), "byte 0xff"),
    "utf-16-le": ("name,x\nb,1\n".encode("utf-16-le"), r"`n\x00"),
}


@pytest.mark.parametrize("name", ["data.csv", "data.csv.gz"])
@pytest.mark.parametrize("encoding", OTHERS)
def test_another_encoding_is_refused_with_the_way_out(encoding, name, tmp_path):
    content, found = OTHERS[encoding]
    path = write(tmp_path, content, name)
    with pytest.raises(DataError) as error:
        read_data(path)
    text = str(error.value)
    assert f"`{path}`" in text
    assert found in text
    assert "encoding='cp1252')`, or `--encoding cp1252`" in text
    frame = read_data(EncodedFile(str(path), encoding))
    assert frame.columns[0] == "name"
    assert len(frame) == 1


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_utf8_is_read_with_its_mark_and_without(encoding, tmp_path):
    frame = read_data(write(tmp_path, TEXT.encode(encoding)))
    assert frame.to_dict("list") == {"name": ["Zoë"], "café": [1]}


@pytest.mark.parametrize("encoding", ["ascii", "utf-16"])
def test_a_wrong_encoding_is_named(encoding, tmp_path):
    path = write(tmp_path, TEXT.encode("latin-1"))
    with pytest.raises(DataError, match=f"as {encoding}[^$]*(0xe9|BOM|byte 0x)"):
        read_data(EncodedFile(str(path), encoding))


@pytest.mark.parametrize("encoding", ["no such", "hex", "a\0", "rot13"])
def test_encodings_must_be_known_ones_of_text(encoding):
    with pytest.raises(OptionError, match="must be the name of a text encoding"):
        EncodedFile("data.csv", encoding)


def test_only_csv_files_have_an_encoding():
    with pytest.raises(OptionError, match="CSV, Stata, SPSS and SAS files only"):
        EncodedFile("data.parquet", "latin-1")


def test_values_without_a_name_are_refused_but_a_comma_at_the_end_of_each_row(tmp_path):
    frame = read_data(write(tmp_path, b"a,b\n1,2,\n3,4,\n"))
    assert frame.to_dict("list") == {"a": [1, 3], "b": [2, 4]}
    path = write(tmp_path, b"a,b\n1,2,3\n4,5,6\n")
    with pytest.raises(DataError, match=r"more values than its header(.|\n)*index_col=0"):
        read_data(path)


DAMAGED = {
    "nothing.csv": b"",
    "lines.csv": b"\n\n",
    "ragged.csv": b"a,b\n1,2\n1,2,3\n",
    "quote.csv": b'a,b\n"1,2\n3,4\n',
    "nul.csv": b"a\0,b\n1,2\n",
    "none.parquet": b"",
    "garbage.parquet": b"garbage that is longer than a footer",
    "garbage.feather": b"garbage that is longer than a footer",
    "page.html": b"nonsense",
}


@pytest.mark.parametrize("name", DAMAGED)
def test_damaged_files_end_in_a_data_error(name, tmp_path):
    with pytest.raises(DataError):
        read_data(write(tmp_path, DAMAGED[name], name))


@pytest.mark.parametrize(
    "content",
    [b"no gzip", gzip.compress(b"a,b\n" + b"1,2\n" * 99, mtime=0)[:-20]],
    ids=["plain", "truncated"],
)
def test_damaged_archives_end_in_a_data_error(content, tmp_path):
    path = tmp_path / "data.csv.gz"
    path.write_bytes(content)
    with pytest.raises(DataError, match="Can't read the file"):
        read_data(path)


@pytest.mark.parametrize("name", ["folder.csv", "folder"])
def test_a_folder_is_no_file(name, tmp_path):
    (tmp_path / name).mkdir()
    with pytest.raises(DataError, match="It is a folder"):
        read_data(tmp_path / name)


@pytest.mark.parametrize("name", ["a\0.csv", "a" * 5000 + ".csv", ""])
def test_paths_that_no_file_can_have(name):
    with pytest.raises(DataError):
        read_data(name)

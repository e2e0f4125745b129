"""CSV files that are not plain UTF-8 with commas: read as they are meant, or refused by name."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from treeselect.errors import DataError, OptionError
from treeselect.frames.files import EncodedFile, read_csv
from treeselect.frames.reading import read_data

TEXT = "name,café\nZoë,1\n"


def write(folder: Path, content: bytes, name: str = "data.csv") -> Path:
    path = folder / name
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    return path


OTHERS = {
    "latin-1": (TEXT.encode("latin-1"), "0xe9 at position 8 (line 1)"),
    "cp1252": ("name,x\n“a”,1\n".encode("cp1252"), "0x93 at position 7 (line 2)"),
    "utf-16": (TEXT.encode("utf-16"), "0xff at position 0 (line 1)"),
    "utf-32": (TEXT.encode("utf-32"), "0xff at position 0 (line 1)"),
    "utf-16-le": (TEXT.encode("utf-16-le"), "0xe9 at position 16 (line 1)"),
    "utf-16-be": (TEXT.encode("utf-16-be"), "0xe9 at position 17 (line 1)"),
}


@pytest.mark.parametrize("name", ["data.csv", "data.csv.gz"])
@pytest.mark.parametrize("encoding", OTHERS)
def test_another_encoding_is_named_with_the_place_and_the_way_out(encoding, name, tmp_path):
    content, place = OTHERS[encoding]
    path = write(tmp_path, content, name)
    with pytest.raises(DataError) as found:
        read_data(path)
    text = str(found.value)
    assert text.startswith(f"Can't read the file `{path}` as utf-8.")
    assert place in text
    assert f"`pandas.read_csv({str(path)!r}, encoding={encoding!r})`" in text
    assert f"`--encoding {encoding}`" in text
    frame = read_data(EncodedFile(str(path), encoding))
    assert frame.columns[0] == "name"
    assert len(frame) == 1


def test_utf16_of_plain_letters_is_no_utf8_with_odd_names(tmp_path):
    path = write(tmp_path, b"name,x\nb,1\n".decode().encode("utf-16-le"))
    with pytest.raises(DataError, match=r"must not contain NUL(.|\n)*`n\\x00(.|\n)*utf-16-le"):
        read_data(path)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_utf8_is_read_with_its_mark_and_without(encoding, tmp_path):
    frame = read_data(write(tmp_path, TEXT.encode(encoding)))
    assert frame.to_dict("list") == {"name": ["Zoë"], "café": [1]}


def test_mixed_encodings_are_not_guessed(tmp_path):
    path = write(tmp_path, TEXT.encode() + "Zoë,2\n".encode("latin-1"))
    with pytest.raises(DataError) as found:
        read_data(path)
    assert "0xeb at position 20 (line 3), after valid non-ASCII characters" in str(found.value)
    assert "encoding_errors='replace'" in str(found.value)


def test_the_place_counts_from_the_start_of_the_file(tmp_path):
    rows = b"12345,1\n" * 200_000
    path = write(tmp_path, b"name,x\n" + rows + b"\xe9,1\n")
    with pytest.raises(DataError, match=r"0xe9 at position 1,600,007 \(line 200,002\)"):
        read_csv(path)


@pytest.mark.parametrize(
    ("encoding", "found"),
    [("ascii", "0xe9 at position 8"), ("utf-16", "(stream does not start with BOM|byte 0x)")],
)
def test_a_wrong_encoding_is_named(encoding, found, tmp_path):
    path = write(tmp_path, TEXT.encode("latin-1"))
    with pytest.raises(DataError, match=f"as {encoding}[^$]*{found}"):
        read_data(EncodedFile(str(path), encoding))


@pytest.mark.parametrize("encoding", ["no such", "hex", "a\0", "rot13"])
def test_encodings_must_be_known_ones_of_text(encoding):
    with pytest.raises(OptionError, match="must be the name of a text encoding"):
        EncodedFile("data.csv", encoding)


def test_only_csv_files_have_an_encoding():
    with pytest.raises(OptionError, match="CSV, Stata, SPSS and SAS files only"):
        EncodedFile("data.parquet", "latin-1")


def test_a_comma_at_the_end_of_each_row_shifts_nothing(tmp_path):
    frame = read_data(write(tmp_path, b"a,b\n1,2,\n3,4,\n"))
    assert frame.to_dict("list") == {"a": [1, 3], "b": [2, 4]}


def test_values_without_a_name_are_refused(tmp_path):
    path = write(tmp_path, b"a,b\n1,2,3\n4,5,6\n")
    with pytest.raises(DataError, match=r"more values than its header(.|\n)*index_col=0"):
        read_data(path)


DAMAGED = {
    "nothing.csv": b"",
    "lines.csv": b"\n\n",
    "ragged.csv": b"a,b\n1,2\n1,2,3\n",
    "quote.csv": b'a,b\n"1,2\n3,4\n',
    "twice.csv": b"a,a\n1,2\n",
    "nul.csv": b"a\0,b\n1,2\n",
    "none.parquet": b"",
    "garbage.parquet": b"garbage that is longer than a footer",
    "garbage.feather": b"garbage that is longer than a footer",
}


@pytest.mark.parametrize("name", DAMAGED)
def test_damaged_files_end_in_a_data_error(name, tmp_path):
    with pytest.raises(DataError):
        read_data(write(tmp_path, DAMAGED[name], name))


@pytest.mark.parametrize(
    "content",
    [b"a,b\n", gzip.compress(b"a,b\n" + b"1,2\n" * 99, mtime=0)[:-20]],
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

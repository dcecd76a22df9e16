"""Arrays that are more than arrays, and views that change."""

import array
import math
import tempfile
from pathlib import Path

import numpy as np

from tests.language.rows import Group

row = Group("Arrays that are more than arrays")


class Tagged(np.ndarray):
    def __new__(cls, data, tag=None):
        made = np.asarray(data).view(cls)
        made.tag = tag
        return made

    def __array_finalize__(self, other):
        self.tag = getattr(other, "tag", None)


FOLDER = tempfile.TemporaryDirectory()
FILE = Path(FOLDER.name) / "numbers"
np.arange(1.0, 5.0).tofile(FILE)
WEIGHTS = array.array("d", [1.0, 2.0, 3.0, 4.0])
MAPPED = np.memmap(FILE, dtype=float, mode="r", shape=(4,))


@row("a subclass of `ndarray` with `__array_finalize__`", recorded=True)
def subclass(x):
    tagged = Tagged(x, 3.0)
    turned = tagged * 2.0 + tagged[1:].sum()
    return np.sum(np.asarray(turned) ** 2) * np.sin(turned).tag


@row("an attribute of such an array, and a store into it", recorded=True)
def subclass_stores(x):
    tagged = x.copy().view(Tagged)
    tagged.tag = x[0]
    tagged[1] = x[0] * x[2]
    return float(tagged @ tagged) * tagged.tag


@row("masked arrays", recorded=True)
def masked(x):
    kept = np.ma.masked_where(x > 2.0, x)
    return kept.mean() ** 2 + kept.filled(0.5)[3] + (kept * kept).sum()


@row("functions of `np.ma`", recorded=True)
def masked_functions(x):
    kept = np.ma.masked_greater(x, 2.0)
    return np.ma.sum(np.ma.sqrt(kept)) + np.ma.log(kept).compressed().sum()


@row("quantities of `pint`", recorded=True, needs="pint")
def pint_units(x):
    import pint

    units = pint.get_application_registry()
    length = x * units.metre
    return ((length / (2.0 * units.second)) ** 2).sum().to("m**2/s**2").magnitude


@row("quantities of `astropy`", recorded=True, needs="astropy")
def astropy_units(x):
    from astropy import units

    length = units.Quantity(x, units.km)
    speed = (length / (2.0 * units.s)).to(units.m / units.s)
    return np.sum(speed.value**2) * 1e-6 + (length**2).sum().to_value(units.km**2)


@row("arrays with units of `unyt`", recorded=True, needs="unyt")
def unyt_units(x):
    import unyt

    speed = unyt.unyt_array(x, "km") / unyt.unyt_quantity(2.0, "s")
    return float(np.sum((speed * speed).to_value("m**2/s**2"))) * 1e-6


@row("Series of pandas", recorded=True, needs="pandas")
def series(x):
    import pandas as pd

    s = pd.Series(x, index=list("abcd"))
    return (s * s).sum() + s["b"] * s.iloc[0] + np.sum(s.to_numpy() ** 2)


@row("DataFrames of pandas", recorded=True, needs="pandas")
def frames(x):
    import pandas as pd

    table = pd.DataFrame({"p": x, "q": x**2})
    table["r"] = table.p * table.q
    return table.r.sum() + table["q"].mean()


@row("DataArrays of xarray", recorded=True, needs="xarray")
def data_arrays(x):
    import xarray as xr

    d = xr.DataArray(x, dims="t", coords={"t": np.arange(4)})
    return float((d * d).sum()) + float(d.sel(t=1) * d.isel(t=0)) + (d.mean("t") ** 2).item()


@row("`np.ndarray(shape, dtype)`")
def by_shape(x):
    a, b = np.ndarray((4,), float), np.ndarray(shape=(2, 2), dtype=np.float64)
    a[:] = x
    a[0] *= x[1]
    b[...] = x.reshape(2, 2)
    return np.sum(a**2) + np.sum(b**3)


@row("`np.fromiter`")
def from_an_iterator(x):
    a = np.fromiter((t * t for t in x), float)
    b = np.fromiter([x[0], x[1] * x[2]], dtype=np.float64, count=2)
    return np.sum(a * x) + b[0] * b[1]


@row("`np.broadcast(a, b).shape`")
def broadcast_shape(x):
    both = np.broadcast(x[:, None], x)
    total = np.zeros(both.shape)
    total += x[:, None] * x
    return np.sum(total**2) + both.size * x[0]


@row("an array of objects: floats", recorded=True)
def objects(x):
    held = np.array([x[0], x[1], x[2]], dtype=object)
    turned = held * 2.0 + held**2
    return turned[0] * turned[1] + x.astype(object).astype(float)[3] ** 2


@row("an array of objects: arrays", recorded=True)
def objects_of_arrays(x):
    held = np.empty(2, dtype=object)
    held[0] = x
    held[1] = x**2
    return np.sum(held[0] * held[1])


@row("records by field", recorded=True)
def records(x):
    table = np.zeros(4, dtype=[("p", float), ("q", float)])
    table["p"] = x
    table["q"] = x**2
    return np.sum(table["p"] * table["q"])


@row("`np.rec.fromarrays`", recorded=True)
def record_arrays(x):
    table = np.rec.fromarrays([x, x**2], names="p,q")
    return np.sum(table.p * table.q)


@row("a single record", recorded=True)
def record(x):
    table = np.zeros(2, dtype=[("p", float), ("q", float)])
    table[0] = (x[0], x[1])
    row = table[0]
    row["q"] *= x[2]
    return table[0]["p"] * table[0]["q"] + table[[0, 1]][0].item()[1]


@row("the display of records as an array", recorded=True)
def records_displayed(x):
    table = np.array([(x[0], x[1]), (x[2], x[3])], dtype=[("p", float), ("q", float)])
    return np.sum(table["p"] * table["q"] ** 2) + sum(q * p**2 for p, q in table)


@row("attributes of `np.recarray` that are stored", recorded=True)
def record_attributes(x):
    table = np.zeros(4, dtype=[("p", float), ("q", float)]).view(np.recarray)
    table.p = x
    table[1].q = x[0] * x[2]
    return np.sum(table.p**2) * table[1].q


@row("a loop over `np.broadcast`", recorded=True)
def broadcast_items(x):
    total = 0.0
    for a, b in np.broadcast(x[:2, None], x[1:]):
        total += a * b**2
    return total


@row("items of a `memoryview`, and stores", recorded=True)
def memory_view(x):
    y = x * 1.0
    seen = memoryview(y)
    seen[1:3][0] = x[0] ** 2
    return seen[0] * y[1] + sum(seen) * seen.tolist()[3]


@row("memory-mapped arrays that are read")
def memory_mapped(x):
    opened = np.memmap(FILE, dtype=float, mode="r", shape=(4,))
    return np.sum(opened * x**2) + MAPPED[1] * x[0]


@row("a memory-mapped array that is written", recorded=True)
def memory_map_written(x):
    made = np.memmap(tempfile.mktemp(dir=FOLDER.name), dtype=float, mode="w+", shape=(4,))
    made[:] = x**2
    return np.sum(made * x)


@row("`array.array` of constants")
def array_of_constants(x):
    return WEIGHTS[1] * x[0] ** 2 + sum(t * w for t, w in zip(x, WEIGHTS))


@row("`array.array` of differentiated numbers", recorded=True)
def array_of_numbers(x):
    a = array.array("d", [x[0], x[1]])
    a.append(x[2])
    a.extend(t * t for t in x)
    return a[0] * a.pop() + sum(a) * x[0] + np.dot(a, a)


@row("a store into an `array.array`, and `np.frombuffer` of it", recorded=True)
def array_stores(x):
    a = array.array("d", [0.0] * 3)
    a[1] = x[0] ** 2
    seen = np.frombuffer(a)
    seen[2] = a[1] * x[1]
    return a[1] * a[2] + np.sum(np.frombuffer(array.array("d", x)) ** 2)


@row("codes and names of dtypes")
def dtype_codes(x):
    a = np.zeros(4, dtype="<f8") + np.asarray(x, dtype="f8").astype("d")
    b = np.zeros(4, dtype=np.dtype("float64").str)
    b[:] = a
    return np.sum(b**3) * np.finfo(a.dtype).max ** 0


@row("the array-API namespace")
def namespaces(x):
    xp = x.__array_namespace__()
    return xp.sum(xp.astype(x, xp.float64) ** 2) + xp.max(xp.concat([x, x * 2.0]))


@row("`np.vectorize`")
def vectorized(x):
    power = np.vectorize(lambda a: a * a if a > 1.0 else a**3)
    return np.sum(power(x))


@row("`np.frompyfunc`", recorded=True)
def from_a_function(x):
    power = np.frompyfunc(lambda a, b: a * a * b, 2, 1)
    return np.sum(power(x, 2.0).astype(float) * x)


views = Group("Views that change, and stores")


@views("`z.imag[...] = v`, parts of complex arrays")
def imaginary(x):
    z = np.zeros(4, complex)
    z.real = x
    z.imag[...] = x**2
    z.imag[1:] += x[:-1]
    return np.sum(np.abs(z) ** 2) + (z * z * z).imag[0]


@views("`x.partition`, `np.partition` and `argpartition`")
def partitioned(x):
    y = x * 1.0
    y.partition(2)
    return np.sum(y[:2] ** 2) + np.partition(x, 1)[0] * y[2] + np.sum(x[np.argpartition(x, 2)[:2]] ** 3)


@views("`np.moveaxis` and `swapaxes`")
def moved_axes(x):
    y = np.zeros((2, 2))
    w = np.moveaxis(y, 0, 1)
    y[0] = x[:2]
    w[0] += x[2:] * x[:2]
    y.swapaxes(0, 1)[1] *= x[:2]
    return np.sum(y**2) + np.sum(w[1] ** 3)


@views("`np.expand_dims` and `np.squeeze`")
def dims(x):
    y = x * 1.0
    wide = np.expand_dims(y, 0)
    wide[0, 1] *= x[0]
    y[2] = x[3] ** 2
    np.squeeze(wide)[3] *= x[1]
    return np.sum(wide**2) + np.sum(y**3)


@views("`np.flip` and `np.rot90`")
def flipped(x):
    y = x * 1.0
    back = np.flip(y)
    back[0] *= x[0]
    y[0] = x[1] ** 2
    return np.sum(back[:2] ** 2) + np.sum(y**3) + np.rot90(y.reshape(2, 2))[0, 0] * back[3]


@views("`sliding_window_view` of an array changed later")
def windows(x):
    y = x * 1.0
    seen = np.lib.stride_tricks.sliding_window_view(y, 2)
    y[1] = x[0] ** 2
    return np.sum(seen**2)


@views("`broadcast_to` of an array changed later")
def broadcast(x):
    y = x * 1.0
    wide = np.broadcast_to(y, (3, 4))
    y[1] = x[0] ** 2
    return np.sum(wide**2)


@views("`np.diagonal` of an array changed later")
def diagonal(x):
    y = np.outer(x, x)
    seen = np.diagonal(y)
    y[1, 1] = x[0]
    return np.sum(seen**2) + np.einsum("ii->i", y)[1]


@views("`clip(out=)`")
def clipped(x):
    y = x * x
    np.clip(y, 0.3, x[3], out=y)
    y.clip(0.5, 2.0, out=y)
    return np.sum(y**2)


@views("`where=` without `out=`, and with it")
def where(x):
    y, z = np.sqrt(x, where=x > 0.5), np.zeros(4)
    np.log(x, out=z, where=x > 0.5)
    return np.sum(y[x > 0.5] ** 3) + np.sum(z * x)


@views("a store into an array of integers or bools")
def integers(x):
    cells, flags = np.zeros(4, dtype=int), np.zeros(4, dtype=bool)
    cells[:] = x
    cells[1] = x[3] * 2.0
    flags[:] = x > 1.0
    return np.sum(cells * x) + np.sum(flags * x**2)


@views("`np.fromiter(map(...))`", recorded=True)
def from_a_map(x):
    a = np.fromiter(map(math.sin, x), float, len(x))
    return np.sum(a**2)

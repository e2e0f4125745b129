# treeselect from R, through reticulate. Source this file, then:
#
#   treeselect <- import("treeselect", convert = FALSE)
#   fit <- treeselect$select("died ~ . - id", to_python(d), k = 4L, seed = 1L)
#   to_r(fit$tidy())
#
# reticulate's own conversion turns NA in integer columns into -2147483648, NA in logical columns
# into TRUE and NA in text into "NA", and fails for NA in dates; up to version 1.28 it also fails
# with NumPy 2. These two functions pass plain lists, with the rows of missing values beside them.

library(reticulate)

.bridge <- py_run_string("
def to_python(columns, labels, rows):
    import pandas as pd

    made = {}
    for name, kind, values, missing, levels, ordered in columns:
        found = pd.Series(values, dtype=object)
        found[[int(i) for i in missing]] = None
        if kind == 'factor':
            found = pd.Series(pd.Categorical(found, categories=levels, ordered=ordered))
        elif kind == 'time':
            found = pd.to_datetime(found.astype(float), unit='s')
        else:
            found = found.astype(kind)
        made[name] = found
    data = pd.DataFrame(made)
    if rows is not None:
        data.index = rows
    data.attrs['labels'] = labels
    return data


def columns_of(data):
    import pandas as pd

    def text(value):
        return ', '.join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)

    if isinstance(data, pd.Series):
        data = data.to_frame()
    columns = []
    for j in range(data.shape[1]):
        column = data.iloc[:, j]
        missing = [i + 1 for i, lost in enumerate(column.isna()) if lost]
        levels, ordered = None, False
        kind = column.dtype.kind
        if isinstance(column.dtype, pd.CategoricalDtype):
            kind, ordered = 'factor', column.dtype.ordered
            levels = [str(level) for level in column.cat.categories]
        if kind == 'M':
            kind, values = 'time', column.map(lambda v: v.timestamp(), na_action='ignore')
        else:
            values = column
        if kind in 'biuf' or kind == 'time':
            fill = {'b': False, 'f': 0.0, 'time': 0.0}.get(kind, 0)
            plain = [fill if lost else v for v, lost in zip(values.tolist(), column.isna())]
        else:
            kind = 'factor' if kind == 'factor' else 'text'
            plain = ['' if lost else text(v) for v, lost in zip(values, column.isna())]
        columns.append([str(data.columns[j]), kind, plain, missing, levels, ordered])
    rows = None
    if not isinstance(data.index, pd.RangeIndex):
        rows = [str(row) for row in data.index]
    return columns, rows, len(data)


def is_column(value):
    return type(value).__name__ == 'Series'


def is_frame(value):
    return type(value).__name__ == 'DataFrame'
", local = TRUE, convert = TRUE)

# A data.frame as a frame of pandas: factors keep levels and order, dates become date-times,
# differences of times numbers, and the attribute `label` of a column its label in reports.
to_python <- function(data) {
  stopifnot(is.data.frame(data))
  kind_of <- function(x) {
    if (is.factor(x)) "factor"
    else if (inherits(x, c("Date", "POSIXct"))) "time"
    else if (is.logical(x)) "boolean"
    else if (is.integer(x)) "Int64"
    else if (is.numeric(x) || inherits(x, "difftime")) "float64"
    else if (is.character(x)) "str"
    else stop("Can't convert a column of class ", class(x)[1], ".", call. = FALSE)
  }
  column <- function(name) {
    x <- data[[name]]
    kind <- kind_of(x)
    missing <- is.na(x)
    levels <- if (is.factor(x)) as.list(levels(x))
    values <- if (is.factor(x) || is.character(x)) enc2utf8(as.character(x))
    else if (inherits(x, "Date")) as.numeric(x) * 86400
    else if (is.logical(x)) as.logical(x)
    else if (is.integer(x) && kind == "Int64") as.integer(x)
    else as.numeric(x)
    values[missing] <- if (is.character(values)) "" else if (is.logical(values)) FALSE else 0
    if (kind == "Int64") values <- as.integer(values)
    list(name, kind, as.list(values), as.list(which(missing) - 1), levels, is.ordered(x))
  }
  labels <- Filter(Negate(is.null), lapply(data, attr, which = "label", exact = TRUE))
  named <- .row_names_info(data) > 0
  .bridge$to_python(
    lapply(names(data), column), if (length(labels)) labels else dict(),
    if (named) as.list(rownames(data))
  )
}

# A table of treeselect as a data.frame, a column as a vector with the names of its rows, names as
# a character vector, anything else as reticulate converts it.
to_r <- function(found) {
  if (!inherits(found, "python.builtin.object")) return(found)
  column <- .bridge$is_column(found)
  if (!column && !.bridge$is_frame(found)) {
    found <- py_to_r(found)
    single <- is.list(found) && all(lengths(found) == 1) && all(vapply(found, is.atomic, NA))
    return(if (single) unlist(found) else found)
  }
  parts <- .bridge$columns_of(found)
  made <- lapply(parts[[1]], function(part) {
    values <- unlist(part[[3]])
    if (is.null(values)) values <- switch(part[[2]], text = , factor = character(), numeric())
    if (length(part[[4]])) is.na(values) <- unlist(part[[4]])
    if (part[[2]] == "factor") {
      factor(values, levels = unlist(part[[5]]), ordered = isTRUE(part[[6]]))
    } else if (part[[2]] == "time") {
      as.POSIXct(values, origin = "1970-01-01", tz = "UTC")
    } else values
  })
  if (column) return(if (is.null(parts[[2]])) made[[1]] else setNames(made[[1]], unlist(parts[[2]])))
  names(made) <- vapply(parts[[1]], function(part) part[[1]], "")
  rows <- if (is.null(parts[[2]])) seq_len(parts[[3]]) else unlist(parts[[2]])
  structure(made, class = "data.frame", row.names = rows)
}

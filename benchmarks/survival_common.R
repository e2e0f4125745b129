# What the R programs of survival share: the sets as they are used, and the truth of the simulated.

suppressMessages({library(survival); library(ranger)})
SETS <- c("lung", "veteran", "pbc", "gbsg2", "whas500")

# The folder of the program that runs, wherever it is called from.
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)[1]))

# A set without what no model may use (a code, what is known afterwards), with its rows of the
# trial (pbc); `time` and `event` at the end.
real_set <- function(name) {
  data <- read.csv(file.path(here, "data", "survival", paste0(name, ".csv")),
                   stringsAsFactors = TRUE, na.strings = "")
  if (name == "pbc") data <- data[!is.na(data$trt), ]
  data <- data[setdiff(names(data), c("inst", "los"))]
  names(data)[ncol(data)] <- "event"
  data
}

# Missing numbers as the median, missing texts as the commonest of the training rows.
imputed <- function(data, train = data) {
  for (name in names(data)) {
    known <- train[[name]][!is.na(train[[name]])]
    value <- if (is.factor(known)) names(which.max(table(known))) else median(known)
    data[[name]][is.na(data[[name]])] <- value
  }
  data
}

simulated <- function(folder, case, seed)
  read.csv(file.path(folder, paste0(case, "_", seed, ".csv")), stringsAsFactors = TRUE)

columns <- function(data) data[!names(data) %in% c("time", "event")]

# Of selected columns: how many of the twelve terms are found, and how many columns are false, a
# second one of a term among them.
judged <- function(selected) {
  found <- unique(sub("_near$", "", selected))
  found <- intersect(found, c(sprintf("x%02d", 1:9), sprintf("f%02d", 1:3)))
  c(recall = length(found) / 12, false = length(selected) - length(found))
}

harrell <- function(data, risk)
  unname(concordance(Surv(time, event) ~ risk, data, reverse = TRUE)$concordance)

# Rows of a results file that grows: `make()` is called for those keys that the file has not yet, and
# its rows are written at once, so that a run that was stopped goes on. A quick run keeps nothing.
grown_file <- function(name, keys, make, key_of, quick) {
  path <- if (quick) tempfile() else file.path(here, "results", name)
  for (key in keys) {
    known <- if (file.exists(path)) key_of(read.csv(path, check.names = FALSE)) else character()
    if (key %in% known) next
    message(key)
    rows <- make(key)
    numeric <- sapply(rows, is.double)
    rows[numeric] <- lapply(rows[numeric], signif, 6)
    write.table(rows, path, sep = ",", row.names = FALSE, col.names = !file.exists(path),
                append = file.exists(path), na = "")
  }
  read.csv(path, check.names = FALSE)
}

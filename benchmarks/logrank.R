# What is lost where a forest splits on martingale residuals instead of by the log-rank statistic.
#
#     Rscript benchmarks/logrank.R FOLDER [quick | SETS]      (needs survival and ranger)
#
# FOLDER has the simulated sets that `python benchmarks/survival.py --write FOLDER` writes. ranger's
# survival forest (splitrule "logrank") beside its regression forests on the martingale and on the
# deviance residuals of the null Cox model: same rows, columns, seeds, trees and mtry. ranger's
# min.node.size is the least size of a leaf in the first and the least size to be split in the
# others, which have the value that gives as many leaves. Rows are judged out of bag, by a risk:
#
# own      the mean over trees of the cumulative hazard summed over times, or of the mean residual
# o/e      in all: the mean over trees of log((O + e) / (E + e)), O and E events and expected
#          events (cumulative hazard of the null model) of a leaf's rows in the bag, e their mean,
#          so that nothing but the splits differs
#
# Writes results/logrank.csv, a row per real set (the standard error is that of the difference of
# two C indices of the same rows), results/logrank_simulated.csv, a row per simulated set, and the
# table results/logrank.md of both. A run that was stopped goes on; SETS is the number of simulated
# sets of each case, 10 unless told.

arguments <- commandArgs(TRUE)
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)[1])),
                 "survival_common.R"))
quick <- "quick" %in% arguments
N_TREES <- if (quick) 20 else 200
FORESTS <- if (quick) 1 else 5     # seeds of forests on each real set
more <- suppressWarnings(as.integer(arguments[2]))
TRUTHS <- if (quick) 2 else if (is.na(more)) 10 else more    # simulated sets of each case
LEAF <- 15

grow <- function(x, y, size, seed, importance = "none", n_trees = N_TREES)
  ranger(x = x, y = y, num.trees = n_trees, min.node.size = size, seed = seed, num.threads = 1,
         respect.unordered.factors = "order", importance = importance, keep.inbag = TRUE)

leaves <- function(forest) mean(sapply(1:10, function(i) sum(treeInfo(forest, i)$terminal)))

# The min.node.size with which the forest on residuals has as many leaves.
size_alike <- function(x, residual, wanted) {
  sizes <- round(LEAF * 1.15^(0:16))
  counts <- sapply(sizes, function(size) leaves(grow(x, residual, size, 1, n_trees = 20)))
  sizes[which.min(abs(counts - wanted))]
}

risk_of_leaves <- function(forest, x, event, expected) {
  node <- predict(forest, x, type = "terminalNodes", num.threads = 1)$predictions
  total <- seen <- numeric(nrow(x))
  e <- mean(expected)
  for (tree in seq_len(ncol(node))) {
    times <- forest$inbag.counts[[tree]]
    at <- factor(node[, tree])
    observed <- tapply(times * event, at, sum)
    awaited <- tapply(times * expected, at, sum)
    out <- times == 0
    total[out] <- total[out] + log((observed + e) / (awaited + e))[at[out]]
    seen <- seen + out
  }
  total / seen
}

# Out-of-bag risks of the forests, by their own predictions and by o/e, and the first twelve columns
# of each.
forests <- function(data, seed, importance) {
  x <- columns(data)
  null <- coxph(Surv(time, event) ~ 1, data)
  expected <- data$event - residuals(null)
  by_rank <- grow(x, Surv(data$time, data$event), LEAF, seed, importance)
  alike <- function(residual)
    grow(x, residual, size_alike(x, residual, leaves(by_rank)), seed, importance)
  grown <- list(
    rank = by_rank, martingale = alike(residuals(null)), deviance = alike(residuals(null, "deviance"))
  )
  own <- cbind(
    rank = rowSums(by_rank$chf), martingale = grown$martingale$predictions,
    deviance = grown$deviance$predictions
  )
  alone <- sapply(grown, risk_of_leaves, x, data$event, expected)
  colnames(alone) <- paste0(names(grown), "_oe")
  first <- function(forest)
    if (importance == "none") NULL else
      names(sort(forest$variable.importance, decreasing = TRUE))[1:12]
  list(risks = cbind(own, alone), first = lapply(grown, first))
}

TARGETS <- c("rank", "martingale", "deviance")
CRITERIA <- c(TARGETS, paste0(TARGETS, "_oe"))

# C of each, and differences to log-rank with the standard errors for the same rows.
real_line <- function(name) {
  data <- imputed(real_set(name))
  all <- lapply(seq_len(FORESTS), function(seed) forests(data, seed, "none")$risks)
  risks <- data.frame(Reduce(`+`, all) / FORESTS)
  line <- data.frame(set = name, rows = nrow(data), events = sum(data$event))
  for (what in CRITERIA) line[[what]] <- harrell(data, risks[[what]])
  alone <- function(risk) coxph(Surv(time, event) ~ rank(risk), data)    # for its order only
  for (what in CRITERIA[c(2, 3, 5, 6)]) {
    base <- if (grepl("_oe", what)) "rank_oe" else "rank"
    fit <- concordance(alone(risks[[base]]), alone(risks[[what]]))
    stopifnot(all.equal(unname(fit$concordance), c(line[[base]], line[[what]])))
    line[[paste(what, "s.e.")]] <- drop(sqrt(c(-1, 1) %*% vcov(fit) %*% c(-1, 1)))
  }
  line
}

# C of each and recall of the twelve true terms among the first twelve.
simulated_row <- function(folder, case, seed) {
  data <- simulated(folder, case, seed)
  found <- forests(data, seed, "permutation")
  recall <- sapply(found$first, function(selected) judged(selected)["recall"])
  names(recall) <- paste("recall", TARGETS)
  data.frame(
    case = case, seed = seed, events = sum(data$event),
    t(apply(found$risks, 2, function(risk) harrell(data, risk))), t(recall), check.names = FALSE
  )
}

simulated_line <- function(each) {
  line <- data.frame(set = paste0("simulated, ", each$case[1], " % censored (", nrow(each), " sets)"),
                     rows = 500, events = mean(each$events))
  for (what in c(CRITERIA, paste("recall", TARGETS))) {
    base <- if (grepl("^recall", what)) "recall rank" else if (grepl("_oe", what)) "rank_oe" else "rank"
    change <- each[[what]] - each[[base]]
    line[[what]] <- mean(each[[what]])
    line[[paste(what, "s.e.")]] <- sd(change) / sqrt(nrow(each))
  }
  line
}

real <- grown_file("logrank.csv", if (quick) "veteran" else SETS, real_line,
                   function(known) known$set, quick)
each <- grown_file(
  "logrank_simulated.csv", outer(c(30, 70), seq_len(TRUTHS) - 1, paste),
  function(key) {
    key <- as.integer(strsplit(key, " ")[[1]])
    simulated_row(arguments[1], key[1], key[2])
  },
  function(known) paste(known$case, known$seed), quick
)
lines <- c(split(real, real$set)[unique(real$set)], lapply(split(each, each$case), simulated_line))

number <- function(value, digits = 3) if (is.null(value)) "" else sprintf("%.*f", digits, value)
change <- function(line, what, base, digits = 3)
  if (is.null(line[[what]])) "" else
    sprintf("%+.*f (%.*f)", digits, line[[what]] - line[[base]], digits, line[[paste(what, "s.e.")]])
row_of <- function(line) c(
  set = line$set, rows = line$rows, events = round(line$events), `C, log-rank` = number(line$rank),
  martingale = change(line, "martingale", "rank"), deviance = change(line, "deviance", "rank"),
  `C, log-rank, o/e` = number(line$rank_oe),
  `martingale, o/e` = change(line, "martingale_oe", "rank_oe"),
  `deviance, o/e` = change(line, "deviance_oe", "rank_oe"),
  `recall, log-rank` = number(line[["recall rank"]], 2),
  `recall, martingale` = change(line, "recall martingale", "recall rank", 2),
  `recall, deviance` = change(line, "recall deviance", "recall rank", 2)
)
rows <- lapply(lines, row_of)
bars <- function(cells) paste("|", paste(cells, collapse = " | "), "|")
text <- c(
  paste0(
    "Forests of ", N_TREES, " trees by ranger, split by the log-rank statistic, or by squares on the",
    " martingale or the deviance residuals of the null model: Harrell's C out of bag, and what is",
    " added to it by the other two (standard error). Leaves of the first have at least ", LEAF,
    " rows; the others have as many leaves. First each forest's own prediction; o/e: log of observed",
    " over expected events of the leaves in all, so that only the splits differ. Real sets: ", FORESTS,
    " forests averaged, standard errors of the difference of two C of the same rows; simulated ones:",
    " over sets. Recall: of the twelve true terms among the first twelve columns by permutation."
  ), "",
  bars(names(rows[[1]])), bars(rep("---", length(rows[[1]]))), unname(sapply(rows, bars))
)
cat(text, sep = "\n")
if (!quick) writeLines(text, file.path(here, "results", "logrank.md"))

# What is lost where a forest splits on martingale residuals instead of by the log-rank statistic.
#
#     Rscript benchmarks/logrank.R FOLDER [quick]      (needs survival and ranger)
#
# FOLDER has the simulated sets that `python benchmarks/survival.py --write FOLDER` writes. ranger's
# survival forest (splitrule "logrank") beside its regression forest on the martingale residuals of
# the null Cox model: same rows, columns, seeds, trees and mtry. ranger's min.node.size is the least
# size of a leaf in the first and the least size to be split in the second; so the second has the
# value that gives as many leaves. Rows are judged out of bag. A forest's risk is
#
# own      the mean over trees of the cumulative hazard summed over times, or of the mean residual
# o/e      in both: the mean over trees of log((O + e) / (E + e)), O and E events and expected
#          events (cumulative hazard of the null model) of a leaf's rows in the bag, e their mean
#
# so that under o/e nothing but the splits differs. Writes results/logrank.csv, a row per set (real
# ones: means over seeds of forests, the standard error of the difference that of two C indices of
# the same rows; simulated: means over sets), and the table results/logrank.md.

arguments <- commandArgs(TRUE)
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)[1])),
                 "survival_common.R"))
quick <- "quick" %in% arguments
N_TREES <- if (quick) 20 else 500    # half as many on the simulated sets
FORESTS <- if (quick) 1 else 5      # seeds of forests on each real set
TRUTHS <- if (quick) 2 else 10      # simulated sets of each case
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

# Out-of-bag risks of both forests by both leaves, their leaves, and the first twelve of each.
two_forests <- function(data, seed, importance, n_trees = N_TREES) {
  x <- columns(data)
  residual <- residuals(coxph(Surv(time, event) ~ 1, data))
  expected <- data$event - residual
  by_rank <- grow(x, Surv(data$time, data$event), LEAF, seed, importance, n_trees)
  size <- size_alike(x, residual, leaves(by_rank))
  by_residual <- grow(x, residual, size, seed, importance, n_trees)
  first <- function(forest)
    if (importance == "none") NULL else
      names(sort(forest$variable.importance, decreasing = TRUE))[1:12]
  list(
    risks = cbind(
      rank = rowSums(by_rank$chf), residual = by_residual$predictions,
      rank_oe = risk_of_leaves(by_rank, x, data$event, expected),
      residual_oe = risk_of_leaves(by_residual, x, data$event, expected)
    ),
    leaves = c(leaves(by_rank), leaves(by_residual)), size = size,
    first = list(first(by_rank), first(by_residual))
  )
}

real_line <- function(name) {
  data <- imputed(real_set(name))
  all <- lapply(seq_len(FORESTS), function(seed) two_forests(data, seed, "none"))
  risks <- data.frame(Reduce(`+`, lapply(all, `[[`, "risks")) / FORESTS)
  both <- function(a, b) {
    alone <- function(risk) coxph(Surv(time, event) ~ rank(risk), data)    # for its order only
    fit <- concordance(alone(risks[[a]]), alone(risks[[b]]))
    stopifnot(all.equal(unname(fit$concordance), c(harrell(data, risks[[a]]), harrell(data, risks[[b]]))))
    change <- c(-1, 1)
    unname(c(fit$concordance, diff(fit$concordance), sqrt(change %*% vcov(fit) %*% change)))
  }
  data.frame(
    set = name, rows = nrow(data), events = sum(data$event), n = FORESTS,
    rbind(setNames(
      c(both("rank", "residual"), both("rank_oe", "residual_oe"), rowMeans(sapply(all, `[[`, "leaves")),
        rep(NA, 4)),
      NAMES
    ))
  )
}

simulated_line <- function(folder, case) {
  one <- function(seed) {
    data <- simulated(folder, case, seed)
    found <- two_forests(data, seed, "permutation", N_TREES / 2)
    c(apply(found$risks, 2, function(risk) harrell(data, risk)), found$leaves,
      sapply(found$first, function(selected) judged(selected)["recall"]), events = sum(data$event))
  }
  each <- sapply(seq_len(TRUTHS) - 1, one)
  paired <- function(a, b) {
    change <- each[b, ] - each[a, ]
    c(mean(each[a, ]), mean(each[b, ]), mean(change), sd(change) / sqrt(length(change)))
  }
  data.frame(
    set = paste0("simulated, ", case, " % censored"), rows = 500, events = mean(each[9, ]), n = TRUTHS,
    rbind(setNames(c(paired(1, 2), paired(3, 4), rowMeans(each[5:6, ]), paired(7, 8)), NAMES))
  )
}

NAMES <- c(
  "C, log-rank", "C, residuals", "difference", "difference s.e.",
  "C, log-rank, o/e", "C, residuals, o/e", "difference, o/e", "difference, o/e s.e.",
  "leaves, log-rank", "leaves, residuals",
  "recall, log-rank", "recall, residuals", "recall difference", "recall difference s.e."
)

lines <- do.call(rbind, c(
  lapply(if (quick) "veteran" else SETS, function(name) { message(name); real_line(name) }),
  lapply(c(30, 70), function(case) { message(case); simulated_line(arguments[1], case) })
))
names(lines)[-(1:4)] <- NAMES

number <- function(values, digits = 3) ifelse(is.na(values), "", sprintf("%.*f", digits, values))
change <- function(mean, error, digits = 3)
  ifelse(is.na(mean), "", sprintf("%+.*f (%.*f)", digits, mean, digits, error))
table <- data.frame(
  set = lines$set, rows = lines$rows, events = round(lines$events),
  `C, log-rank` = number(lines[["C, log-rank"]]), `C, residuals` = number(lines[["C, residuals"]]),
  difference = change(lines$difference, lines[["difference s.e."]]),
  `C, log-rank, o/e` = number(lines[["C, log-rank, o/e"]]),
  `C, residuals, o/e` = number(lines[["C, residuals, o/e"]]),
  `difference, o/e` = change(lines[["difference, o/e"]], lines[["difference, o/e s.e."]]),
  `recall, log-rank` = number(lines[["recall, log-rank"]], 2),
  `recall, residuals` = number(lines[["recall, residuals"]], 2),
  `recall difference` = change(lines[["recall difference"]], lines[["recall difference s.e."]], 2),
  check.names = FALSE
)
row <- function(cells) paste("|", paste(cells, collapse = " | "), "|")
text <- c(
  paste0(
    "Forests of ", N_TREES, " trees by ranger (half as many on simulated sets), split by the log-rank statistic or on the martingale",
    " residuals of the null model: Harrell's C out of bag. Leaves of the first have at least ", LEAF,
    " rows; the second has as many leaves on average. Without a word: each forest's own prediction (cumulative hazards, mean residuals); o/e:",
    " log of observed over expected events of the leaves in both, so that only the splits differ.",
    " Real sets: ", FORESTS, " forests averaged, standard errors of the difference of two C of the",
    " same rows. Simulated: means over ", TRUTHS, " sets; recall is that of the twelve true terms",
    " among the first twelve columns by permutation importance."
  ), "",
  row(names(table)), row(rep("---", ncol(table))), apply(table, 1, row)
)
cat(text, sep = "\n")
if (!quick) {
  numeric <- sapply(lines, is.numeric)
  lines[numeric] <- lapply(lines[numeric], signif, 6)
  write.csv(lines, file.path(here, "results", "logrank.csv"), row.names = FALSE, na = "")
  writeLines(text, file.path(here, "results", "logrank.md"))
}

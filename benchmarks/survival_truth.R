# What R's methods select of the simulated survival sets: writes results/survival_truth_peers.csv.
#
#     Rscript benchmarks/survival_truth.R FOLDER [quick]      (needs survival, glmnet and ranger)
#
# FOLDER has the sets that `python benchmarks/survival.py --write FOLDER` writes. A run that was
# stopped goes on. A row per set and method:
#
# lasso, 1se / min        glmnet's Cox lasso by ten folds (factors as contrasts of their levels, a
#                         column selected with any of them)
# lasso, k = 12           its path up to the last penalty with at most twelve columns
# forest, permutation     ranger's survival forest (log-rank, 200 trees): the first twelve columns
# forest, corrected       the same by impurity_corrected (Nembrini, Koenig and Wright 2018)
# forest, minimal depth   columns with a mean minimal depth below the mean one of a column that
#                         tells nothing (Ishwaran and others 2010, tree-averaged threshold)
# forest, depth, k = 12   the first twelve by it

arguments <- commandArgs(TRUE)
suppressMessages({library(survival); library(ranger); library(glmnet)})

# The folder of the program that runs, wherever it is called from.
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)[1]))

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

quick <- "quick" %in% arguments
N_TREES <- if (quick) 50 else 200
TRUTHS <- if (quick) 1 else 10

# Names of the columns whose contrasts have a coefficient.
of_coefficients <- function(coefficients, names, owner) unique(names[owner[coefficients != 0]])

lasso <- function(data, seed) {
  x <- columns(data)
  matrix <- model.matrix(~ ., x)
  owner <- attr(matrix, "assign")[-1]
  matrix <- matrix[, -1]
  y <- Surv(data$time, data$event)
  set.seed(seed)
  fit <- cv.glmnet(matrix, y, family = "cox", nfolds = 10)
  at <- function(s) of_coefficients(as.numeric(coef(fit, s = s)), names(x), owner)
  path <- apply(as.matrix(fit$glmnet.fit$beta), 2, of_coefficients, names(x), owner)
  sizes <- lengths(path)
  list("lasso, 1se" = at("lambda.1se"), "lasso, min" = at("lambda.min"),
       "lasso, k = 12" = path[[max(which(sizes <= 12))]])
}

# Mean over trees of the depth at which each column splits first (a tree without it: the tree's
# depth), and that of a column that tells nothing.
minimal_depth <- function(forest, names) {
  p <- length(names)
  one <- function(i) {
    tree <- treeInfo(forest, i)
    depth <- integer(nrow(tree))
    for (node in which(!tree$terminal)) {    # parents come before their children
      children <- c(tree$leftChild[node], tree$rightChild[node]) + 1
      depth[children] <- depth[node] + 1
    }
    deepest <- max(depth)
    inner <- !tree$terminal
    first <- tapply(depth[inner], factor(tree$splitvarName[inner], names), min)
    first[is.na(first)] <- deepest
    # a column that tells nothing is first taken at depth d with chance 1 - (1 - 1/p)^nodes there
    nodes <- tabulate(depth[inner] + 1, deepest)
    before <- cumsum(c(0, nodes))[seq_along(nodes)]
    chance <- (1 - 1 / p)^before * (1 - (1 - 1 / p)^nodes)
    c(first, sum((seq_along(nodes) - 1) * chance) + deepest * (1 - sum(chance)))
  }
  means <- rowMeans(sapply(seq_len(forest$num.trees), one))
  list(depth = setNames(means[seq_len(p)], names), of_nothing = means[p + 1])
}

forests <- function(data, seed) {
  x <- columns(data)
  grow <- function(importance)
    ranger(x = x, y = Surv(data$time, data$event), num.trees = N_TREES, min.node.size = 15,
           seed = seed, num.threads = 1, respect.unordered.factors = "order",
           importance = importance)
  twelve <- function(values) names(sort(values, decreasing = TRUE))[1:12]
  permuted <- grow("permutation")
  found <- minimal_depth(permuted, names(x))
  list(
    "forest, permutation" = twelve(permuted$variable.importance),
    "forest, corrected" = twelve(grow("impurity_corrected")$variable.importance),
    "forest, minimal depth" = names(which(found$depth < found$of_nothing)),
    "forest, depth, k = 12" = twelve(-found$depth)
  )
}

one_set <- function(key) {
  key <- as.integer(strsplit(key, " ")[[1]])
  data <- simulated(arguments[1], key[1], key[2])
  found <- c(lasso(data, key[2]), forests(data, key[2]))
  do.call(rbind, lapply(names(found), function(method) data.frame(
    censored = key[1], seed = key[2], method = method, t(judged(found[[method]])),
    selected = paste(sort(found[[method]]), collapse = " ")
  )))
}

rows <- grown_file(
  "survival_truth_peers.csv", outer(c(30, 70), seq_len(TRUTHS) - 1, paste), one_set,
  function(known) paste(known$censored, known$seed), quick
)
print(aggregate(cbind(recall, false) ~ method + censored, rows, mean), digits = 3)
